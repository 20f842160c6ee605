//! Reading records out of batches, without copying what is not compressed.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use super::batch::{BatchHeader, HEADER};
use super::{Header, varint};
use crate::{KafkaError, Result, TopicPartition};

/// A record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its place in the partition.
    pub offset: i64,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// What the timestamp is of.
    pub timestamp_type: TimestampType,
    /// The term of the leader that took it, if the broker says.
    pub leader_epoch: Option<i32>,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value; a record without one is a tombstone.
    pub value: Option<&'a [u8]>,
    headers: &'a [u8],
    header_count: usize,
}

/// What a record's timestamp is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampType {
    /// Of its making.
    CreateTime,
    /// Of its arrival at the broker.
    LogAppendTime,
}

impl<'a> Record<'a> {
    /// The headers in their order.
    pub fn headers(&self) -> Result<Vec<Header<'a>>> {
        let mut at = 0;
        let mut headers = Vec::with_capacity(self.header_count.min(self.headers.len()));
        for _ in 0..self.header_count {
            let key = field(self.headers, &mut at)?.unwrap_or_default();
            let key = std::str::from_utf8(key)
                .map_err(|_| KafkaError::Protocol("a header's key is not UTF-8".into()))?;
            headers.push(Header { key, value: field(self.headers, &mut at)? });
        }
        Ok(headers)
    }
}

/// Gives the records that a fetch brought of one partition, one after the other.
#[derive(Debug)]
pub struct RecordCursor {
    partition: TopicPartition,
    bytes: Vec<u8>,
    /// Where the next batch begins.
    at: usize,
    batch: Option<OpenBatch>,
    /// Records before it were read already.
    position: i64,
    /// Aborted transactions that begin further on: producer and first offset, by offset.
    aborted: VecDeque<(i64, i64)>,
    /// The producers whose records are of an aborted transaction at this place.
    skipped: HashSet<i64>,
    read_committed: bool,
    checks: bool,
}

#[derive(Debug)]
struct OpenBatch {
    header: BatchHeader,
    /// The records when they were compressed.
    inflated: Option<Vec<u8>>,
    /// Where they are in the fetched bytes otherwise.
    range: Range<usize>,
    at: usize,
    left: i32,
}

impl RecordCursor {
    pub(crate) fn new(
        partition: TopicPartition,
        position: i64,
        bytes: Vec<u8>,
        aborted: Vec<(i64, i64)>,
        read_committed: bool,
        checks: bool,
    ) -> Self {
        let mut aborted = aborted;
        aborted.sort_by_key(|(_, first)| *first);
        Self {
            partition,
            bytes,
            at: 0,
            batch: None,
            position,
            aborted: aborted.into(),
            skipped: HashSet::new(),
            read_committed,
            checks,
        }
    }

    /// The partition.
    pub fn partition(&self) -> &TopicPartition {
        &self.partition
    }

    /// The offset to go on from: behind the record given last, and behind what is not given, as
    /// control records and aborted transactions.
    pub fn position(&self) -> i64 {
        self.position
    }

    /// The bytes that the fetch brought.
    pub fn fetched_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The next record.
    #[allow(clippy::should_implement_trait)] // A record borrows from the cursor.
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        loop {
            if self.batch.is_none() && !self.open()? {
                return Ok(None);
            }
            let Some(batch) = &mut self.batch else { return Ok(None) };
            if batch.left <= 0 {
                // Compaction may have taken the batch's last records.
                self.position = self.position.max(batch.header.last_offset.saturating_add(1));
                self.batch = None;
                continue;
            }
            batch.left -= 1;
            let whole = batch.inflated.as_deref().unwrap_or(&self.bytes[..]);
            let (offset, range) = frame(&whole[..batch.range.end], &mut batch.at)?;
            let offset = batch.header.base_offset.saturating_add(offset);
            if offset < self.position {
                continue;
            }
            self.position = offset.saturating_add(1);
            let Some(batch) = &self.batch else { return Ok(None) };
            let whole = batch.inflated.as_deref().unwrap_or(&self.bytes[..]);
            return record(&batch.header, offset, &whole[range]).map(Some);
        }
    }

    /// Goes to the next batch that has something to give.
    fn open(&mut self) -> Result<bool> {
        loop {
            let rest = &self.bytes[self.at..];
            let read = BatchHeader::read(rest).map_err(|error| self.failed(error))?;
            let Some((header, len)) = read else { return Ok(false) };
            header.verify(&rest[..len], self.checks).map_err(|error| self.failed(error))?;
            let start = self.at + HEADER;
            self.at += len;
            if self.is_left_out(&header, start) || header.last_offset < self.position {
                self.position = self.position.max(header.last_offset.saturating_add(1));
                continue;
            }
            let packed = &self.bytes[start..self.at];
            let inflated = match header.compression {
                super::Compression::None => None,
                compression => {
                    Some(compression.decompress(packed).map_err(|error| self.failed(error))?)
                }
            };
            let range = inflated.as_ref().map_or(start..self.at, |bytes| 0..bytes.len());
            let at = range.start;
            self.batch = Some(OpenBatch { left: header.count, header, inflated, range, at });
            return Ok(true);
        }
    }

    /// Whether a batch is not for readers: a control batch, or one of an aborted transaction.
    fn is_left_out(&mut self, header: &BatchHeader, records: usize) -> bool {
        while let Some((producer, first)) = self.aborted.front()
            && *first <= header.last_offset
        {
            self.skipped.insert(*producer);
            self.aborted.pop_front();
        }
        if header.control {
            if is_abort(&self.bytes[records..self.at]) {
                self.skipped.remove(&header.producer_id);
            }
            return true;
        }
        self.read_committed && header.transactional && self.skipped.contains(&header.producer_id)
    }

    fn failed(&self, error: KafkaError) -> KafkaError {
        match error {
            KafkaError::Protocol(text) => {
                KafkaError::Protocol(format!("{}: {text}", self.partition))
            }
            other => other,
        }
    }
}

/// The offset of the last record that whole batches hold.
pub(crate) fn last_offset(bytes: &[u8]) -> Result<Option<i64>> {
    let (mut at, mut last) = (0, None);
    while let Some((header, len)) = BatchHeader::read(&bytes[at..])? {
        at += len;
        last = Some(header.last_offset);
    }
    Ok(last)
}

/// Whether a control batch ends a transaction with an abort: its key is a version and a type.
fn is_abort(records: &[u8]) -> bool {
    let mut at = 0;
    let Ok((_, range)) = frame(records, &mut at) else { return false };
    let body = &records[range];
    let mut at = 1;
    let skipped = varint::read(body, &mut at).and_then(|_| varint::read(body, &mut at));
    let key = skipped.and_then(|_| field(body, &mut at));
    matches!(key, Ok(Some([_, _, 0, 0])))
}

/// The record at `at`: how far its offset is from the batch's first, and where its body is.
fn frame(bytes: &[u8], at: &mut usize) -> Result<(i64, Range<usize>)> {
    let len = varint::read(bytes, at)?;
    let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len));
    let Some(end) = end.filter(|end| *end <= bytes.len()) else {
        return Err(KafkaError::Protocol("a record is cut off".into()));
    };
    let range = *at..end;
    let mut inside = *at + 1;
    varint::read(&bytes[..end], &mut inside)?;
    let offset = varint::read(&bytes[..end], &mut inside)?;
    *at = end;
    Ok((offset, range))
}

fn record<'a>(header: &BatchHeader, offset: i64, body: &'a [u8]) -> Result<Record<'a>> {
    let mut at = 1;
    let delta = varint::read(body, &mut at)?;
    varint::read(body, &mut at)?;
    let key = field(body, &mut at)?;
    let value = field(body, &mut at)?;
    let header_count = varint::read(body, &mut at)?.max(0) as usize;
    let (timestamp, timestamp_type) = if header.log_append_time {
        (header.max_timestamp, TimestampType::LogAppendTime)
    } else {
        (header.base_timestamp.saturating_add(delta), TimestampType::CreateTime)
    };
    Ok(Record {
        offset,
        timestamp,
        timestamp_type,
        leader_epoch: (header.leader_epoch >= 0).then_some(header.leader_epoch),
        key,
        value,
        headers: &body[at..],
        header_count,
    })
}

/// Bytes behind their length, which is negative for null.
fn field<'a>(bytes: &'a [u8], at: &mut usize) -> Result<Option<&'a [u8]>> {
    let len = varint::read(bytes, at)?;
    let Ok(len) = usize::try_from(len) else { return Ok(None) };
    let end = at.checked_add(len).filter(|end| *end <= bytes.len());
    let Some(end) = end else { return Err(KafkaError::Protocol("a record is cut off".into())) };
    let field = &bytes[*at..end];
    *at = end;
    Ok(Some(field))
}

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, Compression, ProducerState};
    use super::*;

    fn batch(
        base: i64,
        values: &[&str],
        compression: Compression,
        producer: ProducerState,
    ) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        for (i, value) in values.iter().enumerate() {
            let header = Header { key: "h", value: Some(b"x") };
            let headers = [header; 2].into_iter().take(i % 3);
            builder.push(1000 + i as i64, Some(b"k"), Some(value.as_bytes()), headers);
        }
        let mut bytes = builder.encode(compression, producer).unwrap();
        bytes[..8].copy_from_slice(&base.to_be_bytes());
        bytes
    }

    fn control(base: i64, producer: i64, commit: bool) -> Vec<u8> {
        let mut builder = BatchBuilder::default();
        let key = [0, 0, 0, u8::from(commit)];
        builder.push(0, Some(&key), Some(b""), [].into_iter());
        let state = ProducerState { id: producer, epoch: 0, sequence: -1, transactional: true };
        let mut bytes = builder.encode(Compression::None, state).unwrap();
        bytes[22] |= 1 << 5;
        bytes[..8].copy_from_slice(&base.to_be_bytes());
        let checksum = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn cursor(position: i64, bytes: Vec<u8>, aborted: Vec<(i64, i64)>) -> RecordCursor {
        RecordCursor::new(TopicPartition::new("t", 0), position, bytes, aborted, true, true)
    }

    fn read(cursor: &mut RecordCursor) -> Vec<(i64, String)> {
        let mut all = Vec::new();
        while let Some(record) = cursor.next().unwrap() {
            let value = String::from_utf8(record.value.unwrap_or_default().to_vec()).unwrap();
            all.push((record.offset, value));
        }
        all
    }

    #[test]
    fn records_come_back_from_where_reading_begins() {
        for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
            let mut bytes = batch(5, &["a", "b", "c"], compression, ProducerState::NONE);
            bytes.extend(batch(8, &["d"], compression, ProducerState::NONE));
            let whole = bytes.len();
            bytes.extend(batch(9, &["cut off"], compression, ProducerState::NONE));
            bytes.truncate(bytes.len() - 1);
            assert_eq!(last_offset(&bytes).unwrap(), Some(8));
            let mut cursor = cursor(6, bytes, vec![]);
            let first = cursor.next().unwrap().unwrap();
            assert_eq!((first.offset, first.timestamp), (6, 1001));
            assert_eq!(first.key, Some(&b"k"[..]));
            assert_eq!(first.headers().unwrap(), [Header { key: "h", value: Some(b"x") }]);
            assert_eq!(read(&mut cursor), [(7, "c".into()), (8, "d".into())]);
            assert_eq!(cursor.position(), 9);
            assert!(whole > 0);
        }
    }

    #[test]
    fn aborted_transactions_and_control_records_are_left_out() {
        let of = |id| ProducerState { id, epoch: 0, sequence: 0, transactional: true };
        let mut bytes = batch(0, &["kept"], Compression::None, of(1));
        bytes.extend(batch(1, &["aborted"], Compression::None, of(2)));
        bytes.extend(control(2, 2, false));
        bytes.extend(batch(3, &["again"], Compression::None, of(2)));
        bytes.extend(control(4, 2, true));
        bytes.extend(control(5, 1, true));
        let mut cursor = cursor(0, bytes, vec![(2, 1)]);
        assert_eq!(read(&mut cursor), [(0, "kept".into()), (3, "again".into())]);
        assert_eq!(cursor.position(), 6);
    }

    #[test]
    fn damage_is_told() {
        let mut bytes = batch(0, &["a"], Compression::None, ProducerState::NONE);
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let error = cursor(0, bytes.clone(), vec![]).next().map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("t-0: the record batch at offset 0"), "{error}");
        bytes[16] = 1;
        assert!(cursor(0, bytes, vec![]).next().is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(0_u8.., 0..300), at in 0..80_usize) {
            let mut batch = batch(0, &["a", "b"], Compression::None, ProducerState::NONE);
            for (i, byte) in bytes.iter().enumerate() {
                let len = batch.len();
                batch[(at + i) % len] = *byte;
            }
            let mut cursor = RecordCursor::new(TopicPartition::new("t", 0), 0, batch, vec![], true, false);
            while let Ok(Some(record)) = cursor.next() {
                let _ = record.headers();
            }
        }
    }
}
