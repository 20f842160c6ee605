//! Flink SQL text to a syntax tree.

pub mod ast;
