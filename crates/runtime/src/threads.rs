//! Runs a job with a thread for each task.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use crate::build::{BuiltJob, build};
use crate::checkpoint::{Checkpoint, CheckpointPace, CheckpointStore};
use crate::config::{EndHook, JobConfig};
use crate::control::JobControl;
use crate::element::EndOfInput;
use crate::events::{EventSender, TaskEvent};
use crate::graph::JobGraph;
use crate::job::{JobCell, JobHandle};
use crate::restart::RestartStrategy;
use crate::task::{Step, Task};
use crate::{Result, RuntimeError};

/// Starts a job on threads of its own; with `resume` it goes on from a checkpoint.
///
/// Fails when the graph cannot run, a source or sink cannot be opened, or the checkpoint does not
/// fit. What goes wrong later ends the job and is what [`JobHandle::wait`] returns.
pub fn start(
    graph: JobGraph,
    config: JobConfig,
    resume: Option<Arc<Checkpoint>>,
) -> Result<JobHandle> {
    let job = build(graph, config, resume, true)?;
    let cell = JobCell::new(job.attempt(), &job.config);
    let handle = JobHandle(cell.clone());
    let name = format!("flott {}", job.config.job_id);
    spawn(&name, move || {
        let store = job.config.checkpoints.clone();
        let ended = coordinate(job, &mut None);
        settle(&cell, ended, store.as_deref());
    })?;
    Ok(handle)
}

/// Makes what one attempt of a job runs: its graph, and what is to be called at its end.
pub type GraphFactory = Box<dyn FnMut() -> Result<(JobGraph, Vec<EndHook>)> + Send>;

/// Starts a job like [`start`] and, when it fails, starts it again from its latest checkpoint as
/// long as `restarts` says so; without a checkpoint it begins where it began before.
pub fn start_restarting(
    mut graphs: GraphFactory,
    config: JobConfig,
    resume: Option<Arc<Checkpoint>>,
    mut restarts: RestartStrategy,
) -> Result<JobHandle> {
    let job = attempt(&mut graphs, &config, resume.clone())?;
    let mut resume = resume;
    let cell = JobCell::new(job.attempt(), &job.config);
    let handle = JobHandle(cell.clone());
    let name = format!("flott {}", config.job_id);
    spawn(&name, move || {
        let mut ended = coordinate(job, &mut resume);
        while let Err(error) = &ended
            && !matches!(error, RuntimeError::Cancelled)
            && let Some(delay) = restarts.after_failure(Instant::now())
        {
            tracing::warn!(job = &*config.job_id, %error, ?delay, "the job failed and restarts");
            if cell.wish.within(delay).is_some() {
                ended = Err(RuntimeError::Cancelled);
                break;
            }
            ended = restart(&mut graphs, &config, &mut resume, &cell);
        }
        settle(&cell, ended, config.checkpoints.as_deref());
    })?;
    Ok(handle)
}

fn restart(
    graphs: &mut GraphFactory,
    config: &JobConfig,
    resume: &mut Option<Arc<Checkpoint>>,
    cell: &JobCell,
) -> Result<EndOfInput> {
    let latest = config.checkpoints.as_ref().map(|store| store.latest()).transpose()?.flatten();
    let job = attempt(graphs, config, latest.or_else(|| resume.clone()))?;
    cell.replace(job.attempt());
    coordinate(job, resume)
}

fn attempt(
    graphs: &mut GraphFactory,
    config: &JobConfig,
    resume: Option<Arc<Checkpoint>>,
) -> Result<BuiltJob> {
    let (graph, on_end) = graphs()?;
    build(graph, JobConfig { on_end, ..config.clone() }, resume, true)
}

/// The job is over. What one leaves that has read everything says so: a job that resumes from it has
/// nothing left to do, should somebody think it had died. One that was stopped before cannot
/// be resumed.
fn settle(cell: &JobCell, ended: Result<EndOfInput>, store: Option<&dyn CheckpointStore>) {
    if let (Ok(EndOfInput::Stopped), Some(store)) = (&ended, store)
        && let Err(error) = store.discard()
    {
        tracing::warn!(%error, "could not remove the checkpoints of a job that was stopped");
    }
    cell.outcome.settle(ended);
}

/// Starts the tasks and stays with them to the end. `resume`, to which the job would return if it failed now, is
/// let go as soon as a checkpoint of its own takes its place: it may be as large as all state.
fn coordinate(job: BuiltJob, resume: &mut Option<Arc<Checkpoint>>) -> Result<EndOfInput> {
    let BuiltJob { tasks, mut coordinator, messages, events, control, resumed, config, .. } = job;
    for task in tasks {
        let (id, name) = (task.id, task.name.clone());
        let (task_events, task_control) = (events.clone(), control.clone());
        let resumed = resumed.clone();
        let thread = move || run(task, &task_control, &task_events, resumed);
        if let Err(error) = spawn(&name, thread) {
            events.send(TaskEvent::Failed { task: id, error });
        }
    }
    drop(resumed);
    let mut pace = CheckpointPace::new(&config, Instant::now());
    let mut how = EndOfInput::Drained;
    while !coordinator.is_over() {
        let message = match pace.deadline(coordinator.is_busy()) {
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => messages.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match message {
            Ok(message) => {
                if let crate::events::Message::Task(TaskEvent::Finished { how: of, .. }) = &message
                {
                    how = how.max(*of);
                }
                let was_busy = coordinator.is_busy();
                coordinator.handle(message);
                if coordinator.has_kept() {
                    *resume = None;
                }
                pace.turn(was_busy, coordinator.is_busy(), Instant::now());
            }
            Err(RecvTimeoutError::Timeout) if coordinator.is_busy() => {
                coordinator.overdue();
                pace.told();
            }
            Err(RecvTimeoutError::Timeout) => {
                coordinator.trigger();
                pace.turn(false, coordinator.is_busy(), Instant::now());
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    coordinator.close();
    let ended: Vec<Result<()>> = config.on_end.iter().map(|hook| hook()).collect();
    let failed = ended.into_iter().find_map(Result::err);
    match (control.error().or(failed), control.is_cancelled()) {
        (Some(error), _) => Err(error),
        (None, true) => Err(RuntimeError::Cancelled),
        (None, false) => Ok(how),
    }
}

fn run(task: Task, control: &JobControl, events: &EventSender, resumed: Option<Arc<Checkpoint>>) {
    let (id, name) = (task.id, task.name.clone());
    let ended = catch_unwind(AssertUnwindSafe(move || drive(task, control, resumed)));
    let event = match ended {
        Ok(Ok(how)) => TaskEvent::Finished { task: id, how },
        Ok(Err(error)) => TaskEvent::Failed { task: id, error },
        Err(panic) => TaskEvent::Failed { task: id, error: panicked(&name, &*panic) },
    };
    events.send(event);
}

/// Steps a task to its end, waiting when there is nothing to do.
fn drive(
    mut task: Task,
    control: &JobControl,
    resumed: Option<Arc<Checkpoint>>,
) -> Result<EndOfInput> {
    task.open(resumed.as_deref())?;
    // It may be as large as all state.
    drop(resumed);
    loop {
        control.go_on()?;
        match task.step()? {
            Step::Progress => {}
            Step::Idle { deadline } => task.wait(deadline)?,
            Step::Done(how) => return Ok(how),
        }
    }
}

/// What a panic in a task becomes.
pub(crate) fn panicked(task: &Arc<str>, panic: &(dyn Any + Send)) -> RuntimeError {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    RuntimeError::internal(task.clone(), format!("panicked: {said}"))
}

fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<()> {
    let builder = std::thread::Builder::new().name(name.replace('\0', " "));
    builder
        .spawn(f)
        .map(drop)
        .map_err(|source| RuntimeError::Thread { task: name.to_owned(), source: Arc::new(source) })
}
