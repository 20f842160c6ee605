//! MEASURES: matches to rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_functions::{EvalContext, Evaluator, RecordTimes, SessionSettings};
use flott_plan::matching::{Match, MatchEnd, MatchRows, MatchSlot};
use flott_state::NO_ROW;
use flott_types::ChangelogBatch;

use super::buffer::Buffer;
use super::matcher::Found;
use super::running::{CallPlace, CallSets, Calls};
use crate::operators::aggregation::{Aggregation, GroupedRows};
use crate::operators::window::timestamps;
use crate::{Result, RuntimeError};

/// Computes the output of many matches at once.
pub(super) struct Measures {
    partition: Vec<usize>,
    /// Each with the slots that are its columns.
    exprs: Vec<(Evaluator, Vec<usize>)>,
    slots: Vec<Slot>,
    /// Which rows slots read, each once.
    picks: Vec<Pick>,
    sets: Vec<(Calls, Aggregation)>,
    schema: SchemaRef,
}

/// A value that measures take from a match.
#[derive(Clone, PartialEq)]
enum Slot {
    Row { pick: usize, column: usize },
    Aggregate(CallPlace),
    Time,
}

type Pick = (MatchRows, MatchEnd, u32);

impl Measures {
    /// The measures of a pattern as columns of `schema`, behind those of the partition.
    pub fn new(pattern: &Match, schema: SchemaRef, settings: &SessionSettings) -> Result<Self> {
        let mut calls = CallSets::new();
        let mut slots: Vec<Slot> = Vec::new();
        let mut picks: Vec<Pick> = Vec::new();
        let mut exprs = Vec::new();
        for measure in &pattern.measures {
            let mut columns = Vec::new();
            for slot in &measure.slots {
                let slot = match slot {
                    MatchSlot::Row { rows, end, offset, column } => {
                        let pick = index_of(&mut picks, (*rows, *end, *offset));
                        Slot::Row { pick, column: *column }
                    }
                    MatchSlot::Aggregate { rows, call } => {
                        Slot::Aggregate(calls.place(*rows, call, settings)?)
                    }
                    MatchSlot::Time => Slot::Time,
                    MatchSlot::Current(_) => {
                        return Err(RuntimeError::internal("", "a row in question in MEASURES"));
                    }
                };
                columns.push(index_of(&mut slots, slot));
            }
            exprs.push((Evaluator::new(&measure.expr, settings)?, columns));
        }
        let sets = calls.0.into_iter().map(|calls| {
            let aggregation = calls.aggregation()?;
            Ok((calls, aggregation))
        });
        let sets = sets.collect::<Result<_>>()?;
        Ok(Self { partition: pattern.partition.clone(), exprs, slots, picks, sets, schema })
    }

    /// The rows of some matches, in their order.
    pub fn rows(
        &mut self,
        found: &[Found],
        buffer: &Buffer,
        times: &RecordTimes,
    ) -> Result<ChangelogBatch> {
        let context = EvalContext::of_records(times);
        let picked = self.picks.iter().map(|pick| gather(*pick, found, buffer));
        let picked = picked.collect::<Result<Vec<_>>>()?;
        let aggregates = self.aggregates(found, buffer, times)?;
        let slots: Vec<ArrayRef> = self
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::Row { pick, column } => picked[*pick][*column].clone(),
                Slot::Aggregate(place) => aggregates[place.set][place.call].clone(),
                Slot::Time => timestamps(found.iter().map(|found| time(found, buffer)).collect()),
            })
            .collect();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        if !self.partition.is_empty() {
            let any = gather((MatchRows::All, MatchEnd::Last, 0), found, buffer)?;
            columns.extend(self.partition.iter().map(|column| any[*column].clone()));
        }
        for (expr, needed) in &self.exprs {
            let needed: Vec<ArrayRef> = needed.iter().map(|slot| slots[*slot].clone()).collect();
            columns.push(expr.evaluate(&needed, &context).map_err(RuntimeError::operator)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(found.len()));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        Ok(ChangelogBatch::inserts(rows))
    }

    /// For each set of calls and call, its values by match.
    fn aggregates(
        &mut self,
        found: &[Found],
        buffer: &Buffer,
        times: &RecordTimes,
    ) -> Result<Vec<Vec<ArrayRef>>> {
        let mut values = Vec::with_capacity(self.sets.len());
        let mut path = Vec::new();
        let matches: Vec<u32> = (0..found.len() as u32).collect();
        for (calls, aggregation) in &mut self.sets {
            let (mut rows, mut groups) = (Vec::new(), Vec::new());
            for (group, found) in matches.iter().zip(found) {
                buffer.path(found.node, &mut path);
                for (variable, event) in &path {
                    if calls.rows.covers(usize::from(*variable)) {
                        rows.push(buffer.row_of(*event));
                        groups.push(*group);
                    }
                }
            }
            aggregation.resize(found.len());
            if !rows.is_empty() {
                let columns = buffer.rows().gather(&rows)?;
                let times = times.anew(rows.len());
                let arguments = calls.arguments(&columns, &EvalContext::of_records(&times))?;
                let (columns, now) = (&arguments[..], times.read());
                let rows = GroupedRows { columns, groups: &groups, signs: None, now };
                aggregation.update(&rows)?;
            }
            values.push(aggregation.values(&matches)?);
            aggregation.reset(&matches);
        }
        Ok(values)
    }
}

/// The time of a match: that with which it is given out, or of its last row, where it was held back
/// to the end of the input.
fn time(found: &Found, buffer: &Buffer) -> i64 {
    match found.time {
        i64::MAX => buffer.event(buffer.node(found.node).event).time,
        time => time,
    }
}

/// One row of each match, NULLs where it has none.
fn gather((rows, end, offset): Pick, found: &[Found], buffer: &Buffer) -> Result<Vec<ArrayRef>> {
    let row = |found: &Found| {
        let node = buffer.find(found.node, rows, end, offset);
        node.map_or(NO_ROW, |node| buffer.row_of(buffer.node(node).event))
    };
    Ok(buffer.rows().gather(&found.iter().map(row).collect::<Vec<_>>())?)
}

fn index_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}
