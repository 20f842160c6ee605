//! Avro's binary encoding, read value by value.

use super::schema::{AvroSchema, Node, NodeId};
use crate::error::FormatError;

/// How many items without any bytes an array may have.
const MAX_EMPTY_ITEMS: u64 = 1 << 16;
/// How deep values that are skipped may stand within each other.
const MAX_DEPTH: usize = 64;

/// Bytes with a place in them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Why bytes are no value; boxed, since it is rare.
pub(crate) type Broken = Box<FormatError>;

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Fails unless all bytes are read.
    pub(crate) fn end(&self) -> Result<(), Broken> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            more => Err(self.broken(format!("{more} bytes follow the record"))),
        }
    }

    #[cold]
    pub(crate) fn broken(&self, what: impl Into<String>) -> Broken {
        Box::new(FormatError::Avro { what: what.into(), at: self.at })
    }

    #[cold]
    fn ended(&self) -> Broken {
        self.broken("the record ends too early")
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Broken> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => Err(self.ended()),
        }
    }

    /// A variable-length number of up to ten bytes, zig-zag.
    #[inline]
    pub(crate) fn long(&mut self) -> Result<i64, Broken> {
        let first = self.byte()?;
        let bits = if first < 0x80 { u64::from(first) } else { self.long_bits(first, 10)? };
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    /// The same of up to five bytes; bits beyond 32 are lost, as in Java.
    #[inline]
    pub(crate) fn int(&mut self) -> Result<i32, Broken> {
        let first = self.byte()?;
        let bits = if first < 0x80 { u32::from(first) } else { self.long_bits(first, 5)? as u32 };
        Ok((bits >> 1) as i32 ^ -((bits & 1) as i32))
    }

    fn long_bits(&mut self, first: u8, most: u32) -> Result<u64, Broken> {
        let mut bits = u64::from(first & 0x7f);
        for place in 1..most {
            let byte = self.byte()?;
            bits |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(bits);
            }
        }
        Err(self.broken("a number does not end"))
    }

    #[inline]
    pub(crate) fn float(&mut self) -> Result<f32, Broken> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn double(&mut self) -> Result<f64, Broken> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        match self.bytes[self.at..].first_chunk() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.ended()),
        }
    }

    /// So many bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        match self.bytes[self.at..].get(..len) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => Err(self.ended()),
        }
    }

    /// Bytes or text behind their length.
    #[inline]
    pub(crate) fn sized(&mut self) -> Result<&'a [u8], Broken> {
        let len = self.long()?;
        match usize::try_from(len) {
            Ok(len) => self.take(len),
            Err(_) => Err(self.broken(format!("the length {len} is negative"))),
        }
    }

    /// The number of items in the next block of an array or a map; 0 at the end.
    pub(crate) fn block(&mut self) -> Result<u64, Broken> {
        let count = self.long()?;
        if count < 0 {
            // The size of the block, for those who skip it.
            self.long()?;
        }
        let count = count.unsigned_abs();
        if count > MAX_EMPTY_ITEMS && count > (self.bytes.len() - self.at) as u64 {
            return Err(self.broken(format!("{count} items are more than there are bytes")));
        }
        Ok(count)
    }

    /// Passes over a value of a type.
    pub(crate) fn skip(&mut self, schema: &AvroSchema, id: NodeId) -> Result<(), Broken> {
        self.skip_in(schema, id, 0)
    }

    fn skip_in(&mut self, schema: &AvroSchema, id: NodeId, depth: usize) -> Result<(), Broken> {
        if depth > MAX_DEPTH {
            return Err(self.broken(format!("values stand in each other over {MAX_DEPTH} deep")));
        }
        match schema.node(id) {
            Node::Null => {}
            Node::Boolean => {
                self.byte()?;
            }
            Node::Int(_) | Node::Enum { .. } => {
                self.int()?;
            }
            Node::Long(_) => {
                self.long()?;
            }
            Node::Float => {
                self.take(4)?;
            }
            Node::Double => {
                self.take(8)?;
            }
            Node::Bytes(_) | Node::String => {
                self.sized()?;
            }
            Node::Fixed { size, .. } => {
                self.take(*size)?;
            }
            Node::Array(items) => self.skip_blocks(schema, *items, false, depth)?,
            Node::Map(values) => self.skip_blocks(schema, *values, true, depth)?,
            Node::Union(branches) => {
                let branch = self.branch(branches.len())?;
                self.skip_in(schema, branches[branch], depth + 1)?;
            }
            Node::Record { fields, .. } => {
                for field in fields {
                    self.skip_in(schema, field.node, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn skip_blocks(
        &mut self,
        schema: &AvroSchema,
        items: NodeId,
        keys: bool,
        depth: usize,
    ) -> Result<(), Broken> {
        loop {
            let count = self.long()?;
            if count < 0 {
                let size = self.long()?;
                let size = usize::try_from(size)
                    .map_err(|_| self.broken("the size of a block is negative"))?;
                self.take(size)?;
                continue;
            }
            if count == 0 {
                return Ok(());
            }
            let start = self.at;
            for item in 0..count as u64 {
                if keys {
                    self.sized()?;
                }
                self.skip_in(schema, items, depth + 1)?;
                if item >= MAX_EMPTY_ITEMS && self.at == start {
                    return Err(self.broken(format!("{count} items without bytes")));
                }
            }
        }
    }

    /// The branch of a union of so many.
    #[inline]
    pub(crate) fn branch(&mut self, of: usize) -> Result<usize, Broken> {
        let branch = self.int()?;
        match usize::try_from(branch) {
            Ok(branch) if branch < of => Ok(branch),
            _ => Err(self.broken(format!("a union has no branch {branch}"))),
        }
    }
}
