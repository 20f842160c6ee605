//! How rows are printed.

mod changelog;
mod jsonl;
mod table;

use flott::{ChangelogBatch, Error, QueryResult, Schema, Table};

use crate::args::Format;

/// Prints what statements give, to standard output.
pub trait Printer {
    /// A statement begins; `schema` when it gives rows.
    fn begin(&mut self, statement: usize, schema: Option<&Schema>) -> std::io::Result<()>;

    /// Rows of a query.
    fn rows(
        &mut self,
        statement: usize,
        query: &QueryResult,
        batch: &ChangelogBatch,
    ) -> std::io::Result<()>;

    /// The whole result of SHOW, DESCRIBE, EXPLAIN.
    fn table(&mut self, statement: usize, table: &Table) -> std::io::Result<()>;

    /// The statement succeeded.
    fn end(&mut self, statement: usize) -> std::io::Result<()>;

    /// The statement failed.
    fn failed(&mut self, statement: usize, error: &Error) -> std::io::Result<()>;
}

/// The printer of a format.
pub fn printer(format: Format) -> Box<dyn Printer> {
    match format {
        Format::Table => Box::new(table::TablePrinter::default()),
        Format::Changelog => Box::new(changelog::ChangelogPrinter),
        Format::Jsonl => Box::new(jsonl::JsonLinesPrinter),
    }
}
