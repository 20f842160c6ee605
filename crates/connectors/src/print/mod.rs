//! `print`: every row as a line on standard output or standard error, for looking at a query's result.
//!
//! A line is what Flink's connector prints: `+I[1, Mary]` after a prefix made of `print-identifier`,
//! static partitions and, when several tasks write, the number of the task from 1: `id:2> +I[1, Mary]`.
//! With `'changelog-mode' = 'upsert'` it shows the upsert stream of a table with a primary key, one line a
//! change.

mod hash_order;
mod java_text;

use std::io::Write;
use std::sync::Arc;

use flott_catalog::connector::{
    Committable, ConnectorDef, ConnectorError, OptionDef, OptionKind, SinkWriter, TableContext,
    TableSink, WriterContext,
};
use flott_types::{ChangelogBatch, ChangelogMode, DataType};

use crate::common::{
    CHANGELOG_MODE, COMMON, SINK_PARALLELISM, changelog_mode, concat, parallelism, validate,
};
use java_text::write_row;

const PRINT_IDENTIFIER: OptionDef =
    OptionDef::new("print-identifier", OptionKind::Text, "what every line starts with");
const STANDARD_ERROR: OptionDef = OptionDef::new(
    "standard-error",
    OptionKind::Bool,
    "whether lines go to standard error instead of standard output",
)
.default("false");

const OWN: &[OptionDef] = &[PRINT_IDENTIFIER, STANDARD_ERROR, CHANGELOG_MODE, SINK_PARALLELISM];
static OPTIONS: [OptionDef; COMMON.len() + OWN.len()] = concat(&[COMMON, OWN]);

/// The connector `print`.
pub(crate) static PRINT: ConnectorDef = ConnectorDef {
    name: "print",
    help: "prints rows, one a line",
    options: &OPTIONS,
    uses_format: false,
    source: None,
    sink: Some(sink),
};

fn sink(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    validate(context, &PRINT)?;
    let options = &context.options;
    Ok(Arc::new(PrintSink {
        types: context.schema.fields.iter().map(|field| field.data_type.clone()).collect(),
        partition_columns: context
            .partition_keys
            .iter()
            .map(|column| context.schema.fields[*column].name.clone())
            .collect(),
        identifier: options.text(&PRINT_IDENTIFIER).map(Into::into),
        standard_error: options.bool(&STANDARD_ERROR)?,
        parallelism: parallelism(options, &SINK_PARALLELISM)?,
        mode: changelog_mode(context)?,
    }))
}

struct PrintSink {
    types: Arc<[DataType]>,
    partition_columns: Vec<Arc<str>>,
    identifier: Option<String>,
    standard_error: bool,
    parallelism: Option<usize>,
    mode: Option<ChangelogMode>,
}

impl TableSink for PrintSink {
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode {
        self.mode.unwrap_or(requested)
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        Ok(Box::new(PrintWriter {
            types: self.types.clone(),
            prefix: self.prefix(context),
            output: if self.standard_error {
                Box::new(std::io::stderr())
            } else {
                Box::new(std::io::stdout())
            },
            lines: String::new(),
        }))
    }
}

impl PrintSink {
    fn prefix(&self, context: &WriterContext) -> String {
        let mut parts: Vec<String> = self.identifier.iter().cloned().collect();
        for column in &self.partition_columns {
            let given = context.static_partitions.iter().find(|(name, _)| **name == **column);
            parts.extend(given.map(|(name, value)| format!("{name}={value}")));
        }
        if context.parallelism > 1 {
            parts.push((context.task + 1).to_string());
        }
        let prefix = parts.join(":");
        if prefix.is_empty() { prefix } else { prefix + "> " }
    }
}

struct PrintWriter {
    types: Arc<[DataType]>,
    prefix: String,
    output: Box<dyn Write + Send>,
    lines: String,
}

impl SinkWriter for PrintWriter {
    /// The lines of a batch go out in one write, so that those of parallel tasks do not mix.
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        self.lines.clear();
        for row in 0..batch.len() {
            self.lines.push_str(&self.prefix);
            write_row(&mut self.lines, batch.kind(row), batch.rows.columns(), row, &self.types);
            self.lines.push('\n');
        }
        self.output
            .write_all(self.lines.as_bytes())
            .and_then(|()| self.output.flush())
            .map_err(|error| ConnectorError::new(format!("cannot print rows: {error}")))
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn prepare_commit(&mut self, _: bool) -> Result<Vec<Committable>, ConnectorError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(identifier: Option<&str>, task: usize, parallelism: usize) -> String {
        let sink = PrintSink {
            types: Arc::new([]),
            partition_columns: vec!["k".into()],
            identifier: identifier.map(Into::into),
            standard_error: false,
            parallelism: None,
            mode: None,
        };
        let statics = if task == 9 { vec![("k".to_string(), "z".to_string())] } else { vec![] };
        sink.prefix(&WriterContext {
            job_id: "j".into(),
            task,
            parallelism,
            static_partitions: statics,
            overwrite: false,
            state: None,
        })
    }

    #[test]
    fn the_prefix_names_identifier_partition_and_task() {
        assert_eq!(prefix(None, 0, 1), "");
        assert_eq!(prefix(None, 0, 2), "1> ");
        assert_eq!(prefix(Some("id"), 0, 1), "id> ");
        assert_eq!(prefix(Some("id"), 1, 2), "id:2> ");
        assert_eq!(prefix(Some("id"), 9, 1), "id:k=z> ");
    }
}
