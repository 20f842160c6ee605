//! One JSON object a line, for machines. The form is stable:
//!
//! ```text
//! {"statement":2,"columns":[["user","STRING"],["cnt","BIGINT NOT NULL"]]}
//! {"statement":2,"row":["+I","Mary","1"]}
//! {"statement":2,"done":true}
//! ```

use std::io::{BufWriter, Write, stdout};

use flott::{ChangelogBatch, Error, QueryResult, Schema, Table, json_value};
use serde_json::{Value as Json, json};

use super::Printer;

/// Prints JSON lines.
pub struct JsonLinesPrinter;

impl Printer for JsonLinesPrinter {
    fn begin(&mut self, statement: usize, schema: Option<&Schema>) -> std::io::Result<()> {
        let Some(schema) = schema else { return Ok(()) };
        let columns: Vec<Json> =
            schema.fields.iter().map(|field| json!([&*field.name, field.type_summary()])).collect();
        line(&json!({ "statement": statement, "columns": columns }))
    }

    fn rows(
        &mut self,
        statement: usize,
        query: &QueryResult,
        batch: &ChangelogBatch,
    ) -> std::io::Result<()> {
        let mut out = BufWriter::new(stdout().lock());
        let fields = &query.schema().fields;
        for row in query.rows(batch) {
            let mut cells = vec![Json::from(row.kind.short())];
            let values = row.values.iter().zip(fields);
            cells.extend(values.map(|(v, f)| json_value(v, &f.data_type, query.zone())));
            writeln!(out, "{}", json!({ "statement": statement, "row": cells }))?;
        }
        out.flush()
    }

    fn table(&mut self, statement: usize, table: &Table) -> std::io::Result<()> {
        let zone = flott::utc();
        for row in &table.rows {
            let mut cells = vec![Json::from("+I")];
            let values = row.iter().zip(&table.schema.fields);
            cells.extend(values.map(|(v, f)| json_value(v, &f.data_type, &zone)));
            line(&json!({ "statement": statement, "row": cells }))?;
        }
        Ok(())
    }

    fn end(&mut self, statement: usize) -> std::io::Result<()> {
        line(&json!({ "statement": statement, "done": true }))
    }

    fn failed(&mut self, statement: usize, error: &Error) -> std::io::Result<()> {
        line(&json!({ "statement": statement, "error": error.to_string() }))
    }
}

fn line(value: &Json) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
