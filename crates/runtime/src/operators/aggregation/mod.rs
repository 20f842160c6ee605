//! The aggregates of an operator: one accumulator a call, fed with the columns and signs that its
//! FILTER and DISTINCT leave.
//!
//! Groups are small numbers that the operator gives; what they stand for, a key or a key in a window,
//! is the operator's to know.

mod distinct;
mod partial;
mod signs;
mod state;

use arrow::array::ArrayRef;
use flott_functions::aggregate::{Accumulator, AggregateInput};
use flott_plan::physical::ColumnAggregate;
use flott_state::Ttl;
use flott_types::DataType;

use crate::{Result, RuntimeError};
use distinct::{DistinctValues, SeenValues};
use signs::{SignSource, Signs};

pub(super) use state::{GroupReader, GroupWriter};

/// The aggregates of an operator.
pub(super) struct Aggregation {
    specs: Vec<ColumnAggregate>,
    ttl: Option<Ttl>,
    calls: Vec<Call>,
    distinct: Vec<DistinctValues>,
    /// Whether rows may be taken back.
    retracts: bool,
    groups: usize,
}

/// A call and its state.
struct Call {
    /// The call as text, part of what a snapshot says of itself.
    text: String,
    /// The columns of its arguments.
    args: Vec<usize>,
    signs: SignSource,
    accumulator: Box<dyn Accumulator>,
}

/// Rows of an input that belong to groups.
#[derive(Clone, Copy)]
pub(super) struct GroupedRows<'a> {
    /// The columns of the input.
    pub columns: &'a [ArrayRef],
    /// The group of each row.
    pub groups: &'a [u32],
    /// +1 to add a row, −1 to take it back, 0 to pass it over; `None`: all are added.
    pub signs: Option<&'a [i8]>,
    /// Processing time.
    pub now: i64,
}

impl Aggregation {
    /// The aggregates of some calls. With a TTL values of DISTINCT expire one by one.
    pub fn new(calls: &[ColumnAggregate], retracts: bool, ttl: Option<Ttl>) -> Result<Self> {
        let mut this = Self {
            specs: calls.to_vec(),
            ttl,
            calls: Vec::new(),
            distinct: Vec::new(),
            retracts,
            groups: 0,
        };
        for call in calls {
            let signs = this.sign_source(call, ttl);
            let spec = call.spec(retracts);
            let accumulator = (call.function.create)(&spec).map_err(RuntimeError::operator)?;
            let args = call.args.clone();
            this.calls.push(Call { text: describe(call), args, signs, accumulator });
        }
        Ok(this)
    }

    /// The same aggregates without any group.
    pub fn emptied(&self) -> Result<Self> {
        Self::new(&self.specs, self.retracts, self.ttl)
    }

    /// Where a call's signs come from. DISTINCT calls of the same columns share the values seen.
    fn sign_source(&mut self, call: &ColumnAggregate, ttl: Option<Ttl>) -> SignSource {
        if !call.distinct {
            return SignSource::Rows { filter: call.filter };
        }
        let set = self.distinct.iter().position(|set| set.columns() == call.args);
        let set = set.unwrap_or_else(|| {
            self.distinct.push(DistinctValues::new(&call.args, &call.arg_types, ttl));
            self.distinct.len() - 1
        });
        SignSource::Distinct { set, lane: self.distinct[set].lane(call.filter) }
    }

    /// Makes room for groups `0..groups`; new ones have seen no row.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.groups {
            self.groups = groups;
            self.calls.iter_mut().for_each(|call| call.accumulator.resize(groups));
        }
    }

    /// Takes in rows without looking at results.
    pub fn update(&mut self, rows: &GroupedRows) -> Result<()> {
        let Self { calls, distinct, retracts, .. } = self;
        let mut signs = Signs::new(rows, *retracts);
        for call in calls {
            let args = pick(rows.columns, &call.args);
            let input = AggregateInput {
                groups: rows.groups,
                signs: signs.of(call.signs, distinct)?,
                args: &args,
            };
            call.accumulator.update(&input).map_err(RuntimeError::operator)?;
        }
        Ok(())
    }

    /// Takes in rows in order and gives for each call a column of two values a row: of the row's
    /// group before and after it. `changed` is set for rows that changed any of them.
    pub fn update_with_changes(
        &mut self,
        rows: &GroupedRows,
        changed: &mut [bool],
    ) -> Result<Vec<ArrayRef>> {
        let Self { calls, distinct, retracts, .. } = self;
        let mut signs = Signs::new(rows, *retracts);
        let mut pairs = Vec::with_capacity(calls.len());
        for call in calls {
            let args = pick(rows.columns, &call.args);
            let input = AggregateInput {
                groups: rows.groups,
                signs: signs.of(call.signs, distinct)?,
                args: &args,
            };
            let both = call.accumulator.update_with_changes(&input, changed);
            pairs.push(both.map_err(RuntimeError::operator)?);
        }
        Ok(pairs)
    }

    /// The results of some groups, a column a call.
    pub fn values(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let values = |call: &Call| call.accumulator.values(groups).map_err(RuntimeError::operator);
        self.calls.iter().map(values).collect()
    }

    /// The results of some groups, and behind them what Flink compares, too, to tell whether a mini-batch changed a group.
    pub fn compared(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = self.values(groups)?;
        for call in &self.calls {
            columns.extend(call.accumulator.unseen(groups).map_err(RuntimeError::operator)?);
        }
        Ok(columns)
    }

    /// The types of the columns that `compared` gives.
    pub fn compared_types(&self) -> Vec<DataType> {
        let results = self.specs.iter().map(|call| call.data_type.clone());
        results.chain(self.calls.iter().flat_map(|call| call.accumulator.unseen_types())).collect()
    }

    /// Makes groups forget all rows.
    pub fn reset(&mut self, groups: &[u32]) {
        self.calls.iter_mut().for_each(|call| call.accumulator.reset(groups));
        for set in &mut self.distinct {
            groups.iter().for_each(|group| set.clear(*group));
        }
    }

    /// Adds group `from[i]` of `other`, which has the same calls, to group `into[i]`.
    pub fn merge(&mut self, into: &[u32], other: &Self, from: &[u32], now: i64) -> Result<()> {
        for (call, theirs) in self.calls.iter_mut().zip(&other.calls) {
            if matches!(call.signs, SignSource::Rows { .. }) {
                let merged = call.accumulator.merge(into, &*theirs.accumulator, from);
                merged.map_err(RuntimeError::operator)?;
            }
        }
        for set in 0..self.distinct.len() {
            if let Some(values) = other.distinct[set].values_of(from)? {
                self.merge_values(set, into, &values, now)?;
            }
        }
        Ok(())
    }

    /// Adds group `from[i]` to group `into[i]`, a different one.
    pub fn merge_within(&mut self, into: &[u32], from: &[u32]) -> Result<()> {
        for call in &mut self.calls {
            if matches!(call.signs, SignSource::Rows { .. }) {
                let state = call.accumulator.state(from).map_err(RuntimeError::operator)?;
                let merged = call.accumulator.merge_state(into, &state);
                merged.map_err(RuntimeError::operator)?;
            }
        }
        for set in 0..self.distinct.len() {
            if let Some(values) = self.distinct[set].values_of(from)? {
                self.merge_values(set, into, &values, 0)?;
            }
        }
        Ok(())
    }

    /// Adds values of DISTINCT to groups. Values that both have seen count once, so they are fed anew.
    fn merge_values(
        &mut self,
        set: usize,
        into: &[u32],
        values: &SeenValues,
        now: i64,
    ) -> Result<()> {
        for lane in 0..self.distinct[set].lanes() {
            let (groups, signs) = self.distinct[set].merge(into, values, lane, now)?;
            let source = SignSource::Distinct { set, lane };
            for call in self.calls.iter_mut().filter(|call| call.signs == source) {
                let args = &values.columns;
                let input = AggregateInput { groups: &groups, signs: Some(&signs), args };
                call.accumulator.update(&input).map_err(RuntimeError::operator)?;
            }
        }
        Ok(())
    }

    /// Drops up to `limit` values of DISTINCT that expired.
    pub fn sweep(&mut self, now: i64, limit: usize) -> Vec<u32> {
        self.distinct.iter_mut().flat_map(|set| set.sweep(now, limit)).collect()
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.accumulator.memory()).sum::<usize>();
        calls + self.distinct.iter().map(DistinctValues::memory).sum::<usize>()
    }
}

/// Columns by position.
pub(super) fn pick(columns: &[ArrayRef], positions: &[usize]) -> Vec<ArrayRef> {
    positions.iter().map(|position| columns[*position].clone()).collect()
}

/// `SUM(DISTINCT BIGINT) FILTER`
fn describe(call: &ColumnAggregate) -> String {
    let types: Vec<_> = call.arg_types.iter().map(|ty| ty.root.to_string()).collect();
    format!(
        "{}({}{}){}",
        call.function.name,
        if call.distinct { "DISTINCT " } else { "" },
        types.join(", "),
        if call.filter.is_some() { " FILTER" } else { "" }
    )
}
