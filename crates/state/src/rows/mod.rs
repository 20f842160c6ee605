//! Rows as bytes: the form in which keys are compared, join sides and Top-N keep rows, and snapshots
//! are written.
//!
//! The layout is Flott's own and part of the state format (`docs/state-format.md`), so that a
//! checkpoint outlives any library. Equal rows have equal bytes: DOUBLE and FLOAT compare by
//! their bits as in Flink (`-0.0` differs from `0.0`), but for NaN, of which there is one.

mod decode;
mod encode;
mod layout;
mod nested;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::buffer::{Buffer, ScalarBuffer};
use flott_types::DataType;

use crate::error::Result;
use layout::Layout;

/// Turns columns of fixed types into rows of bytes and back.
#[derive(Debug, Clone)]
pub struct RowCodec {
    types: Arc<[DataType]>,
    layout: Arc<Layout>,
}

impl RowCodec {
    /// A codec for rows of these types.
    pub fn new(types: &[DataType]) -> Self {
        Self { types: types.into(), layout: Arc::new(Layout::new(types.iter())) }
    }

    /// The types of the columns.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Encodes `rows` rows of `columns`.
    ///
    /// Fails when the columns are not of the codec's types, or the bytes exceed 2 GiB.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<EncodedRows> {
        encode::encode(&self.layout, columns, rows)
    }

    /// Decodes rows into columns.
    ///
    /// Fails when a row was not written by a codec of the same types.
    pub fn decode(&self, rows: &[&[u8]]) -> Result<Vec<ArrayRef>> {
        decode::decode(&self.layout, rows, &(0..self.types.len()).collect::<Vec<_>>())
    }

    /// Decodes some columns of rows, which are numbered from 0.
    ///
    /// Fails as [`Self::decode`] does.
    pub fn decode_columns(&self, rows: &[&[u8]], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
        decode::decode(&self.layout, rows, wanted)
    }

    /// The bytes of the row whose columns are all NULL.
    pub fn null_row(&self) -> Vec<u8> {
        let mut row = vec![0; self.layout.fixed];
        for index in 0..self.layout.slots.len() {
            row[index / 8] |= 1 << (index % 8);
        }
        row
    }

    /// The types as text, which a snapshot keeps to tell a changed query.
    pub fn schema(&self) -> String {
        schema_text(&self.types)
    }
}

/// Types as a snapshot's header names them, nullability at the top left out.
pub(crate) fn schema_text(types: &[DataType]) -> String {
    let mut text = String::new();
    for ty in types {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&ty.root.to_string());
    }
    text
}

/// Rows of bytes, one after the other; cheap to clone.
#[derive(Debug, Clone)]
pub struct EncodedRows {
    /// Where each row starts, and the end of the last.
    pub(crate) offsets: ScalarBuffer<i32>,
    pub(crate) data: Buffer,
}

impl EncodedRows {
    pub(crate) fn empty() -> Self {
        Self { offsets: vec![0].into(), data: Buffer::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> &[u8] {
        &self.data[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| &self.data[ends[0] as usize..ends[1] as usize])
    }
}
