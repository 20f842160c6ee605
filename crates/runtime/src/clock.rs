//! Processing time, which operators see only through a clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells processing time.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch.
    fn now(&self) -> i64;

    /// How long to wait, in real time, for the clock to reach `time`; `None` when it does not move
    /// by itself and [`subscribe`](Self::subscribe)d sleepers are woken instead.
    fn real_wait(&self, time: i64) -> Option<Duration>;

    /// Wakes `sleeper` whenever the clock is moved.
    fn subscribe(&self, _sleeper: Weak<dyn Sleeper>) {}
}

/// Something that waits until it is woken.
pub trait Sleeper: Send + Sync {
    /// Makes it look at its surroundings again.
    fn wake(&self);
}

/// The time of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_millis() as i64,
            Err(before) => -(before.duration().as_millis() as i64),
        }
    }

    fn real_wait(&self, time: i64) -> Option<Duration> {
        Some(Duration::from_millis(time.saturating_sub(self.now()).max(0) as u64))
    }
}

/// A time that moves only when it is told to, for tests.
#[derive(Default)]
pub struct VirtualClock {
    now: AtomicI64,
    sleepers: Mutex<Vec<Weak<dyn Sleeper>>>,
}

impl VirtualClock {
    /// A clock that stands at `now`, in milliseconds since the epoch.
    pub fn new(now: i64) -> Self {
        Self { now: AtomicI64::new(now), ..Self::default() }
    }

    /// Moves the clock by `millis`.
    pub fn advance(&self, millis: i64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
        self.wake_sleepers();
    }

    /// Moves the clock on to `time`; it never goes back.
    pub fn advance_to(&self, time: i64) {
        self.now.fetch_max(time, Ordering::SeqCst);
        self.wake_sleepers();
    }

    fn wake_sleepers(&self) {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers.retain(|sleeper| match sleeper.upgrade() {
            Some(sleeper) => {
                sleeper.wake();
                true
            }
            None => false,
        });
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    fn real_wait(&self, time: i64) -> Option<Duration> {
        (time <= self.now()).then_some(Duration::ZERO)
    }

    fn subscribe(&self, sleeper: Weak<dyn Sleeper>) {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner).push(sleeper);
    }
}
