//! A bench for one operator: feed it, move its clock, look at what comes out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use flott_state::MemoryBudget;
use flott_types::ChangelogBatch;

use crate::Result;
use crate::chain::Link;
use crate::check::{OutputCheck, OutputContract};
use crate::checkpoint::{Barrier, Checkpoint, CheckpointKind, OperatorStates, TaskSnapshot};
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::element::{EndOfInput, MarkedBatch, StreamElement};
use crate::marks::Marks;
use crate::metrics::{OperatorCounts, OperatorMetrics};
use crate::operator::Operator;
use crate::outputs::{Output, Outputs};
use crate::stage::Stage;

/// Runs one operator as a task would, in virtual time that starts at 0.
pub struct OperatorHarness {
    link: Link,
    inputs: usize,
    contract: Option<OutputContract>,
    clock: Arc<VirtualClock>,
    metrics: Arc<OperatorMetrics>,
    recorded: Recorded,
    /// What it was fed, if that is kept.
    fed: Option<Vec<Fed>>,
    /// How many things it was fed.
    steps: u64,
    /// Whether checkpoints are taken by the test itself.
    has_checkpoints: bool,
}

/// What a harness was fed.
#[derive(Debug, Clone)]
pub enum Fed {
    /// Rows of an input, with watermarks between them.
    Rows(usize, MarkedBatch),
    /// A watermark of an input.
    Watermark(usize, i64),
    /// An input became idle, or active.
    Idle(usize, bool),
    /// Processing time, by which the clock moved on.
    Clock(i64),
    /// The end of an input.
    End(usize),
    /// The operator went on from its snapshot, and the clock from 0.
    Restart,
}

thread_local! {
    static MEMORY: RefCell<Option<MemoryBudget>> = const { RefCell::new(None) };
}

/// Runs tests whose operators hold at most `keys` keys in memory after each batch, if they can spill.
pub fn on_disk(keys: usize, tests: impl FnOnce()) {
    MEMORY.set(Some(MemoryBudget::crowded(keys)));
    tests();
    MEMORY.set(None);
}

/// What the operators of a test may hold.
pub fn memory() -> MemoryBudget {
    MEMORY.with_borrow(Clone::clone).unwrap_or_else(MemoryBudget::unlimited)
}

/// How many cases of a test to run of so many: fewer [on disk](on_disk), where each takes longer.
pub fn cases(all: u32) -> u32 {
    if MEMORY.with_borrow(Option::is_some) { (all / 40).max(6) } else { all }
}

type Recorded = Arc<Mutex<Vec<StreamElement>>>;

impl OperatorHarness {
    /// Opens an operator of `inputs` inputs. With a contract its output is checked as in debug
    /// builds of jobs.
    pub fn new(
        operator: impl Operator + 'static,
        inputs: usize,
        contract: Option<OutputContract>,
    ) -> Result<Self> {
        Self::resumed(operator, inputs, contract, None)
    }

    /// Opens an operator that goes on from what [`snapshot`](Self::snapshot) gave.
    pub fn resumed(
        operator: impl Operator + 'static,
        inputs: usize,
        contract: Option<OutputContract>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Self> {
        Self::boxed(Box::new(operator), inputs, contract, checkpoint)
    }

    /// Opens an operator of any type, from a checkpoint or afresh.
    pub fn boxed(
        operator: Box<dyn Operator>,
        inputs: usize,
        contract: Option<OutputContract>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Self> {
        Self::within(operator, inputs, contract, checkpoint, memory())
    }

    /// Opens an operator of any type that keeps to a budget.
    pub fn within(
        operator: Box<dyn Operator>,
        inputs: usize,
        contract: Option<OutputContract>,
        checkpoint: Option<&Checkpoint>,
        memory: MemoryBudget,
    ) -> Result<Self> {
        let clock = Arc::new(VirtualClock::new(0));
        let info = TaskInfo { memory, ..TaskInfo::single(operator.name(), clock.clone()) };
        Self::task(operator, inputs, contract, checkpoint, (info, clock))
    }

    /// Opens an operator as one of several tasks, with the clock that is also in its `info`.
    pub fn task(
        operator: Box<dyn Operator>,
        inputs: usize,
        contract: Option<OutputContract>,
        checkpoint: Option<&Checkpoint>,
        (info, clock): (TaskInfo, Arc<VirtualClock>),
    ) -> Result<Self> {
        let metrics = Arc::new(OperatorMetrics::default());
        let kept = contract.clone();
        let recorded = Recorded::default();
        let check = contract
            .map(|contract| OutputCheck::new(info.name.clone(), contract, false, Arc::default()))
            .transpose()?;
        let recorder = Output { stage: Box::new(Recorder(recorded.clone())), input: 0 };
        let outputs = Outputs::new(vec![recorder], check);
        let uid: Arc<str> = "operator".into();
        let mut link = Link::new(uid, operator, inputs, outputs, info, metrics.clone());
        link.open(checkpoint)?;
        Ok(Self {
            link,
            inputs,
            contract: kept,
            clock,
            metrics,
            recorded,
            fed: None,
            steps: 0,
            has_checkpoints: false,
        })
    }

    /// Keeps what it is fed from now on.
    #[must_use]
    pub fn keeping_feed(mut self) -> Self {
        self.fed = Some(Vec::new());
        self
    }

    /// What it was fed, if that was kept.
    pub fn fed(&self) -> &[Fed] {
        self.fed.as_deref().unwrap_or_default()
    }

    /// Goes on from its own snapshot with a new operator; what came out and was not taken stays.
    pub fn restarted(self, operator: impl Operator + 'static) -> Result<Self> {
        self.restarted_boxed(Box::new(operator))
    }

    /// The same with an operator of any type.
    pub fn restarted_boxed(mut self, operator: Box<dyn Operator>) -> Result<Self> {
        self.note(|| Fed::Restart);
        let checkpoint = self.snapshot()?;
        let given = self.take();
        let contract = self.contract.take();
        let mut next = Self::boxed(operator, self.inputs, contract, Some(&checkpoint))?;
        next.recorded.lock().unwrap_or_else(PoisonError::into_inner).splice(..0, given);
        next.fed = self.fed;
        Ok(next)
    }

    fn note(&mut self, fed: impl FnOnce() -> Fed) {
        if let Some(all) = &mut self.fed {
            all.push(fed());
        }
    }

    /// Feeds rows.
    pub fn batch(&mut self, input: usize, batch: ChangelogBatch) -> Result<()> {
        self.marked(input, batch, Marks::NONE)
    }

    /// Feeds rows with watermarks between them.
    pub fn marked(&mut self, input: usize, batch: ChangelogBatch, marks: Marks) -> Result<()> {
        let rows = MarkedBatch { batch, marks };
        self.note(|| Fed::Rows(input, rows.clone()));
        self.link.batch(input, rows)?;
        self.check_changes()
    }

    /// Now and then a checkpoint, to see that what changed since the one before it is all there. Only debug
    /// builds look, and only as long as the test takes none itself.
    fn check_changes(&mut self) -> Result<()> {
        self.steps += 1;
        let looks = cfg!(debug_assertions) && !self.has_checkpoints;
        if looks && self.steps % 3 == 1 && self.link.can_snapshot() {
            let kind = CheckpointKind::Checkpoint;
            self.link.snapshot(&Barrier { checkpoint: self.steps, kind })?;
        }
        Ok(())
    }

    /// Feeds a watermark, in milliseconds since the epoch.
    pub fn watermark(&mut self, input: usize, watermark: i64) -> Result<()> {
        self.note(|| Fed::Watermark(input, watermark));
        self.link.watermark(input, watermark)?;
        self.check_changes()
    }

    /// Makes an input idle or active.
    pub fn idle(&mut self, input: usize, idle: bool) -> Result<()> {
        self.note(|| Fed::Idle(input, idle));
        self.link.idle(input, idle)
    }

    /// Moves processing time on by `millis` and fires the timers that are due.
    pub fn advance_clock(&mut self, millis: i64) -> Result<()> {
        self.note(|| Fed::Clock(millis));
        self.clock.advance(millis);
        self.link.tick(crate::Clock::now(&*self.clock))?;
        self.check_changes()
    }

    /// Ends an input after its final watermark.
    pub fn end(&mut self, input: usize) -> Result<()> {
        self.note(|| Fed::End(input));
        self.link.watermark(input, i64::MAX)?;
        self.link.end(input, EndOfInput::Drained)
    }

    /// The state now, as a savepoint would hold it.
    pub fn snapshot(&mut self) -> Result<Checkpoint> {
        self.checkpoint(1, CheckpointKind::Savepoint)
    }

    /// What the operator gives for a checkpoint: all state at first, then what changed since the one before.
    pub fn checkpoint(&mut self, id: u64, kind: CheckpointKind) -> Result<Checkpoint> {
        if kind == CheckpointKind::Checkpoint && !self.has_checkpoints {
            self.has_checkpoints = true;
            self.link.begin_checkpoints();
        }
        let mut snapshot = TaskSnapshot::default();
        let barrier = Barrier { checkpoint: id, kind };
        self.link.barrier(&barrier, &mut snapshot)?;
        let states = snapshot.operators.into_iter();
        let operators: BTreeMap<_, _> = states
            .map(|(uid, state)| (uid, OperatorStates { parallelism: 1, tasks: vec![state] }))
            .collect();
        Ok(Checkpoint { id, kind, operators, ..Checkpoint::default() })
    }

    /// What came out since the last call, barriers left out.
    pub fn take(&mut self) -> Vec<StreamElement> {
        std::mem::take(&mut *self.recorded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The batches that came out since the last call; watermarks and the like are dropped.
    pub fn take_batches(&mut self) -> Vec<ChangelogBatch> {
        let rows = |element| match element {
            StreamElement::Batch(rows) => Some(rows.batch),
            _ => None,
        };
        self.take().into_iter().filter_map(rows).collect()
    }

    /// The operator's counters.
    pub fn counts(&self) -> OperatorCounts {
        self.metrics.counts()
    }
}

/// A stage that keeps what it is given.
struct Recorder(Recorded);

impl Recorder {
    fn keep(&self, element: StreamElement) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(element);
        Ok(())
    }
}

impl Stage for Recorder {
    fn exact(&self) -> bool {
        false
    }

    fn open(&mut self, _restored: Option<&Checkpoint>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, _input: usize, rows: MarkedBatch) -> Result<()> {
        self.keep(StreamElement::Batch(rows))
    }

    fn watermark(&mut self, _input: usize, watermark: i64) -> Result<()> {
        self.keep(StreamElement::Watermark(watermark))
    }

    fn idle(&mut self, _input: usize, idle: bool) -> Result<()> {
        self.keep(if idle { StreamElement::Idle } else { StreamElement::Active })
    }

    fn barrier(&mut self, _barrier: &Barrier, _snapshot: &mut TaskSnapshot) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _input: usize, how: EndOfInput) -> Result<()> {
        self.keep(StreamElement::End(how))
    }

    fn pause(&mut self) -> Result<()> {
        Ok(())
    }

    fn deadline(&self) -> Option<i64> {
        None
    }

    fn tick(&mut self, _now: i64) -> Result<()> {
        Ok(())
    }

    fn has_room(&self) -> bool {
        true
    }
}
