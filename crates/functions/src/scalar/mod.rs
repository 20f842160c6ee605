//! Scalar functions, one family a module. A new family adds its table to [`SECTIONS`].

use crate::ScalarFunction;

mod arithmetic;
pub(crate) mod bitmap;
mod bucket;
mod collection;
pub(crate) mod comparison;
pub(crate) mod conditional;
mod hash;
pub(crate) mod json;
mod logical;
mod pattern;
pub mod special;
mod string;
mod system;
mod temporal;
mod url;
pub(crate) mod variant;

pub use bitmap::bitmap_text;
pub use bucket::BUCKET;
pub(crate) use comparison::Equality;
pub use variant::variant_text;

/// A part of the function reference.
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// The tables of its families.
    pub tables: &'static [&'static [ScalarFunction]],
}

/// The tables of all families, by section.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Comparison",
        tables: &[
            comparison::OPERATORS,
            comparison::NULL_TESTS,
            comparison::RANGES,
            comparison::MEMBERSHIP,
            pattern::LIKE,
        ],
    },
    Section { title: "Logic", tables: &[logical::FUNCTIONS] },
    Section {
        title: "Arithmetic",
        tables: &[
            arithmetic::OPERATORS,
            arithmetic::SIGN,
            arithmetic::ROUNDING,
            arithmetic::MATH,
            arithmetic::RANDOM,
            arithmetic::NOTATION,
        ],
    },
    Section {
        title: "Strings",
        tables: &[
            string::CONCAT,
            string::LETTER_CASE,
            string::SLICE,
            string::POSITION,
            string::AFFIX,
            string::TRIM,
            string::PAD,
            string::REPLACE,
            string::SPLIT,
            string::CHARACTER,
            string::ENCODING,
            string::PRINTF,
            string::INET,
            pattern::REGEXP,
            url::FUNCTIONS,
        ],
    },
    Section {
        title: "Dates and times",
        tables: &[
            temporal::now::FUNCTIONS,
            temporal::extract::FUNCTIONS,
            temporal::arithmetic::FUNCTIONS,
            temporal::overlaps::FUNCTIONS,
            temporal::reading::FUNCTIONS,
            temporal::to_timestamp_ltz::FUNCTIONS,
            temporal::writing::FUNCTIONS,
        ],
    },
    Section {
        title: "Conditions",
        tables: &[conditional::CASE_FORMS, comparison::EXTREMES, conditional::TEXT_TESTS],
    },
    Section {
        title: "Arrays, maps and rows",
        tables: &[
            collection::construct::FUNCTIONS,
            collection::access::FUNCTIONS,
            collection::search::FUNCTIONS,
            collection::edit::FUNCTIONS,
            collection::sets::FUNCTIONS,
            collection::order::FUNCTIONS,
            collection::maps::FUNCTIONS,
            collection::objects::FUNCTIONS,
        ],
    },
    Section {
        title: "JSON and VARIANT",
        tables: &[
            json::IS_JSON,
            json::EXISTS,
            json::VALUE,
            json::QUERY,
            json::CONSTRUCT,
            json::QUOTE,
            variant::FUNCTIONS,
        ],
    },
    Section { title: "Bitmaps", tables: &[bitmap::FUNCTIONS] },
    Section { title: "Hashes", tables: &[hash::FUNCTIONS] },
    Section { title: "Types and session", tables: &[system::FUNCTIONS] },
];
