//! What a join has found, on its way to batches.

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_functions::{Expr, SessionSettings};
use flott_plan::logical::JoinKind;
use flott_state::NO_ROW;
use flott_types::{ChangelogBatch, RowKind};

use super::rows::SideRows;
use super::{LEFT, RIGHT};
use crate::Result;
use crate::context::OperatorContext;
use crate::marks::{Mark, Marks};
use crate::operators::pair_condition::PairCondition;

/// What happened, in order. The residual condition decides over all pairs when they are
/// [flushed](Self::flush): only then is it known which rows met none.
pub(super) struct Pairs {
    kind: JoinKind,
    residual: Option<PairCondition>,
    schema: SchemaRef,
    events: Vec<Event>,
    left: Vec<u32>,
    right: Vec<u32>,
}

enum Event {
    /// So many of the pairs, in order.
    Pairs(u32),
    /// A row left the join's state: nothing will meet it any more.
    Done { side: u8, id: u32 },
    /// A watermark goes out.
    Watermark(i64),
}

/// The rows of a batch under construction, [`NO_ROW`] where NULLs stand.
#[derive(Default)]
struct Output {
    left: Vec<u32>,
    right: Vec<u32>,
    kinds: Vec<u8>,
    marks: Vec<Mark>,
}

impl Output {
    fn push(&mut self, left: u32, right: u32, kind: RowKind) {
        self.left.push(left);
        self.right.push(right);
        self.kinds.push(kind as u8);
    }
}

impl Pairs {
    /// Nothing found yet; pairs become columns of `schema`.
    pub fn new(
        kind: JoinKind,
        residual: Option<&Expr>,
        left_width: usize,
        schema: SchemaRef,
        settings: &SessionSettings,
    ) -> Result<Self> {
        let compile = |residual| PairCondition::new(residual, left_width, settings);
        let residual = residual.map(compile).transpose()?;
        let (left, right) = (Vec::new(), Vec::new());
        Ok(Self { kind, residual, schema, events: Vec::new(), left, right })
    }

    /// Two rows that met, but for the residual condition.
    pub fn pair(&mut self, left: u32, right: u32) {
        self.left.push(left);
        self.right.push(right);
        match self.events.last_mut() {
            Some(Event::Pairs(count)) => *count += 1,
            _ => self.events.push(Event::Pairs(1)),
        }
    }

    /// A row that is in no list any more. Where its side is kept, or asked for by SEMI or ANTI, it
    /// comes out now according to whether it met a row.
    pub fn done(&mut self, side: usize, id: u32) {
        self.events.push(Event::Done { side: side as u8, id });
    }

    /// A watermark behind what was found so far.
    pub fn watermark(&mut self, watermark: i64) {
        if let Some(Event::Watermark(last)) = self.events.last_mut() {
            *last = watermark.max(*last);
        } else {
            self.events.push(Event::Watermark(watermark));
        }
    }

    /// Whether there is about a batch of it.
    pub fn is_full(&self) -> bool {
        self.left.len() + self.events.len() >= ChangelogBatch::MAX_ROWS
    }

    /// Sends on what was found, and forgets the rows that are done.
    pub fn flush(&mut self, sides: &mut [SideRows; 2], ctx: &mut OperatorContext) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let holds = self.holds(sides, ctx)?;
        let one_sided = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        let mut output = Output::default();
        let mut released = [Vec::new(), Vec::new()];
        let mut at = 0;
        for event in std::mem::take(&mut self.events) {
            match event {
                Event::Pairs(count) => {
                    for pair in at..at + count as usize {
                        if holds.as_ref().is_some_and(|holds| !holds.value(pair)) {
                            continue;
                        }
                        let (left, right) = (self.left[pair], self.right[pair]);
                        sides[LEFT].set_matched(left);
                        sides[RIGHT].set_matched(right);
                        if !one_sided {
                            output.push(left, right, sides[LEFT].kind(left));
                        }
                    }
                    at += count as usize;
                }
                Event::Done { side, id } => {
                    let side = usize::from(side);
                    if self.gives_alone(side, sides[side].is_matched(id)) {
                        let (left, right) = if side == LEFT { (id, NO_ROW) } else { (NO_ROW, id) };
                        output.push(left, right, sides[side].kind(id));
                    }
                    released[side].push(id);
                }
                Event::Watermark(watermark) => {
                    output.marks.push(Mark { row: output.left.len() as u32, watermark });
                }
            }
        }
        self.left.clear();
        self.right.clear();
        self.emit(output, sides, ctx)?;
        for (side, ids) in sides.iter_mut().zip(released) {
            ids.into_iter().for_each(|id| side.release(id));
        }
        Ok(())
    }

    /// Whether a row that is done comes out beside NULLs, or as itself from SEMI and ANTI.
    fn gives_alone(&self, side: usize, matched: bool) -> bool {
        match self.kind {
            JoinKind::Inner => false,
            JoinKind::Semi => side == LEFT && matched,
            JoinKind::Anti => side == LEFT && !matched,
            kind if side == LEFT => !matched && kind.keeps_left(),
            kind => !matched && kind.keeps_right(),
        }
    }

    /// For each pair whether the residual condition is TRUE; `None`: there is none.
    fn holds(&self, sides: &[SideRows; 2], ctx: &OperatorContext) -> Result<Option<BooleanArray>> {
        let Some(residual) = &self.residual else { return Ok(None) };
        if self.left.is_empty() {
            return Ok(None);
        }
        let left = |wanted: &[usize]| sides[LEFT].some_columns(&self.left, wanted);
        let right = |wanted: &[usize]| sides[RIGHT].some_columns(&self.right, wanted);
        residual.holds(&ctx.record_times(self.left.len()), left, right).map(Some)
    }

    fn emit(&self, output: Output, sides: &[SideRows; 2], ctx: &mut OperatorContext) -> Result<()> {
        let rows = output.left.len();
        if rows == 0 {
            let last = output.marks.last();
            return last.map_or(Ok(()), |mark| ctx.emit_watermark(mark.watermark));
        }
        let mut columns: Vec<ArrayRef> = sides[LEFT].columns(&output.left)?;
        if !matches!(self.kind, JoinKind::Semi | JoinKind::Anti) {
            columns.extend(sides[RIGHT].columns(&output.right)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        let batch = ChangelogBatch::new(batch, output.kinds.into());
        ctx.emit_marked(batch, output.marks.into_iter().collect::<Marks>())
    }
}
