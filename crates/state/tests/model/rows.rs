//! Rows as bytes: what goes in comes out, equal rows have equal bytes, bad bytes give an error.

use flott_state::{NO_ROW, RowCodec, RowStore};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, rows, rows_of, some_types};

/// Some types and rows of them.
fn table() -> impl Strategy<Value = (Vec<DataType>, Vec<Vec<Value>>)> {
    prop::collection::vec(prop::sample::select(some_types()), 0..12)
        .prop_flat_map(|types| (Just(types.clone()), rows(&types, 12)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_come_back_as_they_went((types, rows) in table()) {
        let codec = RowCodec::new(&types);
        let encoded = codec.encode(&columns(&types, &rows), rows.len()).unwrap();
        let decoded = codec.decode(&encoded.iter().collect::<Vec<_>>()).unwrap();
        let back = rows_of(&types, &decoded, rows.len());
        prop_assert_eq!(identity(&back.concat()), identity(&rows.concat()));
        for (a, x) in encoded.iter().zip(&rows) {
            for (b, y) in encoded.iter().zip(&rows) {
                prop_assert_eq!(a == b, identity(x) == identity(y));
            }
        }
    }

    #[test]
    fn slices_encode_as_their_rows((types, rows) in table(), from in 0usize..6) {
        let codec = RowCodec::new(&types);
        let columns = columns(&types, &rows);
        let all = codec.encode(&columns, rows.len()).unwrap();
        let from = from.min(rows.len());
        let slices: Vec<_> = columns.iter().map(|c| c.slice(from, rows.len() - from)).collect();
        let some = codec.encode(&slices, rows.len() - from).unwrap();
        prop_assert!(some.iter().eq(all.iter().skip(from)));
    }

    #[test]
    fn damaged_rows_give_an_error_or_other_rows(
        (types, rows) in table(),
        edits in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        cut in any::<usize>(),
    ) {
        let codec = RowCodec::new(&types);
        let encoded = codec.encode(&columns(&types, &rows), rows.len()).unwrap();
        for row in encoded.iter() {
            let mut row = row.to_vec();
            for (at, byte) in &edits {
                if !row.is_empty() {
                    let at = at % row.len();
                    row[at] ^= byte;
                }
            }
            let _ = codec.decode(&[&row]);
            let cut = cut % (row.len() + 1);
            let decoded = codec.decode(&[&row[..cut]]);
            prop_assert!(cut == row.len() || decoded.is_err());
        }
    }

    #[test]
    fn stored_rows_are_found_and_gathered((types, rows) in table(), order in any::<u64>()) {
        let mut store = RowStore::new(&types);
        let encoded = store.encode(&columns(&types, &rows), rows.len()).unwrap();
        let mut ids = Vec::new();
        store.insert_all(&encoded, &mut ids).unwrap();
        let mut kept: Vec<(u32, usize)> = Vec::new();
        for (row, id) in ids.iter().enumerate() {
            if order >> (row % 64) & 1 == 1 { store.remove(*id) } else { kept.push((*id, row)) }
        }
        for row in (0..rows.len()).rev() {
            kept.push((store.insert(&encoded, row).unwrap(), row));
        }
        prop_assert_eq!(store.len(), kept.len());
        for (id, row) in &kept {
            for other in 0..rows.len() {
                let equal = identity(&rows[*row]) == identity(&rows[other]);
                prop_assert_eq!(store.is_row(*id, &encoded, other), equal);
            }
        }
        let mut wanted: Vec<u32> = kept.iter().map(|(id, _)| *id).collect();
        wanted.push(NO_ROW);
        let gathered = rows_of(&types, &store.gather(&wanted).unwrap(), wanted.len());
        for ((_, row), values) in kept.iter().zip(&gathered) {
            prop_assert_eq!(identity(values), identity(&rows[*row]));
        }
        prop_assert!(gathered[kept.len()].iter().all(Value::is_null));
    }
}
