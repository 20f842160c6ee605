//! BITMAP: sets of 32-bit integers.
//!
//! A bitmap is kept in the portable format of Roaring bitmaps, its containers as small as they can be: the
//! same set has one encoding only, so that bitmaps are equal when their bytes are.

mod functions;

use flott_types::text::write_bitmap;
use roaring::RoaringBitmap;

pub use functions::FUNCTIONS;

use crate::EvalError;

/// The text of a BITMAP as it is kept in arrays: `{1,2,4294967295}`.
pub fn bitmap_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    write_bitmap(&mut text, bytes);
    text
}

/// The bytes of a bitmap.
pub(crate) fn encode(mut bitmap: RoaringBitmap) -> Result<Vec<u8>, EvalError> {
    bitmap.remove_run_compression();
    bitmap.optimize();
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    bitmap.serialize_into(&mut bytes).map_err(|error| EvalError::Internal(error.to_string()))?;
    Ok(bytes)
}

/// The bitmap of some bytes that are one.
pub(crate) fn decode(bytes: &[u8]) -> Result<RoaringBitmap, EvalError> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| EvalError::Internal(format!("not a bitmap: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_set_has_the_same_bytes() {
        let all = RoaringBitmap::from_iter(0..10_000);
        let odd = RoaringBitmap::from_iter((0..10_000).filter(|i| i % 2 == 1));
        let even = RoaringBitmap::from_iter((0..10_000).filter(|i| i % 2 == 0));
        let mut optimized = all.clone();
        optimized.optimize();
        assert_eq!(encode(&odd | &even).unwrap(), encode(all.clone()).unwrap());
        assert_eq!(encode(&optimized - &odd).unwrap(), encode(even).unwrap());
        assert_eq!(encode(optimized).unwrap(), encode(all).unwrap());
    }

    #[test]
    fn bytes_are_those_of_flink() {
        let cases: [(&[i32], &str); 8] = [
            (&[], "3a30000000000000"),
            (&[1], "3a3000000100000000000000100000000100"),
            (&[1, 2, 3], "3a300000010000000000020010000000010002000300"),
            (&[1, 2, 3, 4], "3b3000000100000300010001000300"),
            (&[1, 2, 3, 10, 11, 12], "3b30000001000005000200010002000a000200"),
            (&[1, 70000], "3a300000020000000000000001000000180000001a00000001007011"),
            (
                &[0, 65535, 65536, 65537, 65538, 65539],
                "3b3001000200000100010003000000ffff010000000300",
            ),
            (&[-1, -2, -3, -4, 5], "3b3001000200000000ffff030005000100fcff0300"),
        ];
        for (members, hex) in cases {
            let bytes = encode(members.iter().map(|member| *member as u32).collect()).unwrap();
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digits, hex, "{members:?}");
        }
    }
}
