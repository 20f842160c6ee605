//! Every k-th row of the table as a split.

use std::sync::Arc;

use flott_catalog::connector::{ConnectorError, Discovery, Split, SplitEnumerator};

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// Rows `part`, `part + parts`, … of the table.
#[derive(Debug, Clone)]
pub(crate) struct NumberedSplit {
    pub(crate) id: Arc<str>,
    pub(crate) part: u64,
    pub(crate) parts: u64,
    /// The number of rows of the whole table; `None` when it never ends.
    pub(crate) rows: Option<u64>,
    /// How many rows of the split were given out.
    pub(crate) done: u64,
}

impl NumberedSplit {
    /// How many rows the split has.
    pub(crate) fn len(&self) -> Option<u64> {
        self.rows.map(|rows| rows.saturating_sub(self.part).div_ceil(self.parts))
    }

    pub(crate) fn unpack(split: &Split) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(&split.position, VERSION, "position in a generated table")?;
        Ok(Self {
            id: split.id.as_str().into(),
            part: unpack.number()?,
            parts: unpack.number()?.max(1),
            rows: unpack.optional_number()?,
            done: unpack.number()?,
        })
    }

    pub(crate) fn pack(&self) -> Split {
        Split {
            id: self.id.to_string(),
            position: Pack::new(VERSION)
                .number(self.part)
                .number(self.parts)
                .optional_number(self.rows)
                .number(self.done)
                .finish(),
        }
    }
}

/// Gives each reader its share of the rows, once.
pub(crate) struct NumberedEnumerator {
    rows: Option<u64>,
    readers: usize,
    done: bool,
}

impl NumberedEnumerator {
    /// `state` is what an earlier run remembered.
    pub(crate) fn new(rows: Option<u64>, state: Option<&[u8]>) -> Result<Self, ConnectorError> {
        let done = match state {
            None => false,
            Some(state) => {
                Unpack::new(state, VERSION, "state of a table of numbered rows")?.number()? != 0
            }
        };
        Ok(Self { rows, readers: 1, done })
    }
}

impl SplitEnumerator for NumberedEnumerator {
    fn start(&mut self, readers: usize) {
        self.readers = readers.max(1);
    }

    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(Discovery::default());
        }
        let parts = self.readers;
        let split = |part: usize| NumberedSplit {
            id: format!("part {} of {parts}", part + 1).into(),
            part: part as u64,
            parts: parts as u64,
            rows: self.rows,
            done: 0,
        };
        Ok(Discovery {
            splits: (0..parts).map(|part| split(part).pack()).collect(),
            again_after: None,
            tasks: (0..parts).collect(),
        })
    }

    fn snapshot(&self) -> Vec<u8> {
        Pack::new(VERSION).number(u64::from(self.done)).finish()
    }
}
