//! Snapshots: sections and values come back, damage is told and never a panic.

use flott_state::{
    KeyGroupRange, KeyedState, Result, Snapshot, StateDecoder, StateEncoder, StateError,
    StateReader, StateWriter,
};
use flott_types::{DataType, Value};
use proptest::prelude::*;

use crate::values::{columns, identity, some_types, value};

const GROUPS: u16 = 8;

fn sample() -> Snapshot {
    let mut state: KeyedState<u64> = KeyedState::new(&[DataType::string()], None);
    let rows: Vec<_> = (0..40).map(|i| vec![Value::string(format!("key {i}"))]).collect();
    let batch = state.encoder().encode(&columns(&[DataType::string()], &rows), 40).unwrap();
    for row in 0..40 {
        *state.entry(&batch, row, 0, || 0).unwrap() = row as u64;
    }
    let mut writer = StateWriter::new(GROUPS);
    writer.operator("position", 3, |out| out.i64(-42));
    let section = writer.keyed("state", 1, &state.slots().schema("BIGINT"));
    state.snapshot(section, |value, out| out.u64(*value)).unwrap();
    writer.finish()
}

/// Reads all that [`sample`] wrote, and how many keys it found.
fn read_all(snapshot: &Snapshot) -> Result<usize> {
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    reader.add(snapshot)?;
    for (_, mut input) in reader.operator("position", 3)? {
        input.i64()?;
        input.finish()?;
    }
    let mut state: KeyedState<u64> = KeyedState::new(&[DataType::string()], None);
    let entries = reader.keyed("state", 1, &state.slots().schema("BIGINT"))?;
    state.restore(GROUPS, 0, entries, |_, input| input.u64())?;
    Ok(state.len())
}

/// A snapshot of version 1, of the same contents.
const VERSION_1: &[u8] = include_bytes!("../fixtures/v1.state");

fn read_version_1(bytes: &[u8]) -> Result<usize> {
    read_all(&Snapshot::from_version_1(bytes)?)
}

proptest! {
    #[test]
    fn values_of_every_type_come_back(
        values in prop::collection::vec(
            prop::sample::select(some_types()).prop_flat_map(|ty| value(&ty)), 0..20),
    ) {
        let mut out = StateEncoder::new();
        out.list(values.iter(), StateEncoder::value);
        let bytes = out.into_bytes();
        let mut input = StateDecoder::new("values", &bytes);
        let back = input.list(StateDecoder::value).unwrap();
        input.finish().unwrap();
        prop_assert_eq!(identity(&back), identity(&values));
    }

    #[test]
    fn numbers_come_back(a: i64, b: u64, c: i128, d: f64, e: bool, f in "\\PC*") {
        let mut out = StateEncoder::new();
        out.i64(a);
        out.u64(b);
        out.i128(c);
        out.f64(d);
        out.option(e.then_some(a), StateEncoder::i64);
        out.str(&f);
        let bytes = out.into_bytes();
        let mut input = StateDecoder::new("numbers", &bytes);
        prop_assert_eq!(input.i64().unwrap(), a);
        prop_assert_eq!(input.u64().unwrap(), b);
        prop_assert_eq!(input.i128().unwrap(), c);
        prop_assert_eq!(input.f64().unwrap().to_bits(), d.to_bits());
        prop_assert_eq!(input.option(StateDecoder::i64).unwrap(), e.then_some(a));
        prop_assert_eq!(input.str().unwrap(), f);
        input.finish().unwrap();
    }

    #[test]
    fn any_changed_byte_is_noticed(at in any::<usize>(), change in 1u8..) {
        let mut snapshot = VERSION_1.to_vec();
        let at = at % snapshot.len();
        snapshot[at] ^= change;
        prop_assert!(read_version_1(&snapshot).is_err());
    }

    #[test]
    fn a_snapshot_that_ends_early_is_noticed(cut in any::<usize>()) {
        prop_assert!(read_version_1(&VERSION_1[..cut % VERSION_1.len()]).is_err());
    }

    #[test]
    fn random_bytes_are_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read_version_1(&bytes).is_err());
        let mut input = StateDecoder::new("bytes", &bytes);
        while input.value().is_ok() {}
        let mut input = StateDecoder::new("bytes", &bytes);
        let _ = input.columns(&flott_state::RowCodec::new(&some_types()));
    }
}

/// Checkpoints of every version must be read for ever.
#[test]
fn the_fixture_of_version_1_is_read() {
    assert_eq!(read_version_1(VERSION_1).unwrap(), 40);
    let old = Snapshot::from_version_1(VERSION_1).unwrap();
    assert_eq!(old, sample(), "what sections hold is the same in both versions");
}

proptest! {
    /// Contents that pass their checksums and still are not what the reader expects.
    #[test]
    fn entries_of_any_bytes_are_never_a_panic(
        types in prop::collection::vec(prop::sample::select(some_types()), 0..3),
        entries in prop::collection::vec(
            (0..GROUPS, prop::collection::vec(0u8..4, 0..24), prop::collection::vec(0u8..4, 0..8)),
            0..6,
        ),
    ) {
        let mut writer = StateWriter::new(GROUPS);
        let mut section = writer.keyed("state", 1, "any");
        for (group, key, value) in &entries {
            section.entry(*group, key, |out| value.iter().for_each(|byte| out.u8(*byte)));
        }
        section.finish();
        let snapshot = writer.finish();
        let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
        reader.add(&snapshot).unwrap();
        let mut state: KeyedState<u64> = KeyedState::new(&types, None);
        let found = reader.keyed("state", 1, "any").unwrap();
        let _ = state.restore(GROUPS, 0, found, |_, input| input.u64());
    }
}

#[test]
fn snapshots_of_tasks_are_read_together() {
    let mut writer = StateWriter::new(GROUPS);
    writer.operator("other", 1, |out| out.str("x"));
    let (one, other) = (writer.finish(), sample());
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    reader.add(&one).unwrap();
    reader.add(&other).unwrap();
    assert_eq!(reader.names(), ["other", "position", "state"]);
    assert!(reader.contains("other") && !reader.contains("missing"));
    let both = [VERSION_1, VERSION_1].concat();
    assert_eq!(Snapshot::from_version_1(&both).unwrap().sections.len(), 4);
}

#[test]
fn what_does_not_fit_is_told_apart() {
    let snapshot = sample();
    let open = |groups| {
        let mut reader = StateReader::new(groups, KeyGroupRange::all(groups));
        reader.add(&snapshot).unwrap();
        reader
    };
    let schema = "[VARCHAR(2147483647)] BIGINT";
    assert!(open(GROUPS).keyed("state", 1, schema).is_ok());
    assert!(matches!(open(GROUPS).keyed("state", 1, "[INT] x"), Err(StateError::Schema { .. })));
    assert!(matches!(
        open(GROUPS).keyed("gone", 1, schema),
        Err(StateError::MissingSection { .. })
    ));
    assert!(matches!(
        open(GROUPS).operator("position", 2),
        Err(StateError::Version { found: 3, known: 2, .. })
    ));
    assert!(matches!(
        open(4).keyed("state", 1, schema),
        Err(StateError::MaxParallelism { found: GROUPS, expected: 4, .. })
    ));
    let archive = Snapshot::from_version_1(b"PK\x03\x04 and so on, some archive");
    assert!(matches!(archive, Err(StateError::Foreign)));
}
