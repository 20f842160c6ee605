//! Values by key: TTL, accounting, snapshots at another parallelism.

use std::collections::HashMap;

use flott_state::{
    KeyGroupRange, KeyedState, Snapshot, SnapshotScope, StateReader, StateWriter, Ttl,
};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, rows, rows_of, some_types};

const GROUPS: u16 = 16;
const TTL: i64 = 10;

type State = KeyedState<Vec<u8>>;

proptest! {
    #[test]
    fn state_lives_until_it_was_idle_for_the_ttl(
        (types, batches) in prop::collection::vec(prop::sample::select(some_types()), 1..3)
            .prop_flat_map(|types| {
                let batch = (rows(&types, 12), 0i64..8, 0usize..20);
                (Just(types), prop::collection::vec(batch, 1..10))
            }),
        parallelism in 1u16..=GROUPS,
        with_ttl: bool,
    ) {
        let ttl = Ttl::from_millis(if with_ttl { TTL } else { 0 });
        let mut state: State = KeyedState::new(&types, ttl);
        let mut model: HashMap<String, (i64, Vec<u8>)> = HashMap::new();
        let mut now = 0;
        for (rows, pause, swept) in &batches {
            now += pause;
            model.retain(|_, (written, _)| !with_ttl || *written + TTL > now);
            let batch = state.encoder().encode(&columns(&types, rows), rows.len()).unwrap();
            for (row, values) in rows.iter().enumerate() {
                let expected = model.get(&identity(values)).map(|(_, value)| value);
                prop_assert_eq!(state.value(&batch, row, now), expected);
                state.entry(&batch, row, now, Vec::new).unwrap().push(row as u8);
                let (written, value) = model.entry(identity(values)).or_default();
                *written = now;
                value.push(row as u8);
            }
            state.sweep(now, *swept, |_, _| {});
            let heap: usize = state.iter().map(|(_, value)| value.capacity()).sum();
            let slots = state.slots().memory();
            prop_assert!(state.memory() >= slots + heap);
        }
        model.retain(|_, (written, _)| !with_ttl || *written + TTL > now);
        let snapshot = write(&state);
        let mut found = 0;
        for task in 0..parallelism {
            let range = KeyGroupRange::of_task(GROUPS, parallelism, task);
            let mut part: State = KeyedState::new(&types, ttl);
            read(&mut part, &snapshot, range.clone(), now).unwrap();
            let live: Vec<u32> = part.iter().map(|(slot, _)| slot).collect();
            let keys = rows_of(&types, &part.key_columns(&live).unwrap(), live.len());
            for (slot, key) in live.iter().zip::<Vec<Vec<Value>>>(keys) {
                prop_assert!(range.contains(part.slots().index().key_group(*slot, GROUPS)));
                // What has expired does not come back.
                let (written, value) = model.get(&identity(&key)).unwrap();
                prop_assert_eq!(part.value_at(*slot), Some(value));
                if with_ttl {
                    prop_assert_eq!(part.slots().meta().last_write(*slot), Some(*written));
                }
                found += 1;
            }
        }
        prop_assert_eq!(found, model.len());
    }
}

#[test]
fn a_sweep_takes_out_what_expired_and_nothing_else() {
    let mut state: State = KeyedState::new(&[DataType::bigint()], Ttl::from_millis(TTL));
    let rows: Vec<_> = (0..100).map(|i| vec![Value::Int(i)]).collect();
    let batch = state.encoder().encode(&columns(&[DataType::bigint()], &rows), 100).unwrap();
    for row in 0..100 {
        let time = if row < 60 { 0 } else { 5 };
        state.entry(&batch, row, time, || vec![0; 1000]).unwrap();
    }
    let full = state.memory();
    let mut dropped = 0;
    for _ in 0..4 {
        state.sweep(TTL, 25, |_, _| dropped += 1);
    }
    assert_eq!((dropped, state.len()), (60, 40));
    assert!(state.memory() < full - 59 * 1000);
    assert_eq!(state.value(&batch, 10, TTL), None);
    assert!(state.value(&batch, 70, TTL).is_some());
}

#[test]
fn writing_marks_and_removing_unmarks() {
    let types = [DataType::string()];
    let mut state: KeyedState<u64> = KeyedState::new(&types, None);
    let rows = [vec![Value::string("a")], vec![Value::Null], vec![Value::string("a")]];
    let batch = state.encoder().encode(&columns(&types, &rows), 3).unwrap();
    for row in 0..3 {
        *state.entry(&batch, row, 0, || 0).unwrap() += 1;
    }
    assert_eq!(state.slots().meta().dirty().len(), 2);
    state.handed_over(&StateWriter::new(GROUPS));
    assert_eq!(state.slots().meta().dirty().len(), 2, "a savepoint leaves marks as they are");
    state.handed_over(&StateWriter::of_scope(GROUPS, SnapshotScope::Base, 0));
    *state.value_mut(&batch, 1, 0).unwrap() += 1;
    let slot = state.slots().read_one(&batch, 1, 0).unwrap();
    assert_eq!(state.slots().meta().dirty().iter().collect::<Vec<_>>(), [slot]);
    assert_eq!(state.remove(slot), Some(2));
    assert!(state.slots().meta().dirty().is_empty());
}

fn write(state: &State) -> Snapshot {
    let mut writer = StateWriter::new(GROUPS);
    let section = writer.keyed("state", 1, &state.slots().schema("bytes"));
    state.snapshot(section, |value, out| out.bytes(value)).unwrap();
    writer.finish()
}

fn read(
    state: &mut State,
    snapshot: &Snapshot,
    range: KeyGroupRange,
    now: i64,
) -> flott_state::Result<()> {
    let mut reader = StateReader::new(GROUPS, range);
    reader.add(snapshot)?;
    let entries = reader.keyed("state", 1, &state.slots().schema("bytes"))?;
    state.restore(GROUPS, now, entries, |_, input| input.bytes().map(<[u8]>::to_vec))
}
