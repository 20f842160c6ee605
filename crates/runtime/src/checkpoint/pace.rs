//! When checkpoints are due.

use std::time::{Duration, Instant};

use crate::config::JobConfig;

/// Says when the next checkpoint begins, and when the one under way has taken too long.
pub(crate) struct CheckpointPace {
    interval: Option<Duration>,
    min_pause: Duration,
    timeout: Duration,
    next: Option<Instant>,
    /// When the checkpoint under way is overdue; `None` once that was told.
    overdue: Option<Instant>,
}

impl CheckpointPace {
    pub fn new(config: &JobConfig, now: Instant) -> Self {
        Self {
            interval: config.checkpoint_interval,
            min_pause: config.checkpoint_min_pause,
            timeout: config.checkpoint_timeout,
            next: config.checkpoint_interval.and_then(|interval| now.checked_add(interval)),
            overdue: None,
        }
    }

    /// When something is due next.
    pub fn deadline(&self, busy: bool) -> Option<Instant> {
        if busy { self.overdue } else { self.next }
    }

    /// Takes note of a checkpoint that begins or ends.
    pub fn turn(&mut self, was_busy: bool, is_busy: bool, now: Instant) {
        match (was_busy, is_busy) {
            (false, true) => {
                self.overdue = now.checked_add(self.timeout);
                self.next = self.interval.and_then(|interval| now.checked_add(interval));
            }
            (true, false) => {
                let earliest = now.checked_add(self.min_pause);
                self.next = self.next.max(self.interval.and(earliest));
            }
            // Nothing could be begun: the next attempt is after an interval.
            (false, false) if self.next.is_some_and(|next| next <= now) => {
                self.next = self.interval.and_then(|interval| now.checked_add(interval));
            }
            _ => {}
        }
    }

    /// That the checkpoint under way is overdue has been told.
    pub fn told(&mut self) {
        self.overdue = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_keep_their_distance() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let config = JobConfig {
            checkpoint_interval: Some(Duration::from_secs(10)),
            checkpoint_min_pause: Duration::from_secs(5),
            checkpoint_timeout: Duration::from_secs(60),
            ..JobConfig::default()
        };
        let mut pace = CheckpointPace::new(&config, start);
        assert_eq!(pace.deadline(false), Some(at(10)));
        pace.turn(false, true, at(10));
        assert_eq!(pace.deadline(true), Some(at(70)));
        pace.turn(true, false, at(12));
        assert_eq!(pace.deadline(false), Some(at(20)), "the interval is longer than the pause");
        pace.turn(false, true, at(20));
        pace.turn(true, false, at(28));
        assert_eq!(pace.deadline(false), Some(at(33)), "the pause is longer than the interval");
        pace.turn(false, true, at(33));
        pace.told();
        assert_eq!(pace.deadline(true), None, "overdue is told once");
    }

    #[test]
    fn without_an_interval_none_is_due() {
        let pace = CheckpointPace::new(&JobConfig::default(), Instant::now());
        assert_eq!(pace.deadline(false), None);
    }
}
