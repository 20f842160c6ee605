//! How far the snapshot of the tables came, and what its runs saw.

use flott_catalog::connector::ConnectorError;

use crate::pack::{Pack, Unpack};

/// What a snapshot saw: which changes of the log are part of the rows it read.
pub(super) trait Seen: Clone + PartialEq {
    /// Writes it.
    fn pack(&self, pack: Pack) -> Pack;

    /// Reads what [`pack`](Self::pack) wrote.
    fn unpack(unpack: &mut Unpack<'_>) -> Result<Self, ConnectorError>;
}

/// The values of a key's columns as the database writes them.
pub(super) type Key = Vec<String>;

/// Rows of one table that were read under one snapshot, in the order of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run<S> {
    pub(super) seen: S,
    /// The last key that was read; behind it the next run begins. `None`: it came to the end of the table.
    pub(super) until: Option<Key>,
}

/// How far a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableProgress<S> {
    pub(super) schema: String,
    pub(super) name: String,
    /// The columns by whose order it is read; empty for a table without a key, which is read in one run.
    pub(super) key: Vec<String>,
    pub(super) runs: Vec<Run<S>>,
}

impl<S: Seen> TableProgress<S> {
    /// A table of which nothing is read.
    pub(super) fn new(schema: String, name: String, key: Vec<String>) -> Self {
        Self { schema, name, key, runs: Vec::new() }
    }

    /// Whether all rows are read.
    pub(super) fn is_done(&self) -> bool {
        self.runs.last().is_some_and(|run| run.until.is_none())
    }

    /// Behind which key reading goes on.
    pub(super) fn last_key(&self) -> Option<&Key> {
        self.runs.last().and_then(|run| run.until.as_ref())
    }

    /// Takes note of rows read under a snapshot up to a key, or to the end.
    pub(super) fn read(&mut self, seen: &S, until: Option<Key>) {
        match self.runs.last_mut() {
            Some(run) if run.seen == *seen => run.until = until,
            _ => self.runs.push(Run { seen: seen.clone(), until }),
        }
    }

    /// Whether a change is part of the rows that were read: `in_run` says it of a run, `is_behind` whether the
    /// change's key comes behind another, which is asked only where runs differ.
    pub(super) fn has_seen(
        &self,
        in_run: impl Fn(&S) -> bool,
        mut is_behind: impl FnMut(&Key) -> Result<bool, ConnectorError>,
    ) -> Result<bool, ConnectorError> {
        // Later runs see all that earlier ones do.
        let Some(first) = self.runs.iter().position(|run| in_run(&run.seen)) else {
            return Ok(false);
        };
        if first == 0 {
            return Ok(true);
        }
        match &self.runs[first - 1].until {
            Some(until) => is_behind(until),
            None => Ok(false),
        }
    }
}

/// Writes the progress of tables.
pub(super) fn pack_tables<S: Seen>(pack: Pack, tables: &[TableProgress<S>]) -> Pack {
    let texts =
        |pack: Pack, texts: &[String]| pack.list(texts.iter(), |pack, text| pack.text(text));
    pack.list(tables.iter(), |pack, table| {
        let pack = texts(pack.text(&table.schema).text(&table.name), &table.key);
        pack.list(table.runs.iter(), |pack, run| {
            let pack = run.seen.pack(pack);
            match &run.until {
                None => pack.number(0),
                Some(key) => texts(pack.number(1), key),
            }
        })
    })
}

/// Reads what [`pack_tables`] wrote.
pub(super) fn unpack_tables<S: Seen>(
    unpack: &mut Unpack<'_>,
) -> Result<Vec<TableProgress<S>>, ConnectorError> {
    unpack.list(|unpack| {
        let (schema, name) = (unpack.text()?, unpack.text()?);
        let key = unpack.list(Unpack::text)?;
        let runs = unpack.list(|unpack| {
            let seen = S::unpack(unpack)?;
            let until = if unpack.flag()? { Some(unpack.list(Unpack::text)?) } else { None };
            Ok(Run { seen, until })
        })?;
        Ok(TableProgress { schema, name, key, runs })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Seen for u64 {
        fn pack(&self, pack: Pack) -> Pack {
            pack.number(*self)
        }

        fn unpack(unpack: &mut Unpack<'_>) -> Result<Self, ConnectorError> {
            unpack.number()
        }
    }

    #[test]
    fn a_change_counts_unless_the_run_of_its_key_has_seen_it() {
        let mut table = TableProgress::new("s".into(), "t".into(), vec!["id".into()]);
        assert!(!table.is_done());
        table.read(&10, Some(vec!["5".into()]));
        table.read(&10, Some(vec!["7".into()]));
        table.read(&20, Some(vec!["9".into()]));
        assert_eq!(table.last_key(), Some(&vec!["9".into()]));
        table.read(&30, None);
        assert!(table.is_done());
        assert_eq!(table.runs.len(), 3);
        let seen = |change: u64, key: u64| {
            let behind = |until: &Key| Ok(key > until[0].parse().unwrap());
            table.has_seen(|run| change <= *run, behind).unwrap()
        };
        for (change, key, expected) in [
            (10, 1, true),
            (10, 100, true),
            (11, 7, false),
            (11, 8, true),
            (11, 10, true),
            (21, 9, false),
            (21, 10, true),
            (31, 10, false),
        ] {
            assert_eq!(seen(change, key), expected, "{change} of {key}");
        }
        let pack = pack_tables(Pack::new(1), std::slice::from_ref(&table)).finish();
        let mut unpack = Unpack::new(&pack, 1, "progress").unwrap();
        assert_eq!(unpack_tables::<u64>(&mut unpack).unwrap(), [table]);
    }
}
