//! The window join: the rows of equal windows meet when the windows end.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_functions::SessionSettings;
use flott_plan::logical::JoinKind;
use flott_plan::physical::WindowJoin;
use flott_state::{BitSet, KeySlots, StateReader, StateWriter};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::super::window::{WallClock, instants};
use super::pairs::Pairs;
use super::rows::SideRows;
use super::{LEFT, RIGHT, matchable};
use crate::Result;
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operator::Operator;

/// The version of the join's state.
const VERSION: u16 = 1;

/// Joins rows of two inputs that belong to one window, and gives them out when the watermark reaches
/// the window's last millisecond, as Flink's `WindowJoinOperator` does. Rows of windows that have
/// ended are late: they are dropped and counted.
pub struct WindowJoinOperator {
    kind: JoinKind,
    /// Join keys, and behind them the window's end.
    key_columns: [Vec<usize>; 2],
    null_safe: Vec<bool>,
    clock: WallClock,
    /// Keys of windows.
    keys: KeySlots,
    sides: [SideRows; 2],
    /// Keys whose rows match nothing, for a NULL among them.
    lonely: BitSet,
    /// The keys of the windows that fire at an instant.
    windows: BTreeMap<i64, Vec<u32>>,
    pairs: Pairs,
    state_bytes: usize,
}

impl WindowJoinOperator {
    /// A join of inputs with these schemas that gives columns of `schema`.
    pub fn new(
        spec: &WindowJoin,
        left: &Schema,
        right: &Schema,
        schema: SchemaRef,
        settings: &SessionSettings,
        task: &TaskInfo,
    ) -> Result<Self> {
        let with_end = |keys: &[usize], end: usize| [keys, &[end]].concat();
        let left_keys = with_end(&spec.left_keys, spec.left_window.1);
        let types: Vec<DataType> =
            left_keys.iter().map(|key| left.fields[*key].data_type.clone()).collect();
        Ok(Self {
            kind: spec.kind,
            key_columns: [left_keys, with_end(&spec.right_keys, spec.right_window.1)],
            null_safe: spec.null_safe.iter().copied().chain([false]).collect(),
            clock: WallClock::new(spec.is_ltz, &task.zone),
            keys: KeySlots::new(&types, None),
            sides: [SideRows::new(left), SideRows::new(right)],
            lonely: BitSet::new(),
            windows: BTreeMap::new(),
            pairs: Pairs::new(
                spec.kind,
                spec.residual.as_ref(),
                left.fields.len(),
                schema,
                settings,
            )?,
            state_bytes: 0,
        })
    }

    /// Whether rows of an input come out without a match.
    fn keeps(&self, input: usize) -> bool {
        match self.kind {
            JoinKind::Anti => input == LEFT,
            kind if input == LEFT => kind.keeps_left(),
            kind => kind.keeps_right(),
        }
    }

    /// The instant at which a window with this end fires.
    fn firing(&self, end: i64) -> i64 {
        self.clock.firing(end.saturating_sub(1))
    }

    /// Gives out the windows that end up to the watermark.
    fn fire(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        while let Some(window) = self.windows.first_entry().filter(|w| *w.key() <= watermark) {
            for key in window.remove() {
                self.give(key, ctx)?;
                self.keys.remove(key);
                self.lonely.remove(key);
            }
        }
        Ok(())
    }

    /// Joins the rows of a key in its window, and frees them.
    fn give(&mut self, key: u32, ctx: &mut OperatorContext) -> Result<()> {
        let can_match = !self.lonely.contains(key);
        while let Some(left) = self.sides[LEFT].first(key) {
            let mut right = self.sides[RIGHT].first(key).filter(|_| can_match);
            while let Some(met) = right {
                self.pairs.pair(left, met);
                right = self.sides[RIGHT].next(met);
                if self.pairs.is_full() {
                    self.pairs.flush(&mut self.sides, ctx)?;
                }
            }
            self.sides[LEFT].unlink(key, left);
            self.pairs.done(LEFT, left);
        }
        while let Some(right) = self.sides[RIGHT].first(key) {
            self.sides[RIGHT].unlink(key, right);
            self.pairs.done(RIGHT, right);
        }
        Ok(())
    }

    fn finish(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.pairs.flush(&mut self.sides, ctx)?;
        self.account();
        Ok(())
    }

    fn account(&mut self) {
        let rows: usize = self.sides.iter().map(SideRows::memory).sum();
        let windows = self.windows.len() * size_of::<(i64, Vec<u32>)>() + self.keys.len() * 4;
        self.state_bytes = self.keys.memory() + rows + self.lonely.memory() + windows;
    }

    fn schema(&self) -> String {
        let [left, right] = &self.sides;
        self.keys.schema(&format!("[{}] [{}]", left.schema(), right.schema()))
    }
}

impl Operator for WindowJoinOperator {
    fn name(&self) -> &str {
        "WindowJoin"
    }

    fn on_batch(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let rows = batch.len();
        let columns = batch.rows.columns();
        let keys: Vec<ArrayRef> =
            self.key_columns[input].iter().map(|key| columns[*key].clone()).collect();
        let matchable = matchable(&keys, &self.null_safe)?;
        let encoded_keys = self.keys.encoder().encode(&keys, rows)?;
        let (ends, _) = instants(&keys[keys.len() - 1])?;
        let encoded = self.sides[input].encode(columns, rows)?;
        let mut watermark = ctx.watermark();
        let mut late = LateRows::new();
        let marks = ctx.marks();
        for segment in marks.segments(rows) {
            for row in segment.rows {
                let can_match = matchable.as_ref().is_none_or(|all| all.value(row));
                let firing = self.firing(ends[row]);
                if firing <= watermark {
                    late.push(row, watermark);
                    continue;
                }
                if !can_match && !self.keeps(input) {
                    continue;
                }
                let (key, fresh) = self.keys.write_one(&encoded_keys, row, 0)?;
                if fresh {
                    self.windows.entry(firing).or_default().push(key);
                    if !can_match {
                        self.lonely.insert(key);
                    }
                }
                let id = self.sides[input].keep(&encoded, row, RowKind::Insert)?;
                self.sides[input].append(key, id, ends[row]);
            }
            if let Some(mark) = segment.watermark {
                watermark = mark;
                self.fire(watermark, ctx)?;
                self.pairs.watermark(watermark);
            }
        }
        ctx.drop_late(input, &batch, late)?;
        self.finish(ctx)
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.fire(watermark, ctx)?;
        self.finish(ctx)?;
        ctx.emit_watermark(watermark)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed("window join", VERSION, &self.schema());
        self.keys.snapshot(section, |key, out| {
            out.bool(self.lonely.contains(key));
            self.sides.iter().for_each(|side| side.write(key, out));
        })?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed("window join", VERSION, &self.schema())?;
        let (sides, lonely, windows) = (&mut self.sides, &mut self.lonely, &mut self.windows);
        let clock = &self.clock;
        self.keys.restore(ctx.task().max_parallelism, 0, entries, |key, _version, value| {
            if value.bool()? {
                lonely.insert(key);
            }
            sides.iter_mut().try_for_each(|side| side.read(key, value))?;
            let first = sides.iter().find_map(|side| side.first(key).map(|id| side.time(id)));
            let end = first.ok_or_else(|| value.damaged("a window without rows"))?;
            windows.entry(clock.firing(end.saturating_sub(1))).or_default().push(key);
            Ok(())
        })?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn handles_marks(&self) -> bool {
        true
    }
}
