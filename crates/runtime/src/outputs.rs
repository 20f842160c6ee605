//! Where an operator's or a source's rows go: to every stage that follows it.

use flott_types::ChangelogBatch;

use crate::Result;
use crate::check::OutputCheck;
use crate::checkpoint::{Barrier, Checkpoint, TaskSnapshot};
use crate::element::{EndOfInput, MarkedBatch};
use crate::late::{LateOutput, LateRows};
use crate::marks::Marks;
use crate::stage::{Stage, earlier};

/// The stages that follow an operator or a source; each gets everything.
pub(crate) struct Outputs {
    outputs: Vec<Output>,
    /// Where rows that come late go.
    late: Option<LateOutput>,
    /// The watermark sent on last.
    watermark: i64,
    /// In debug builds, what is sent is held against what was promised.
    check: Option<OutputCheck>,
}

/// A stage and which of its inputs is fed.
pub(crate) struct Output {
    pub stage: Box<dyn Stage>,
    pub input: usize,
}

impl Outputs {
    pub fn new(outputs: Vec<Output>, check: Option<OutputCheck>) -> Self {
        Self { outputs, late: None, watermark: i64::MIN, check }
    }

    /// The same outputs with one for rows that come late.
    pub fn with_late(self, late: Option<LateOutput>) -> Self {
        Self { late, ..self }
    }

    /// Rows of an input that came late, on their way to the table for them if there is one.
    pub fn late(
        &mut self,
        input: usize,
        batch: &ChangelogBatch,
        late: &LateRows,
        now: i64,
    ) -> Result<()> {
        self.late.as_mut().map_or(Ok(()), |output| output.write(input, batch, late, now))
    }

    pub fn exact(&self) -> bool {
        self.outputs.iter().any(|output| output.stage.exact())
    }

    pub fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        if restored.is_some()
            && let Some(check) = &mut self.check
        {
            check.forget_rows();
        }
        self.each(|output| output.stage.open(restored))
    }

    pub fn batch(&mut self, rows: MarkedBatch) -> Result<()> {
        let MarkedBatch { batch, marks } = rows;
        let marks = self.news(marks);
        if batch.is_empty() {
            return marks.last().map_or(Ok(()), |watermark| self.watermark(watermark));
        }
        if let Some(check) = &mut self.check {
            check.batch(&batch, &marks)?;
        }
        self.watermark = marks.last().unwrap_or(self.watermark);
        if let (Some(late), Some(watermark)) = (&mut self.late, marks.last()) {
            late.output.stage.watermark(late.output.input, watermark)?;
        }
        if batch.len() <= ChangelogBatch::MAX_ROWS {
            return self.send(MarkedBatch { batch, marks });
        }
        for start in (0..batch.len()).step_by(ChangelogBatch::MAX_ROWS) {
            let len = ChangelogBatch::MAX_ROWS.min(batch.len() - start);
            self.send(MarkedBatch {
                batch: batch.slice(start, len),
                marks: marks.slice(start, len),
            })?;
        }
        Ok(())
    }

    pub fn watermark(&mut self, watermark: i64) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        self.watermark = watermark;
        self.each(|output| output.stage.watermark(output.input, watermark))
    }

    pub fn idle(&mut self, idle: bool) -> Result<()> {
        self.each(|output| output.stage.idle(output.input, idle))
    }

    pub fn barrier(&mut self, barrier: &Barrier, snapshot: &mut TaskSnapshot) -> Result<()> {
        self.each(|output| output.stage.barrier(barrier, snapshot))
    }

    pub fn end(&mut self, how: EndOfInput) -> Result<()> {
        self.each(|output| output.stage.end(output.input, how))
    }

    pub fn pause(&mut self) -> Result<()> {
        self.each(|output| output.stage.pause())
    }

    pub fn tick(&mut self, now: i64) -> Result<()> {
        self.each(|output| output.stage.tick(now))
    }

    pub fn deadline(&self) -> Option<i64> {
        self.all().fold(None, |first, output| earlier(first, output.stage.deadline()))
    }

    pub fn has_room(&self) -> bool {
        self.all().all(|output| output.stage.has_room())
    }

    fn each(&mut self, f: impl FnMut(&mut Output) -> Result<()>) -> Result<()> {
        let late = self.late.as_mut().map(|late| &mut late.output);
        self.outputs.iter_mut().chain(late).try_for_each(f)
    }

    fn all(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().chain(self.late.as_ref().map(|late| &late.output))
    }

    fn send(&mut self, rows: MarkedBatch) -> Result<()> {
        let Some((last, others)) = self.outputs.split_last_mut() else { return Ok(()) };
        for output in others {
            output.stage.batch(output.input, rows.clone())?;
        }
        last.stage.batch(last.input, rows)
    }

    /// The marks that were not sent before.
    fn news(&self, marks: Marks) -> Marks {
        if marks.as_slice().first().is_none_or(|first| first.watermark > self.watermark) {
            return marks;
        }
        let risen = marks.as_slice().iter().filter(|mark| mark.watermark > self.watermark);
        risen.copied().collect()
    }
}
