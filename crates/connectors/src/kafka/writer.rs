//! The task that writes records.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::TimestampMillisecondType;
use flott_catalog::connector::{
    Committable, ConnectorError, Encoder, RecordBuffer, ScanColumn, SinkWriter, WriterContext,
};
use flott_kafka::client::PreparedTransaction;
use flott_kafka::{Client, ClientConfig, Header, KafkaError, Producer};
use flott_types::{ChangelogBatch, RowKind};

use super::committer::pack;
use super::failure::failure;
use super::metadata::{RecordMetadata, headers_of};
use super::part::Part;
use super::sink::{Guarantee, SinkSpec};

/// How long a writer that is given up tries to abort its transaction.
const ABORT_TIME: Duration = Duration::from_secs(3);

/// Encodes rows and sends them.
pub(super) struct KafkaWriter {
    spec: Arc<SinkSpec>,
    task: usize,
    producer: Producer,
    key: Option<PartEncoder>,
    value: PartEncoder,
    columns: MetadataPositions,
    /// The one partition of this task, with the partitioner `fixed`.
    partition: Option<i32>,
    /// The transaction that is open.
    transaction: Option<String>,
    buffer: Option<Buffer>,
}

/// Where the batches have the metadata that is written.
#[derive(Default)]
struct MetadataPositions {
    topic: Option<usize>,
    timestamp: Option<usize>,
    headers: Option<usize>,
}

/// Encodes the key or value of rows.
struct PartEncoder {
    encoder: Box<dyn Encoder>,
    /// Where the batches have its columns.
    columns: Vec<usize>,
    /// Whether NULL in the only column is a record without this part.
    writes_null: bool,
    out: RecordBuffer,
    /// Of each row of the batch, which of the encoded records is its part.
    records: Vec<Option<usize>>,
}

impl KafkaWriter {
    pub(super) fn new(
        spec: Arc<SinkSpec>,
        context: &WriterContext,
    ) -> Result<Self, ConnectorError> {
        let table = &spec.table;
        let producer = Producer::new(table.config.clone()).map_err(failure)?;
        let mut writer = Self {
            task: context.task,
            producer,
            key: table.key.as_ref().map(|key| PartEncoder::new(key, &spec)).transpose()?,
            value: PartEncoder::new(&table.value, &spec)?,
            columns: MetadataPositions::of(&table.context.persisted),
            partition: None,
            transaction: None,
            buffer: spec.buffer.map(|(rows, interval)| Buffer::new(rows, interval)),
            spec: spec.clone(),
        };
        writer.connect()?;
        Ok(writer)
    }

    /// Tells at once of brokers that are not there, and aborts what earlier runs left open.
    fn connect(&mut self) -> Result<(), ConnectorError> {
        let identifier = self.spec.table.context.identifier.clone();
        if let Some(ids) = &self.spec.ids {
            ids.clean(self.producer.client()).map_err(|error| error.at(identifier.clone()))?;
        }
        let Some(topic) = &self.spec.topic else { return Ok(()) };
        let partitions = self.producer.partitions(topic);
        let partitions = partitions.map_err(|error| failure(error).at(identifier))?;
        if self.spec.fixed {
            self.partition = Some(self.task as i32 % partitions.max(1));
        }
        Ok(())
    }

    /// Opens a transaction if rows go into one.
    fn begin(&mut self) -> Result<(), ConnectorError> {
        let Some(ids) = self.spec.ids.as_ref().filter(|_| self.transaction.is_none()) else {
            return Ok(());
        };
        let id = ids.acquire(self.task);
        self.transaction = Some(id.clone());
        self.producer
            .begin_transaction(&id)
            .map_err(|error| failure(error).at(format!("transactional id '{id}'")))
    }

    fn failed(&self, error: KafkaError) -> ConnectorError {
        let error = failure(error);
        match &self.spec.topic {
            Some(topic) if error.place.is_none() => error.at(format!("topic '{topic}'")),
            _ => error,
        }
    }

    /// Sends the rows of a batch whose parts are encoded.
    fn send(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        let now = now_millis();
        let timestamps = self.columns.timestamp.map(|at| batch.column(at));
        let timestamps =
            timestamps.and_then(|array| array.as_primitive_opt::<TimestampMillisecondType>());
        let topics = self.columns.topic.and_then(|at| batch.column(at).as_string_opt::<i32>());
        let headers: Option<&ArrayRef> = self.columns.headers.map(|at| batch.column(at));
        for row in 0..batch.len() {
            let topic = match (topics, &self.spec.topic) {
                (Some(topics), _) if topics.is_valid(row) => topics.value(row).into(),
                (_, Some(topic)) => topic.clone(),
                _ => {
                    return Err(ConnectorError::new("the row names no topic")
                        .at(self.spec.table.context.identifier.clone())
                        .hint("the metadata column 'topic' must not be NULL"));
                }
            };
            let message = Message {
                timestamp: match timestamps {
                    Some(timestamps) if timestamps.is_valid(row) => timestamps.value(row),
                    _ => now,
                },
                key: self.key.as_ref().and_then(|key| key.record(row)),
                value: self.value.record(row),
                headers: headers.map(|array| headers_of(array, row)).unwrap_or_default(),
            };
            match (&mut self.buffer, message.key) {
                (Some(buffer), Some(key)) => buffer.put(&topic, key, &message),
                _ => {
                    let sent = message.send(&mut self.producer, &topic, self.partition);
                    sent.map_err(|error| self.failed(error))?;
                }
            }
        }
        Ok(())
    }

    /// Sends what has gathered by key.
    fn send_buffered(&mut self) -> Result<(), ConnectorError> {
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        for (topic, key, kept) in buffer.take() {
            let headers = kept.headers.iter();
            let headers =
                headers.map(|(key, value)| Header { key, value: value.as_deref() }).collect();
            let message = Message {
                timestamp: kept.timestamp,
                key: Some(&key),
                value: kept.value.as_deref(),
                headers,
            };
            let sent = message.send(&mut self.producer, &topic, self.partition);
            sent.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }
}

impl SinkWriter for KafkaWriter {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.begin()?;
        let upsert = self.spec.table.upsert;
        if let Some(key) = &mut self.key {
            key.encode(batch, |_| true, true)?;
        }
        self.value.encode(batch, |kind| !upsert || kind.adds(), upsert)?;
        self.send(batch)?;
        match &self.buffer {
            Some(buffer) if buffer.is_due() => self.send_buffered(),
            _ => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        self.send_buffered()?;
        self.producer.check().map_err(|error| self.failed(error))
    }

    fn prepare_commit(&mut self, end_of_input: bool) -> Result<Vec<Committable>, ConnectorError> {
        self.send_buffered()?;
        match self.spec.guarantee {
            Guarantee::None if !end_of_input => {
                self.producer.check().map_err(|error| self.failed(error))?;
                Ok(Vec::new())
            }
            Guarantee::None | Guarantee::AtLeastOnce => {
                self.producer.flush().map_err(|error| self.failed(error))?;
                Ok(Vec::new())
            }
            Guarantee::ExactlyOnce => {
                let prepared = self.producer.prepare_transaction();
                let prepared = prepared.map_err(|error| self.failed(error))?;
                // One without records needs no end; its id can be used for the next.
                if let (None, Some(id), Some(ids)) = (&prepared, &self.transaction, &self.spec.ids)
                {
                    ids.release(id);
                }
                self.transaction = None;
                Ok(prepared.iter().map(pack).collect())
            }
        }
    }
}

impl Drop for KafkaWriter {
    /// A transaction that is still open is of no use to anybody, and holds up readers.
    fn drop(&mut self) {
        let (Some(id), Some(ids)) = (self.transaction.take(), &self.spec.ids) else { return };
        let config = ClientConfig {
            api_timeout: ABORT_TIME,
            connect_timeout: ABORT_TIME,
            ..(*self.spec.table.config).clone()
        };
        let mut client = Client::new(Arc::new(config));
        let open = self.producer.transaction();
        let aborted =
            open.map_or(Ok(()), |open: PreparedTransaction| client.end_transaction(&open, false));
        if let Err(error) = aborted {
            tracing::debug!(id, %error, "an open transaction was not aborted; the next start does it");
        }
        ids.release(&id);
    }
}

/// A record to send.
struct Message<'a> {
    timestamp: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    headers: Vec<Header<'a>>,
}

impl Message<'_> {
    fn send(
        &self,
        producer: &mut Producer,
        topic: &Arc<str>,
        partition: Option<i32>,
    ) -> flott_kafka::Result<()> {
        let headers = self.headers.iter().copied();
        producer.send(topic, partition, self.timestamp, self.key, self.value, headers)
    }
}

impl PartEncoder {
    fn new(part: &Part, spec: &SinkSpec) -> Result<Self, ConnectorError> {
        let persisted = &spec.table.context.persisted;
        let position = |column: &usize| {
            let at = persisted.iter().position(|p| *p == ScanColumn::Physical(*column));
            at.ok_or_else(|| ConnectorError::new(format!("column {column} is not written")))
        };
        Ok(Self {
            encoder: part.encoder()?,
            columns: part.columns.iter().map(position).collect::<Result<_, _>>()?,
            writes_null: part.writes_null(),
            out: RecordBuffer::default(),
            records: Vec::new(),
        })
    }

    /// Encodes this part of the rows of the kinds that `has` says have it; as plain rows if
    /// `as_inserts`.
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        has: impl Fn(RowKind) -> bool,
        as_inserts: bool,
    ) -> Result<(), ConnectorError> {
        let failed = |error: arrow::error::ArrowError| ConnectorError::new(error.to_string());
        let mut rows = batch.rows.project(&self.columns).map_err(failed)?;
        let mut next = 0..;
        self.records.clear();
        match &batch.kinds {
            Some(kinds) if !kinds.iter().all(&has) => {
                let keep: BooleanArray = kinds.iter().map(|kind| Some(has(kind))).collect();
                rows = arrow::compute::filter_record_batch(&rows, &keep).map_err(failed)?;
                self.records
                    .extend(kinds.iter().map(|kind| if has(kind) { next.next() } else { None }));
            }
            _ => self.records.extend((0..batch.len()).map(Some)),
        }
        if self.writes_null {
            let column = rows.column(0);
            for record in &mut self.records {
                *record = record.filter(|at| column.is_valid(*at));
            }
        }
        let kinds = if as_inserts { None } else { batch.kinds.clone() };
        self.out.clear();
        self.encoder.encode(&ChangelogBatch { rows, kinds }, &mut self.out)
    }

    /// The encoded part of a row of the batch.
    fn record(&self, row: usize) -> Option<&[u8]> {
        let at = self.records[row]?;
        let start = if at == 0 { 0 } else { self.out.ends[at - 1] };
        Some(&self.out.bytes[start..self.out.ends[at]])
    }
}

impl MetadataPositions {
    fn of(persisted: &[ScanColumn]) -> Self {
        let mut positions = Self::default();
        for (at, column) in persisted.iter().enumerate() {
            let ScanColumn::Metadata(key) = column else { continue };
            match RecordMetadata::of(key) {
                Some(RecordMetadata::Topic) => positions.topic = Some(at),
                Some(RecordMetadata::Timestamp) => positions.timestamp = Some(at),
                Some(RecordMetadata::Headers | RecordMetadata::HeaderList) => {
                    positions.headers = Some(at);
                }
                _ => {}
            }
        }
        positions
    }
}

/// The last change of each key since they were sent last (`sink.buffer-flush.*`).
struct Buffer {
    max_rows: usize,
    interval: Duration,
    since: Option<Instant>,
    kept: HashMap<(Arc<str>, Vec<u8>), Kept>,
}

struct Kept {
    timestamp: i64,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Buffer {
    fn new(max_rows: usize, interval: Duration) -> Self {
        Self { max_rows, interval, since: None, kept: HashMap::new() }
    }

    fn put(&mut self, topic: &Arc<str>, key: &[u8], message: &Message<'_>) {
        self.since.get_or_insert_with(Instant::now);
        let headers = message.headers.iter();
        let kept = Kept {
            timestamp: message.timestamp,
            value: message.value.map(<[u8]>::to_vec),
            headers: headers.map(|h| (h.key.into(), h.value.map(<[u8]>::to_vec))).collect(),
        };
        self.kept.insert((topic.clone(), key.to_vec()), kept);
    }

    fn is_due(&self) -> bool {
        let old = self.since.is_some_and(|since| since.elapsed() >= self.interval);
        old || self.kept.len() >= self.max_rows
    }

    fn take(&mut self) -> impl Iterator<Item = (Arc<str>, Vec<u8>, Kept)> + use<> {
        self.since = None;
        let kept = std::mem::take(&mut self.kept);
        kept.into_iter().map(|((topic, key), kept)| (topic, key, kept))
    }
}

fn now_millis() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
