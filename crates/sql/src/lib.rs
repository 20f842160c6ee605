//! Flink SQL text to a syntax tree, and back.
//!
//! The grammar is that of Flink 2.3 and nothing else: what Flink's parser takes is taken, what it
//! refuses is refused, and reserved words are reserved. A [`split_script`] cuts a script into
//! statements, [`parse_statement`] makes one of them a tree of [`ast`] nodes, each of which knows
//! its place in the text, and printing a node gives SQL in the form in which Flink shows it.
//!
//! The tree says what was written, not what it means: names are not resolved, types not checked,
//! literals of time not even read. That is the planner's work.
//!
//! ```
//! use flott_sql::split_script;
//!
//! let script = "SET 'a.b' = 'c'; -- a comment; no statement\nselect x+1 from t;";
//! for statement in split_script(script) {
//!     println!("{} of {}: {}", statement.number, statement.span.position(script), statement.text);
//!     println!("{}", statement.parse()?);
//! }
//!
//! let error = flott_sql::parse_statement("SELECT value FROM t").unwrap_err();
//! let hint = "value is a reserved word; as a name it must be quoted: `value`";
//! assert_eq!(error.hint.as_deref(), Some(hint));
//! # Ok::<(), flott_sql::ParseError>(())
//! ```

pub mod ast;
mod error;
mod lexer;
mod parser;
mod print;
mod script;

pub use error::{ParseError, ParseErrorKind};
pub use parser::{parse_expression, parse_query, parse_statement, parse_statement_at, parse_type};
pub use script::{ScriptStatement, split_script};
