//! Counted sets against maps.

use std::collections::{BTreeMap, HashMap};

use flott_state::{CountedSets, OrderedMultiset, StateDecoder, StateEncoder, Ttl};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, rows, rows_of, some_types};

proptest! {
    #[test]
    fn sets_count_what_was_added(
        (ty, rows) in prop::sample::select(some_types())
            .prop_flat_map(|ty| (Just(ty.clone()), rows(&[ty], 40))),
        changes in prop::collection::vec((0u32..4, any::<usize>(), 0usize..2, -1i64..3), 0..200),
        cleared in 0u32..8,
    ) {
        let types = [ty];
        let mut sets = CountedSets::new(&types, 2, None);
        let batch = sets.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
        let mut model: HashMap<(u32, String), [i64; 2]> = HashMap::new();
        for (slot, row, lane, delta) in changes {
            if rows.is_empty() {
                continue;
            }
            let row = row % rows.len();
            let change = sets.add(slot, &batch, row, lane, delta, 0).unwrap();
            let counts = model.entry((slot, identity(&rows[row]))).or_default();
            prop_assert_eq!(change.before, counts[lane]);
            counts[lane] += delta;
            prop_assert_eq!(change.after, counts[lane]);
            prop_assert_eq!(sets.count(slot, &batch, row, lane, 0), counts[lane]);
        }
        sets.clear(cleared);
        model.retain(|(slot, _), counts| *slot != cleared && *counts != [0, 0]);
        check(&sets, &types, &model)?;

        let mut restored = CountedSets::new(&types, 2, None);
        for slot in 0..4 {
            let mut out = StateEncoder::new();
            sets.write_set(slot, &mut out).unwrap();
            let bytes = out.into_bytes();
            let mut input = StateDecoder::new("sets", &bytes);
            restored.read_set(slot, 0, &mut input).unwrap();
            input.finish().unwrap();
        }
        check(&restored, &types, &model)?;
    }

    #[test]
    fn the_ends_of_a_multiset_are_those_of_a_map(
        changes in prop::collection::vec((0i64..10, -1i64..3), 0..100),
    ) {
        let mut set = OrderedMultiset::new();
        let mut model: BTreeMap<i64, i64> = BTreeMap::new();
        for (value, delta) in changes {
            let count = model.entry(value).or_default();
            *count += delta;
            prop_assert_eq!(set.add(value, delta), *count);
            let mut positive = model.iter().filter(|(_, count)| **count > 0).map(|(v, _)| v);
            prop_assert_eq!(set.first(), positive.clone().next());
            prop_assert_eq!(set.last(), positive.next_back());
        }
        model.retain(|_, count| *count != 0);
        prop_assert!(set.iter().eq(model.iter().map(|(value, count)| (value, *count))));
        let mut out = StateEncoder::new();
        set.write(&mut out, |value, out| out.i64(*value));
        let bytes = out.into_bytes();
        let back: OrderedMultiset<i64> =
            OrderedMultiset::read(&mut StateDecoder::new("set", &bytes), StateDecoder::i64).unwrap();
        prop_assert!(back.iter().eq(set.iter()));
    }
}

#[test]
fn each_value_of_a_set_expires_by_itself() {
    let types = [DataType::bigint()];
    let mut sets = CountedSets::new(&types, 1, Ttl::from_millis(10));
    let rows = [vec![Value::Int(1)], vec![Value::Int(2)]];
    let batch = sets.encoder().encode(&columns(&types, &rows), 2).unwrap();
    sets.add(0, &batch, 0, 0, 1, 0).unwrap();
    sets.add(0, &batch, 1, 0, 1, 5).unwrap();
    assert_eq!([9, 10].map(|now| sets.count(0, &batch, 0, 0, now)), [1, 0]);
    sets.sweep(12, 10);
    assert_eq!(sets.len(), 1);
    assert_eq!(sets.count(0, &batch, 1, 0, 12), 1);
    assert!(sets.add(0, &batch, 1, 0, 1, 20).unwrap().appeared());
}

fn check(
    sets: &CountedSets,
    types: &[DataType],
    model: &HashMap<(u32, String), [i64; 2]>,
) -> Result<(), TestCaseError> {
    let mut found = 0;
    for slot in 0..4 {
        let members: Vec<u32> = sets.members(slot).collect();
        let values = rows_of(types, &sets.columns(&members).unwrap(), members.len());
        for (member, value) in members.iter().zip::<Vec<Vec<Value>>>(values) {
            let counts = model.get(&(slot, identity(&value)));
            prop_assert_eq!(counts.map(|counts| counts.as_slice()), Some(sets.counts(*member)));
            found += 1;
        }
    }
    prop_assert_eq!(found, model.len());
    Ok(())
}
