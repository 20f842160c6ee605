//! Late rows as rows of the table that takes them.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, Options, RecordBuffer};
use flott_types::{ChangelogBatch, DataType, Schema, TypeRoot, Value};

use super::LateRows;
use super::table::{LateTable, Source};
use crate::context::TaskInfo;
use crate::operators::{WallClock, instants};
use crate::{Result, RuntimeError};

/// The time by which an operator tells late rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateTime {
    /// Its column in the input.
    pub column: usize,
    /// Whether watermarks are instants (the time attribute is a TIMESTAMP_LTZ), not wall-clock time.
    pub is_ltz: bool,
}

/// Turns late rows of one input into rows of the table.
pub struct LateRowWriter {
    operator: Arc<str>,
    columns: Vec<Column>,
    schema: SchemaRef,
    /// The clock of the session's zone.
    clock: WallClock,
}

/// What fills a column.
enum Column {
    Operator,
    Watermark { is_ltz: bool, to: DataType },
    EventTime { column: usize, is_ltz: bool, to: DataType },
    RowKind,
    RowJson(Json),
    DroppedAt { to: DataType },
    Input(usize),
    Null,
}

/// Writes rows as JSON.
struct Json {
    encoder: Box<dyn Encoder>,
    buffer: RecordBuffer,
}

impl LateRowWriter {
    /// A writer of rows with the columns of `input` for `table`. Fails where columns of the same name have
    /// different types, where a NOT NULL column would stay empty, and where none of the table's columns is
    /// one for late rows or of the input.
    pub fn new(table: &LateTable, input: &Schema, time: LateTime, task: &TaskInfo) -> Result<Self> {
        let fields = table.schema.fields.iter().zip(&table.columns);
        let columns = fields
            .map(|(field, source)| {
                let to = field.data_type.clone();
                let column = column(*source, &field.name, to, input, time, table, task)?;
                let may_be_null = matches!(column, Column::Null | Column::EventTime { .. });
                if may_be_null && !field.data_type.nullable {
                    let name = &field.name;
                    return Err(refuse(
                        table,
                        format!(
                            "its column '{name}' is NOT NULL, and rows of {} have none",
                            task.name
                        ),
                        "leave out NOT NULL".to_string(),
                    ));
                }
                Ok(column)
            })
            .collect::<Result<Vec<_>>>()?;
        if columns.iter().all(|column| matches!(column, Column::Null)) {
            return Err(refuse(
                table,
                format!("it has no column for rows of {}", task.name),
                "declare one or more of operator STRING, watermark TIMESTAMP_LTZ(3), event_time \
                 TIMESTAMP_LTZ(3), row_kind STRING, row_json STRING, dropped_at TIMESTAMP_LTZ(3), or columns \
                 named as those of the rows"
                    .to_string(),
            ));
        }
        Ok(Self {
            operator: task.name.clone(),
            columns,
            schema: table.schema.to_arrow(),
            clock: WallClock::new(true, &task.zone),
        })
    }

    /// The rows of `batch` that came late, as rows of the table; `now` is processing time.
    pub(super) fn rows(
        &mut self,
        batch: &ChangelogBatch,
        late: &LateRows,
        now: i64,
    ) -> Result<ChangelogBatch> {
        let picked = UInt32Array::from(late.rows.clone());
        let rows = batch.rows.columns().iter().map(|column| take(column, &picked, None));
        let rows = RecordBatch::try_new(batch.rows.schema(), rows.collect::<Result<_, _>>()?)?;
        let count = late.len();
        let clock = &self.clock;
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter_mut().zip(self.schema.fields()) {
            let array: ArrayRef = match column {
                Column::Operator => {
                    Arc::new(StringArray::from_iter_values(vec![&*self.operator; count]))
                }
                Column::Watermark { is_ltz, to } => {
                    let known = late.watermarks.iter().map(|w| (*w != i64::MIN).then_some(*w));
                    times(known, *is_ltz, to, clock)?
                }
                Column::EventTime { column, is_ltz, to } => {
                    let (millis, nulls) = instants(rows.column(*column))?;
                    let known = millis.iter().enumerate().map(|(row, time)| {
                        nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then_some(*time)
                    });
                    times(known, *is_ltz, to, clock)?
                }
                Column::RowKind => Arc::new(StringArray::from_iter_values(
                    late.rows.iter().map(|row| batch.kind(*row as usize).short()),
                )),
                Column::RowJson(json) => json.rows(&rows)?,
                Column::DroppedAt { to } => times((0..count).map(|_| Some(now)), true, to, clock)?,
                Column::Input(column) => rows.column(*column).clone(),
                Column::Null => new_null_array(field.data_type(), count),
            };
            arrays.push(array);
        }
        Ok(ChangelogBatch::inserts(RecordBatch::try_new(self.schema.clone(), arrays)?))
    }
}

impl Json {
    fn new(table: &LateTable, input: &Schema, task: &TaskInfo) -> Result<Self> {
        let Some(make) = table.json.encoder else {
            return Err(RuntimeError::internal("late rows", "JSON cannot be written"));
        };
        let context = EncodeContext {
            schema: input.clone(),
            key: Vec::new(),
            options: Options::default(),
            zone: task.zone.clone(),
        };
        Ok(Self { encoder: make(&context)?, buffer: RecordBuffer::new(b"") })
    }

    fn rows(&mut self, rows: &RecordBatch) -> Result<ArrayRef> {
        self.buffer.clear();
        self.encoder.encode(&ChangelogBatch::inserts(rows.clone()), &mut self.buffer)?;
        let texts = self.buffer.records().map(String::from_utf8_lossy);
        Ok(Arc::new(StringArray::from_iter_values(texts)))
    }
}

fn column(
    source: Source,
    name: &str,
    to: DataType,
    input: &Schema,
    time: LateTime,
    table: &LateTable,
    task: &TaskInfo,
) -> Result<Column> {
    Ok(match source {
        Source::Operator => Column::Operator,
        Source::Watermark => Column::Watermark { is_ltz: time.is_ltz, to },
        Source::EventTime => {
            let is_ltz = is_ltz(&input.fields[time.column].data_type);
            Column::EventTime { column: time.column, is_ltz, to }
        }
        Source::RowKind => Column::RowKind,
        Source::RowJson => Column::RowJson(Json::new(table, input, task)?),
        Source::DroppedAt => Column::DroppedAt { to },
        Source::Row => match input.index_of(name) {
            None => Column::Null,
            Some(at) if input.fields[at].data_type.root == to.root => Column::Input(at),
            Some(at) => {
                let of_rows = input.fields[at].data_type.summary();
                return Err(refuse(
                    table,
                    format!(
                        "its column '{name}' is {}, and rows of {} have {of_rows} there",
                        to.summary(),
                        task.name
                    ),
                    format!("declare '{name}' as {of_rows}, or give it another name"),
                ));
            }
        },
    })
}

/// Times in milliseconds as a column of `to`; `is_ltz` says that they are instants.
fn times(
    millis: impl Iterator<Item = Option<i64>>,
    of_ltz: bool,
    to: &DataType,
    clock: &WallClock,
) -> Result<ArrayRef> {
    let convert = |time: i64| match (of_ltz, is_ltz(to)) {
        (true, false) => clock.local(time),
        (false, true) => clock.instant(time),
        _ => time,
    };
    let value = |time: i64| Value::Timestamp(i128::from(convert(time)) * 1_000_000);
    let values: Vec<Value> = millis.map(|time| time.map_or(Value::Null, value)).collect();
    Value::to_array(&values, to).map_err(RuntimeError::operator)
}

fn is_ltz(data_type: &DataType) -> bool {
    matches!(data_type.root, TypeRoot::TimestampLtz(_))
}

fn refuse(table: &LateTable, problem: String, hint: String) -> RuntimeError {
    let message = format!("the table '{}' cannot take late rows: {problem}", table.path);
    ConnectorError::new(message).hint(hint).into()
}
