//! Snapshots of changes: put behind the ones before them they are the whole state, whatever happened in
//! between.

use std::collections::BTreeMap;

use flott_state::{
    KeyGroupRange, KeyedState, Snapshot, SnapshotScope, StateError, StateReader, StateWriter, Ttl,
};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, rows_of};

const GROUPS: u16 = 4;
const TTL: i64 = 20;

type State = KeyedState<u64>;
/// Values and times of writing by key.
type Model = BTreeMap<String, (u64, i64)>;

/// What happens to a state.
#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(i64, u64)>),
    Remove(Vec<i64>),
    Sweep(usize),
    Pass(i64),
    /// A checkpoint, which is kept or cannot be, and whether chains are merged then.
    Checkpoint {
        kept: bool,
        merged: bool,
    },
    Savepoint,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0i64..40;
    let step = prop_oneof![
        4 => prop::collection::vec((key.clone(), any::<u64>()), 1..12).prop_map(Step::Write),
        2 => prop::collection::vec(key, 1..8).prop_map(Step::Remove),
        1 => (1usize..60).prop_map(Step::Sweep),
        1 => (1i64..9).prop_map(Step::Pass),
        4 => (any::<bool>(), any::<bool>())
            .prop_map(|(kept, merged)| Step::Checkpoint { kept, merged }),
        1 => Just(Step::Savepoint),
    ];
    prop::collection::vec(step, 1..60)
}

fn key_of(types: &[DataType], key: i64) -> Vec<Value> {
    let text = |key| if key % 9 == 0 { Value::Null } else { Value::string(format!("k{key}")) };
    match types {
        [ty] if *ty == DataType::string() => vec![text(key)],
        [_] if key == 7 => vec![Value::Null],
        [_] => vec![Value::Int(key)],
        _ => vec![Value::Int(key / 7), text(key)],
    }
}

fn write(state: &mut State, scope: SnapshotScope, now: i64) -> Snapshot {
    let mut writer = StateWriter::of_scope(GROUPS, scope, now);
    let section = writer.keyed("state", 1, &state.slots().schema("number"));
    state.snapshot(section, |value, out| out.u64(*value)).unwrap();
    state.handed_over(&writer);
    writer.finish()
}

fn read(types: &[DataType], ttl: Option<Ttl>, snapshot: &Snapshot, now: i64) -> Model {
    let mut state = State::new(types, ttl);
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    reader.add(snapshot).unwrap();
    let entries = reader.keyed("state", 1, &state.slots().schema("number")).unwrap();
    state.restore(GROUPS, now, entries, |_, input| input.u64()).unwrap();
    contents(types, &state, now)
}

/// What is seen of a state.
fn contents(types: &[DataType], state: &State, now: i64) -> Model {
    let meta = state.slots().meta();
    let live: Vec<u32> =
        state.iter().map(|(slot, _)| slot).filter(|slot| !meta.is_expired(*slot, now)).collect();
    let keys = rows_of(types, &state.key_columns(&live).unwrap(), live.len());
    let value = |slot| (*state.value_at(slot).unwrap(), meta.last_write(slot).unwrap_or(0));
    keys.iter().zip(live).map(|(key, slot)| (identity(key), value(slot))).collect()
}

proptest! {
    #[test]
    fn changes_behind_what_was_before_are_the_whole(
        types in prop_oneof![
            Just(vec![DataType::bigint()]),
            Just(vec![DataType::int()]),
            Just(vec![DataType::string()]),
            Just(vec![DataType::bigint(), DataType::string()]),
        ],
        with_ttl: bool,
        steps in steps(),
    ) {
        let ttl = Ttl::from_millis(if with_ttl { TTL } else { 0 });
        let mut state = State::new(&types, ttl);
        let mut now = 100;
        let encode = |state: &State, keys: &[i64]| {
            let rows: Vec<_> = keys.iter().map(|key| key_of(&types, *key)).collect();
            state.encoder().encode(&columns(&types, &rows), rows.len()).unwrap()
        };
        // What the store keeps, and what it could not keep since.
        let (mut kept, mut missed): (Option<Snapshot>, Option<Snapshot>) = (None, None);
        for step in steps {
            match step {
                Step::Write(rows) => {
                    let keys: Vec<i64> = rows.iter().map(|(key, _)| *key).collect();
                    let batch = encode(&state, &keys);
                    for (row, (_, value)) in rows.iter().enumerate() {
                        *state.entry(&batch, row, now, || 0).unwrap() = *value;
                    }
                }
                Step::Remove(keys) => {
                    let batch = encode(&state, &keys);
                    for row in 0..keys.len() {
                        if let Some(slot) = state.slots().read_one(&batch, row, now) {
                            state.remove(slot);
                        }
                    }
                }
                Step::Sweep(slots) => state.sweep(now, slots, |_, _| {}),
                Step::Pass(millis) => now += millis,
                Step::Savepoint => {
                    let whole = write(&mut state, SnapshotScope::Whole, now);
                    prop_assert!(!whole.is_continued());
                    prop_assert_eq!(read(&types, ttl, &whole, now), contents(&types, &state, now));
                }
                Step::Checkpoint { kept: is_kept, merged } => {
                    let is_first = kept.is_none() && missed.is_none();
                    let scope = if is_first { SnapshotScope::Base } else { SnapshotScope::Changes };
                    let next = write(&mut state, scope, now);
                    let next = match missed.take() {
                        Some(before) => before.followed_by(&next).unwrap(),
                        None => next,
                    };
                    let mut next = next;
                    if merged {
                        next.compact().unwrap();
                    }
                    if !is_kept {
                        missed = Some(next);
                        continue;
                    }
                    let mut whole = match &kept {
                        Some(before) => before.followed_by(&next).unwrap(),
                        None => next,
                    };
                    if merged {
                        whole.compact().unwrap();
                        let chains = whole.sections.iter().flat_map(|section| &section.groups);
                        for chain in chains {
                            prop_assert!(chain.blocks.len() <= 12);
                        }
                    }
                    let seen = contents(&types, &state, now);
                    prop_assert_eq!(read(&types, ttl, &whole, now), seen.clone());
                    // What expires meanwhile does not come back.
                    let mut later = seen;
                    later.retain(|_, (_, written)| !with_ttl || *written + TTL > now + 7);
                    prop_assert_eq!(read(&types, ttl, &whole, now + 7), later);
                    kept = Some(whole);
                }
            }
        }
    }
}

#[test]
fn changes_alone_are_not_read() {
    let types = [DataType::bigint()];
    let mut state = State::new(&types, None);
    let batch = state.encoder().encode(&columns(&types, &[vec![Value::Int(1)]]), 1).unwrap();
    *state.entry(&batch, 0, 0, || 0).unwrap() = 1;
    write(&mut state, SnapshotScope::Base, 0);
    let changes = write(&mut state, SnapshotScope::Changes, 0);
    assert!(changes.is_continued() && changes.sections[0].groups.is_empty());
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    assert!(matches!(reader.add(&changes), Err(StateError::MissingSection { .. })));
    assert!(Snapshot::default().followed_by(&changes).is_err());
}

#[test]
fn what_changed_costs_what_changed() {
    let types = [DataType::bigint()];
    let mut state = State::new(&types, None);
    let rows: Vec<_> = (0..10_000).map(|i| vec![Value::Int(i)]).collect();
    let batch = state.encoder().encode(&columns(&types, &rows), rows.len()).unwrap();
    for row in 0..rows.len() {
        *state.entry(&batch, row, 0, || 0).unwrap() = 1;
    }
    let base = write(&mut state, SnapshotScope::Base, 0);
    for row in 0..100 {
        *state.entry(&batch, row, 0, || 0).unwrap() = 2;
    }
    let changes = write(&mut state, SnapshotScope::Changes, 0);
    assert!(changes.len() * 90 < base.len(), "{} of {} bytes", changes.len(), base.len());
    assert_eq!(write(&mut state, SnapshotScope::Changes, 0).len(), 0);
}
