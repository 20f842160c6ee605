//! The window join: the rows of equal windows meet when the windows end.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_functions::SessionSettings;
use flott_plan::logical::JoinKind;
use flott_plan::physical::WindowJoin;
use flott_state::{BitSet, KeySlots, StateDecoder, StateEncoder, StateReader, StateWriter};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::pairs::Pairs;
use super::rows::SideRows;
use super::{LEFT, RIGHT, matchable};
use crate::Result;
use crate::context::{OperatorContext, TaskInfo};
use crate::late::LateRows;
use crate::operator::Operator;
use crate::operators::movable::{self, Movable, Plain, PlainReader, ValueReader, ValueWriter};
use crate::operators::window::{WallClock, instants};

/// The version of the join's state.
const VERSION: u16 = 1;
/// No window.
const NEVER: i64 = i64::MIN;

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
    /// By key, when its window fires.
    firings: Vec<i64>,
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
            firings: Vec::new(),
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

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, WindowRows<'_>) {
        let rows = WindowRows {
            clock: &self.clock,
            sides: &mut self.sides,
            lonely: &mut self.lonely,
            windows: &mut self.windows,
            firings: &mut self.firings,
        };
        (&mut self.keys, rows)
    }

    fn account(&mut self) {
        let rows: usize = self.sides.iter().map(SideRows::memory).sum();
        let windows = self.windows.len() * size_of::<(i64, Vec<u32>)>()
            + self.keys.len() * 4
            + self.firings.capacity() * size_of::<i64>();
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
        let (known, mut kept) = self.parts();
        movable::load(known, &mut kept, &encoded_keys, 0)?;
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
                    open(&mut self.windows, &mut self.firings, key, firing);
                    if !can_match {
                        self.lonely.insert(key);
                    }
                }
                self.keys.meet(&[key]);
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
        let (keys, kept) = self.parts();
        movable::snapshot(keys, &kept, section)?;
        self.keys.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed("window join", VERSION, &self.schema())?;
        let (keys, mut kept) = self.parts();
        movable::restore(keys, &mut kept, entries, 0, ctx)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        true
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.state_bytes, room);
        let (keys, mut kept) = self.parts();
        if movable::make_way(keys, &mut kept, bytes, ctx)? {
            self.account();
        }
        Ok(())
    }

    fn due_on_disk(&self) -> Option<i64> {
        self.keys.next_due()
    }

    fn wake(&mut self, until: i64, ctx: &mut OperatorContext) -> Result<()> {
        let (keys, mut kept) = self.parts();
        let reached = movable::load_due(keys, &mut kept, until, ctx)?;
        self.fire(reached, ctx)?;
        self.finish(ctx)
    }

    fn handles_marks(&self) -> bool {
        true
    }
}

/// What is kept under a key that is a join key and a window: rows of both sides.
struct WindowRows<'a> {
    clock: &'a WallClock,
    sides: &'a mut [SideRows; 2],
    lonely: &'a mut BitSet,
    windows: &'a mut BTreeMap<i64, Vec<u32>>,
    firings: &'a mut Vec<i64>,
}

impl Movable for WindowRows<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|key: u32, out: &mut StateEncoder| {
            out.bool(self.lonely.contains(key));
            self.sides.iter().for_each(|side| side.write(key, out));
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        PlainReader(|key: u32, input: &mut StateDecoder<'_>| {
            if input.bool()? {
                self.lonely.insert(key);
            }
            self.sides.iter_mut().try_for_each(|side| side.read(key, input))?;
            let first = self.sides.iter().find_map(|side| side.first(key).map(|id| side.time(id)));
            let end = first.ok_or_else(|| input.damaged("a window without rows"))?;
            let firing = self.clock.firing(end.saturating_sub(1));
            open(self.windows, self.firings, key, firing);
            Ok(())
        })
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for key in slots {
            self.sides.iter_mut().for_each(|side| side.leave(*key));
            self.lonely.remove(*key);
            self.firings[*key as usize] = NEVER;
        }
        let firings = &*self.firings;
        self.windows.retain(|firing, keys| {
            keys.retain(|key| firings[*key as usize] == *firing);
            !keys.is_empty()
        });
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.sides.iter_mut().for_each(|side| *side = side.emptied());
        (*self.lonely, *self.windows, *self.firings) = Default::default();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        slots.iter().map(|key| (*key, self.firings[*key as usize])).collect()
    }
}

/// Notes when the window of a key fires.
fn open(windows: &mut BTreeMap<i64, Vec<u32>>, firings: &mut Vec<i64>, key: u32, firing: i64) {
    windows.entry(firing).or_default().push(key);
    if key as usize >= firings.len() {
        firings.resize(key as usize + 1, NEVER);
    }
    firings[key as usize] = firing;
}
