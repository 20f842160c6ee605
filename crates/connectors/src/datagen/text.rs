//! Texts and byte strings.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, StringArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use flott_catalog::connector::ConnectorError;

use super::column::mismatch;
use super::random::Stream;
use super::rows::Rows;

/// What texts and byte strings hold.
#[derive(Debug)]
pub(super) enum Text {
    /// `length` random hexadecimal digits or bytes; with `vary`, fewer.
    Random { length: usize, vary: bool, stream: Stream },
    /// The row's number plus `start`: as decimal digits, padded to `pad` characters, or as eight bytes.
    Sequence { start: i64, pad: usize },
}

impl Text {
    pub(super) fn value_bytes(&self) -> u64 {
        match self {
            Self::Random { length, .. } => *length as u64,
            Self::Sequence { pad, .. } => 20.max(*pad as u64),
        }
    }
}

/// Texts of hexadecimal or decimal digits.
pub(super) fn texts(
    text: &Text,
    rows: Rows,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ConnectorError> {
    let (offsets, bytes) = match text {
        Text::Random { length, vary, stream } => random(
            rows,
            *length,
            *vary,
            *stream,
            |word, out| {
                out.extend_from_slice(&hex_digits(word));
            },
            16,
        ),
        Text::Sequence { start, pad } => {
            let mut digits = String::new();
            let offsets = rows.map(|i| {
                let from = digits.len();
                // Writing into a String cannot fail.
                let _ = write!(digits, "{:<pad$}", start.wrapping_add(i as i64));
                digits.len() - from
            });
            (OffsetBuffer::from_lengths(offsets), digits.into_bytes())
        }
    };
    let array = StringArray::try_new(offsets, bytes.into(), nulls).map_err(mismatch)?;
    Ok(Arc::new(array))
}

/// Byte strings of random bytes or numbers in big-endian order.
pub(super) fn bytes(
    text: &Text,
    rows: Rows,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ConnectorError> {
    let (offsets, bytes) = match text {
        Text::Random { length, vary, stream } => random(
            rows,
            *length,
            *vary,
            *stream,
            |word, out| {
                out.extend_from_slice(&word.to_le_bytes());
            },
            8,
        ),
        Text::Sequence { start, .. } => {
            let numbers = rows.map(|i| start.wrapping_add(i as i64).to_be_bytes());
            (OffsetBuffer::from_repeated_length(8, rows.len()), numbers.into_flattened())
        }
    };
    let array = BinaryArray::try_new(offsets, bytes.into(), nulls).map_err(mismatch)?;
    Ok(Arc::new(array))
}

/// Bytes made of random words, `per_word` of each, and where each value ends.
fn random(
    rows: Rows,
    length: usize,
    vary: bool,
    stream: Stream,
    write: impl Fn(u64, &mut Vec<u8>),
    per_word: usize,
) -> (OffsetBuffer<i32>, Vec<u8>) {
    let words = length.div_ceil(per_word) as u64;
    let mut bytes = Vec::with_capacity(rows.len() * length + per_word);
    let lengths_of = stream.branch("length");
    let lengths = rows.map(|index| {
        // As in Flink, a varying length stays below the full one.
        let length = if vary && length > 1 {
            1 + lengths_of.below(index, length as u64 - 1) as usize
        } else {
            length
        };
        let end = bytes.len() + length;
        let first = index.wrapping_mul(words);
        for word in 0..length.div_ceil(per_word) as u64 {
            write(stream.word(first.wrapping_add(word)), &mut bytes);
        }
        bytes.truncate(end);
        length
    });
    (OffsetBuffer::from_lengths(lengths), bytes)
}

/// The sixteen hexadecimal digits of a word, lowest first, all at once.
#[inline]
fn hex_digits(word: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    let (low, high) = digits.split_at_mut(8);
    low.copy_from_slice(&eight_hex_digits(word as u32).to_le_bytes());
    high.copy_from_slice(&eight_hex_digits((word >> 32) as u32).to_le_bytes());
    digits
}

/// Spreads eight half bytes over eight bytes and turns each into its digit.
#[inline]
fn eight_hex_digits(word: u32) -> u64 {
    let mut spread = u64::from(word);
    spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Adding 6 carries into the upper half exactly for 10 to 15, which are letters.
    let letters = ((spread + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    spread + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;

    use super::*;

    #[test]
    fn words_turn_into_their_digits() {
        assert_eq!(&hex_digits(0xfedc_ba98_7654_3210), b"0123456789abcdef");
    }

    #[test]
    fn random_texts_keep_to_their_length() {
        let rows = Rows::new(0, 1, 200);
        let stream = Stream::new(3, "s");
        let fixed = Text::Random { length: 21, vary: false, stream };
        let array = texts(&fixed, rows, None).unwrap();
        assert!(array.as_string::<i32>().iter().flatten().all(|text| {
            text.len() == 21 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
        }));
        let varying = Text::Random { length: 5, vary: true, stream };
        let array = texts(&varying, rows, None).unwrap();
        let mut seen = [false; 6];
        array.as_string::<i32>().iter().flatten().for_each(|text| seen[text.len()] = true);
        assert_eq!(seen, [false, true, true, true, true, false]);
        let one = texts(&fixed, Rows::new(7, 1, 1), None).unwrap();
        assert_eq!(one.as_string::<i32>().value(0), {
            let all = texts(&fixed, rows, None).unwrap();
            all.as_string::<i32>().value(7).to_string()
        });
    }

    #[test]
    fn sequences_are_decimal_digits_or_eight_bytes() {
        let rows = Rows::new(1, 2, 2);
        let array = texts(&Text::Sequence { start: 8, pad: 3 }, rows, None).unwrap();
        assert_eq!(array.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["9  ", "11 "]);
        let array = bytes(&Text::Sequence { start: 8, pad: 0 }, rows, None).unwrap();
        assert_eq!(array.as_binary::<i32>().value(1), 11i64.to_be_bytes());
    }
}
