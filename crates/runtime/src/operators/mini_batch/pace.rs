//! When a bundle ends.

use flott_plan::MiniBatch;

use crate::context::OperatorContext;

/// Counts the rows of a bundle, watches how long the first of them has waited, and keeps the watermark
/// that waits for them.
pub(in crate::operators) struct Pace {
    limits: MiniBatch,
    rows: u64,
    /// When the rows have waited for long enough.
    deadline: Option<i64>,
    watermark: Option<i64>,
}

impl Pace {
    /// An empty bundle.
    pub fn new(limits: MiniBatch) -> Self {
        Self { limits, rows: 0, deadline: None, watermark: None }
    }

    /// The rows taken.
    pub fn rows(&self) -> usize {
        usize::try_from(self.rows).unwrap_or(usize::MAX)
    }

    /// How many more rows it takes; at least one.
    pub fn room(&self) -> usize {
        let room = self.limits.size.saturating_sub(self.rows);
        usize::try_from(room).unwrap_or(usize::MAX).max(1)
    }

    /// Counts rows; whether the bundle is full.
    pub fn take(&mut self, rows: usize) -> bool {
        self.rows += rows as u64;
        self.rows >= self.limits.size
    }

    /// Lets the bundle end in time, if there is something in it.
    pub fn watch(&mut self, ctx: &mut OperatorContext) {
        if self.rows > 0 && self.deadline.is_none() {
            let latency = i64::try_from(self.limits.latency).unwrap_or(i64::MAX);
            let deadline = ctx.now().saturating_add(latency);
            ctx.register_timer(deadline);
            self.deadline = Some(deadline);
        }
    }

    /// Lets a watermark wait for the rows before it; whether there are any.
    pub fn hold(&mut self, watermark: i64) -> bool {
        if self.rows > 0 {
            self.watermark = Some(watermark);
        }
        self.rows > 0
    }

    /// Ends the bundle; gives the watermark that is to follow its changes.
    pub fn end(&mut self, ctx: &mut OperatorContext) -> Option<i64> {
        if let Some(deadline) = self.deadline.take() {
            ctx.delete_timer(deadline);
        }
        self.rows = 0;
        self.watermark.take()
    }
}
