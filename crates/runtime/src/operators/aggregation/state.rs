//! The state of groups in snapshots.

use std::borrow::Cow;

use arrow::array::ArrayRef;
use flott_functions::EvalError;
use flott_state::{EncodedRows, RowCodec, StateDecoder, StateEncoder, StateError};
use flott_types::DataType;

use super::Aggregation;
use crate::{Result, RuntimeError};

/// Groups whose state is encoded, or decoded, together.
const CHUNK: usize = 4096;

impl Aggregation {
    /// What a snapshot says of the state of a group.
    pub fn schema(&self) -> String {
        let calls: Vec<_> = self.calls.iter().map(|call| call.text.as_str()).collect();
        let retracts = if self.retracts { " retracting" } else { "" };
        format!("{}{retracts}", calls.join(", "))
    }

    fn codec(&self) -> RowCodec {
        let types: Vec<DataType> =
            self.calls.iter().flat_map(|call| call.accumulator.state_types()).collect();
        RowCodec::new(&types)
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::new();
        for call in &self.calls {
            columns.extend(call.accumulator.state(groups).map_err(RuntimeError::operator)?);
        }
        Ok(columns)
    }

    fn merge_state(&mut self, groups: &[u32], columns: &[ArrayRef]) -> Result<(), EvalError> {
        let mut rest = columns;
        for call in &mut self.calls {
            let (own, others) = rest.split_at(call.accumulator.state_types().len().min(rest.len()));
            call.accumulator.merge_state(groups, own)?;
            rest = others;
        }
        Ok(())
    }
}

/// Writes the state of groups, one by one in an order given beforehand.
pub(in crate::operators) struct GroupWriter<'a> {
    aggregation: &'a Aggregation,
    codec: RowCodec,
    /// The groups in order.
    groups: Cow<'a, [u32]>,
    /// The place of the next, and of the first one encoded.
    next: usize,
    first: usize,
    chunk: EncodedRows,
    failure: Option<RuntimeError>,
}

impl<'a> GroupWriter<'a> {
    /// A writer of these groups in this order.
    pub fn new(aggregation: &'a Aggregation, groups: impl Into<Cow<'a, [u32]>>) -> Result<Self> {
        let codec = aggregation.codec();
        let mut writer = Self {
            aggregation,
            chunk: codec.encode(&aggregation.state(&[])?, 0)?,
            codec,
            groups: groups.into(),
            next: 0,
            first: 0,
            failure: None,
        };
        writer.fill()?;
        Ok(writer)
    }

    /// Writes the next group. What goes wrong is told by [`Self::finish`].
    pub fn write(&mut self, out: &mut StateEncoder) {
        if self.failure.is_none() {
            self.failure = self.try_write(out).err();
        }
    }

    /// Tells whether all went well.
    pub fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn try_write(&mut self, out: &mut StateEncoder) -> Result<()> {
        if self.next == self.first + self.chunk.len() {
            self.fill()?;
        }
        let Some(group) = self.groups.get(self.next) else {
            return Err(RuntimeError::internal("", "more groups in a snapshot than announced"));
        };
        out.bytes(self.chunk.row(self.next - self.first));
        self.next += 1;
        self.aggregation.distinct.iter().try_for_each(|set| set.write(*group, out))
    }

    fn fill(&mut self) -> Result<()> {
        self.first = self.next;
        let groups = &self.groups[self.first..];
        let groups = &groups[..groups.len().min(CHUNK)];
        self.chunk = self.codec.encode(&self.aggregation.state(groups)?, groups.len())?;
        Ok(())
    }
}

/// Reads what a [`GroupWriter`] wrote.
pub(in crate::operators) struct GroupReader {
    codec: RowCodec,
    now: i64,
    /// The groups read whose accumulators are not set yet, and their bytes.
    groups: Vec<u32>,
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl GroupReader {
    /// A reader of the state of an aggregation of the same calls.
    pub fn new(aggregation: &Aggregation, now: i64) -> Self {
        Self {
            codec: aggregation.codec(),
            now,
            groups: Vec::new(),
            ends: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Reads the state of a group that has seen no row.
    pub fn read(
        &mut self,
        aggregation: &mut Aggregation,
        group: u32,
        input: &mut StateDecoder<'_>,
    ) -> Result<(), StateError> {
        aggregation.resize(group as usize + 1);
        self.bytes.extend_from_slice(input.bytes()?);
        self.ends.push(self.bytes.len());
        self.groups.push(group);
        for set in &mut aggregation.distinct {
            set.read(group, self.now, input)?;
        }
        if self.groups.len() == CHUNK {
            self.flush(aggregation).map_err(|_| input.damaged("state of an aggregate"))?;
        }
        Ok(())
    }

    /// Completes the reading.
    pub fn finish(mut self, aggregation: &mut Aggregation) -> Result<()> {
        self.flush(aggregation)
    }

    fn flush(&mut self, aggregation: &mut Aggregation) -> Result<()> {
        let mut start = 0;
        let mut rows = Vec::with_capacity(self.ends.len());
        for end in &self.ends {
            rows.push(&self.bytes[start..*end]);
            start = *end;
        }
        let columns = self.codec.decode(&rows)?;
        aggregation.merge_state(&self.groups, &columns).map_err(RuntimeError::operator)?;
        self.groups.clear();
        self.ends.clear();
        self.bytes.clear();
        Ok(())
    }
}
