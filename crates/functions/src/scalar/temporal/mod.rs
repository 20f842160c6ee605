//! Dates, times, timestamps and intervals.
//!
//! Flink computes in two of Java's date libraries, whose pattern languages differ: `formatter` is
//! `java.time`'s, for timestamps; `simple_format` is `java.text`'s, for strings and seconds.

pub mod arithmetic;
mod calendar;
mod clock;
mod compiled;
pub mod extract;
mod formatter;
mod names;
pub mod now;
pub mod overlaps;
pub mod reading;
pub mod rounding;
mod simple_format;
mod stamps;
mod text_forms;
pub mod to_timestamp_ltz;
mod unit;
pub mod writing;
mod zone_id;
mod zone_names;

use flott_types::{DataType, Family};

use crate::SessionSettings;

/// CHAR or VARCHAR.
fn is_text(ty: &DataType) -> bool {
    ty.family() == Family::CharacterString
}

/// The century of two-digit years: it ends 20 years after the statement began, or after now when it is
/// not known when that was.
fn century(settings: &SessionSettings) -> simple_format::Century {
    let now = || jiff::Timestamp::now().as_nanosecond();
    simple_format::Century::around(match settings.query_start {
        0 => now(),
        start => start,
    })
}
