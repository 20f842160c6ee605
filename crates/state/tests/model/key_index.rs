//! Keys and slots against a hash map.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
use arrow::buffer::OffsetBuffer;
use flott_state::{KeyIndex, NO_SLOT};
use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, rows, rows_of, some_types};

/// Key types of every form: none, each single type, and composites.
fn key_types() -> impl Strategy<Value = Vec<DataType>> {
    let types = some_types();
    prop_oneof![
        1 => Just(vec![]),
        6 => prop::sample::select(types.clone()).prop_map(|ty| vec![ty]),
        3 => prop::collection::vec(prop::sample::select(types), 2..4),
    ]
}

/// What to do with an index, one after the other.
#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<Vec<Value>>),
    Lookup(Vec<Vec<Value>>),
    /// Removes every key for which the bit of its slot is set.
    Remove(u64),
}

fn steps() -> impl Strategy<Value = (Vec<DataType>, Vec<Step>)> {
    key_types().prop_flat_map(|types| {
        let step = prop_oneof![
            3 => rows(&types, 30).prop_map(Step::Insert),
            1 => rows(&types, 10).prop_map(Step::Lookup),
            1 => any::<u64>().prop_map(Step::Remove),
        ];
        (Just(types), prop::collection::vec(step, 1..12))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn slots_are_those_of_a_hash_map((types, steps) in steps()) {
        let mut index = KeyIndex::new(&types);
        let mut model: HashMap<String, (u32, Vec<Value>)> = HashMap::new();
        let (mut slots, mut created) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Insert(rows) => {
                    let batch = index.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
                    index.lookup_or_insert(&batch, &mut slots, &mut created).unwrap();
                    let mut expected = Vec::new();
                    for (row, values) in rows.iter().enumerate() {
                        let known = model.len();
                        let taken = model.values().any(|(slot, _)| *slot == slots[row]);
                        let (slot, _) = model
                            .entry(identity(values))
                            .or_insert_with(|| (slots[row], values.clone()));
                        prop_assert_eq!(*slot, slots[row]);
                        if model.len() > known {
                            prop_assert!(!taken, "slot {} is another key's", slots[row]);
                            expected.push(row as u32);
                        }
                    }
                    prop_assert_eq!(&created, &expected);
                }
                Step::Lookup(rows) => {
                    let batch = index.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
                    index.lookup(&batch, &mut slots).unwrap();
                    for (row, values) in rows.iter().enumerate() {
                        let slot = model.get(&identity(values)).map_or(NO_SLOT, |(slot, _)| *slot);
                        prop_assert_eq!(slots[row], slot);
                    }
                }
                Step::Remove(bits) => model.retain(|_, (slot, _)| {
                    let remove = bits >> (*slot % 64) & 1 == 1;
                    assert!(!remove || index.remove(*slot));
                    !remove
                }),
            }
            prop_assert_eq!(index.len(), model.len());
            let live: Vec<u32> = index.slots().collect();
            let wanted: Vec<u32> = live.iter().copied().chain([NO_SLOT]).collect();
            let mut keys = rows_of(&types, &index.key_columns(&wanted).unwrap(), wanted.len());
            prop_assert!(keys.pop().unwrap().iter().all(Value::is_null));
            for (slot, key) in live.iter().zip(keys) {
                prop_assert_eq!(model.get(&identity(&key)).map(|(slot, _)| *slot), Some(*slot));
            }
        }
    }

    #[test]
    fn equal_keys_have_equal_hashes_whatever_the_batch((types, steps) in steps()) {
        let index = KeyIndex::new(&types);
        let mut hashes: HashMap<String, u64> = HashMap::new();
        for step in steps {
            let (Step::Insert(rows) | Step::Lookup(rows)) = step else { continue };
            let batch = index.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
            for (row, values) in rows.iter().enumerate() {
                let hash = batch.hashes()[row];
                prop_assert_eq!(*hashes.entry(identity(values)).or_insert(hash), hash);
                prop_assert_eq!(batch.has_null(row), values.iter().any(Value::is_null));
            }
        }
    }
}

#[test]
fn a_table_grows_and_shrinks_with_its_keys() {
    let types = [DataType::bigint()];
    let mut index = KeyIndex::new(&types);
    let (mut slots, mut created) = (Vec::new(), Vec::new());
    let rows: Vec<_> = (0..50_000i64).map(|i| vec![Value::Int(i * 1000)]).collect();
    let batch = index.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
    index.lookup_or_insert(&batch, &mut slots, &mut created).unwrap();
    assert_eq!(created.len(), 50_000);
    let full = index.memory();
    for slot in slots.iter().filter(|slot| *slot % 100 != 7) {
        assert!(index.remove(*slot));
    }
    assert_eq!(index.len(), 500);
    assert!(index.memory() < full);
    let mut found = Vec::new();
    index.lookup(&batch, &mut found).unwrap();
    for (before, after) in slots.iter().zip(&found) {
        assert_eq!(*after, if before % 100 == 7 { *before } else { NO_SLOT });
    }
}

#[test]
fn what_lies_under_null_is_no_matter() {
    let number = |under| Int64Array::new(vec![under, 0].into(), Some(vec![false, true].into()));
    let text = |under: &str| {
        let offsets = OffsetBuffer::from_lengths([under.len(), 0]);
        StringArray::new(offsets, under.as_bytes().into(), Some(vec![false, true].into()))
    };
    let cases: [(DataType, [ArrayRef; 2]); 2] = [
        (DataType::bigint(), [Arc::new(number(7)), Arc::new(number(0))]),
        (DataType::string(), [Arc::new(text("hidden")), Arc::new(text(""))]),
    ];
    for (ty, arrays) in cases {
        let mut index = KeyIndex::new(&[ty]);
        let (mut slots, mut created) = (Vec::new(), Vec::new());
        for array in arrays {
            let batch = index.encoder().encode(&[array], 2).unwrap();
            index.lookup_or_insert(&batch, &mut slots, &mut created).unwrap();
            assert_eq!(slots, [0, 1]);
        }
        let keys = index.key_columns(&[0, 1]).unwrap();
        assert!(keys[0].is_null(0) && keys[0].is_valid(1));
    }
}

#[test]
fn keys_of_other_types_are_refused() {
    let mut index = KeyIndex::new(&[DataType::bigint()]);
    let (mut slots, mut created) = (Vec::new(), Vec::new());
    let texts = [DataType::string()];
    let other = KeyIndex::new(&texts);
    let rows = [vec![Value::string("a")]];
    let batch = other.encoder().encode(&columns(&texts, &rows), 1).unwrap();
    assert!(index.lookup_or_insert(&batch, &mut slots, &mut created).is_err());
    assert!(index.lookup(&batch, &mut slots).is_err());
    assert!(index.encoder().encode(&columns(&texts, &rows), 1).is_err());
    let ints = [TypeRoot::Int.nullable()];
    assert!(index.encoder().encode(&columns(&ints, &[vec![Value::Int(1)]]), 1).is_err());
}
