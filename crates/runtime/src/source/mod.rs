//! Sources: handing out splits, taking watermarks, and the task that reads.

mod generator;
mod splits;
mod task;

pub(crate) use generator::WatermarkGenerator;
pub(crate) use splits::{Assignment, SplitQueue};
pub(crate) use task::{SourceTask, SourceTaskParts};
