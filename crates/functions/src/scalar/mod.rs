//! Scalar functions, one family a module. A new family adds its table to [`FAMILIES`].

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
mod string;
mod system;
mod temporal;
mod url;
pub(crate) mod variant;

pub use bitmap::bitmap_text;
pub use bucket::BUCKET;
pub(crate) use comparison::Equality;
pub use variant::variant_text;

/// The tables of all families.
pub const FAMILIES: &[&[ScalarFunction]] = &[
    arithmetic::MATH,
    arithmetic::NOTATION,
    arithmetic::OPERATORS,
    arithmetic::RANDOM,
    arithmetic::ROUNDING,
    arithmetic::SIGN,
    bitmap::FUNCTIONS,
    collection::access::FUNCTIONS,
    collection::construct::FUNCTIONS,
    collection::edit::FUNCTIONS,
    collection::maps::FUNCTIONS,
    collection::objects::FUNCTIONS,
    collection::order::FUNCTIONS,
    collection::search::FUNCTIONS,
    collection::sets::FUNCTIONS,
    comparison::EXTREMES,
    comparison::MEMBERSHIP,
    comparison::NULL_TESTS,
    comparison::OPERATORS,
    comparison::RANGES,
    conditional::CASE_FORMS,
    conditional::TEXT_TESTS,
    hash::FUNCTIONS,
    json::CONSTRUCT,
    json::EXISTS,
    json::IS_JSON,
    json::QUERY,
    json::QUOTE,
    json::VALUE,
    logical::FUNCTIONS,
    pattern::LIKE,
    pattern::REGEXP,
    string::AFFIX,
    string::CHARACTER,
    string::CONCAT,
    string::ENCODING,
    string::INET,
    string::LETTER_CASE,
    string::PAD,
    string::POSITION,
    string::PRINTF,
    string::REPLACE,
    string::SLICE,
    string::SPLIT,
    string::TRIM,
    system::FUNCTIONS,
    temporal::arithmetic::FUNCTIONS,
    temporal::extract::FUNCTIONS,
    temporal::now::FUNCTIONS,
    temporal::overlaps::FUNCTIONS,
    temporal::reading::FUNCTIONS,
    temporal::to_timestamp_ltz::FUNCTIONS,
    temporal::writing::FUNCTIONS,
    url::FUNCTIONS,
    variant::FUNCTIONS,
];
