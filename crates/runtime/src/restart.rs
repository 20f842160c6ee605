//! Whether, and when, a job that failed starts again: Flink's restart strategies.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Decides after each failure.
#[derive(Debug, Clone)]
pub enum RestartStrategy {
    /// A job that fails has failed (`none`).
    None,
    /// `fixed-delay`: so many times, each after the delay.
    FixedDelay {
        /// Restarts that are left.
        attempts: u32,
        /// How long to wait.
        delay: Duration,
    },
    /// `failure-rate`: as long as there are no more failures within an interval.
    FailureRate {
        /// Failures within the interval that are borne.
        max_failures: usize,
        /// The interval.
        interval: Duration,
        /// How long to wait.
        delay: Duration,
        /// When the last ones were.
        failures: VecDeque<Instant>,
    },
    /// `exponential-delay`: with delays that grow while failures follow each other.
    ExponentialDelay(ExponentialDelay),
}

/// The state of `exponential-delay`.
#[derive(Debug, Clone)]
pub struct ExponentialDelay {
    /// The first delay.
    pub initial: Duration,
    /// The longest delay.
    pub max: Duration,
    /// By how much a delay is longer than the one before.
    pub multiplier: f64,
    /// After so long without a failure the delay is the first again.
    pub reset_after: Duration,
    /// By which part of itself a delay is made longer or shorter at random.
    pub jitter: f64,
    /// How many restarts there may be before a reset.
    pub attempts: u64,
    /// Restarts since the last reset.
    pub used: u64,
    /// The next delay, before jitter.
    pub current: Duration,
    /// When the job was started last.
    pub last: Option<Instant>,
}

impl RestartStrategy {
    /// How long to wait before the job starts again after a failure `now`; `None` when it does not.
    pub fn after_failure(&mut self, now: Instant) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::FixedDelay { attempts, delay } => {
                *attempts = attempts.checked_sub(1)?;
                Some(*delay)
            }
            Self::FailureRate { max_failures, interval, delay, failures } => {
                failures.push_back(now);
                while failures.front().is_some_and(|first| now.duration_since(*first) > *interval) {
                    failures.pop_front();
                }
                (failures.len() <= *max_failures).then_some(*delay)
            }
            Self::ExponentialDelay(state) => state.after_failure(now),
        }
    }
}

impl ExponentialDelay {
    fn after_failure(&mut self, now: Instant) -> Option<Duration> {
        let calm = |last: Instant| now.saturating_duration_since(last) >= self.reset_after;
        if self.last.is_some_and(calm) {
            self.current = self.initial;
            self.used = 0;
        }
        if self.used >= self.attempts {
            return None;
        }
        self.used += 1;
        let jittered = self.current.mul_f64(1.0 + self.jitter * random_sign());
        let delay = jittered.min(self.max);
        self.current = self.current.mul_f64(self.multiplier).min(self.max);
        self.last = now.checked_add(delay);
        Some(delay)
    }
}

/// A number from -1 to 1, another one in each process and at each call.
fn random_sign() -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let bits = RandomState::new().build_hasher().finish();
    bits as f64 / u64::MAX as f64 * 2.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_fixed_number_of_restarts() {
        let now = Instant::now();
        let mut strategy = RestartStrategy::FixedDelay { attempts: 2, delay: SECOND };
        assert_eq!(strategy.after_failure(now), Some(SECOND));
        assert_eq!(strategy.after_failure(now), Some(SECOND));
        assert_eq!(strategy.after_failure(now), None);
        assert_eq!(RestartStrategy::None.after_failure(now), None);
    }

    #[test]
    fn failures_within_an_interval_are_counted() {
        let start = Instant::now();
        let mut strategy = RestartStrategy::FailureRate {
            max_failures: 1,
            interval: 10 * SECOND,
            delay: SECOND,
            failures: VecDeque::new(),
        };
        assert_eq!(strategy.after_failure(start), Some(SECOND));
        assert_eq!(strategy.after_failure(start + 20 * SECOND), Some(SECOND));
        assert_eq!(strategy.after_failure(start + 25 * SECOND), None);
    }

    #[test]
    fn delays_grow_and_begin_anew_after_calm() {
        let start = Instant::now();
        let mut strategy = RestartStrategy::ExponentialDelay(ExponentialDelay {
            initial: SECOND,
            max: 3 * SECOND,
            multiplier: 2.0,
            reset_after: 60 * SECOND,
            jitter: 0.0,
            attempts: 4,
            used: 0,
            current: SECOND,
            last: None,
        });
        let delays: Vec<_> = (0..5).map(|i| strategy.after_failure(start + i * SECOND)).collect();
        let grown = [Some(SECOND), Some(2 * SECOND), Some(3 * SECOND), Some(3 * SECOND), None];
        assert_eq!(delays, grown);
        assert_eq!(strategy.after_failure(start + 100 * SECOND), Some(SECOND));
    }
}
