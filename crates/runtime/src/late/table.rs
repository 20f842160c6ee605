//! The table that takes late rows.

use std::sync::Arc;

use flott_catalog::connector::{ConnectorError, FormatDef, TableSink};
use flott_types::{DataType, Family, Schema, TypeRoot};

/// A table for the late rows of all operators of a job (`table.exec.late-rows.table`).
///
/// Columns are filled by their names; the table declares any of them:
///
/// | column | type | value |
/// |---|---|---|
/// | `operator` | STRING | the operator that dropped the row, named as in the job's metrics |
/// | `watermark` | TIMESTAMP(3) or TIMESTAMP_LTZ(3) | the watermark that the row came behind |
/// | `event_time` | TIMESTAMP(3) or TIMESTAMP_LTZ(3) | the time of the row; of rows with a window its end |
/// | `row_kind` | STRING | `+I`, `-U`, `+U` or `-D` |
/// | `row_json` | STRING | the row as JSON |
/// | `dropped_at` | TIMESTAMP_LTZ(3) | when it was dropped, in processing time |
///
/// Any other column takes the row's column of the same name, NULL where the row has none.
pub struct LateTable {
    pub(crate) path: String,
    pub(crate) sink: Arc<dyn TableSink>,
    pub(crate) schema: Schema,
    pub(crate) columns: Vec<Source>,
    pub(crate) json: &'static FormatDef,
}

/// What fills a column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Operator,
    Watermark,
    EventTime,
    RowKind,
    RowJson,
    DroppedAt,
    /// The row's column of the same name.
    Row,
}

impl LateTable {
    /// The table `path` with these physical columns; `json` writes rows as JSON. Fails when a column
    /// that is named like one of those above has a type that does not fit.
    pub fn new(
        path: String,
        schema: Schema,
        sink: Arc<dyn TableSink>,
        json: &'static FormatDef,
    ) -> Result<Self, ConnectorError> {
        let columns = schema
            .fields
            .iter()
            .map(|field| source(&field.name, &field.data_type).map_err(|e| e.at(path.clone())))
            .collect::<Result<_, _>>()?;
        Ok(Self { path, sink, schema, columns, json })
    }
}

fn source(name: &str, data_type: &DataType) -> Result<Source, ConnectorError> {
    let is_text = data_type.family() == Family::CharacterString;
    let is_time = data_type.family() == Family::Timestamp;
    let (fits, source, wanted) = match name {
        "operator" => (is_text, Source::Operator, "STRING"),
        "watermark" => (is_time, Source::Watermark, "TIMESTAMP(3) or TIMESTAMP_LTZ(3)"),
        "event_time" => (is_time, Source::EventTime, "TIMESTAMP(3) or TIMESTAMP_LTZ(3)"),
        "row_kind" => (is_text, Source::RowKind, "STRING"),
        "row_json" => (is_text, Source::RowJson, "STRING"),
        "dropped_at" => {
            let is_ltz = matches!(data_type.root, TypeRoot::TimestampLtz(_));
            (is_ltz, Source::DroppedAt, "TIMESTAMP_LTZ(3)")
        }
        _ => return Ok(Source::Row),
    };
    if fits {
        return Ok(source);
    }
    Err(ConnectorError::new(format!(
        "the column '{name}' of the table for late rows has type {}",
        data_type.summary()
    ))
    .hint(format!("declare it as {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_name_and_must_have_the_type() {
        assert_eq!(source("operator", &DataType::string()), Ok(Source::Operator));
        assert_eq!(source("event_time", &DataType::timestamp_ltz(3)), Ok(Source::EventTime));
        assert_eq!(source("auction", &DataType::int()), Ok(Source::Row));
        assert!(source("row_json", &DataType::int()).is_err());
        let error = source("dropped_at", &DataType::timestamp(3)).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("declare it as TIMESTAMP_LTZ(3)"));
    }
}
