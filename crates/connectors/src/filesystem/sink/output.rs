//! What rows become on their way into files: the part that differs between records and whole files.

use std::time::Instant;

use flott_catalog::connector::ConnectorError;
use flott_types::ChangelogBatch;

use super::Table;
use super::committable::PreparedFile;

/// Puts rows into files.
pub(super) trait Output: Send {
    /// An open file; when it is dropped before it was closed, it is removed.
    type Part: PartFile;

    /// Appends rows to the open file of a directory. As in Flink, a file that has grown beyond its size
    /// ends before the next row.
    fn append(
        &mut self,
        table: &Table,
        files: &mut Files,
        bucket: &mut Bucket<Self::Part>,
        rows: &ChangelogBatch,
        keep_open: bool,
    ) -> Result<(), ConnectorError>;

    /// Writes out what takes too much memory.
    fn relieve(&mut self, _buckets: &mut [Bucket<Self::Part>]) -> Result<(), ConnectorError> {
        Ok(())
    }
}

/// A file under way.
pub(super) trait PartFile: Send + Sized {
    /// How many bytes it has.
    fn bytes(&self) -> u64;

    /// When it was created and when it got its last rows.
    fn times(&self) -> (Instant, Instant);

    /// Ends it: all of it is on the disk afterwards.
    fn close(self, round: u64, overwrite: bool) -> Result<PreparedFile, ConnectorError>;
}

/// A directory that got rows since the last commit.
pub(super) struct Bucket<P> {
    pub(super) directory: String,
    pub(super) part: Option<P>,
}

/// Names files and keeps those that are complete.
pub(super) struct Files {
    /// What the names start with, `part-` and a UUID that no other writer has.
    pub(super) prefix: String,
    pub(super) count: u64,
    pub(super) round: u64,
    pub(super) overwrite: bool,
    pub(super) finished: Vec<PreparedFile>,
}

impl Files {
    /// The name of the next file.
    pub(super) fn next_name(&mut self) -> String {
        let name = format!("{}-{}", self.prefix, self.count);
        self.count += 1;
        name
    }

    /// Ends an open file, if there is one.
    pub(super) fn finish<P: PartFile>(
        &mut self,
        part: &mut Option<P>,
    ) -> Result<(), ConnectorError> {
        if let Some(part) = part.take() {
            self.finished.push(part.close(self.round, self.overwrite)?);
        }
        Ok(())
    }
}
