//! Eight bytes of text at a time, as one number.

/// Eight times the same byte.
pub(crate) const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of each byte that is zero; bits above the lowest may be wrong.
#[inline]
pub(crate) fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}

/// The high bit of each byte that is not `0` to `9` in `digits`, which are the bytes XORed with `0`.
#[inline]
pub(crate) fn not_digits(digits: u64) -> u64 {
    ((digits & repeat(0x7F)).wrapping_add(repeat(0x76)) | digits) & repeat(0x80)
}

/// The number of eight digits from 0 to 9, one a byte, the first one lowest.
#[inline]
pub(crate) fn eight_digits(digits: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x0000_00FF_0000_00FF;
    // In every other byte a number of two digits.
    let pairs = two_digits(digits);
    let high = (pairs & EVERY_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & EVERY_FOURTH).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// In each byte the number of two digits, of which the first is the byte's and the second that of the byte
/// after it.
#[inline]
pub(crate) fn two_digits(digits: u64) -> u64 {
    digits.wrapping_mul(10).wrapping_add(digits >> 8)
}

/// Whether two texts of one length are equal; fast for lengths up to 16.
#[inline]
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() > 16 {
        return a == b;
    }
    if let (Some(first), Some(last)) = (a.first_chunk::<8>(), a.last_chunk::<8>()) {
        return b.first_chunk() == Some(first) && b.last_chunk() == Some(last);
    }
    if let (Some(first), Some(last)) = (a.first_chunk::<4>(), a.last_chunk::<4>()) {
        return b.first_chunk() == Some(first) && b.last_chunk() == Some(last);
    }
    a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_numbers() {
        for number in [0, 7, 12_345_678, 99_999_999, 90_000_001] {
            let text: [u8; 8] = format!("{number:08}").into_bytes().try_into().unwrap();
            let digits = u64::from_le_bytes(text) ^ repeat(b'0');
            assert_eq!(not_digits(digits), 0);
            assert_eq!(eight_digits(digits), number);
        }
        for byte in 0..=u8::MAX {
            let digits = u64::from_le_bytes([b'1', b'9', byte, b'0', b'5', b'5', b'5', b'5']);
            let found = not_digits(digits ^ repeat(b'0'));
            assert_eq!(found == 0, byte.is_ascii_digit(), "{byte}");
            assert!(found == 0 || found.trailing_zeros() / 8 == 2);
        }
    }

    #[test]
    fn texts_are_compared_whole() {
        for len in 0..20 {
            let a: Vec<u8> = (0..len).collect();
            assert!(equal(&a, &a));
            for at in 0..usize::from(len) {
                let mut b = a.clone();
                b[at] ^= 1;
                assert!(!equal(&a, &b), "{len} {at}");
            }
        }
    }
}
