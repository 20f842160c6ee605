//! Merging the files of a checkpoint before they become visible.
//!
//! Records end with a line feed in every format that is written here, so that files of them can be put one
//! behind the other; other files are read and their rows written anew. The files of a merge, and with them
//! the name of its result, follow from the committables alone, so that a repeated commit finds what the first
//! one did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flott_catalog::connector::ConnectorError;
use flott_disk::{DiskFile, absent, remove_file, rename, sync_folder};

use super::super::failure::failure;
use super::super::format::{FileFormat, merge as merge_rows};
use super::Table;
use super::committable::PreparedFile;

/// Merges the prepared files of each directory and round up to about `bytes`, and makes the results
/// visible as `compacted-part-…`.
pub(super) fn compact(
    table: &Table,
    files: &[PreparedFile],
    bytes: u64,
) -> Result<(), ConnectorError> {
    compact_with(&table.root, files, bytes, &|sources, target| match &table.format {
        FileFormat::Records(_) => concatenate(sources, target),
        FileFormat::Whole(format) => merge_rows(format, &table.record_schema, sources, target),
    })
}

/// Writes the rows of files into one at the path given, and makes it durable.
type Merge<'a> = &'a dyn Fn(&[PathBuf], &Path) -> Result<(), ConnectorError>;

fn compact_with(
    root: &Path,
    files: &[PreparedFile],
    bytes: u64,
    write: Merge<'_>,
) -> Result<(), ConnectorError> {
    let mut groups: BTreeMap<_, Vec<&PreparedFile>> = BTreeMap::new();
    for file in files {
        groups.entry((&file.directory, file.round)).or_default().push(file);
    }
    for ((directory, _), mut group) in groups {
        group.sort_by(|a, b| a.name.cmp(&b.name));
        let directory = root.join(directory);
        let mut rest = group.as_slice();
        while !rest.is_empty() {
            let (merged, others) = rest.split_at(fitting(rest, bytes));
            merge(&directory, merged, write)?;
            rest = others;
        }
    }
    Ok(())
}

/// How many files, one at least, make up a file of the wanted size.
fn fitting(files: &[&PreparedFile], bytes: u64) -> usize {
    let mut sum = 0;
    let within = files.iter().take_while(|file| {
        sum += file.bytes;
        sum <= bytes
    });
    within.count().max(1)
}

fn merge(
    directory: &Path,
    files: &[&PreparedFile],
    write: Merge<'_>,
) -> Result<(), ConnectorError> {
    let [first, ..] = files else { return Ok(()) };
    let name = format!("compacted-{}", first.name);
    let target = directory.join(&name);
    let sources: Vec<_> = files.iter().map(|file| directory.join(&file.hidden)).collect();
    // Sources go only after the result is visible: one that is gone means that all are in it.
    if !target.exists() && sources.iter().all(|source| source.exists()) {
        let hidden = directory.join(format!(".{name}.inprogress"));
        let told = |error| failure("write", hidden.display(), &error);
        write(&sources, &hidden)?;
        rename(&hidden, &target).map_err(told)?;
        sync_folder(directory).map_err(told)?;
    }
    for source in &sources {
        absent(remove_file(source)).map_err(|error| failure("remove", source.display(), &error))?;
    }
    Ok(())
}

fn concatenate(sources: &[PathBuf], target: &Path) -> Result<(), ConnectorError> {
    let told = |error| failure("write", target.display(), &error);
    let mut merged = DiskFile::create(target).map_err(told)?;
    for source in sources {
        flott_disk::open(source)
            .and_then(|mut opened| std::io::copy(&mut opened, &mut merged))
            .map_err(told)?;
    }
    merged.sync().map_err(told)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn prepare(root: &Path, names: &[&str]) -> Vec<PreparedFile> {
        names
            .iter()
            .map(|name| {
                fs::write(root.join(format!(".{name}")), format!("{name}\n")).unwrap();
                PreparedFile {
                    directory: String::new(),
                    hidden: format!(".{name}"),
                    name: name.to_string(),
                    bytes: 3,
                    round: 0,
                    overwrite: false,
                }
            })
            .collect()
    }

    fn content(root: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_string();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_commit_stopped_anywhere_is_completed_by_the_next() {
        let merged = [
            ("compacted-p1".to_string(), "p1\np2\n".to_string()),
            ("compacted-p3".to_string(), "p3\n".to_string()),
        ];
        // What there is of the first merge when the process dies.
        for (half_written, visible, sources_left) in [
            (false, false, 2),
            (true, false, 2),
            (false, true, 2),
            (false, true, 1),
            (false, true, 0),
        ] {
            let root = tempfile::tempdir().unwrap();
            let root = root.path();
            let files = prepare(root, &["p3", "p1", "p2"]);
            if half_written {
                fs::write(root.join(".compacted-p1.inprogress"), "p").unwrap();
            }
            if visible {
                fs::write(root.join("compacted-p1"), "p1\np2\n").unwrap();
            }
            for source in &[".p1", ".p2"][sources_left..] {
                fs::remove_file(root.join(source)).unwrap();
            }
            for _ in 0..2 {
                compact_with(root, &files, 7, &concatenate).unwrap();
                assert_eq!(content(root), merged);
            }
        }
    }
}
