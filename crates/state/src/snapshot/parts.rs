//! A snapshot cut into pieces that change one apart from the other.

use super::decoder::StateDecoder;
use super::reader::section;
use crate::error::Result;

/// The header of each section and each of its blocks, in order; one after the other they are the
/// snapshot again.
///
/// A key group whose entries are as before has the same block as before, so that whoever keeps
/// snapshots need not keep it twice.
pub fn snapshot_parts(snapshot: &[u8]) -> Result<Vec<&[u8]>> {
    let mut input = StateDecoder::new("snapshot", snapshot);
    let mut parts = Vec::new();
    let mut at = 0;
    while input.remaining() > 0 {
        let blocks = section(&mut input, snapshot)?.block_lengths();
        let end = input.offset();
        let mut cut = end - blocks.iter().sum::<usize>();
        parts.push(&snapshot[at..cut]);
        for length in blocks {
            parts.push(&snapshot[cut..cut + length]);
            cut += length;
        }
        at = end;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateWriter;

    #[test]
    fn parts_are_the_snapshot_and_stay_where_nothing_changed() {
        let snapshot = |second: &[u8]| {
            let mut writer = StateWriter::new(128);
            let mut section = writer.keyed("counts", 1, "BIGINT");
            section.entry(3, b"a", |value| value.i64(1));
            section.entry(90, b"b", |value| value.bytes(second));
            section.finish();
            writer.operator("offsets", 1, |value| value.u64(7));
            writer.finish()
        };
        let (one, other) = (snapshot(b"x"), snapshot(b"yy"));
        let (of_one, of_other) = (snapshot_parts(&one).unwrap(), snapshot_parts(&other).unwrap());
        assert_eq!(of_one.concat(), one);
        assert_eq!(of_one.len(), 5);
        let same: Vec<bool> = of_one.iter().zip(&of_other).map(|(a, b)| a == b).collect();
        assert_eq!(same, [false, true, false, true, true]);
        assert!(snapshot_parts(&[]).unwrap().is_empty());
        assert!(snapshot_parts(b"something else").is_err());
    }
}
