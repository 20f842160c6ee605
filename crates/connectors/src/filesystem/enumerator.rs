//! Finding files: once, or again and again.

use std::collections::HashSet;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, Discovery, SplitEnumerator};

use super::compression::Compression;
use super::listing::{FoundFile, Listing};
use super::split::FileSplit;
use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// Gives the files of a table out as splits.
///
/// A watched table gives each path once, as in Flink: what is written into a file later on is not
/// read, so files should be moved into the directory when they are complete.
pub(super) struct FileEnumerator {
    listing: Listing,
    /// How long to wait between two looks; `None` looks once.
    interval: Option<Duration>,
    /// Whether reading can begin within a file.
    divisible: bool,
    /// Whether extensions say nothing of compression.
    whole: bool,
    /// Whether older files come first rather than go by name.
    by_age: bool,
    /// What was given out, of a watched table.
    seen: HashSet<String>,
    looked: bool,
}

impl FileEnumerator {
    /// `state` is what an earlier enumerator's snapshot gave.
    pub(super) fn new(
        listing: Listing,
        interval: Option<Duration>,
        by_age: bool,
        state: Option<&[u8]>,
    ) -> Result<Self, ConnectorError> {
        let (seen, looked) = match state {
            None => (HashSet::new(), false),
            Some(state) => {
                let mut unpack = Unpack::new(state, VERSION, "list of files read")?;
                (unpack.list(Unpack::text)?.into_iter().collect(), unpack.flag()?)
            }
        };
        Ok(Self { listing, interval, divisible: false, whole: false, by_age, seen, looked })
    }

    /// The same, cutting big files into ranges if they are `divisible`; those of records only where they
    /// are not compressed, which their extension tells unless they are `whole`.
    pub(super) fn dividing(self, divisible: bool, whole: bool) -> Self {
        Self { divisible, whole, ..self }
    }

    fn splits(&self, file: FoundFile) -> Vec<FileSplit> {
        let plain = self.whole || Compression::of(&file.path).is_none();
        let divisible = self.divisible && plain;
        FileSplit::of(file, divisible)
    }
}

impl SplitEnumerator for FileEnumerator {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        if self.looked && self.interval.is_none() {
            return Ok(Discovery::default());
        }
        let mut files = self.listing.files()?;
        if files.is_empty() && !self.looked && self.listing.pruning.is_empty() {
            tracing::warn!(
                path = %self.listing.base.display(),
                "no file found; names that start with '.' or '_' are left out"
            );
        }
        if self.interval.is_some() {
            files.retain(|file| self.seen.insert(file.path.clone()));
        }
        if self.by_age {
            // Older files hold older events; of one age, `…-9` comes before `…-10`.
            files.sort_by(|a, b| {
                let age = |file: &FoundFile| (file.modified_millis, file.path.len());
                age(a).cmp(&age(b)).then_with(|| a.path.cmp(&b.path))
            });
        }
        self.looked = true;
        let splits = files.into_iter().flat_map(|file| self.splits(file)).map(|split| split.pack());
        Ok(Discovery { splits: splits.collect(), again_after: self.interval, tasks: Vec::new() })
    }

    fn snapshot(&self) -> Vec<u8> {
        Pack::new(VERSION)
            .list(self.seen.iter(), |pack, path| pack.text(path))
            .number(u64::from(self.looked))
            .finish()
    }
}
