//! Parts of a table, and how far they were read.

use flott_catalog::connector::{ConnectorError, Split};

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// A range of the partition column, or the whole table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TableSplit {
    /// The first and the last value of the partition column.
    pub(super) range: Option<(i64, i64)>,
    /// How many of its rows were read.
    pub(super) rows: u64,
    /// The key of the last of them as text, where the rows come in the order of their keys.
    pub(super) key: Option<Vec<String>>,
}

impl TableSplit {
    /// Names the split for ever.
    pub(super) fn id(&self) -> String {
        match self.range {
            None => "table".into(),
            Some((first, last)) => format!("{first}..{last}"),
        }
    }

    pub(super) fn pack(&self) -> Split {
        let key = self.key.as_deref().unwrap_or_default();
        let position = Pack::new(VERSION)
            .optional_number(self.range.map(|(first, _)| first as u64))
            .optional_number(self.range.map(|(_, last)| last as u64))
            .number(self.rows)
            .number(self.key.is_some().into())
            .list(key.iter(), |pack, part| pack.text(part))
            .finish();
        Split { id: self.id(), position }
    }

    pub(super) fn unpack(split: &Split) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(&split.position, VERSION, "position in a table")?;
        let (first, last) = (unpack.optional_number()?, unpack.optional_number()?);
        let rows = unpack.number()?;
        let has_key = unpack.flag()?;
        let key = unpack.list(Unpack::text)?;
        Ok(Self {
            range: first.zip(last).map(|(first, last)| (first as i64, last as i64)),
            rows,
            key: has_key.then_some(key),
        })
    }
}

/// The ranges into which Flink cuts what lies from `lower` to `upper`: the larger ones come first.
pub(super) fn ranges(lower: i64, upper: i64, number: u64) -> Vec<(i64, i64)> {
    let values = (i128::from(upper) - i128::from(lower)) + 1;
    let number = i128::from(number).clamp(1, values.max(1));
    let size = (values + number - 1) / number;
    let large = values - (size - 1) * number;
    let mut start = i128::from(lower);
    (0..number)
        .map(|i| {
            let end = start + size - 1 - i128::from(i >= large);
            let range = (start as i64, end as i64);
            start = end + 1;
            range
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_flinks() {
        assert_eq!(ranges(0, 9, 3), [(0, 3), (4, 6), (7, 9)]);
        assert_eq!(ranges(1, 2, 5), [(1, 1), (2, 2)]);
        assert_eq!(ranges(-5, -5, 1), [(-5, -5)]);
        let all = ranges(i64::MIN, i64::MAX, 2);
        assert_eq!(all, [(i64::MIN, -1), (0, i64::MAX)]);
    }

    #[test]
    fn splits_survive_their_encoding() {
        for split in [
            TableSplit::default(),
            TableSplit { range: Some((-3, 7)), rows: 12, key: Some(vec!["a".into(), "".into()]) },
        ] {
            assert_eq!(TableSplit::unpack(&split.pack()).unwrap(), split);
        }
    }
}
