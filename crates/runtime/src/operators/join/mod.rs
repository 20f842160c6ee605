//! The regular join: both inputs are kept, and every change of either is joined with what the other
//! one holds.
//!
//! Kinds and order are those of Flink's `StreamingJoinOperator` and `StreamingSemiAntiJoinOperator`. In
//! batch mode the right input is read first, so that no row is given that must be taken back. State without room
//! in memory is on disk: by join key, or in batch mode in parts.

mod output;
mod parts;
mod rows;
mod side;
mod spill;
#[cfg(test)]
mod tests;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_functions::SessionSettings;
use flott_plan::logical::JoinKind;
use flott_plan::physical::RegularJoin;
use flott_state::{StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, RowKind, Schema};

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::pair_condition::PairCondition;
use crate::{Result, RuntimeError};
use output::Output;
use parts::Parts;
use rows::Identity;
use side::{Encoded, Side};

const LEFT: usize = 0;

/// Joins two changelogs.
pub struct JoinOperator {
    kind: JoinKind,
    batch_mode: bool,
    sides: [Side; 2],
    residual: Option<PairCondition>,
    schema: SchemaRef,
    inputs: [SchemaRef; 2],
    output: Output,
    /// Batch mode: left batches that wait for the end of the right input.
    waiting: Vec<ChangelogBatch>,
    waiting_bytes: usize,
    /// Batch mode without room in memory: both inputs on disk.
    parts: Option<Parts>,
    ended: [bool; 2],
    state_bytes: usize,
}

/// Pairs of rows that match, grouped by the input's row, in order.
struct Matches {
    pairs: Vec<(u32, u32)>,
}

impl Matches {
    /// The kept rows that match a row of the input; rows are asked for in order.
    fn of(&self, row: u32, from: &mut usize) -> &[(u32, u32)] {
        let start = *from;
        while self.pairs.get(*from).is_some_and(|(input, _)| *input == row) {
            *from += 1;
        }
        &self.pairs[start..*from]
    }
}

impl JoinOperator {
    /// A join of inputs with these schemas that gives columns of `schema`.
    pub fn new(
        spec: &RegularJoin,
        left: &Schema,
        right: &Schema,
        schema: SchemaRef,
        settings: &SessionSettings,
    ) -> Result<Self> {
        let identity = |input: usize, unique: &[Vec<usize>], keys: &[usize]| match spec.batch {
            // Nothing is taken back, and rows of a key that is not so unique all count.
            true => Identity::None,
            false => Identity::of(unique, keys, spec.insert_only[input]),
        };
        let side = |name, schema, keys: &[usize], identity, ttl: u64| {
            let ttl = Ttl::from_millis(i64::try_from(ttl).unwrap_or(i64::MAX));
            Side::new(name, schema, keys, &spec.null_safe, identity, ttl.filter(|_| !spec.batch))
        };
        let (left_keys, right_keys) = (&spec.left_keys, &spec.right_keys);
        let of_left = identity(LEFT, &spec.left_unique, left_keys);
        let of_right = identity(1, &spec.right_unique, right_keys);
        let [left_ttl, right_ttl] = spec.state_ttl;
        Ok(Self {
            kind: spec.kind,
            batch_mode: spec.batch,
            sides: [
                side("left", left, left_keys, of_left, left_ttl),
                side("right", right, right_keys, of_right, right_ttl),
            ],
            residual: spec
                .residual
                .as_ref()
                .map(|residual| PairCondition::new(residual, left.fields.len(), settings))
                .transpose()?,
            schema,
            inputs: [left.to_arrow(), right.to_arrow()],
            output: Output::default(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            parts: None,
            ended: [false; 2],
            state_bytes: 0,
        })
    }

    fn is_one_sided(&self) -> bool {
        matches!(self.kind, JoinKind::Semi | JoinKind::Anti)
    }

    /// Whether rows of an input come out padded with NULLs when they match nothing.
    fn is_outer(&self, input: usize) -> bool {
        if input == LEFT { self.kind.keeps_left() } else { self.kind.keeps_right() }
    }

    fn join(
        &mut self,
        input: usize,
        batch: &ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let now = ctx.now();
        let columns = batch.rows.columns();
        let mut encoded = self.sides[input].encode(columns, batch.len())?;
        for side in &mut self.sides {
            side.load(&encoded.keys, now)?;
        }
        let keys = self.sides[1 - input].find_keys(&encoded)?;
        if batch.kinds.is_none() && !self.batch_mode {
            self.sides[input].keep_keys(&mut encoded, now)?;
        }
        let mut row = 0;
        while row < batch.len() {
            // As many rows as give about one batch of candidates.
            let first = row;
            let mut pairs = Vec::new();
            while row < batch.len() && pairs.len() < ChangelogBatch::MAX_ROWS {
                self.sides[1 - input].probe(row as u32, keys[row], now, &mut pairs);
                row += 1;
            }
            let matches = self.matching(input, columns, pairs, ctx)?;
            let mut from = 0;
            for at in first..row {
                let matching = matches.of(at as u32, &mut from);
                self.step(input, batch.kind(at), &encoded, at, matching, now)?;
                if self.output.len() >= ChangelogBatch::MAX_ROWS {
                    self.emit(input, columns, ctx)?;
                }
            }
            self.emit(input, columns, ctx)?;
        }
        self.sides[input].sweep(now, batch.len())?;
        self.account();
        Ok(())
    }

    /// Of the candidates those for which the residual condition is TRUE.
    fn matching(
        &self,
        input: usize,
        columns: &[ArrayRef],
        pairs: Vec<(u32, u32)>,
        ctx: &OperatorContext,
    ) -> Result<Matches> {
        let Some(residual) = &self.residual else { return Ok(Matches { pairs }) };
        let mut kept = Vec::with_capacity(pairs.len());
        for chunk in pairs.chunks(ChangelogBatch::MAX_ROWS) {
            let rows: UInt32Array = chunk.iter().map(|(row, _)| *row).collect();
            let mine = |wanted: &[usize]| -> Result<Vec<ArrayRef>> {
                let taken = wanted.iter().map(|column| take(&columns[*column], &rows, None));
                Ok(taken.collect::<Result<_, _>>()?)
            };
            let others = |wanted: &[usize]| {
                let others: Vec<u32> = chunk.iter().map(|(_, kept)| *kept).collect();
                self.sides[1 - input].some_columns(&others, wanted)
            };
            let times = ctx.record_times(chunk.len());
            let holds = match input {
                LEFT => residual.holds(&times, mine, others)?,
                _ => residual.holds(&times, others, mine)?,
            };
            kept.extend(chunk.iter().enumerate().filter(|(i, _)| holds.value(*i)).map(|(_, p)| *p));
        }
        Ok(Matches { pairs: kept })
    }

    /// Joins one row with what matches it, and keeps or forgets it.
    fn step(
        &mut self,
        input: usize,
        kind: RowKind,
        encoded: &Encoded,
        row: usize,
        matching: &[(u32, u32)],
        now: i64,
    ) -> Result<()> {
        let at = row as u32;
        if self.batch_mode {
            self.give_final(at, matching, now);
            return Ok(());
        }
        match (self.is_one_sided(), input == LEFT) {
            (true, true) if matching.is_empty() == (self.kind == JoinKind::Anti) => {
                self.output.push(kind, Some(at), None);
            }
            (true, true) => {}
            (true, false) => self.give_left(kind, matching, now),
            (false, _) => self.give_pairs(input, kind, at, matching, now),
        }
        if !kind.adds() {
            self.sides[input].retract(encoded, row, now);
        } else if encoded.can_match(row) {
            let other = &self.sides[1 - input];
            let matches = matching
                .iter()
                .fold(0u32, |sum, (_, kept)| sum.saturating_add(other.copies(*kept)));
            self.sides[input].add(encoded, row, matches, now)?;
        }
        Ok(())
    }

    /// Gives what a row makes or takes back together with each row that matches it.
    fn give_pairs(
        &mut self,
        input: usize,
        kind: RowKind,
        at: u32,
        matching: &[(u32, u32)],
        now: i64,
    ) {
        let (outer, other_outer) = (self.is_outer(input), self.is_outer(1 - input));
        let plain = if kind.adds() { RowKind::Insert } else { RowKind::Delete };
        if outer && matching.is_empty() {
            self.output.push(plain, Some(at), None);
        }
        // Flink passes an update's kind on where no row is padded; it takes rows back by the
        // input's kind also where the other side is padded.
        let given = if outer || (other_outer && kind.adds()) { plain } else { kind };
        for (_, kept) in matching {
            let other = &self.sides[1 - input];
            let (copies, matches) = (other.copies(*kept), other.matches(*kept));
            if !other_outer {
                self.output.push_times(copies, given, Some(at), *kept);
                continue;
            }
            for _ in 0..copies {
                if kind.adds() && matches == 0 {
                    self.output.push(RowKind::Delete, None, Some(*kept));
                }
                self.output.push(given, Some(at), Some(*kept));
                if !kind.adds() && matches == 1 {
                    self.output.push(RowKind::Insert, None, Some(*kept));
                }
            }
            self.sides[1 - input].set_matches(*kept, counted(matches, kind), now);
        }
    }

    /// Semi and anti joins: gives the left rows whose first match came or whose last one went.
    fn give_left(&mut self, kind: RowKind, matching: &[(u32, u32)], now: i64) {
        let given = match (self.kind == JoinKind::Anti, kind.adds()) {
            (false, _) => kind,
            (true, true) => RowKind::Delete,
            (true, false) => RowKind::Insert,
        };
        for (_, kept) in matching {
            let before = self.sides[LEFT].matches(*kept);
            let after = counted(before, kind);
            if (before == 0) != (after == 0) {
                let copies = self.sides[LEFT].copies(*kept);
                self.output.push_times(copies, given, None, *kept);
            }
            self.sides[LEFT].set_matches(*kept, after, now);
        }
    }

    /// Batch mode: what a left row gives, which nothing will change.
    fn give_final(&mut self, at: u32, matching: &[(u32, u32)], now: i64) {
        let alone = match self.kind {
            JoinKind::Semi => !matching.is_empty(),
            JoinKind::Anti => matching.is_empty(),
            _ => matching.is_empty() && self.kind.keeps_left(),
        };
        if alone {
            self.output.push(RowKind::Insert, Some(at), None);
        }
        if self.is_one_sided() {
            return;
        }
        for (_, kept) in matching {
            let copies = self.sides[1].copies(*kept);
            self.output.push_times(copies, RowKind::Insert, Some(at), *kept);
            if self.kind.keeps_right() {
                self.sides[1].set_matches(*kept, 1, now);
            }
        }
    }

    fn emit(
        &mut self,
        input: usize,
        columns: &[ArrayRef],
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let one_sided = self.is_one_sided();
        let other = &self.sides[1 - input];
        let batch = self.output.finish(columns, other, input == LEFT, one_sided, &self.schema)?;
        batch.map_or(Ok(()), |batch| ctx.emit(batch))
    }

    /// Batch mode: rows of the right input are kept, and nothing is given yet.
    fn keep_right(&mut self, batch: &ChangelogBatch, now: i64) -> Result<()> {
        let side = &mut self.sides[1];
        let encoded = side.encode(batch.rows.columns(), batch.len())?;
        let outer = self.kind.keeps_right();
        for row in 0..batch.len() {
            if outer || encoded.can_match(row) {
                side.add(&encoded, row, 0, now)?;
            }
        }
        self.account();
        Ok(())
    }

    /// Batch mode: right rows that no left row matched.
    fn give_unmatched_right(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let unmatched = self.sides[1].unmatched();
        let empty = RecordBatch::new_empty(self.schema.clone());
        let left = &empty.columns()[..self.sides[LEFT].width()];
        for chunk in unmatched.chunks(ChangelogBatch::MAX_ROWS) {
            for kept in chunk {
                self.output.push(RowKind::Insert, None, Some(*kept));
            }
            self.emit(LEFT, left, ctx)?;
        }
        Ok(())
    }

    fn account(&mut self) {
        let kept: usize = self.sides.iter().map(Side::memory).sum();
        self.state_bytes = kept + self.waiting_bytes;
    }
}

impl Operator for JoinOperator {
    fn name(&self) -> &str {
        "Join"
    }

    fn on_batch(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        if self.parts.is_some() {
            return self.divide(input, &batch);
        }
        if !self.batch_mode || (input == LEFT && self.ended[1]) {
            return self.join(input, &batch, ctx);
        }
        if input != LEFT {
            return self.keep_right(&batch, ctx.now());
        }
        self.waiting_bytes += batch.memory();
        self.waiting.push(batch);
        self.account();
        Ok(())
    }

    fn on_end(&mut self, input: usize, ctx: &mut OperatorContext) -> Result<()> {
        if !self.batch_mode {
            return Ok(());
        }
        self.ended[input] = true;
        if self.parts.is_some() {
            return match self.parts.take_if(|_| self.ended == [true, true]) {
                Some(parts) => self.join_parts(parts, ctx),
                None => Ok(()),
            };
        }
        if input != LEFT {
            for batch in std::mem::take(&mut self.waiting) {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(batch.memory());
                self.join(LEFT, &batch, ctx)?;
            }
        }
        if self.ended == [true, true] && self.kind.keeps_right() {
            self.give_unmatched_right(ctx)?;
        }
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        if self.batch_mode {
            return Err(RuntimeError::internal(self.name(), "a batch job took a checkpoint"));
        }
        self.sides.iter_mut().try_for_each(|side| side.snapshot(state))
    }

    fn can_snapshot(&self) -> bool {
        !self.batch_mode
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let now = ctx.now();
        self.sides.iter_mut().try_for_each(|side| side.restore(state, now))?;
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
        let Some(space) = ctx.task().memory.space() else { return Ok(()) };
        if self.batch_mode {
            // Once the right input is there, nothing grows any more.
            let grows = self.parts.is_none() && !self.ended[1];
            return match grows && (self.state_bytes > room / 2 || space.is_crowded()) {
                true => self.begin_parts(space),
                false => Ok(()),
            };
        }
        for input in 0..2 {
            // What the other side leaves, and at least half.
            let left = room.saturating_sub(self.sides[1 - input].memory());
            self.sides[input].make_way(left.max(room / 2), space, ctx.task().max_parallelism)?;
        }
        self.account();
        Ok(())
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// A number of matches after one more or one less, by the kind of the row that matches.
fn counted(matches: u32, kind: RowKind) -> u32 {
    if kind.adds() { matches.saturating_add(1) } else { matches.saturating_sub(1) }
}
