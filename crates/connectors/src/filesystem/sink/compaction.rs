//! Merging the files of a checkpoint before they become visible.
//!
//! Records end with a line feed in every format that is written here, so that files can be put one behind
//! the other. The files of a merge, and with them the name of its result, follow from the committables
//! alone, so that a repeated commit finds what the first one did.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use flott_catalog::connector::ConnectorError;

use super::super::failure::failure;
use super::committable::PreparedFile;

/// Merges the prepared files of each directory and round up to about `bytes`, and makes the results
/// visible as `compacted-part-…`.
pub(super) fn compact(
    root: &Path,
    files: &[PreparedFile],
    bytes: u64,
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
            merge(&directory, merged)?;
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

fn merge(directory: &Path, files: &[&PreparedFile]) -> Result<(), ConnectorError> {
    let [first, ..] = files else { return Ok(()) };
    let name = format!("compacted-{}", first.name);
    let target = directory.join(&name);
    let sources: Vec<_> = files.iter().map(|file| directory.join(&file.hidden)).collect();
    // Sources go only after the result is visible: one that is gone means that all are in it.
    if !target.exists() && sources.iter().all(|source| source.exists()) {
        let hidden = directory.join(format!(".{name}.inprogress"));
        let told = |error| failure("write", hidden.display(), &error);
        let mut merged = File::create(&hidden).map_err(told)?;
        for source in &sources {
            File::open(source)
                .and_then(|mut opened| std::io::copy(&mut opened, &mut merged))
                .map_err(told)?;
        }
        merged.sync_all().map_err(told)?;
        fs::rename(&hidden, &target).map_err(told)?;
        File::open(directory).and_then(|opened| opened.sync_all()).map_err(told)?;
    }
    for source in &sources {
        match fs::remove_file(source) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failure("remove", source.display(), &error));
            }
            _ => {}
        }
    }
    Ok(())
}
