//! The pattern language of Java's `DateTimeFormatter`, in which Flink writes DATE_FORMAT of timestamps
//! and reads TO_TIMESTAMP and TO_TIMESTAMP_LTZ: English names, weeks that begin on Sunday, smart
//! resolution (the 30th of February is its last day, hour 25 is an error).

mod compile;
mod field;
mod parse;
mod print;
mod resolve;
mod zone;

use field::{DAY_PERIODS, Field};
pub use parse::Failure;
pub use print::LocalTime;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatter {
    items: Vec<Item>,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Text(String),
    Number(Number),
    /// Digits of the second's fraction.
    Fraction(Fraction),
    Name {
        field: Field,
        style: Style,
        /// What can be read, with its values, the longest first.
        names: Vec<(String, i64)>,
    },
    Zone(ZonePart),
    /// `[…]`: left out when it cannot be written, skipped when it does not fit.
    Optional(Vec<Item>),
    /// `p`: blanks before an item up to a width.
    Padded {
        width: usize,
        item: Box<Item>,
    },
}

/// A field in digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    field: Field,
    min: usize,
    max: usize,
    sign: Sign,
    /// Whether it is the last two digits of a year from 2000 on.
    reduced: bool,
    /// Digits that numbers directly after it need.
    reserved: usize,
}

/// How a sign is written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Only a minus.
    Normal,
    /// None.
    Never,
    /// A plus too, before more digits than the least width.
    ExceedsPad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fraction {
    min: usize,
    max: usize,
    point: bool,
}

/// How much of a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Short,
    Full,
    Narrow,
}

/// Zones and offsets, which a TIMESTAMP has none of: they can be read, and are then ignored, but
/// not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ZonePart {
    /// `X`, `x`, `Z`.
    Offset { minutes: Minutes, seconds: Seconds, colon: bool, zero: &'static str },
    /// `O`, `ZZZZ`: `GMT+8`, `GMT+08:00`.
    Localized { full: bool },
    /// `VV`: an id.
    Id,
    /// `z`, `v`: an id or a name that people use.
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Minutes {
    Optional,
    Required,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seconds {
    Never,
    Optional,
}

#[cfg(test)]
mod tests;
