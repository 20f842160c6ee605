//! Numbers of variable length, zigzag encoded as in Protocol Buffers.

use crate::{KafkaError, Result};

pub(super) fn write(out: &mut Vec<u8>, value: i64) {
    let mut rest = (value << 1 ^ value >> 63) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// The bytes that [`write`] takes.
pub(super) fn size(value: i64) -> usize {
    let zigzag = (value << 1 ^ value >> 63) as u64;
    (70 - (zigzag | 1).leading_zeros() as usize) / 7
}

/// Reads a number at `at` and moves on behind it.
pub(super) fn read(bytes: &[u8], at: &mut usize) -> Result<i64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let Some(byte) = bytes.get(*at) else { break };
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    Err(KafkaError::Protocol("a record is cut off".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_the_size_foretold() {
        for value in [0, -1, 1, 63, 64, -64, -65, 8191, 8192, i64::MAX, i64::MIN, 1 << 40] {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(bytes.len(), size(value), "{value}");
            let mut at = 0;
            assert_eq!(read(&bytes, &mut at).unwrap(), value);
            assert_eq!(at, bytes.len());
        }
        assert!(read(&[0x80], &mut 0).is_err());
        assert!(read(&[0xFF; 11], &mut 0).is_err());
    }
}
