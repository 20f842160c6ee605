//! No bytes make the reader of snapshots panic: bytes of any kind, and well-formed sections whose entries, keys, values
//! and timers hold anything.

#![no_main]

use flott_state::{
    KeyGroupRange, KeySlots, OrderedMultiset, RowStore, StateDecoder, StateReader, StateWriter,
    TimerQueue,
};
use flott_types::{DataType, RowField, TypeRoot};
use libfuzzer_sys::fuzz_target;

const GROUPS: u16 = 4;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    if reader.add(bytes).is_ok() {
        let _ = restore(&reader);
    }
    // The checksums are right, so that all that follows them is read.
    let mut writer = StateWriter::new(GROUPS);
    let mut section = writer.keyed("keys", 1, "fuzz");
    for entry in bytes.split(|byte| *byte == 0xFE) {
        let (group, rest) = entry.split_first().unwrap_or((&0, &[]));
        let key = rest.len().min(usize::from(*group) / 4);
        section.entry(u16::from(*group) % GROUPS, &rest[..key], |out| {
            rest[key..].iter().for_each(|byte| out.u8(*byte));
        });
    }
    section.finish();
    writer.operator("task", 1, |out| bytes.iter().for_each(|byte| out.u8(*byte)));
    let snapshot = writer.finish();
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    if reader.add(&snapshot).is_ok() {
        let _ = restore(&reader);
    }
});

/// Types of every layout.
fn types() -> Vec<DataType> {
    vec![
        DataType::bigint(),
        DataType::string(),
        DataType::decimal(20, 2),
        DataType::timestamp(9),
        TypeRoot::Boolean.nullable(),
        DataType::array(DataType::string()),
        DataType::map(DataType::string(), DataType::int()),
        DataType::row(vec![RowField::new("x", DataType::double())]),
    ]
}

fn restore(reader: &StateReader<'_>) -> flott_state::Result<()> {
    let entries = || reader.keyed("keys", 1, "fuzz");
    for key in [vec![DataType::bigint()], vec![DataType::string()], types()] {
        let mut slots = KeySlots::new(&key, None);
        let values = |_, _, input: &mut StateDecoder<'_>| read(input);
        let _ = slots.restore(GROUPS, 0, entries()?, values);
    }
    let mut timers = TimerQueue::<u64>::new();
    let _ = timers.restore(entries()?, |_, input| input.u64());
    for (_, mut input) in reader.operator("task", 1)? {
        let mut rows = RowStore::new(&types());
        let mut ids = Vec::new();
        let _ = rows.read_rows(&mut input.clone(), &mut ids);
        let _ = rows.gather(&ids);
        let _ = read(&mut input.clone());
        let _ = input.list(StateDecoder::value);
    }
    Ok(())
}

fn read(input: &mut StateDecoder<'_>) -> flott_state::Result<()> {
    match input.u8()? % 4 {
        0 => drop(input.value()?),
        1 => drop(input.columns(&flott_state::RowCodec::new(&types()))?),
        2 => drop(input.option(|input| input.str().map(str::len))?),
        _ => drop(input.list(StateDecoder::i128)?),
    }
    Ok(())
}
