//! Which files a table has.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fancy_regex::Regex;
use flott_catalog::connector::ConnectorError;

use super::failure::failure;
use super::location::{is_hidden, path_text};
use super::partition::parse_directory;
use super::pruning::Pruning;

/// Where a table's files are and which of them count.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    /// A file, a directory, or a glob pattern.
    pub(super) base: PathBuf,
    /// The partition columns, one level of directories each.
    pub(super) partition_columns: Vec<String>,
    /// The name of a directory that stands for NULL.
    pub(super) default_name: String,
    /// Only files whose whole path matches count.
    pub(super) pattern: Option<Regex>,
    /// What a scan's conditions leave out.
    pub(super) pruning: Pruning,
}

/// A file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Its absolute path.
    pub(super) path: String,
    /// Its size; `None` for what is not a regular file, a pipe say.
    pub(super) size: Option<u64>,
    /// When it was last changed, in milliseconds since the epoch.
    pub(super) modified_millis: i64,
    /// The values of the partition columns as text; `None` is NULL.
    pub(super) partition: Vec<Option<String>>,
}

impl Listing {
    /// The files in the order of their paths. A partitioned table without a directory is empty, as in
    /// Flink; any other path must exist.
    pub(super) fn files(&self) -> Result<Vec<FoundFile>, ConnectorError> {
        let mut files = Vec::new();
        for root in self.roots()? {
            if self.partition_columns.is_empty() {
                self.walk(&root, &[], &mut files)?;
            } else {
                self.walk_partitions(&root, &mut Vec::new(), &mut files)?;
            }
        }
        Ok(files)
    }

    /// The base itself, or what its glob pattern matches.
    fn roots(&self) -> Result<Vec<PathBuf>, ConnectorError> {
        match fs::metadata(&self.base) {
            Ok(_) => return Ok(vec![self.base.clone()]),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failure("read", self.base.display(), &error));
            }
            Err(_) => {}
        }
        let text = path_text(&self.base)?;
        if !text.contains(['*', '?', '[']) {
            return match fs::metadata(&self.base) {
                Err(error) if self.partition_columns.is_empty() => {
                    Err(failure("read", text, &error))
                }
                _ => Ok(Vec::new()),
            };
        }
        let matches = glob::glob(text).map_err(|error| {
            ConnectorError::new(format!("the path is not a valid pattern: {}", error.msg)).at(text)
        })?;
        let roots = matches
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| failure("read", error.path().display(), error.error()))?;
        if roots.is_empty() {
            return Err(ConnectorError::new(format!("no file matches '{text}'"))
                .hint("check the option 'path'; a relative path starts at the working directory"));
        }
        Ok(roots)
    }

    /// The files below a path, directories in depth. The path itself may be hidden: it was asked for.
    fn walk(
        &self,
        path: &Path,
        partition: &[Option<String>],
        files: &mut Vec<FoundFile>,
    ) -> Result<(), ConnectorError> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            // It was there a moment ago: another program took it away.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failure("read", path.display(), &error)),
        };
        if metadata.is_dir() {
            for entry in visible_entries(path)? {
                self.walk(&entry, partition, files)?;
            }
            return Ok(());
        }
        let text = path_text(path)?;
        if self.matches(text)? {
            let modified =
                metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let file = FoundFile {
                path: text.into(),
                size: metadata.is_file().then_some(metadata.len()),
                modified_millis: modified.map_or(0, |at| at.as_millis() as i64),
                partition: partition.to_vec(),
            };
            if self.pruning.keeps_file(&file)? {
                files.push(file);
            }
        }
        Ok(())
    }

    /// Descends one level of directories for each partition column.
    fn walk_partitions(
        &self,
        path: &Path,
        found: &mut Vec<(String, String)>,
        files: &mut Vec<FoundFile>,
    ) -> Result<(), ConnectorError> {
        if found.len() == self.partition_columns.len() {
            let partition = self.partition(path, found)?;
            let wanted = self.pruning.keeps_partition(&partition).map_err(|error| {
                let place = path.display().to_string();
                if error.place.is_none() { error.at(place) } else { error }
            })?;
            return if wanted { self.walk(path, &partition, files) } else { Ok(()) };
        }
        if !path.is_dir() {
            tracing::warn!(path = %path.display(), "file outside the partition directories left out");
            return Ok(());
        }
        for entry in visible_entries(path)? {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match parse_directory(name) {
                Some(level) if entry.is_dir() && self.partition_columns.contains(&level.0) => {
                    found.push(level);
                    self.walk_partitions(&entry, found, files)?;
                    found.pop();
                }
                _ if entry.is_dir() => return Err(self.no_partition(&entry)),
                _ => tracing::warn!(
                    path = %entry.display(),
                    "file outside the partition directories left out"
                ),
            }
        }
        Ok(())
    }

    fn partition(
        &self,
        path: &Path,
        found: &[(String, String)],
    ) -> Result<Vec<Option<String>>, ConnectorError> {
        self.partition_columns
            .iter()
            .map(|column| match found.iter().find(|(name, _)| name == column) {
                Some((_, value)) => Ok((*value != self.default_name).then(|| value.clone())),
                None => Err(self.no_partition(path)),
            })
            .collect()
    }

    fn no_partition(&self, path: &Path) -> ConnectorError {
        let columns = self.partition_columns.join(", ");
        let expected = self.partition_columns.iter().map(|column| format!("{column}=…"));
        ConnectorError::new(format!(
            "the directory does not fit the table's partition columns ({columns})"
        ))
        .at(path.display().to_string())
        .hint(format!(
            "below '{}' there must be directories {}; names that start with '.' or '_' are left out",
            self.base.display(),
            expected.collect::<Vec<_>>().join("/")
        ))
    }

    fn matches(&self, path: &str) -> Result<bool, ConnectorError> {
        let Some(pattern) = &self.pattern else { return Ok(true) };
        pattern.is_match(path).map_err(|error| {
            ConnectorError::new(format!("'source.path.regex-pattern' cannot be matched: {error}"))
                .at(path)
        })
    }
}

/// What is in a directory, by name, hidden entries left out.
pub(super) fn visible_entries(path: &Path) -> Result<Vec<PathBuf>, ConnectorError> {
    let entries = fs::read_dir(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failure("list", path.display(), &error))?;
    let mut paths: Vec<_> = entries
        .into_iter()
        .filter(|entry| !is_hidden(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    paths.sort_unstable();
    Ok(paths)
}
