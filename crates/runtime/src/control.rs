//! What all tasks of a job share: whether it is still wanted, and what went wrong.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

use crate::clock::Sleeper;
use crate::{Result, RuntimeError};

/// Ends a job from anywhere.
#[derive(Default)]
pub(crate) struct JobControl {
    cancelled: AtomicBool,
    stopping: AtomicBool,
    error: Mutex<Option<RuntimeError>>,
    sleepers: Mutex<Vec<Weak<dyn Sleeper>>>,
}

impl JobControl {
    /// Ends all tasks as soon as they look up.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the sources; what they gave is still processed.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends all tasks for a reason, of which the first counts.
    pub fn fail(&self, error: RuntimeError) {
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() && !matches!(error, RuntimeError::Cancelled) {
            *first = Some(error);
        }
        drop(first);
        self.cancel();
    }

    /// Why the job failed, if it did.
    pub fn error(&self) -> Option<RuntimeError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Fails when the job was cancelled.
    pub fn go_on(&self) -> Result<()> {
        if self.is_cancelled() { Err(RuntimeError::Cancelled) } else { Ok(()) }
    }

    /// Wakes `sleeper` when the job is cancelled or stopped.
    pub fn subscribe(&self, sleeper: Weak<dyn Sleeper>) {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner).push(sleeper);
    }

    /// Makes every waiting task look around.
    pub fn wake(&self) {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers.iter().filter_map(Weak::upgrade).for_each(|sleeper| sleeper.wake());
    }
}
