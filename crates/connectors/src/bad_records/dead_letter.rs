//! Bad records as rows of a table.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flott_catalog::connector::{
    BadRecord, BadRecordHandler, Committer, ConnectorError, SinkWriter,
};
use flott_types::{ChangelogBatch, DataType, Family, Schema, TypeRoot, Value};

/// So many rows gather before they are handed to the writer.
const BUFFERED_ROWS: usize = 256;

/// Writes bad records to a table, in those of the columns `raw_record`, `place`, `error` and `failed_at`
/// that it declares (`raw` and `at` are short names); its other columns become NULL.
///
/// Rows are handed on in batches; [`flush`](Self::flush) does so at once and
/// [`close`](Self::close) commits. A record met again after a restart is written again.
pub struct DeadLetters {
    state: Mutex<State>,
}

struct State {
    columns: Vec<(Source, DataType)>,
    schema: SchemaRef,
    rows: Vec<Letter>,
    sink: Option<Sink>,
}

struct Sink {
    writer: Box<dyn SinkWriter>,
    committer: Option<Box<dyn Committer>>,
}

struct Letter {
    raw: Vec<u8>,
    place: String,
    error: String,
    at_millis: i64,
}

/// What fills a column.
#[derive(Clone, Copy)]
enum Source {
    RawBytes,
    RawText,
    Place,
    Error,
    At,
    Null,
}

impl DeadLetters {
    /// Bad records go to `writer`, whose table has the columns of `schema`. Fails when none of the
    /// columns is one for bad records, or when one has a type that does not fit.
    pub fn new(
        schema: &Schema,
        writer: Box<dyn SinkWriter>,
        committer: Option<Box<dyn Committer>>,
    ) -> Result<Self, ConnectorError> {
        let columns = schema
            .fields
            .iter()
            .map(|field| Ok((source(&field.name, &field.data_type)?, field.data_type.clone())))
            .collect::<Result<Vec<_>, ConnectorError>>()?;
        if columns.iter().all(|(source, _)| matches!(source, Source::Null)) {
            return Err(ConnectorError::new("the table for bad records has no column for them")
                .hint(
                    "declare one or more of raw_record BYTES, place STRING, error STRING, \
                     failed_at TIMESTAMP_LTZ(3)",
                ));
        }
        let sink = Some(Sink { writer, committer });
        let state = State { columns, schema: schema.to_arrow(), rows: Vec::new(), sink };
        Ok(Self { state: Mutex::new(state) })
    }

    /// Hands all rows to the writer and lets it send them on.
    pub fn flush(&self) -> Result<(), ConnectorError> {
        let mut state = self.lock();
        state.write()?;
        state.sink.as_mut().map_or(Ok(()), |sink| sink.writer.flush())
    }

    /// Writes and commits what has gathered; later records are refused. Closing again does nothing.
    pub fn close(&self) -> Result<(), ConnectorError> {
        let mut state = self.lock();
        state.write()?;
        let Some(mut sink) = state.sink.take() else { return Ok(()) };
        let committables = sink.writer.prepare_commit(true)?;
        match &mut sink.committer {
            Some(committer) => committer.commit(committables, true),
            None => Ok(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BadRecordHandler for DeadLetters {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        let mut state = self.lock();
        if state.sink.is_none() {
            return Err(record.error.at(record.place));
        }
        state.rows.push(Letter {
            raw: record.raw.to_vec(),
            place: record.place,
            error: record.error.message,
            at_millis: now_millis(),
        });
        if state.rows.len() >= BUFFERED_ROWS { state.write() } else { Ok(()) }
    }
}

impl State {
    fn write(&mut self) -> Result<(), ConnectorError> {
        let Some(sink) = self.sink.as_mut().filter(|_| !self.rows.is_empty()) else {
            return Ok(());
        };
        let arrays = self
            .columns
            .iter()
            .map(|(source, data_type)| {
                let values: Vec<_> = self.rows.iter().map(|row| row.value(*source)).collect();
                Value::to_array(&values, data_type)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| ConnectorError::new(error.to_string()))?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|error| ConnectorError::new(error.to_string()))?;
        self.rows.clear();
        sink.writer.write(&ChangelogBatch::inserts(batch))
    }
}

impl Letter {
    fn value(&self, source: Source) -> Value {
        match source {
            Source::RawBytes => Value::Bytes(self.raw.as_slice().into()),
            Source::RawText => Value::string(String::from_utf8_lossy(&self.raw)),
            Source::Place => Value::string(&self.place),
            Source::Error => Value::string(&self.error),
            Source::At => Value::Timestamp(i128::from(self.at_millis) * 1_000_000),
            Source::Null => Value::Null,
        }
    }
}

fn source(name: &str, data_type: &DataType) -> Result<Source, ConnectorError> {
    let family = data_type.family();
    let (fits, source, wanted) = match name {
        "raw" | "raw_record" if family == Family::BinaryString => return Ok(Source::RawBytes),
        "raw" | "raw_record" => {
            (family == Family::CharacterString, Source::RawText, "BYTES or STRING")
        }
        "place" => (family == Family::CharacterString, Source::Place, "STRING"),
        "error" => (family == Family::CharacterString, Source::Error, "STRING"),
        "at" | "failed_at" => {
            (matches!(data_type.root, TypeRoot::TimestampLtz(_)), Source::At, "TIMESTAMP_LTZ(3)")
        }
        _ => return Ok(Source::Null),
    };
    if fits {
        return Ok(source);
    }
    Err(ConnectorError::new(format!(
        "the column '{name}' of the table for bad records has type {}",
        data_type.summary()
    ))
    .hint(format!("declare it as {wanted}")))
}

fn now_millis() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::AsArray;
    use flott_catalog::connector::Committable;
    use flott_types::Field;

    use super::*;

    #[derive(Default)]
    struct Seen {
        batches: Vec<ChangelogBatch>,
        prepared: usize,
        committed: usize,
    }

    struct Probe(Arc<Mutex<Seen>>);

    impl SinkWriter for Probe {
        fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
            self.0.lock().unwrap().batches.push(batch.clone());
            Ok(())
        }

        fn flush(&mut self) -> Result<(), ConnectorError> {
            Ok(())
        }

        fn prepare_commit(&mut self, _: bool) -> Result<Vec<Committable>, ConnectorError> {
            self.0.lock().unwrap().prepared += 1;
            Ok(vec![vec![1]])
        }
    }

    impl Committer for Probe {
        fn commit(&mut self, items: Vec<Committable>, _: bool) -> Result<(), ConnectorError> {
            self.0.lock().unwrap().committed += items.len();
            Ok(())
        }

        fn abort(&mut self, _: Vec<Committable>) -> Result<(), ConnectorError> {
            Ok(())
        }
    }

    fn bad(raw: &[u8]) -> BadRecord<'_> {
        BadRecord { raw, place: "f.csv:3".into(), error: ConnectorError::new("not a number") }
    }

    #[test]
    fn declared_columns_are_filled_by_name() {
        let schema = Schema::new(vec![
            Field::new("error", DataType::string()),
            Field::new("note", DataType::int()),
            Field::new("raw_record", DataType::string()),
            Field::new("failed_at", DataType::timestamp_ltz(6)),
        ]);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let letters = DeadLetters::new(
            &schema,
            Box::new(Probe(seen.clone())),
            Some(Box::new(Probe(seen.clone()))),
        )
        .unwrap();
        letters.handle(bad(b"x,\xff")).unwrap();
        letters.close().unwrap();
        letters.close().unwrap();
        assert!(letters.handle(bad(b"late")).is_err());
        let seen = seen.lock().unwrap();
        assert_eq!((seen.prepared, seen.committed), (1, 1));
        let rows = &seen.batches[0].rows;
        assert_eq!(rows.column(0).as_string::<i32>().value(0), "not a number");
        assert_eq!(rows.column(1).null_count(), 1);
        assert_eq!(rows.column(2).as_string::<i32>().value(0), "x,\u{fffd}");
    }

    #[test]
    fn a_table_without_a_fitting_column_is_refused() {
        let refuse = |name: &str, data_type| {
            let schema = Schema::new(vec![Field::new(name, data_type)]);
            DeadLetters::new(&schema, Box::new(Probe(Arc::default())), None).err().unwrap()
        };
        assert!(refuse("other", DataType::string()).message.contains("no column"));
        assert!(refuse("raw", DataType::int()).hint.unwrap().contains("BYTES"));
        assert!(refuse("at", DataType::timestamp(3)).hint.unwrap().contains("TIMESTAMP_LTZ"));
    }
}
