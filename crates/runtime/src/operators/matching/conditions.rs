//! DEFINE: whether a row may be taken by a variable.
//!
//! What a condition says of the row alone is computed for whole batches when rows arrive; what is left
//! looks at the match as well and is computed when a match asks. A row for which the first part
//! cannot be computed fails the job only if a match asks for it.

use arrow::array::{ArrayRef, BooleanArray};
use flott_functions::{EvalContext, EvalError, Evaluator, Expr, RecordTimes, SessionSettings};
use flott_plan::matching::{Match, MatchEnd, MatchExpr, MatchRows, MatchSlot};
use flott_state::NO_ROW;

use super::buffer::Buffer;
use super::running::{CallPlace, CallSets, Running};
use crate::{Result, RuntimeError};

/// Variables whose first part is kept with the row.
const BITS: usize = 64;

/// The conditions of a pattern's variables.
pub(super) struct Conditions {
    variables: Vec<Condition>,
}

#[derive(Default)]
struct Condition {
    /// Over the columns of the row.
    row: Option<Evaluator>,
    /// Over slots.
    context: Option<(Evaluator, Vec<Slot>)>,
}

/// A value that a condition takes from the match.
enum Slot {
    Current(usize),
    Row { rows: MatchRows, end: MatchEnd, offset: u32, column: usize },
    Aggregate(CallPlace),
}

/// What is known of the row in question.
pub(super) struct Question<'a> {
    pub event: u32,
    /// Its columns.
    pub columns: &'a [ArrayRef],
    pub now: i128,
}

impl Conditions {
    /// The conditions of a pattern; `calls` has all their aggregates.
    pub fn new(pattern: &Match, calls: &mut CallSets, settings: &SessionSettings) -> Result<Self> {
        let variables = pattern.variables.iter().enumerate().map(|(i, variable)| {
            let Some(condition) = &variable.condition else { return Ok(Condition::default()) };
            let (row, context) = split(condition, i < BITS);
            let row = row.map(|row| Evaluator::new(&row, settings)).transpose()?;
            let context = context.map(|context| slots(&context, calls, settings)).transpose()?;
            Ok(Condition { row, context })
        });
        Ok(Self { variables: variables.collect::<Result<_>>()? })
    }

    /// Computes what can be said of each row alone, as the bits that an event keeps: which variables
    /// it passes, and for which that could not be told.
    pub fn of_rows(&self, columns: &[ArrayRef], times: &RecordTimes) -> Vec<(u64, u64)> {
        let mut bits = vec![(0, 0); times.rows()];
        let context = EvalContext::of_records(times);
        for (i, condition) in self.variables.iter().enumerate().take(BITS) {
            let bit = 1u64 << i;
            let Some(evaluator) = &condition.row else {
                bits.iter_mut().for_each(|(passes, _)| *passes |= bit);
                continue;
            };
            match evaluator.evaluate_filter(columns, &context) {
                Ok(holds) => set(&mut bits, &holds, bit),
                Err(_) => {
                    for (row, (passes, fails)) in bits.iter_mut().enumerate() {
                        let now = i128::from(times.readings()[row]) * 1_000_000;
                        match of_row(evaluator, columns, row, now) {
                            Ok(true) => *passes |= bit,
                            Ok(false) => {}
                            Err(_) => *fails |= bit,
                        }
                    }
                }
            }
        }
        bits
    }

    /// Whether a condition looks at more than the row.
    pub fn needs_columns(&self) -> bool {
        self.variables.iter().any(|condition| condition.context.is_some())
    }

    /// Whether the row may be taken by `variable` behind `node`.
    pub fn holds(
        &self,
        variable: u16,
        node: Option<u32>,
        question: &Question,
        buffer: &Buffer,
        running: &mut Running,
    ) -> Result<bool> {
        let condition = &self.variables[usize::from(variable)];
        if usize::from(variable) < BITS {
            let event = buffer.event(question.event);
            let bit = 1u64 << variable;
            if let Some(evaluator) = condition.row.as_ref().filter(|_| event.fails & bit != 0) {
                // Says what went wrong, now that it matters.
                let columns = buffer.rows().gather(&[event.row])?;
                return of_row(evaluator, &columns, 0, question.now)
                    .map_err(RuntimeError::operator);
            }
            if event.passes & bit == 0 {
                return Ok(false);
            }
        }
        let Some((evaluator, slots)) = &condition.context else { return Ok(true) };
        let columns = columns(variable, slots, node, question, buffer, running)?;
        let result = evaluator
            .evaluate_filter(&columns, &EvalContext::new(1, question.now))
            .map_err(RuntimeError::operator)?;
        Ok(result.value(0))
    }
}

fn set(bits: &mut [(u64, u64)], holds: &BooleanArray, bit: u64) {
    for row in holds.values().set_indices() {
        bits[row].0 |= bit;
    }
}

fn of_row(
    evaluator: &Evaluator,
    columns: &[ArrayRef],
    row: usize,
    now: i128,
) -> Result<bool, EvalError> {
    let columns: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
    Ok(evaluator.evaluate_filter(&columns, &EvalContext::new(1, now))?.value(0))
}

/// The part of a condition that looks at the row alone, over its columns, and the rest, over slots.
fn split(condition: &MatchExpr, keeps_bit: bool) -> (Option<Expr>, Option<MatchExpr>) {
    let column = |slot: usize| match condition.slots[slot] {
        MatchSlot::Current(column) => Some(column),
        _ => None,
    };
    let (row, rest): (Vec<Expr>, Vec<Expr>) =
        condition.expr.clone().conjuncts().into_iter().partition(|expr| {
            keeps_bit && expr.columns().iter().all(|slot| column(*slot).is_some())
        });
    let over_columns = |expr: Expr| expr.map_columns(&|slot| column(slot).unwrap_or_default());
    let row = (!row.is_empty()).then(|| over_columns(Expr::conjunction(row)));
    let rest = (!rest.is_empty())
        .then(|| MatchExpr { expr: Expr::conjunction(rest), slots: condition.slots.clone() });
    (row, rest)
}

fn slots(
    condition: &MatchExpr,
    calls: &mut CallSets,
    settings: &SessionSettings,
) -> Result<(Evaluator, Vec<Slot>)> {
    let slots = condition.slots.iter().map(|slot| {
        Ok(match slot {
            MatchSlot::Current(column) => Slot::Current(*column),
            MatchSlot::Row { rows, end, offset, column } => {
                Slot::Row { rows: *rows, end: *end, offset: *offset, column: *column }
            }
            MatchSlot::Aggregate { rows, call } => {
                Slot::Aggregate(calls.place(*rows, call, settings)?)
            }
            MatchSlot::Time => {
                return Err(RuntimeError::internal("", "the time of a match in DEFINE"));
            }
        })
    });
    Ok((Evaluator::new(&condition.expr, settings)?, slots.collect::<Result<_>>()?))
}

/// The slots of a condition as columns of one row.
fn columns(
    variable: u16,
    slots: &[Slot],
    node: Option<u32>,
    question: &Question,
    buffer: &Buffer,
    running: &mut Running,
) -> Result<Vec<ArrayRef>> {
    let mut rows: Vec<u32> = Vec::new();
    for slot in slots {
        if let Slot::Row { rows: among, end, offset, .. } = slot {
            let row = find(variable, *among, *end, *offset, node, question.event, buffer);
            rows.push(row);
        }
    }
    let gathered = if rows.is_empty() { Vec::new() } else { buffer.rows().gather(&rows)? };
    let mut next = 0;
    let context = EvalContext::new(1, question.now);
    slots
        .iter()
        .map(|slot| match slot {
            Slot::Current(column) => Ok(question.columns[*column].clone()),
            Slot::Row { column, .. } => {
                next += 1;
                Ok(gathered[*column].slice(next - 1, 1))
            }
            Slot::Aggregate(place) => {
                running.value(*place, node, variable, question.columns, &context)
            }
        })
        .collect()
}

/// The row that a name means, if the row in question is taken by `variable`.
fn find(
    variable: u16,
    rows: MatchRows,
    end: MatchEnd,
    offset: u32,
    node: Option<u32>,
    event: u32,
    buffer: &Buffer,
) -> u32 {
    let before = |offset: u32| node.and_then(|node| buffer.find(node, rows, end, offset));
    let found = match (rows.covers(usize::from(variable)), end) {
        (false, _) => before(offset),
        (true, MatchEnd::Last) => match offset.checked_sub(1) {
            None => return buffer.row_of(event),
            Some(offset) => before(offset),
        },
        (true, MatchEnd::First) => {
            let count = node.map_or(0, |node| buffer.count(node, rows));
            if offset == count {
                return buffer.row_of(event);
            }
            before(offset)
        }
    };
    found.map_or(NO_ROW, |node| buffer.row_of(buffer.node(node).event))
}
