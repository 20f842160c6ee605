//! Partitions that have rows and may not be marked complete yet, as their writer knows them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use flott_catalog::connector::ConnectorError;

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// The partitions that a writer announces with each commit, until the mark in them is newer than the
/// last of its files. So a mark that a crash prevented is made after the restart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PendingPartitions(BTreeMap<String, Times>);

/// In milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Times {
    /// When the first row came.
    first_row: u64,
    /// When a commit with rows of the partition was last prepared.
    prepared: u64,
}

impl PendingPartitions {
    /// Notes that a commit with rows of the partition is being prepared.
    pub(super) fn prepared(&mut self, directory: &str) {
        let now = now_millis();
        match self.0.get_mut(directory) {
            Some(times) => times.prepared = now,
            None => {
                self.0.insert(directory.into(), Times { first_row: now, prepared: now });
            }
        }
    }

    /// Forgets partitions that are marked.
    pub(super) fn forget_marked(&mut self, root: &Path, mark: &str) {
        self.0.retain(|directory, times| {
            let metadata = std::fs::metadata(root.join(directory).join(mark));
            let marked = metadata.and_then(|metadata| metadata.modified()).ok();
            marked.is_none_or(|marked| millis(marked) < times.prepared)
        });
    }

    /// The partitions, each with the time of its first row.
    pub(super) fn announced(&self) -> Vec<(String, u64)> {
        self.0.iter().map(|(directory, times)| (directory.clone(), times.first_row)).collect()
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        Pack::new(VERSION)
            .list(self.0.iter(), |pack, (directory, times)| {
                pack.text(directory).number(times.first_row).number(times.prepared)
            })
            .finish()
    }

    pub(super) fn unpack(state: &[u8]) -> Result<Self, ConnectorError> {
        if state.is_empty() {
            return Ok(Self::default());
        }
        let mut unpack = Unpack::new(state, VERSION, "state of a file writer")?;
        let partitions = unpack.list(|unpack| {
            let directory = unpack.text()?;
            Ok((directory, Times { first_row: unpack.number()?, prepared: unpack.number()? }))
        })?;
        Ok(Self(partitions.into_iter().collect()))
    }
}

/// The present, in milliseconds since the epoch.
pub(super) fn now_millis() -> u64 {
    millis(SystemTime::now())
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_stays_until_its_mark_is_newer() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("k=1")).unwrap();
        let mark = root.path().join("k=1/_SUCCESS");
        let file = std::fs::File::create(&mark).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        let mut pending = PendingPartitions::default();
        pending.prepared("k=1");
        pending.prepared("k=2");
        pending.forget_marked(root.path(), "_SUCCESS");
        assert_eq!(pending.announced().len(), 2);
        assert_eq!(PendingPartitions::unpack(&pending.pack()).unwrap(), pending);
        file.set_modified(SystemTime::now()).unwrap();
        pending.forget_marked(root.path(), "_SUCCESS");
        assert_eq!(pending.announced()[0].0, "k=2");
    }
}
