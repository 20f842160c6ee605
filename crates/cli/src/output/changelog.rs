//! Every change as it happens.

use std::io::{BufWriter, Write, stdout};

use flott::{ChangelogBatch, Error, QueryResult, Schema, Table};

use super::Printer;
use super::table::print_table;

/// Prints rows as Flink's print connector does: `+I[Mary, 1]`.
pub struct ChangelogPrinter;

impl Printer for ChangelogPrinter {
    fn begin(&mut self, _: usize, _: Option<&Schema>) -> std::io::Result<()> {
        Ok(())
    }

    fn rows(
        &mut self,
        _: usize,
        query: &QueryResult,
        batch: &ChangelogBatch,
    ) -> std::io::Result<()> {
        let mut out = BufWriter::new(stdout().lock());
        for row in query.rows(batch) {
            writeln!(out, "{row}")?;
        }
        out.flush()
    }

    fn table(&mut self, _: usize, table: &Table) -> std::io::Result<()> {
        print_table(table)
    }

    fn end(&mut self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn failed(&mut self, _: usize, _: &Error) -> std::io::Result<()> {
        Ok(())
    }
}
