//! Files, or ranges of them, as splits.

use flott_catalog::connector::{ConnectorError, Split};

use super::listing::FoundFile;
use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// Big files of lines are cut into ranges of this size, so that several tasks can read them.
const RANGE_BYTES: u64 = 64 << 20;

/// A file or a range of it, and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileSplit {
    pub(super) file: FoundFile,
    /// The bytes of the range, before they are moved to the next start of a line.
    pub(super) range: Option<(u64, u64)>,
    /// Where the next record begins, in the decompressed content; `None` at the split's beginning.
    pub(super) offset: Option<u64>,
}

impl FileSplit {
    /// The splits of a file; `divisible` says that every line feed ends a record.
    pub(super) fn of(file: FoundFile, divisible: bool) -> Vec<Self> {
        match file.size {
            Some(size) if divisible && size > RANGE_BYTES + RANGE_BYTES / 2 => {
                let ranges = size.div_ceil(RANGE_BYTES);
                let cut = |i: u64| (u128::from(size) * u128::from(i) / u128::from(ranges)) as u64;
                (0..ranges)
                    .map(|i| Self {
                        file: file.clone(),
                        range: Some((cut(i), cut(i + 1))),
                        offset: None,
                    })
                    .collect()
            }
            _ => vec![Self { file, range: None, offset: None }],
        }
    }

    /// Names the split for ever: a table gives each path once.
    pub(super) fn id(&self) -> String {
        let path = &self.file.path;
        match self.range {
            None => path.clone(),
            Some((start, end)) => format!("{path}[{start}..{end}]"),
        }
    }

    pub(super) fn pack(&self) -> Split {
        let FoundFile { path, size, modified_millis, partition } = &self.file;
        let position = Pack::new(VERSION)
            .text(path)
            .optional_number(*size)
            .number(*modified_millis as u64)
            .list(partition.iter(), |pack, value| pack.optional_text(value.as_deref()))
            .optional_number(self.range.map(|(start, _)| start))
            .optional_number(self.range.map(|(_, end)| end))
            .optional_number(self.offset)
            .finish();
        Split { id: self.id(), position }
    }

    pub(super) fn unpack(split: &Split) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(&split.position, VERSION, "position in a file")?;
        let file = FoundFile {
            path: unpack.text()?,
            size: unpack.optional_number()?,
            modified_millis: unpack.number()? as i64,
            partition: unpack.list(Unpack::optional_text)?,
        };
        let range = unpack.optional_number()?.zip(unpack.optional_number()?);
        Ok(Self { file, range, offset: unpack.optional_number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64) -> FoundFile {
        FoundFile {
            path: "/d/f".into(),
            size: Some(size),
            modified_millis: 5,
            partition: vec![None, Some("x".into())],
        }
    }

    #[test]
    fn big_divisible_files_are_cut() {
        assert_eq!(FileSplit::of(file(RANGE_BYTES), true).len(), 1);
        assert_eq!(FileSplit::of(file(10 * RANGE_BYTES), false).len(), 1);
        let splits = FileSplit::of(file(3 * RANGE_BYTES + 1), true);
        assert_eq!(splits.len(), 4);
        let mut at = 0;
        for split in &splits {
            let (start, end) = split.range.unwrap();
            assert_eq!(start, at);
            at = end;
        }
        assert_eq!(at, 3 * RANGE_BYTES + 1);
    }

    #[test]
    fn splits_survive_their_encoding() {
        for mut split in FileSplit::of(file(200 << 20), true) {
            split.offset = split.range.map(|(start, _)| start + 7);
            assert_eq!(FileSplit::unpack(&split.pack()).unwrap(), split);
        }
        let whole = FileSplit::of(file(3), true).remove(0);
        assert_eq!(FileSplit::unpack(&whole.pack()).unwrap(), whole);
        assert_eq!(whole.id(), "/d/f");
    }
}
