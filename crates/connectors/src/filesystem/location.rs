//! From the option `path` to a path of the local file system.

use std::path::{Component, Path, PathBuf};

use flott_catalog::connector::ConnectorError;

use super::failure::failure;

/// The absolute path that the option names, without `.` and `..`; `file:` URIs are paths too.
pub(super) fn resolve(text: &str, working_directory: &Path) -> Result<PathBuf, ConnectorError> {
    let path = without_scheme(text)?;
    if path.is_empty() {
        return Err(ConnectorError::new("the option 'path' is empty")
            .hint("name a file or a directory: 'path' = 'data/orders'"));
    }
    let joined = std::path::absolute(working_directory.join(path))
        .map_err(|error| failure("find", path, &error))?;
    Ok(normalized(&joined))
}

fn without_scheme(text: &str) -> Result<&str, ConnectorError> {
    let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(text);
    };
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(ConnectorError::new(format!("the file system '{scheme}' is not supported"))
            .at(text)
            .hint("name a path of the local file system, mounted if need be"));
    }
    match rest.strip_prefix("//") {
        None => Ok(rest),
        Some(rest) => match rest.find('/') {
            Some(0) => Ok(rest),
            Some(end) if rest[..end].eq_ignore_ascii_case("localhost") => Ok(&rest[end..]),
            _ => Err(ConnectorError::new("the URI names a file of another host")
                .at(text)
                .hint("write three slashes for an absolute path: file:///data/orders")),
        },
    }
}

/// A scheme has two letters or more, so that `C:` is none.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// The text of a path. Paths are columns (`file.path`) and go into checkpoints as text.
pub(super) fn path_text(path: &Path) -> Result<&str, ConnectorError> {
    path.to_str().ok_or_else(|| {
        ConnectorError::new(format!("the name of '{}' is not UTF-8", path.display()))
            .hint("rename it, or keep it out of the table's directory")
    })
}

/// Whether files and directories of this name are left out, as in Flink.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute() {
        for (text, expected) in [
            ("data/x", "/work/data/x"),
            ("./data/../y/", "/work/y"),
            ("/abs//z", "/abs/z"),
            ("file:///abs", "/abs"),
            ("file:/abs", "/abs"),
            ("file://localhost/abs", "/abs"),
            ("file:rel", "/work/rel"),
            ("/a/k=1:2", "/a/k=1:2"),
        ] {
            let path = resolve(text, Path::new("/work")).unwrap();
            assert_eq!(path, Path::new(expected), "{text}");
        }
    }

    #[test]
    fn other_file_systems_are_refused_by_name() {
        for (text, culprit) in [("s3://b/k", "'s3'"), ("hdfs:/x", "'hdfs'"), ("file://h/x", "host")]
        {
            let error = resolve(text, Path::new("/work")).unwrap_err();
            assert!(error.message.contains(culprit), "{error}");
        }
        assert!(resolve("", Path::new("/work")).is_err());
    }
}
