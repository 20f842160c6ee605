//! Paths into JSON values as the library Jayway JsonPath reads them, which Flink uses: `$.a['b'][0]`,
//! `$..a`, `$.a[?(@.b > 1)]`, `$.a.length()`.
//!
//! What the library accepts is accepted and what it answers is answered, oddities included. One thing
//! differs: Flink's build of it lacks a part that existence tests (`[?(@.b)]`) and lists in filters need,
//! and fails there; here they work as the library documents them.

mod chars;
mod compile;
mod condition;
mod evaluate;
mod filter;
mod function;
mod matching;
mod operand;
mod token;
mod walk;

pub use evaluate::{Missing, Stop};
pub use token::{InvalidPath, Path};
pub use walk::{Found, Step, walk};

#[cfg(test)]
mod tests;
