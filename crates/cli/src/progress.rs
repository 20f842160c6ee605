//! A line on standard error that tells how far a job is; only on a terminal, and only when it takes
//! longer than a moment.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use flott::JobHandle;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

/// Jobs that end sooner show nothing.
const DELAY: Duration = Duration::from_secs(1);

/// The progress line of a job.
pub struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins to measure.
    pub fn start() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self { started: Instant::now(), bar }
    }

    /// Shows where the job is.
    pub fn show(&self, job: &JobHandle) {
        let Some(bar) = &self.bar else { return };
        let elapsed = self.started.elapsed();
        if elapsed < DELAY {
            return;
        }
        let metrics = job.metrics();
        let read: u64 = metrics
            .operators
            .iter()
            .filter(|operator| !operator.splits.is_empty() || operator.bytes > 0)
            .map(|operator| operator.total().rows_out)
            .sum();
        let late: u64 = metrics.operators.iter().map(|operator| operator.total().late_rows).sum();
        let rate = (read as f64 / elapsed.as_secs_f64()) as u64;
        let late = if late > 0 { format!(", {} late", HumanCount(late)) } else { String::new() };
        bar.set_message(format!(
            "{} rows read, {} rows/s{late}",
            HumanCount(read),
            HumanCount(rate)
        ));
        bar.tick();
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
