//! Results as tables.

use std::collections::HashMap;
use std::io::{Write, stdout};

use comfy_table::{ContentArrangement, Table as Grid, presets};
use flott::{ChangelogBatch, Error, QueryResult, Schema, Table, value_text};

use super::Printer;

/// Keeps the rows of a query, applying its changes, and prints them when it ends.
#[derive(Default)]
pub struct TablePrinter {
    header: Vec<String>,
    /// The rows in the order of their first arrival; `None` where one was taken back.
    rows: Vec<Option<Vec<String>>>,
    /// Where each row's copies stand in `rows`.
    places: HashMap<Vec<String>, Vec<usize>>,
    is_query: bool,
}

impl Printer for TablePrinter {
    fn begin(&mut self, _: usize, schema: Option<&Schema>) -> std::io::Result<()> {
        self.is_query = false;
        if let Some(schema) = schema {
            self.header = schema.fields.iter().map(|field| field.name.to_string()).collect();
        }
        Ok(())
    }

    fn rows(
        &mut self,
        _: usize,
        query: &QueryResult,
        batch: &ChangelogBatch,
    ) -> std::io::Result<()> {
        self.is_query = true;
        let fields = &query.schema().fields;
        for row in query.rows(batch) {
            let values = row.values.iter().zip(fields);
            let cells: Vec<String> =
                values.map(|(v, f)| value_text(v, &f.data_type, query.zone())).collect();
            if row.kind.adds() {
                self.places.entry(cells.clone()).or_default().push(self.rows.len());
                self.rows.push(Some(cells));
            } else if let Some(place) = self.places.get_mut(&cells).and_then(Vec::pop) {
                self.rows[place] = None;
            }
        }
        Ok(())
    }

    fn table(&mut self, _: usize, table: &Table) -> std::io::Result<()> {
        print_table(table)
    }

    fn end(&mut self, _: usize) -> std::io::Result<()> {
        let rows: Vec<Vec<String>> = std::mem::take(&mut self.rows).into_iter().flatten().collect();
        self.places.clear();
        let header = std::mem::take(&mut self.header);
        if !self.is_query && rows.is_empty() {
            return Ok(());
        }
        print_grid(&header, rows)
    }

    fn failed(&mut self, _: usize, _: &Error) -> std::io::Result<()> {
        *self = Self::default();
        Ok(())
    }
}

/// Prints the result of SHOW and the like; a single text without its frame.
pub fn print_table(table: &Table) -> std::io::Result<()> {
    let zone = flott::utc();
    let fields = &table.schema.fields;
    if let ([_], [row]) = (fields.as_slice(), table.rows.as_slice())
        && let Some(text) = row[0].as_str()
        && text.contains('\n')
    {
        return writeln!(stdout().lock(), "{}", text.trim_end());
    }
    let header: Vec<String> = fields.iter().map(|field| field.name.to_string()).collect();
    let cells = |row: &Vec<flott::Value>| {
        row.iter().zip(fields).map(|(v, f)| value_text(v, &f.data_type, &zone)).collect()
    };
    print_grid(&header, table.rows.iter().map(cells).collect())
}

fn print_grid(header: &[String], rows: Vec<Vec<String>>) -> std::io::Result<()> {
    let count = rows.len();
    let mut grid = Grid::new();
    grid.load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    grid.add_rows(rows);
    let mut out = stdout().lock();
    writeln!(out, "{grid}")?;
    writeln!(out, "{count} row{}", if count == 1 { "" } else { "s" })
}
