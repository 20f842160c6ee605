//! An operator that gives the net change of a bundle where the one inside gives every change.

use flott_plan::MiniBatch;
use flott_state::{StateReader, StateWriter};
use flott_types::{ChangelogBatch, ChangelogMode, RowKind, Schema};
use std::sync::Arc;

use super::Pace;
use super::latest::LatestRows;
use super::net::NetRows;
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;

/// Changes kept for the end of a bundle; more are given before it.
const MAX_CHANGES: usize = 1 << 18;

/// What is known of the rows of an edge.
#[derive(Clone)]
pub struct Changelog {
    /// The columns.
    pub schema: Arc<Schema>,
    /// The kinds of rows that may come.
    pub mode: ChangelogMode,
    /// Columns by which no two rows are equal at one time.
    pub key: Option<Vec<usize>>,
    /// Whether rows that replace their equals are meant to keep the state of others alive.
    pub repeats: bool,
}

/// Rows whose changes cancel each other.
enum Changes {
    Net(Box<NetRows>),
    Latest(Box<LatestRows>),
}

/// Gathers rows for an operator as Flink's mini-batch operators do: joins, Top-N, deduplication and
/// changelog normalisation.
///
/// - Of a join the inputs that take rows back are folded first, so that a row that came and went within a
///   bundle costs nothing; other operators get every row at once, and only what they give is kept.
/// - When the bundle is full or old enough, before a checkpoint and at the end of the input, the net
///   change is given: an update, an insertion or a deletion a key, and a row that is again what it was
///   before the bundle not at all.
/// - Watermarks wait for the rows before them.
///
/// It has no state of its own: with mini-batch and without, a checkpoint holds the same.
pub struct MiniBatchOperator {
    inner: Box<dyn Operator>,
    inputs: Vec<Option<Changes>>,
    output: Changes,
    pace: Pace,
    state_bytes: usize,
}

impl MiniBatchOperator {
    /// Gathers rows for `inner`; gives `inner` itself where nothing can be cancelled, or it looks at
    /// watermarks. Inputs are folded where the order of their rows makes no difference: those that are given.
    pub fn around(
        inner: Box<dyn Operator>,
        limits: MiniBatch,
        inputs: &[Option<Changelog>],
        output: &Changelog,
    ) -> Box<dyn Operator> {
        let Some(output) = Changes::of(output) else { return inner };
        if inner.needs_exact_watermarks() {
            return inner;
        }
        // By the key alone it is not known what an update replaces: the operator inside may need it.
        let fold = |of: &Option<Changelog>| match Changes::of(of.as_ref()?) {
            Some(Changes::Net(net)) => Some(Changes::Net(net)),
            _ => None,
        };
        let inputs = inputs.iter().map(fold).collect();
        Box::new(Self { inner, inputs, output, pace: Pace::new(limits), state_bytes: 0 })
    }

    fn take_in(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        match &mut self.inputs[input] {
            Some(rows) => rows.add(&batch),
            None => self.apply(input, batch, ctx),
        }
    }

    /// Lets the operator inside work on rows, and keeps what it gives.
    fn apply(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        for start in (0..batch.len()).step_by(ChangelogBatch::MAX_ROWS) {
            let part = batch.slice(start, ChangelogBatch::MAX_ROWS.min(batch.len() - start));
            let given = ctx.capture(|ctx| self.inner.on_batch(input, part, ctx))?;
            self.keep(&given, ctx)?;
        }
        Ok(())
    }

    fn keep(&mut self, given: &[ChangelogBatch], ctx: &mut OperatorContext) -> Result<()> {
        for batch in given.iter().filter(|batch| !batch.is_empty()) {
            self.output.add(batch)?;
            if self.output.len() >= MAX_CHANGES {
                ctx.emit(self.output.take()?)?;
            }
        }
        Ok(())
    }

    /// Gives the net change of the bundle, then the watermark that waited for it.
    fn settle(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        let watermark = self.pace.end(ctx);
        for input in 0..self.inputs.len() {
            let rows = match &mut self.inputs[input] {
                Some(rows) if rows.len() > 0 => rows.take()?,
                _ => continue,
            };
            self.apply(input, rows, ctx)?;
        }
        if self.output.len() > 0 {
            ctx.emit(self.output.take()?)?;
        }
        self.account();
        match watermark {
            Some(watermark) => self.inner.on_watermark(watermark, ctx),
            None => Ok(()),
        }
    }

    fn account(&mut self) {
        let inputs: usize = self.inputs.iter().flatten().map(Changes::memory).sum();
        self.state_bytes = self.inner.state_bytes() + inputs + self.output.memory();
    }
}

impl Operator for MiniBatchOperator {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn open(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.inner.open(ctx)?;
        self.account();
        Ok(())
    }

    fn on_batch(
        &mut self,
        input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let mut start = 0;
        while start < batch.len() {
            let length = self.pace.room().min(batch.len() - start);
            self.take_in(input, batch.slice(start, length), ctx)?;
            start += length;
            if self.pace.take(length) {
                self.settle(ctx)?;
            }
        }
        self.pace.watch(ctx);
        self.account();
        Ok(())
    }

    fn on_watermark(&mut self, watermark: i64, ctx: &mut OperatorContext) -> Result<()> {
        if self.pace.hold(watermark) { Ok(()) } else { self.inner.on_watermark(watermark, ctx) }
    }

    fn on_timer(&mut self, _time: i64, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)
    }

    fn on_end(&mut self, input: usize, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)?;
        self.inner.on_end(input, ctx)
    }

    fn before_snapshot(&mut self, ctx: &mut OperatorContext) -> Result<()> {
        self.settle(ctx)?;
        self.inner.before_snapshot(ctx)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        self.inner.snapshot(state)
    }

    fn can_snapshot(&self) -> bool {
        self.pace.rows() == 0 && self.inner.can_snapshot()
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        self.inner.restore(state, ctx)
    }

    fn spills(&self) -> bool {
        self.inner.spills()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        // What is gathered stays in memory; it is bounded by the size of a bundle.
        let gathered = self.state_bytes.saturating_sub(self.inner.state_bytes());
        self.inner.spill(room.saturating_sub(gathered), ctx)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

impl Changes {
    /// What folds rows of a changelog; `None` where no row ever goes, or it is not known by what an
    /// update finds the row that it replaces.
    fn of(changelog: &Changelog) -> Option<Self> {
        let mode = changelog.mode;
        if mode.is_insert_only() {
            return None;
        }
        if mode.contains(RowKind::UpdateBefore) || !mode.has_updates() {
            return Some(Self::Net(Box::new(NetRows::new(changelog))));
        }
        let key = changelog.key.as_deref()?;
        Some(Self::Latest(Box::new(LatestRows::new(changelog, key))))
    }

    fn add(&mut self, batch: &ChangelogBatch) -> Result<()> {
        match self {
            Self::Net(rows) => rows.add(batch),
            Self::Latest(rows) => rows.add(batch),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Net(rows) => rows.len(),
            Self::Latest(rows) => rows.len(),
        }
    }

    fn take(&mut self) -> Result<ChangelogBatch> {
        match self {
            Self::Net(rows) => rows.take(),
            Self::Latest(rows) => rows.take(),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Net(rows) => rows.memory(),
            Self::Latest(rows) => rows.memory(),
        }
    }
}
