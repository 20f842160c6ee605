//! Variants as they are kept, looked into without copying.

use std::ops::Range;

use super::encode::tag;
use crate::text::utf16_order;

/// A variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View<'a> {
    /// The JSON null.
    Null,
    /// A truth value.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A decimal number.
    Decimal {
        /// Its digits without the point.
        digits: i128,
        /// How many of them stand behind the point.
        scale: u8,
    },
    /// A floating point number.
    Double(f64),
    /// A string.
    String(&'a str),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

/// An array: its elements are variants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Array<'a> {
    ends: Table<'a>,
    elements: &'a [u8],
}

/// An object: its members' values are variants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Object<'a> {
    count: usize,
    /// Of the names, then of the values.
    ends: Table<'a>,
    names: &'a [u8],
    values: &'a [u8],
}

/// Numbers of the same width.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Table<'a> {
    width: usize,
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// The variant of some bytes; `None` if they are not one.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        Some(match *tag {
            tag::NULL => Self::Null,
            tag::TRUE => Self::Boolean(true),
            tag::FALSE => Self::Boolean(false),
            tag::INTEGER => Self::Integer(i64::try_from(signed(rest)?).ok()?),
            tag::DECIMAL => {
                let (scale, digits) = rest.split_first()?;
                Self::Decimal { digits: signed(digits)?, scale: *scale }
            }
            tag::DOUBLE => Self::Double(f64::from_le_bytes(rest.try_into().ok()?)),
            tag::STRING => Self::String(std::str::from_utf8(rest).ok()?),
            tag::ARRAY => {
                let (_, ends, elements) = table(rest, 1)?;
                Self::Array(Array { ends, elements })
            }
            tag::OBJECT => {
                let (count, ends, content) = table(rest, 2)?;
                let names = count.checked_sub(1).map_or(Some(0), |last| ends.number(last))?;
                let (names, values) = content.split_at_checked(names)?;
                Self::Object(Object { count, ends, names, values })
            }
            _ => return None,
        })
    }
}

impl<'a> Array<'a> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.ends.bytes.len() / self.ends.width
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of an element, from 0.
    pub fn element(&self, place: usize) -> Option<&'a [u8]> {
        self.elements.get(self.ends.range(place, 0)?)
    }
}

impl<'a> Object<'a> {
    /// The number of members.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The name of a member and the bytes of its value, from 0.
    pub fn member(&self, place: usize) -> Option<(&'a str, &'a [u8])> {
        Some((self.name(place)?, self.value(place)?))
    }

    fn name(&self, place: usize) -> Option<&'a str> {
        std::str::from_utf8(self.names.get(self.ends.range(place, 0)?)?).ok()
    }

    fn value(&self, place: usize) -> Option<&'a [u8]> {
        self.values.get(self.ends.range(self.count + place, self.count)?)
    }

    /// The bytes of the value of a name.
    pub fn find(&self, name: &str) -> Option<&'a [u8]> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match utf16_order(self.name(middle)?, name) {
                std::cmp::Ordering::Equal => return self.value(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl Table<'_> {
    fn number(&self, place: usize) -> Option<usize> {
        let bytes = self.bytes.get(place * self.width..(place + 1) * self.width)?;
        let mut number = [0; 4];
        number[..self.width].copy_from_slice(bytes);
        Some(u32::from_le_bytes(number) as usize)
    }

    /// From the end before, which is 0 for the `first` of a row of ends, to the end at a place.
    fn range(&self, place: usize, first: usize) -> Option<Range<usize>> {
        let start = if place == first { 0 } else { self.number(place.checked_sub(1)?)? };
        Some(start..self.number(place)?)
    }
}

/// The number of entries of a table, `columns` ends for each, and what follows the table.
fn table(bytes: &[u8], columns: usize) -> Option<(usize, Table<'_>, &[u8])> {
    let (width, rest) = bytes.split_first()?;
    let width = usize::from(*width);
    if !matches!(width, 1 | 2 | 4) {
        return None;
    }
    let (count, rest) = rest.split_at_checked(width)?;
    let count = Table { width, bytes: count }.number(0)?;
    let (ends, rest) = rest.split_at_checked(count.checked_mul(columns * width)?)?;
    Some((count, Table { width, bytes: ends }, rest))
}

/// A number in two's complement of any width.
fn signed(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.last()? & 0x80 != 0;
    let mut number = if negative { [0xff; 16] } else { [0; 16] };
    number.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(number))
}
