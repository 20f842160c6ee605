//! Tables of files for tests, and a format of lines with columns between bars.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, Committable, ConnectorError, Decoder, Encoder, FailOnBadRecord,
    FormatDef, Options, ReaderContext, RecordBuffer, Registry, ScanColumn, ScanRequest,
    SourceEvent, SourceReader, Split, TableContext, TableSink, TableSource, WriterContext,
};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field, Schema, TypeRoot, Value};
use jiff::tz::TimeZone;

/// `1|x` for an INT and a STRING; `~` is NULL.
pub static LINES: FormatDef = FormatDef {
    name: "lines",
    help: "columns between bars",
    options: &[],
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(|context| {
        Ok(Box::new(LineDecoder {
            schema: context.schema.clone(),
            projection: context.projection.clone(),
            bad_records: context.bad_records.clone(),
            rows: Vec::new(),
        }))
    }),
    encoder: Some(|context| Ok(Box::new(LineEncoder(context.schema.clone())))),
};

struct LineDecoder {
    schema: Schema,
    projection: Vec<usize>,
    bad_records: Arc<dyn BadRecordHandler>,
    rows: Vec<Vec<Value>>,
}

impl LineDecoder {
    fn line(&self, line: &str) -> Result<Vec<Value>, ConnectorError> {
        let cells: Vec<_> = line.split('|').collect();
        if cells.len() != self.schema.len() {
            let (found, wanted) = (cells.len(), self.schema.len());
            return Err(ConnectorError::new(format!("{found} columns instead of {wanted}")));
        }
        let cell = |at: &usize| match (cells[*at], &self.schema.fields[*at].data_type.root) {
            ("~", _) => Ok(Value::Null),
            (text, TypeRoot::Int | TypeRoot::BigInt) => text
                .parse()
                .map(Value::Int)
                .map_err(|_| ConnectorError::new(format!("'{text}' is not a number"))),
            (text, _) => Ok(Value::string(text)),
        };
        self.projection.iter().map(cell).collect()
    }
}

impl Decoder for LineDecoder {
    fn decode_stream(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        let mut at = 0;
        while self.rows.len() < max_rows && at < bytes.len() {
            let (line, next) = match bytes[at..].iter().position(|byte| *byte == b'\n') {
                Some(end) => (&bytes[at..at + end], at + end + 1),
                None if last => (&bytes[at..], bytes.len()),
                None => break,
            };
            match self.line(&String::from_utf8_lossy(line)) {
                Ok(row) => self.rows.push(row),
                Err(error) => {
                    self.bad_records.handle(BadRecord { raw: line, place: place(at), error })?
                }
            }
            at = next;
        }
        Ok(at)
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        _: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        let row = self.line(&String::from_utf8_lossy(message))?;
        self.rows.push(row);
        Ok(())
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.rows);
        let fields: Vec<Field> =
            self.projection.iter().map(|at| self.schema.fields[*at].clone()).collect();
        Ok(Some(batch_of(&Schema::new(fields), &rows)))
    }
}

struct LineEncoder(Schema);

impl Encoder for LineEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        for row in 0..batch.len() {
            for (i, field) in self.0.fields.iter().enumerate() {
                if i > 0 {
                    out.bytes.push(b'|');
                }
                let text = cell_text(&Value::from_array(batch.column(i), row, &field.data_type));
                out.bytes.extend_from_slice(text.as_bytes());
            }
            out.end_record();
        }
        Ok(())
    }
}

/// A batch of these rows.
pub fn batch_of(schema: &Schema, rows: &[Vec<Value>]) -> ChangelogBatch {
    let columns: Vec<_> = schema
        .fields
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let values: Vec<_> = rows.iter().map(|row| row[i].clone()).collect();
            Value::to_array(&values, &field.data_type).unwrap()
        })
        .collect();
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(rows.len()));
    ChangelogBatch::inserts(
        arrow::record_batch::RecordBatch::try_new_with_options(
            schema.to_arrow(),
            columns,
            &options,
        )
        .unwrap(),
    )
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => "~".into(),
        Value::Int(number) => number.to_string(),
        Value::String(text) => text.to_string(),
        Value::Timestamp(nanos) => (nanos / 1_000_000).to_string(),
        other => format!("{other:?}"),
    }
}

/// A table of the connector `filesystem` in the format [`LINES`].
pub struct Table {
    pub context: TableContext,
}

impl Table {
    pub fn new(directory: &Path, columns: &[(&str, DataType)], options: &[(&str, &str)]) -> Self {
        let fields = columns.iter().map(|(name, ty)| Field::new(*name, ty.clone())).collect();
        let fixed = [("connector", "filesystem"), ("format", "lines"), ("path", ".")];
        let given = fixed.iter().chain(options).map(|(k, v)| (k.to_string(), v.to_string()));
        let context = TableContext {
            identifier: "c.d.t".into(),
            schema: Schema::new(fields),
            persisted: vec![],
            primary_key: vec![],
            partition_keys: vec![],
            options: Options::new(given),
            zone: TimeZone::UTC,
            batch: false,
            working_directory: PathBuf::from(directory),
            registry: Arc::new(Registry::new(flott_connectors::all(), vec![&LINES])),
        };
        Self { context }
    }

    pub fn partitioned_by(mut self, columns: &[usize]) -> Self {
        self.context.partition_keys = columns.to_vec();
        self
    }

    pub fn batch(mut self) -> Self {
        self.context.batch = true;
        self
    }

    pub fn try_source(&self) -> Result<Arc<dyn TableSource>, ConnectorError> {
        let def = self.context.registry.connector("filesystem")?;
        def.source.unwrap()(&self.context)
    }

    pub fn source(&self) -> Arc<dyn TableSource> {
        self.try_source().unwrap()
    }

    pub fn try_sink(&self) -> Result<Arc<dyn TableSink>, ConnectorError> {
        let def = self.context.registry.connector("filesystem")?;
        def.sink.unwrap()(&self.context)
    }

    pub fn sink(&self) -> Arc<dyn TableSink> {
        self.try_sink().unwrap()
    }

    pub fn batch_of(&self, rows: &[Vec<Value>]) -> ChangelogBatch {
        batch_of(&self.context.schema, rows)
    }

    pub fn all_columns(&self) -> ScanRequest {
        ScanRequest {
            columns: (0..self.context.schema.len()).map(ScanColumn::Physical).collect(),
            ..Default::default()
        }
    }

    /// All rows, as text in their order.
    pub fn rows(&self) -> Vec<String> {
        self.try_rows(&self.all_columns(), Arc::new(FailOnBadRecord)).unwrap()
    }

    /// All rows, sorted.
    pub fn sorted_rows(&self) -> Vec<String> {
        let mut rows = self.rows();
        rows.sort();
        rows
    }

    pub fn try_rows(
        &self,
        request: &ScanRequest,
        bad_records: Arc<dyn BadRecordHandler>,
    ) -> Result<Vec<String>, ConnectorError> {
        let source = self.try_source()?;
        let splits = source.enumerator(request, None)?.discover()?.splits;
        let mut reader = source.reader(request, &reader_context(5, bad_records))?;
        let mut rows = Vec::new();
        for split in splits {
            reader.add_splits(vec![split])?;
            while let Some(event) = next(&mut *reader)? {
                rows.extend(self.texts(request, &event));
            }
        }
        Ok(rows)
    }

    /// The rows of a batch as text.
    pub fn texts(&self, request: &ScanRequest, batch: &ChangelogBatch) -> Vec<String> {
        let types: Vec<_> = request
            .columns
            .iter()
            .map(|column| match column {
                ScanColumn::Physical(at) => self.context.schema.fields[*at].data_type.clone(),
                ScanColumn::Metadata(key) => {
                    let known = self.source().metadata();
                    known.into_iter().find(|column| column.key == *key).unwrap().data_type
                }
            })
            .collect();
        (0..batch.len())
            .map(|row| {
                let cells = types.iter().enumerate();
                let texts =
                    cells.map(|(i, ty)| cell_text(&Value::from_array(batch.column(i), row, ty)));
                texts.collect::<Vec<_>>().join("|")
            })
            .collect()
    }

    /// Writes and commits rows as one task does in the end.
    pub fn insert(&self, rows: &[Vec<Value>]) {
        self.insert_with(rows, &writer_context());
    }

    pub fn insert_with(&self, rows: &[Vec<Value>], context: &WriterContext) {
        let sink = self.sink();
        let mut writer = sink.writer(context).unwrap();
        if !rows.is_empty() {
            writer.write(&self.batch_of(rows)).unwrap();
        }
        let committables: Vec<Committable> = writer.prepare_commit(true).unwrap();
        sink.committer().unwrap().unwrap().commit(committables, true).unwrap();
    }
}

pub fn reader_context(max_rows: usize, bad_records: Arc<dyn BadRecordHandler>) -> ReaderContext {
    ReaderContext { task: 0, parallelism: 1, max_rows, bad_records }
}

pub fn writer_context() -> WriterContext {
    WriterContext {
        job_id: "job".into(),
        task: 0,
        parallelism: 1,
        static_partitions: vec![],
        overwrite: false,
        state: None,
    }
}

/// The next batch; `None` at the end of the split.
pub fn next(reader: &mut dyn SourceReader) -> Result<Option<ChangelogBatch>, ConnectorError> {
    loop {
        match reader.poll(Duration::from_secs(5))? {
            SourceEvent::Rows { batch, .. } => return Ok(Some(batch)),
            SourceEvent::SplitEnd(_) => return Ok(None),
            SourceEvent::Pending => {}
        }
    }
}

/// The splits of a table at its start.
pub fn splits(table: &Table) -> Vec<Split> {
    table.source().enumerator(&table.all_columns(), None).unwrap().discover().unwrap().splits
}

/// Remembers bad records.
#[derive(Default)]
pub struct Collected(pub Mutex<Vec<String>>);

impl BadRecordHandler for Collected {
    fn handle(&self, record: BadRecord<'_>) -> Result<(), ConnectorError> {
        let raw = String::from_utf8_lossy(record.raw);
        let place = record.place.rsplit('/').next().unwrap_or_default();
        let line = format!("{place} {raw}: {}", record.error.message);
        self.0.lock().unwrap().push(line);
        Ok(())
    }
}

/// Every file below a directory, relative to it, hidden ones too.
pub fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push(path.strip_prefix(directory).unwrap().to_str().unwrap().to_string());
        }
    }
    found.sort();
    found
}

pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub fn int(number: i64) -> Value {
    Value::Int(number)
}

pub fn text(text: &str) -> Value {
    Value::string(text)
}
