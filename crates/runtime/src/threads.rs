//! Runs a job with a thread for each task.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::build::{BuiltJob, build};
use crate::checkpoint::Checkpoint;
use crate::config::JobConfig;
use crate::control::JobControl;
use crate::element::EndOfInput;
use crate::events::{EventSender, TaskEvent};
use crate::graph::JobGraph;
use crate::job::{JobHandle, OutcomeCell};
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
    let handle = JobHandle {
        control: job.control.clone(),
        metrics: job.metrics.clone(),
        events: job.events.clone(),
        outcome: Arc::default(),
    };
    let outcome = handle.outcome.clone();
    let name = format!("flott {}", job.config.job_id);
    spawn(&name, move || coordinate(job, &outcome))?;
    Ok(handle)
}

/// Starts the tasks and stays with them to the end.
fn coordinate(job: BuiltJob, outcome: &OutcomeCell) {
    let BuiltJob { tasks, mut coordinator, messages, events, control, resumed, config, .. } = job;
    for task in tasks {
        let (id, name) = (task.id, task.name.clone());
        let (task_events, task_control) = (events.clone(), control.clone());
        let resumed = resumed.clone();
        let thread = move || run(task, &task_control, &task_events, resumed.as_deref());
        if let Err(error) = spawn(&name, thread) {
            events.send(TaskEvent::Failed { task: id, error });
        }
    }
    let mut next = config.checkpoint_interval.map(|interval| Instant::now() + interval);
    let mut how = EndOfInput::Drained;
    while !coordinator.is_over() {
        let wait = match next {
            Some(next) if !coordinator.is_busy() => next.saturating_duration_since(Instant::now()),
            _ => Duration::MAX,
        };
        let message = match wait {
            Duration::MAX => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            wait => messages.recv_timeout(wait),
        };
        match message {
            Ok(message) => {
                if let crate::events::Message::Task(TaskEvent::Finished { how: of, .. }) = &message
                {
                    how = how.max(*of);
                }
                coordinator.handle(message);
            }
            Err(RecvTimeoutError::Timeout) => {
                coordinator.trigger();
                next = config.checkpoint_interval.map(|interval| Instant::now() + interval);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    coordinator.close();
    let ended: Vec<Result<()>> = config.on_end.iter().map(|hook| hook()).collect();
    let failed = ended.into_iter().find_map(Result::err);
    outcome.settle(match (control.error().or(failed), control.is_cancelled()) {
        (Some(error), _) => Err(error),
        (None, true) => Err(RuntimeError::Cancelled),
        (None, false) => Ok(how),
    });
}

fn run(task: Task, control: &JobControl, events: &EventSender, resumed: Option<&Checkpoint>) {
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
fn drive(mut task: Task, control: &JobControl, resumed: Option<&Checkpoint>) -> Result<EndOfInput> {
    task.open(resumed)?;
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
