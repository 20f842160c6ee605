//! Runs a job on the calling thread, in an order that a seed decides, with faults at will.
//!
//! A seed replays: the same seed over the same graph and data takes the same steps. Processing time
//! must be virtual; it moves when every task waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::build::{BuiltJob, build};
use crate::checkpoint::Checkpoint;
use crate::clock::{Clock, VirtualClock};
use crate::config::JobConfig;
use crate::element::EndOfInput;
use crate::events::TaskEvent;
use crate::graph::JobGraph;
use crate::job::JobMetrics;
use crate::task::{Step, Task};
use crate::threads::panicked;
use crate::{Result, RuntimeError};

/// How a seeded run is to go.
#[derive(Clone)]
pub struct SeededRun {
    /// Decides the order of steps and where chance comes in.
    pub seed: u64,
    /// The run's time.
    pub clock: Arc<VirtualClock>,
    /// A checkpoint is begun about once in so many steps; 0 for never.
    pub checkpoint_every: u64,
    /// The job dies before this step, as when a process is killed: nothing is tidied up.
    pub die_at: Option<u64>,
    /// The sources are stopped before this step.
    pub stop_at: Option<u64>,
    /// The run is given up after so many steps.
    pub max_steps: u64,
}

/// How a seeded run went.
#[derive(Debug)]
pub struct SeededOutcome {
    /// How the job ended; [`RuntimeError::Cancelled`] where it was made to die.
    pub result: Result<EndOfInput>,
    /// How many steps it took.
    pub steps: u64,
    /// The counters at its end.
    pub metrics: JobMetrics,
}

impl SeededRun {
    /// A run with this seed, without checkpoints or faults, in time that starts at 0.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            clock: Arc::new(VirtualClock::new(0)),
            checkpoint_every: 0,
            die_at: None,
            stop_at: None,
            max_steps: 10_000_000,
        }
    }

    /// Runs a job to its end. Its clock becomes the run's.
    pub fn run(
        &self,
        graph: JobGraph,
        config: JobConfig,
        resume: Option<Arc<Checkpoint>>,
    ) -> Result<SeededOutcome> {
        let config = JobConfig { clock: self.clock.clone(), ..config };
        let job = build(graph, config, resume, false)?;
        Ok(Run::new(self, job).complete())
    }
}

struct Run<'a> {
    plan: &'a SeededRun,
    random: Random,
    job: BuiltJob,
    tasks: Vec<Running>,
    steps: u64,
    how: EndOfInput,
}

struct Running {
    task: Task,
    /// What the last step said, until something may have changed.
    resting: Option<Option<i64>>,
}

impl<'a> Run<'a> {
    fn new(plan: &'a SeededRun, mut job: BuiltJob) -> Self {
        let tasks = std::mem::take(&mut job.tasks).into_iter();
        let tasks = tasks.map(|task| Running { task, resting: None }).collect();
        let random = Random(plan.seed);
        Self { plan, random, job, tasks, steps: 0, how: EndOfInput::Drained }
    }

    fn complete(mut self) -> SeededOutcome {
        let mut opened = 0;
        while opened < self.tasks.len() {
            let (resumed, all) = (self.job.resumed.clone(), self.tasks.len());
            self.with_task(opened, |task| task.open(resumed.as_deref()).map(|()| Step::Progress));
            // One that fails is gone.
            opened += usize::from(self.tasks.len() == all);
        }
        self.hear();
        while !self.job.coordinator.is_over() {
            if self.job.control.is_cancelled() {
                self.tasks.clear();
                break;
            }
            self.step();
        }
        if self.plan.die_at != Some(self.steps) {
            self.job.coordinator.close();
        }
        let control = &self.job.control;
        let result = match (control.error(), control.is_cancelled()) {
            (Some(error), _) => Err(error),
            (None, true) => Err(RuntimeError::Cancelled),
            (None, false) => Ok(self.how),
        };
        SeededOutcome { result, steps: self.steps, metrics: self.job.metrics.report() }
    }

    fn step(&mut self) {
        self.steps += 1;
        if self.plan.die_at == Some(self.steps) {
            self.job.control.cancel();
            return;
        }
        if self.plan.stop_at == Some(self.steps) {
            self.job.control.stop();
        }
        if self.steps >= self.plan.max_steps {
            let problem = format!("no end after {} steps, seed {}", self.steps, self.plan.seed);
            self.job.control.fail(RuntimeError::internal("seeded run", problem));
            return;
        }
        let every = self.plan.checkpoint_every;
        if every > 0 && self.random.below(every) == 0 {
            self.job.coordinator.trigger();
            self.wake();
        }
        let runnable: Vec<usize> = (0..self.tasks.len())
            .filter(|i| self.tasks[*i].resting.is_none() && self.tasks[*i].task.has_room())
            .collect();
        if runnable.is_empty() {
            return self.rest();
        }
        let chosen = runnable[self.random.below(runnable.len() as u64) as usize];
        self.with_task(chosen, Task::step);
        self.hear();
    }

    /// The coordinator takes note of what happened.
    fn hear(&mut self) {
        while let Ok(message) = self.job.messages.try_recv() {
            self.job.coordinator.handle(message);
        }
    }

    /// Runs a part of a task and takes note of what it came to.
    fn with_task(&mut self, index: usize, f: impl FnOnce(&mut Task) -> Result<Step>) {
        let running = &mut self.tasks[index];
        let (id, name) = (running.task.id, running.task.name.clone());
        let done = catch_unwind(AssertUnwindSafe(|| f(&mut running.task)));
        match done.unwrap_or_else(|panic| Err(panicked(&name, &*panic))) {
            Ok(Step::Progress) => self.wake(),
            Ok(Step::Idle { deadline }) => running.resting = Some(deadline),
            Ok(Step::Done(how)) => {
                self.how = self.how.max(how);
                self.tasks.remove(index);
                self.job.events.send(TaskEvent::Finished { task: id, how });
                self.wake();
            }
            Err(error) => {
                self.tasks.remove(index);
                self.job.events.send(TaskEvent::Failed { task: id, error });
            }
        }
    }

    /// Any progress may have given others something to do.
    fn wake(&mut self) {
        self.tasks.iter_mut().for_each(|running| running.resting = None);
    }

    /// Everybody waits: time goes on to where the first of them has something to do.
    fn rest(&mut self) {
        let deadlines = self.tasks.iter().filter_map(|running| running.resting.flatten());
        match deadlines.min() {
            Some(deadline) => {
                let now = self.plan.clock.now();
                self.plan.clock.advance_to(deadline.max(now + 1));
            }
            // Sources may be waiting for the outside world.
            None => std::thread::yield_now(),
        }
        self.wake();
    }
}

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}
