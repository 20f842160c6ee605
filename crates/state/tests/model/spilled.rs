//! Keys that go to disk and come back, against a map; and what snapshots hold of them.

use std::collections::BTreeMap;

use flott_state::{
    KeyGroupRange, KeySlots, Snapshot, SnapshotScope, SpillSpace, StateReader, StateWriter, Ttl,
};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, rows_of};

const GROUPS: u16 = 16;
const TTL: i64 = 50;

/// A number a key, in memory as operators keep it.
struct State {
    slots: KeySlots,
    values: Vec<i64>,
    space: SpillSpace,
}

impl State {
    fn new(ttl: Option<Ttl>, space: &SpillSpace) -> Self {
        let slots = KeySlots::new(&[DataType::bigint()], ttl);
        Self { slots, values: Vec::new(), space: space.clone() }
    }

    fn load(&mut self, keys: &[i64], now: i64) -> flott_state::KeyBatch {
        let rows: Vec<_> = keys.iter().map(|key| vec![Value::Int(*key)]).collect();
        let columns = columns(&[DataType::bigint()], &rows);
        let batch = self.slots.encoder().encode(&columns, rows.len()).unwrap();
        let values = &mut self.values;
        self.slots
            .load(&batch, now, |slot, input| {
                values.resize(values.len().max(slot as usize + 1), 0);
                values[slot as usize] = input.i64()?;
                Ok(())
            })
            .unwrap();
        batch
    }

    fn write(&mut self, keys: &[i64], value: i64, now: i64) {
        let batch = self.load(keys, now);
        for row in 0..keys.len() {
            let (slot, _) = self.slots.write_one(&batch, row, now).unwrap();
            self.values.resize(self.values.len().max(slot as usize + 1), 0);
            self.values[slot as usize] = value;
        }
    }

    fn read(&mut self, key: i64, now: i64) -> Option<i64> {
        let batch = self.load(&[key], now);
        self.slots.read_one(&batch, 0, now).map(|slot| self.values[slot as usize])
    }

    fn remove(&mut self, key: i64, now: i64) {
        let batch = self.load(&[key], now);
        if let Some(slot) = self.slots.read_one(&batch, 0, now) {
            self.slots.remove(slot);
        }
    }

    /// Moves keys to disk so that `most` stay.
    fn evict(&mut self) {
        let victims = self.slots.victims(0, 0, &self.space, |_| false).unwrap();
        let changed = self.slots.not_on_disk(&victims);
        let values = &self.values;
        self.slots
            .write_to_disk(&changed, &self.space, GROUPS, |slot, out| {
                out.i64(values[slot as usize])
            })
            .unwrap();
        self.slots.forget(&victims);
        self.slots.give_back();
    }

    fn snapshot(&mut self, scope: SnapshotScope, now: i64) -> Snapshot {
        let mut writer = StateWriter::of_scope(GROUPS, scope, now);
        let section = writer.keyed("numbers", 1, &self.slots.schema("a number"));
        let values = &self.values;
        self.slots.snapshot(section, |slot, out| out.i64(values[slot as usize])).unwrap();
        self.slots.handed_over(&writer);
        writer.finish()
    }
}

fn held(snapshot: &Snapshot, ttl: Option<Ttl>, now: i64) -> BTreeMap<i64, i64> {
    let mut slots = KeySlots::new(&[DataType::bigint()], ttl);
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    reader.add(snapshot).unwrap();
    let entries = reader.keyed("numbers", 1, &slots.schema("a number")).unwrap();
    let mut values = Vec::new();
    slots
        .restore(GROUPS, now, entries, |slot, _, input| {
            values.push((slot, input.i64()?));
            Ok(())
        })
        .unwrap();
    let of: Vec<u32> = values.iter().map(|(slot, _)| *slot).collect();
    let keys = rows_of(&[DataType::bigint()], &slots.key_columns(&of).unwrap(), of.len());
    let key = |row: &Vec<Value>| row[0].as_int().unwrap();
    keys.iter().map(key).zip(values.into_iter().map(|(_, value)| value)).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<i64>),
    Remove(i64),
    Read(i64),
    Wait(i64),
    Evict,
    Sweep,
    Checkpoint,
    Savepoint,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => prop::collection::vec(0..12i64, 1..5).prop_map(Step::Write),
        2 => (0..12i64).prop_map(Step::Remove),
        2 => (0..12i64).prop_map(Step::Read),
        1 => (1..30i64).prop_map(Step::Wait),
        4 => Just(Step::Evict),
        1 => Just(Step::Sweep),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::Savepoint),
    ];
    prop::collection::vec(step, 1..50)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn keys_come_back_and_snapshots_hold_them_wherever_they_are(
        steps in steps(),
        most in 0..4usize,
        with_ttl: bool,
    ) {
        let ttl = Ttl::from_millis(if with_ttl { TTL } else { 0 });
        let mut state = State::new(ttl, &SpillSpace::crowded(most));
        let mut model: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        let (mut now, mut last): (i64, Option<Snapshot>) = (0, None);
        for (number, step) in (0i64..).zip(&steps) {
            model.retain(|_, (_, written)| !with_ttl || *written + TTL > now);
            match step {
                Step::Write(keys) => {
                    state.write(keys, number, now);
                    model.extend(keys.iter().map(|key| (*key, (number, now))));
                }
                Step::Remove(key) => {
                    state.remove(*key, now);
                    model.remove(key);
                }
                Step::Read(key) => {
                    let expected = model.get(key).map(|(value, _)| *value);
                    prop_assert_eq!(state.read(*key, now), expected);
                }
                Step::Wait(time) => now += time,
                Step::Evict => state.evict(),
                Step::Sweep => state.slots.sweep_disk(now, 3).unwrap(),
                Step::Checkpoint => {
                    let next = match &last {
                        None => state.snapshot(SnapshotScope::Base, now),
                        Some(before) => {
                            let changes = state.snapshot(SnapshotScope::Changes, now);
                            before.followed_by(&changes).unwrap()
                        }
                    };
                    let expected: BTreeMap<i64, i64> =
                        model.iter().map(|(key, (value, _))| (*key, *value)).collect();
                    prop_assert_eq!(held(&next, ttl, now), expected);
                    last = Some(next);
                }
                Step::Savepoint => {
                    let whole = state.snapshot(SnapshotScope::Whole, now);
                    let expected: BTreeMap<i64, i64> =
                        model.iter().map(|(key, (value, _))| (*key, *value)).collect();
                    prop_assert_eq!(held(&whole, ttl, now), expected);
                }
            }
        }
    }
}

#[test]
fn expired_state_leaves_the_disk() {
    let mut state = State::new(Ttl::from_millis(TTL), &SpillSpace::crowded(0));
    state.write(&(0..100).collect::<Vec<_>>(), 1, 0);
    state.evict();
    state.write(&[7], 2, 30);
    state.evict();
    assert_eq!(state.slots.len(), 0);
    let on_disk = |state: &mut State| {
        let (mut cursor, mut keys) = (Vec::new(), 0);
        while state.slots.load_next(&mut cursor, 10, |_, input| input.i64().map(drop)).unwrap() {}
        keys += state.slots.len();
        let all: Vec<u32> = state.slots.index().slots().collect();
        state.slots.forget(&all);
        keys
    };
    state.slots.sweep_disk(40, 1000).unwrap();
    assert_eq!(on_disk(&mut state), 100);
    for _ in 0..10 {
        state.slots.sweep_disk(60, 13).unwrap();
    }
    assert_eq!(on_disk(&mut state), 1);
    assert_eq!(state.read(7, 60), Some(2));
    assert_eq!(state.read(8, 60), None);
}

#[test]
fn a_state_that_outgrows_its_room_gives_memory_back() {
    let space = SpillSpace::new(vec![std::env::temp_dir()], 1 << 20);
    let mut state = State::new(None, &space);
    let room = 64 << 10;
    for batch in 0..50 {
        let keys: Vec<i64> = (0..200).map(|row| batch * 200 + row).collect();
        state.write(&keys, batch, 0);
        let held = state.slots.memory() + state.values.capacity() * 8;
        let victims = state.slots.victims(held, room, &space, |_| false).unwrap();
        let changed = state.slots.not_on_disk(&victims);
        let values = &state.values;
        state
            .slots
            .write_to_disk(&changed, &space, GROUPS, |slot, out| out.i64(values[slot as usize]))
            .unwrap();
        state.slots.forget(&victims);
        if state.slots.is_empty() {
            state.slots.give_back();
            state.values = Vec::new();
        }
        assert!(state.slots.memory() + state.values.capacity() * 8 <= room, "batch {batch}");
    }
    for key in [0, 5_000, 9_999] {
        assert_eq!(state.read(key, 0), Some(key / 200));
    }
    assert!(space.disk_bytes() > 0);
}
