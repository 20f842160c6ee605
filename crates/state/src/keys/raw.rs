//! Keys as bytes for the disk: key group first, then the form they have in memory.

use arrow::buffer::{NullBuffer, ScalarBuffer};

use super::batch::{KeyBatch, Keys};
use super::encoder::KeyEncoder;
use super::group::key_group;
use super::index::KeyIndex;
use super::store::StoredKeys;
use crate::error::{Result, StateError};
use crate::rows::EncodedRows;

/// What precedes a value that NULL may stand for.
const NULL: u8 = 0;
const VALUE: u8 = 1;
/// The bytes of the key group.
const GROUP: usize = 2;

impl KeyBatch {
    /// Appends the key of a row, which so sorts by key group and, in it, as numbers and strings do.
    pub(crate) fn raw(&self, row: usize, max_parallelism: u16, out: &mut Vec<u8>) {
        push_group(self.hashes[row], max_parallelism, out);
        match &self.keys {
            Keys::Unit => {}
            Keys::Ints(_) | Keys::Strings(_) if self.has_null(row) => out.push(NULL),
            Keys::Ints(ints) => push_int(ints[row], out),
            Keys::Strings(strings) => push_string(strings.row(row), out),
            Keys::Rows(rows) => out.extend_from_slice(rows.row(row)),
        }
    }
}

impl KeyIndex {
    /// Appends the key of a slot as [`KeyBatch::raw`] does.
    pub(crate) fn raw(&self, slot: u32, max_parallelism: u16, out: &mut Vec<u8>) {
        let store = self.store();
        push_group(store.hash(slot), max_parallelism, out);
        match &store.keys {
            StoredKeys::Unit => {}
            StoredKeys::Ints(_) | StoredKeys::Strings(_) if store.is_null(slot) => out.push(NULL),
            StoredKeys::Ints(ints) => push_int(ints[slot as usize], out),
            StoredKeys::Strings(strings) => push_string(strings.get(slot), out),
            StoredKeys::Rows(rows) => out.extend_from_slice(rows.get(slot)),
        }
    }
}

impl KeyEncoder {
    /// The keys that [`KeyBatch::raw`] wrote.
    pub(crate) fn decode_raw(&self, keys: &[impl AsRef<[u8]>]) -> Result<KeyBatch> {
        let body = |key: &[u8]| -> Result<Vec<u8>> {
            key.get(GROUP..).map(<[u8]>::to_vec).ok_or(StateError::KeyKind)
        };
        let mut valid = Vec::with_capacity(keys.len());
        let form = match self.empty() {
            Keys::Unit => Keys::Unit,
            Keys::Ints(_) => {
                let mut ints = Vec::with_capacity(keys.len());
                for key in keys {
                    let body = body(key.as_ref())?;
                    let digits = body.get(1..).and_then(|digits| digits.try_into().ok());
                    valid.push(digits.is_some());
                    ints.push(digits.map_or(0, |digits| i64::from_be_bytes(digits) ^ i64::MIN));
                }
                Keys::Ints(ScalarBuffer::from(ints))
            }
            Keys::Strings(_) => {
                let mut strings = Vec::with_capacity(keys.len());
                for key in keys {
                    let body = body(key.as_ref())?;
                    valid.push(body.first() == Some(&VALUE));
                    strings.push(body.get(1..).map(<[u8]>::to_vec).unwrap_or_default());
                }
                Keys::Strings(rows_of(&strings)?)
            }
            Keys::Rows(_) => {
                let rows = keys.iter().map(|key| body(key.as_ref())).collect::<Result<Vec<_>>>()?;
                Keys::Rows(rows_of(&rows)?)
            }
        };
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        Ok(KeyBatch::new(form, nulls, keys.len()))
    }

    /// The keys as snapshots hold them.
    pub(crate) fn codec_rows(&self, batch: &KeyBatch) -> Result<EncodedRows> {
        let nulls = batch.nulls.clone();
        match &batch.keys {
            Keys::Rows(rows) => Ok(rows.clone()),
            Keys::Unit => self.codec().encode(&[], batch.len()),
            Keys::Ints(ints) => {
                self.codec().encode(&[self.int_column(ints.to_vec(), nulls)?], batch.len())
            }
            Keys::Strings(strings) => {
                let (offsets, data) = (strings.offsets.to_vec(), strings.data.to_vec());
                self.codec().encode(&[self.string_column(offsets, data, nulls)?], batch.len())
            }
        }
    }
}

fn push_group(hash: u64, max_parallelism: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&key_group(hash, max_parallelism).to_be_bytes());
}

fn push_int(int: i64, out: &mut Vec<u8>) {
    out.push(VALUE);
    out.extend_from_slice(&(int ^ i64::MIN).to_be_bytes());
}

fn push_string(string: &[u8], out: &mut Vec<u8>) {
    out.push(VALUE);
    out.extend_from_slice(string);
}

fn rows_of(rows: &[Vec<u8>]) -> Result<EncodedRows> {
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    let mut data: Vec<u8> = Vec::new();
    offsets.push(0);
    for row in rows {
        data.extend_from_slice(row);
        offsets.push(i32::try_from(data.len()).map_err(|_| StateError::BatchTooLarge)?);
    }
    Ok(EncodedRows { offsets: offsets.into(), data: data.into() })
}

#[cfg(test)]
mod tests {
    use flott_types::{DataType, Value};

    use super::*;

    #[test]
    fn keys_come_back_from_their_bytes() {
        let text = |text: &str| Value::string(text);
        let cases: [(Vec<DataType>, Vec<Vec<Value>>); 4] = [
            (vec![], vec![vec![]]),
            (
                vec![DataType::int()],
                [Value::Int(-5), Value::Null, Value::Int(0), Value::Int(7)].map(|v| vec![v]).into(),
            ),
            (
                vec![DataType::string()],
                [text("b"), Value::Null, text(""), text("a\0")].map(|v| vec![v]).into(),
            ),
            (
                vec![DataType::bigint(), DataType::string()],
                vec![vec![Value::Int(1), text("x")], vec![Value::Null, Value::Null]],
            ),
        ];
        for (types, rows) in cases {
            let column = |at: usize| {
                let values: Vec<Value> = rows.iter().map(|row| row[at].clone()).collect();
                Value::to_array(&values, &types[at]).unwrap()
            };
            let columns: Vec<_> = (0..types.len()).map(column).collect();
            let mut index = KeyIndex::new(&types);
            let keys = index.encoder().encode(&columns, rows.len()).unwrap();
            let (mut slots, mut created) = (Vec::new(), Vec::new());
            index.lookup_or_insert(&keys, &mut slots, &mut created).unwrap();
            let mut raw = Vec::new();
            for (row, slot) in slots.iter().enumerate() {
                let (mut of_row, mut of_slot) = (Vec::new(), Vec::new());
                keys.raw(row, 128, &mut of_row);
                index.raw(*slot, 128, &mut of_slot);
                assert_eq!(of_row, of_slot);
                raw.push(of_row);
            }
            let back = index.encoder().decode_raw(&raw).unwrap();
            assert_eq!(back.hashes(), keys.hashes());
            let mut found = Vec::new();
            index.lookup(&back, &mut found).unwrap();
            assert_eq!(found, slots);
            let rows_of = |batch: &KeyBatch| -> Vec<Vec<u8>> {
                let rows = index.encoder().codec_rows(batch).unwrap();
                rows.iter().map(<[u8]>::to_vec).collect()
            };
            let expected = index.encoder().codec().encode(&columns, rows.len()).unwrap();
            assert_eq!(rows_of(&back), expected.iter().map(<[u8]>::to_vec).collect::<Vec<_>>());
        }
    }
}
