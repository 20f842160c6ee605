//! The functions of a streaming window.

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use flott_plan::physical::{ColumnAggregate, Operand, RowOffset, WindowFunction};
use flott_state::{StateDecoder, StateEncoder, StateError};

use super::lag::Lag;
use super::ranks::{Place, Ranks};
use super::script::Script;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows};
use crate::operators::movable::ValueWriter;
use crate::{Result, RuntimeError};

/// Functions and their state by partition.
pub(super) struct Functions {
    /// The columns of the input that the functions look at; they are given these alone.
    args: Vec<usize>,
    aggregation: Option<Aggregation>,
    ranks: Option<Ranks>,
    lags: Vec<Lag>,
    results: Vec<Source>,
}

/// Where the results of a function come from.
enum Source {
    Aggregate(usize),
    Lag(usize),
    Place(Place),
}

impl Functions {
    /// The functions of a window. With `retracts` rows leave frames again.
    pub fn new(functions: &[WindowFunction], retracts: bool) -> Result<Self> {
        let mut args = Vec::new();
        let mut position = |column: usize| {
            args.iter().position(|known| *known == column).unwrap_or_else(|| {
                args.push(column);
                args.len() - 1
            })
        };
        let mut aggregates: Vec<ColumnAggregate> = Vec::new();
        let mut lags = Vec::new();
        let mut results = Vec::new();
        for function in functions {
            results.push(match function {
                WindowFunction::Aggregate(call) => {
                    aggregates.push(ColumnAggregate {
                        args: call.args.iter().map(|arg| position(*arg)).collect(),
                        filter: call.filter.map(&mut position),
                        ..call.clone()
                    });
                    Source::Aggregate(aggregates.len() - 1)
                }
                WindowFunction::Offset(offset) if !offset.is_lead => {
                    let mut operand = |operand: &Operand| match operand {
                        Operand::Column(column) => Operand::Column(position(*column)),
                        constant => constant.clone(),
                    };
                    lags.push(Lag::new(RowOffset {
                        offset: operand(&offset.offset),
                        default: operand(&offset.default),
                        value: position(offset.value),
                        ..offset.clone()
                    })?);
                    Source::Lag(lags.len() - 1)
                }
                WindowFunction::RowNumber => Source::Place(Place::RowNumber),
                WindowFunction::Rank => Source::Place(Place::Rank),
                WindowFunction::DenseRank => Source::Place(Place::DenseRank),
                other => {
                    let problem = format!("{} in a streaming window", other.name());
                    return Err(RuntimeError::internal("OverAggregate", problem));
                }
            });
        }
        let has_places = results.iter().any(|source| matches!(source, Source::Place(_)));
        Ok(Self {
            args,
            aggregation: match aggregates.as_slice() {
                [] => None,
                calls => Some(Aggregation::new(calls, retracts, None)?),
            },
            ranks: has_places.then(Ranks::default),
            lags,
            results,
        })
    }

    /// The columns of the input that the functions look at.
    pub fn args(&self) -> &[usize] {
        &self.args
    }

    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        self.aggregation.iter_mut().for_each(|aggregation| aggregation.resize(groups));
        self.ranks.iter_mut().for_each(|ranks| ranks.resize(groups));
        self.lags.iter_mut().for_each(|lag| lag.resize(groups));
    }

    /// Takes the steps of a script, whose rows are `columns`, and gives a column of results a
    /// function: one value for each read.
    pub fn run(
        &mut self,
        columns: &[ArrayRef],
        script: &Script,
        now: i64,
    ) -> Result<Vec<ArrayRef>> {
        let mut aggregates = Vec::new();
        if let Some(aggregation) = &mut self.aggregation {
            let signs = (!script.only_adds()).then_some(script.signs.as_slice());
            let rows = GroupedRows { columns, groups: &script.groups, signs, now };
            let mut changed = vec![false; script.len()];
            let pairs = aggregation.update_with_changes(&rows, &mut changed)?;
            let reads = script.reads.iter().map(|step| 2 * step + 1);
            let reads = UInt32Array::from_iter_values(reads);
            for pair in pairs {
                aggregates.push(take(&pair, &reads, None)?);
            }
        }
        let lags =
            self.lags.iter_mut().map(|lag| lag.run(columns, script)).collect::<Result<Vec<_>>>()?;
        let places = self.ranks.as_mut().map(|ranks| ranks.run(script));
        Ok(self
            .results
            .iter()
            .filter_map(|source| match source {
                Source::Aggregate(call) => aggregates.get(*call).cloned(),
                Source::Lag(lag) => lags.get(*lag).cloned(),
                Source::Place(place) => places.as_ref().map(|places| places.column(*place)),
            })
            .collect())
    }

    /// Makes partitions forget all rows.
    pub fn reset(&mut self, groups: &[u32]) {
        self.aggregation.iter_mut().for_each(|aggregation| aggregation.reset(groups));
        self.ranks.iter_mut().for_each(|ranks| ranks.reset(groups));
        self.lags.iter_mut().for_each(|lag| lag.reset(groups));
    }

    /// Gives all memory back: no partition has state.
    pub fn give_back(&mut self) -> Result<()> {
        if let Some(aggregation) = &mut self.aggregation {
            *aggregation = aggregation.emptied()?;
        }
        self.ranks.iter_mut().for_each(|ranks| *ranks = Ranks::default());
        self.lags.iter_mut().for_each(Lag::give_back);
        Ok(())
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.aggregation.as_ref().map_or(0, Aggregation::memory)
            + self.ranks.as_ref().map_or(0, Ranks::memory)
            + self.lags.iter().map(Lag::memory).sum::<usize>()
    }

    /// What a snapshot says of the state of a partition.
    pub fn schema(&self) -> String {
        let aggregates = self.aggregation.as_ref().map(Aggregation::schema).unwrap_or_default();
        let ranks = if self.ranks.is_some() { " ranks" } else { "" };
        let lags: Vec<String> = self.lags.iter().map(Lag::schema).collect();
        format!("{aggregates}{ranks} {}", lags.join(", "))
    }

    /// A writer of the state of partitions, in this order.
    pub fn writer<'a>(&'a self, groups: &'a [u32]) -> Result<FunctionsWriter<'a>> {
        let aggregation = self.aggregation.as_ref();
        let aggregation = aggregation.map(|all| GroupWriter::new(all, groups)).transpose()?;
        Ok(FunctionsWriter { functions: self, aggregation })
    }

    /// A reader of what a [`FunctionsWriter`] of the same functions wrote.
    pub fn reader(&self, now: i64) -> FunctionsReader {
        let aggregation = self.aggregation.as_ref();
        FunctionsReader { aggregation: aggregation.map(|all| GroupReader::new(all, now)) }
    }
}

/// Writes the state of partitions.
pub(super) struct FunctionsWriter<'a> {
    functions: &'a Functions,
    aggregation: Option<GroupWriter<'a>>,
}

impl FunctionsWriter<'_> {
    /// Writes the next partition.
    pub fn write(&mut self, group: u32, out: &mut StateEncoder) {
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.write(out);
        }
        self.functions.ranks.iter().for_each(|ranks| ranks.write(group, out));
        self.functions.lags.iter().for_each(|lag| lag.write(group, out));
    }

    /// Tells whether all went well.
    pub fn finish(self) -> Result<()> {
        self.aggregation.map_or(Ok(()), GroupWriter::finish)
    }
}

impl ValueWriter for FunctionsWriter<'_> {
    fn write(&mut self, slot: u32, out: &mut StateEncoder) {
        self.write(slot, out);
    }

    fn finish(self) -> Result<()> {
        self.finish()
    }
}

/// Reads the state of partitions.
pub(super) struct FunctionsReader {
    aggregation: Option<GroupReader>,
}

impl FunctionsReader {
    /// Reads the state of a partition that has seen no row.
    pub fn read(
        &mut self,
        functions: &mut Functions,
        group: u32,
        input: &mut StateDecoder<'_>,
    ) -> Result<(), StateError> {
        functions.resize(group as usize + 1);
        if let (Some(reader), Some(aggregation)) =
            (&mut self.aggregation, &mut functions.aggregation)
        {
            reader.read(aggregation, group, input)?;
        }
        if let Some(ranks) = &mut functions.ranks {
            ranks.read(group, input)?;
        }
        functions.lags.iter_mut().try_for_each(|lag| lag.read(group, input))
    }

    /// Completes the reading.
    pub fn finish(self, functions: &mut Functions) -> Result<()> {
        match (self.aggregation, &mut functions.aggregation) {
            (Some(reader), Some(aggregation)) => reader.finish(aggregation),
            _ => Ok(()),
        }
    }
}
