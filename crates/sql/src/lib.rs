//! Flink SQL text to a syntax tree, and back.

pub mod ast;
mod error;
mod lexer;
mod parser;
mod print;
mod script;

pub use error::{ParseError, ParseErrorKind};
pub use parser::{parse_expression, parse_query, parse_statement, parse_statement_at, parse_type};
pub use script::{ScriptStatement, split_script};
