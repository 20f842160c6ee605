//! Which rows count for a call: the changelog's kinds, its FILTER, and for DISTINCT the first and last
//! of equal rows.

use arrow::array::{Array, AsArray};
use flott_state::{KeyBatch, NO_SLOT};

use super::GroupedRows;
use super::distinct::DistinctValues;
use crate::{Result, RuntimeError};

/// Where the signs of a call's rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignSource {
    /// From the rows that a BOOLEAN column lets through.
    Rows { filter: Option<usize> },
    /// From the values that come into a set, and leave it.
    Distinct { set: usize, lane: usize },
}

/// The signs of a batch, each computed once.
pub(super) struct Signs<'a> {
    rows: &'a GroupedRows<'a>,
    /// Whether a value may be owed, so that it leaves its set when it comes.
    retracts: bool,
    computed: Vec<(SignSource, Vec<i8>)>,
    /// The values of each set.
    values: Vec<(usize, SetValues)>,
}

struct SetValues {
    encoded: KeyBatch,
    /// The members of the set that they are, as far as known.
    members: Vec<u32>,
}

impl<'a> Signs<'a> {
    /// The signs of rows, which take others back if `retracts`, in this batch or another.
    pub fn new(rows: &'a GroupedRows<'a>, retracts: bool) -> Self {
        Self { rows, retracts, computed: Vec::new(), values: Vec::new() }
    }

    /// The signs from a source; `None` when every row is added.
    pub fn of(
        &mut self,
        source: SignSource,
        distinct: &mut [DistinctValues],
    ) -> Result<Option<&[i8]>> {
        if source == (SignSource::Rows { filter: None }) {
            return Ok(self.rows.signs);
        }
        let known = self.computed.iter().position(|(known, _)| *known == source);
        let known = match known {
            Some(known) => known,
            None => {
                let signs = match source {
                    SignSource::Rows { filter } => self.filtered(filter)?,
                    SignSource::Distinct { set, lane } => {
                        self.distinct(set, lane, &mut distinct[set])?
                    }
                };
                self.computed.push((source, signs));
                self.computed.len() - 1
            }
        };
        Ok(Some(&self.computed[known].1))
    }

    /// The rows' own signs, 0 where the filter is not TRUE.
    fn filtered(&self, filter: Option<usize>) -> Result<Vec<i8>> {
        let count = self.rows.groups.len();
        let own = self.rows.signs;
        let Some(filter) = filter else {
            return Ok(own.map_or_else(|| vec![1; count], <[i8]>::to_vec));
        };
        let wrong = || RuntimeError::internal("", "a FILTER that is no BOOLEAN");
        let keep = self.rows.columns[filter].as_boolean_opt().ok_or_else(wrong)?;
        let kept = match keep.nulls() {
            None => keep.values().clone(),
            Some(nulls) => keep.values() & nulls.inner(),
        };
        Ok(match own {
            None => kept.iter().map(i8::from).collect(),
            Some(signs) => kept.iter().zip(signs).map(|(kept, s)| i8::from(kept) * s).collect(),
        })
    }

    fn distinct(
        &mut self,
        set: usize,
        lane: usize,
        values: &mut DistinctValues,
    ) -> Result<Vec<i8>> {
        let mut signs = self.filtered(values.filter(lane))?;
        let count = signs.len();
        let known = self.values.iter().position(|(known, _)| *known == set);
        let known = match known {
            Some(known) => known,
            None => {
                let encoded = values.encode(self.rows.columns, count)?;
                self.values.push((set, SetValues { encoded, members: vec![NO_SLOT; count] }));
                self.values.len() - 1
            }
        };
        let SetValues { encoded, members } = &mut self.values[known].1;
        let (groups, now) = (self.rows.groups, self.rows.now);
        match self.rows.signs {
            None if !self.retracts => {
                values.add(groups, encoded, members, lane, &mut signs, now)?;
            }
            _ => values.count(groups, encoded, lane, &mut signs, now)?,
        }
        Ok(signs)
    }
}
