//! The metadata columns: what a record has besides key and value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray, TimestampMillisecondArray,
};
use flott_catalog::connector::{ConnectorError, MetadataColumn};
use flott_kafka::{Header, Record, TimestampType, TopicPartition};
use flott_types::{DataType, RowField, Value};

use super::failure::failure;
use super::table::Table;

/// What stands before the keys of the value format's metadata columns.
pub(super) const PREFIX: &str = "value.";

/// A metadata column, those of Flink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordMetadata {
    Topic,
    Partition,
    Headers,
    HeaderList,
    LeaderEpoch,
    Offset,
    Timestamp,
    TimestampType,
}

impl RecordMetadata {
    const ALL: [Self; 8] = [
        Self::Topic,
        Self::Partition,
        Self::Headers,
        Self::HeaderList,
        Self::LeaderEpoch,
        Self::Offset,
        Self::Timestamp,
        Self::TimestampType,
    ];

    fn key(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Partition => "partition",
            Self::Headers => "headers",
            Self::HeaderList => "header-list",
            Self::LeaderEpoch => "leader-epoch",
            Self::Offset => "offset",
            Self::Timestamp => "timestamp",
            Self::TimestampType => "timestamp-type",
        }
    }

    /// The column of a key.
    pub(super) fn of(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.key() == key)
    }

    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Topic | Self::TimestampType => DataType::string().not_null(),
            Self::Partition => DataType::int().not_null(),
            Self::Headers => {
                DataType::map(DataType::string().not_null(), DataType::bytes()).not_null()
            }
            Self::HeaderList => {
                let fields = vec![
                    RowField::new("key", DataType::string().not_null()),
                    RowField::new("value", DataType::bytes()),
                ];
                DataType::array(DataType::row(fields).not_null()).not_null()
            }
            Self::LeaderEpoch => DataType::int(),
            Self::Offset => DataType::bigint().not_null(),
            Self::Timestamp => DataType::timestamp_ltz(3).not_null(),
        }
    }

    fn writable(self) -> bool {
        matches!(self, Self::Topic | Self::Headers | Self::HeaderList | Self::Timestamp)
    }

    /// Those of a table and, behind them, its value format's.
    pub(super) fn columns(table: &Table) -> Vec<MetadataColumn> {
        let own = Self::ALL.into_iter().map(|column| MetadataColumn {
            key: column.key().into(),
            data_type: column.data_type(),
            writable: column.writable(),
        });
        let of_format = table.value.format.def.metadata.iter();
        let of_format = of_format.map(|(key, data_type)| MetadataColumn {
            key: format!("{PREFIX}{key}"),
            data_type: data_type(),
            writable: false,
        });
        own.chain(of_format).collect()
    }
}

/// Gathers a metadata column, row by row.
pub(super) enum MetadataBuilder {
    Topic(Vec<Arc<str>>),
    Ints(RecordMetadata, Vec<Option<i32>>),
    Longs(RecordMetadata, Vec<i64>),
    TimestampTypes(Vec<&'static str>),
    Headers(RecordMetadata, Vec<Value>),
}

impl MetadataBuilder {
    pub(super) fn new(column: RecordMetadata) -> Self {
        match column {
            RecordMetadata::Topic => Self::Topic(Vec::new()),
            RecordMetadata::Partition | RecordMetadata::LeaderEpoch => {
                Self::Ints(column, Vec::new())
            }
            RecordMetadata::Offset | RecordMetadata::Timestamp => Self::Longs(column, Vec::new()),
            RecordMetadata::TimestampType => Self::TimestampTypes(Vec::new()),
            RecordMetadata::Headers | RecordMetadata::HeaderList => {
                Self::Headers(column, Vec::new())
            }
        }
    }

    /// Appends what a record has, for each of `rows` rows that it gives.
    pub(super) fn push(
        &mut self,
        of: &TopicPartition,
        record: &Record<'_>,
        rows: usize,
    ) -> Result<(), ConnectorError> {
        let more = std::iter::repeat_n((), rows);
        match self {
            Self::Topic(values) => values.extend(more.map(|()| of.topic.clone())),
            Self::Ints(RecordMetadata::Partition, values) => {
                values.extend(more.map(|()| Some(of.partition)));
            }
            Self::Ints(_, values) => values.extend(more.map(|()| record.leader_epoch)),
            Self::Longs(RecordMetadata::Offset, values) => {
                values.extend(more.map(|()| record.offset));
            }
            Self::Longs(_, values) => values.extend(more.map(|()| record.timestamp)),
            Self::TimestampTypes(values) => {
                let name = match record.timestamp_type {
                    TimestampType::CreateTime => "CreateTime",
                    TimestampType::LogAppendTime => "LogAppendTime",
                };
                values.extend(more.map(|()| name));
            }
            Self::Headers(column, values) => {
                let headers = headers(*column, &record.headers().map_err(failure)?);
                values.extend(more.map(|()| headers.clone()));
            }
        }
        Ok(())
    }

    /// The column gathered so far.
    pub(super) fn take(&mut self) -> Result<ArrayRef, ConnectorError> {
        Ok(match self {
            Self::Topic(values) => {
                let values = std::mem::take(values);
                Arc::new(values.iter().map(|topic| Some(&**topic)).collect::<StringArray>())
            }
            Self::Ints(_, values) => Arc::new(Int32Array::from(std::mem::take(values))),
            Self::Longs(RecordMetadata::Offset, values) => {
                Arc::new(Int64Array::from(std::mem::take(values)))
            }
            Self::Longs(_, values) => {
                Arc::new(TimestampMillisecondArray::from(std::mem::take(values)))
            }
            Self::TimestampTypes(values) => Arc::new(StringArray::from(std::mem::take(values))),
            Self::Headers(column, values) => {
                Value::to_array(&std::mem::take(values), &column.data_type())
                    .map_err(|error| ConnectorError::new(error.to_string()))?
            }
        })
    }
}

fn headers(column: RecordMetadata, headers: &[Header<'_>]) -> Value {
    let value = |header: &Header<'_>| header.value.map_or(Value::Null, |v| Value::Bytes(v.into()));
    if column == RecordMetadata::HeaderList {
        let row = |header: &Header<'_>| Value::Row(vec![Value::string(header.key), value(header)]);
        return Value::Array(headers.iter().map(row).collect());
    }
    // Of several headers of one name the last stands.
    let mut map: Vec<(Value, Value)> = Vec::new();
    for header in headers {
        let key = Value::string(header.key);
        match map.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value(header),
            None => map.push((key, value(header))),
        }
    }
    Value::Map(map)
}

/// The headers that a row is to have, from an array of either type of header columns.
pub(super) fn headers_of(array: &ArrayRef, row: usize) -> Vec<Header<'_>> {
    let Some(list) = array.as_list_opt::<i32>().filter(|list| list.is_valid(row)) else {
        return Vec::new();
    };
    let Some(entries) = list.values().as_struct_opt() else { return Vec::new() };
    let (keys, values) = (entries.column(0).as_string_opt::<i32>(), entries.column(1));
    let (Some(keys), Some(values)) = (keys, values.as_binary_opt::<i32>()) else {
        return Vec::new();
    };
    let offsets = list.value_offsets();
    (offsets[row] as usize..offsets[row + 1] as usize)
        .filter(|at| entries.is_valid(*at) && keys.is_valid(*at))
        .map(|at| Header {
            key: keys.value(at),
            value: values.is_valid(at).then(|| values.value(at)),
        })
        .collect()
}
