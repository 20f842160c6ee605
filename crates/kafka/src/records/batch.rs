//! Building record batches, and the header that all batches have.

use super::varint::{size, write};
use super::{Compression, Header};
use crate::{KafkaError, Result};

/// The bytes of a batch before its records.
pub(super) const HEADER: usize = 61;
/// Where the part begins over which the checksum goes.
const CHECKED: usize = 21;

const TIMESTAMP_IS_LOG_APPEND: i16 = 1 << 3;
const IS_TRANSACTIONAL: i16 = 1 << 4;
const IS_CONTROL: i16 = 1 << 5;

/// Who writes a batch: makes writing it twice the same as once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProducerState {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
    /// The number of the batch's first record among those that the producer writes to the partition.
    pub(crate) sequence: i32,
    pub(crate) transactional: bool,
}

impl ProducerState {
    /// No producer: nothing recognises what was written twice.
    pub(crate) const NONE: Self = Self { id: -1, epoch: -1, sequence: -1, transactional: false };
}

/// Records that will be one batch.
#[derive(Debug, Default)]
pub(crate) struct BatchBuilder {
    records: Vec<u8>,
    count: i32,
    base_timestamp: i64,
    max_timestamp: i64,
}

impl BatchBuilder {
    /// Appends a record.
    pub(crate) fn push<'h>(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl ExactSizeIterator<Item = Header<'h>> + Clone,
    ) {
        if self.count == 0 {
            self.base_timestamp = timestamp;
            self.max_timestamp = timestamp;
        }
        self.max_timestamp = self.max_timestamp.max(timestamp);
        let delta = timestamp - self.base_timestamp;
        let optional = |bytes: Option<&[u8]>| match bytes {
            None => size(-1),
            Some(bytes) => size(bytes.len() as i64) + bytes.len(),
        };
        let of_headers: usize = headers
            .clone()
            .map(|header| size(header.key.len() as i64) + header.key.len() + optional(header.value))
            .sum();
        let len = 1
            + size(delta)
            + size(i64::from(self.count))
            + optional(key)
            + optional(value)
            + size(headers.len() as i64)
            + of_headers;
        let out = &mut self.records;
        write(out, len as i64);
        out.push(0);
        write(out, delta);
        write(out, i64::from(self.count));
        put(out, key);
        put(out, value);
        write(out, headers.len() as i64);
        for header in headers {
            put(out, Some(header.key.as_bytes()));
            put(out, header.value);
        }
        self.count += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn count(&self) -> i32 {
        self.count
    }

    /// The size of the batch without compression.
    pub(crate) fn bytes(&self) -> usize {
        HEADER + self.records.len()
    }

    /// The batch as it travels.
    pub(crate) fn encode(
        &self,
        compression: Compression,
        producer: ProducerState,
    ) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(HEADER + self.records.len());
        let mut attributes = compression.bits();
        if producer.transactional {
            attributes |= IS_TRANSACTIONAL;
        }
        // Length, checksum and base offset are set below, the last one by the broker.
        out.extend_from_slice(&[0; 12]);
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        out.push(2);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&attributes.to_be_bytes());
        out.extend_from_slice(&(self.count - 1).to_be_bytes());
        out.extend_from_slice(&self.base_timestamp.to_be_bytes());
        out.extend_from_slice(&self.max_timestamp.to_be_bytes());
        out.extend_from_slice(&producer.id.to_be_bytes());
        out.extend_from_slice(&producer.epoch.to_be_bytes());
        out.extend_from_slice(&producer.sequence.to_be_bytes());
        out.extend_from_slice(&self.count.to_be_bytes());
        compression.compress(&self.records, &mut out)?;
        let len = (out.len() - 12) as i32;
        out[8..12].copy_from_slice(&len.to_be_bytes());
        let checksum = crc32c::crc32c(&out[CHECKED..]);
        out[17..21].copy_from_slice(&checksum.to_be_bytes());
        Ok(out)
    }
}

fn put(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => write(out, -1),
        Some(bytes) => {
            write(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}

/// What a batch says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchHeader {
    pub(crate) base_offset: i64,
    pub(crate) last_offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) compression: Compression,
    pub(crate) log_append_time: bool,
    pub(crate) transactional: bool,
    pub(crate) control: bool,
    pub(crate) base_timestamp: i64,
    pub(crate) max_timestamp: i64,
    pub(crate) producer_id: i64,
    pub(crate) count: i32,
}

impl BatchHeader {
    /// The header of the batch that `bytes` begin with, and the batch's whole length; `None` when it
    /// is cut off.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        if bytes.len() < 17 {
            return Ok(None);
        }
        let len = i32_at(bytes, 8);
        let magic = bytes[16];
        if magic != 2 {
            return Err(KafkaError::Protocol(format!(
                "a record has message format {magic}, of a time before Kafka 0.11; only format 2 is \
                 read"
            )));
        }
        let whole = match usize::try_from(len) {
            Ok(len) if len >= HEADER - 12 => len + 12,
            _ => return Err(KafkaError::Protocol(format!("a record batch of {len} bytes"))),
        };
        if bytes.len() < whole {
            return Ok(None);
        }
        let attributes = i16::from_be_bytes([bytes[21], bytes[22]]);
        let base_offset = i64_at(bytes, 0);
        let header = Self {
            base_offset,
            last_offset: base_offset.saturating_add(i64::from(i32_at(bytes, 23))),
            leader_epoch: i32_at(bytes, 12),
            compression: Compression::of_bits(attributes)?,
            log_append_time: attributes & TIMESTAMP_IS_LOG_APPEND != 0,
            transactional: attributes & IS_TRANSACTIONAL != 0,
            control: attributes & IS_CONTROL != 0,
            base_timestamp: i64_at(bytes, 27),
            max_timestamp: i64_at(bytes, 35),
            producer_id: i64_at(bytes, 43),
            count: i32_at(bytes, 57),
        };
        Ok(Some((header, whole)))
    }

    /// Checks the checksum of a whole batch.
    pub(crate) fn verify(&self, batch: &[u8], checks: bool) -> Result<()> {
        if !checks {
            return Ok(());
        }
        let stated = i32_at(batch, 17) as u32;
        if crc32c::crc32c(&batch[CHECKED..]) == stated {
            return Ok(());
        }
        let offset = self.base_offset;
        Err(KafkaError::Protocol(format!(
            "the record batch at offset {offset} has a wrong checksum"
        )))
    }
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    bytes[at..at + 4].iter().fold(0, |value, byte| value << 8 | i32::from(*byte))
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    bytes[at..at + 8].iter().fold(0, |value, byte| value << 8 | i64::from(*byte))
}
