//! Checkpoints that hold what changed: whatever was written, merged, moved or could not be kept, what is
//! loaded is the whole state.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use common::operators::Count;
use common::sinks::TestSink;
use common::sources::Batches;
use common::{by_key, checked, operator, pairs, sink, source};
use flott_plan::physical::{AggregatePhase, GroupAggregate};
use flott_runtime::operators::GroupAggregateOperator;
use flott_runtime::testing::OperatorHarness;
use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointKind, CheckpointProblem, CheckpointStore, Exchange,
    JobConfig, JobGraph, MemoryCheckpointStore, OperatorState, OperatorStates, Result,
    RuntimeError, SeededRun, write_savepoint,
};
use flott_state::{KeyGroupRange, KeySlots, Snapshot, SnapshotScope, StateReader, StateWriter};
use flott_types::{ChangelogBatch, ChangelogMode, DataType, Field, RowKind, Schema};
use proptest::prelude::*;

const GROUPS: u16 = 16;

/// A state of numbers by key, and what it should hold.
struct State {
    keys: KeySlots,
    values: Vec<i64>,
    model: BTreeMap<i64, i64>,
    /// The last checkpoint it was written for.
    handed_over: Option<u64>,
}

impl State {
    fn new() -> Self {
        let keys = KeySlots::new(&[DataType::bigint()], None);
        Self { keys, values: Vec::new(), model: BTreeMap::new(), handed_over: None }
    }

    fn slots(&mut self, keys: Vec<i64>) -> Vec<u32> {
        let count = keys.len();
        let column: ArrayRef = Arc::new(Int64Array::from(keys));
        let batch = self.keys.encoder().encode(&[column], count).unwrap();
        let (mut slots, mut fresh) = (Vec::new(), Vec::new());
        self.keys.write(&batch, 0, &mut slots, &mut fresh).unwrap();
        self.values.resize(self.keys.index().slot_bound() as usize, 0);
        slots
    }

    fn set(&mut self, keys: Vec<i64>, value: i64) {
        self.model.extend(keys.iter().map(|key| (*key, value)));
        for slot in self.slots(keys) {
            self.values[slot as usize] = value;
        }
    }

    fn remove(&mut self, keys: Vec<i64>) {
        keys.iter().for_each(|key| {
            self.model.remove(key);
        });
        for slot in self.slots(keys) {
            self.keys.remove(slot);
        }
    }

    fn write(&mut self, scope: SnapshotScope) -> Snapshot {
        let mut writer = StateWriter::of_scope(GROUPS, scope, 0);
        let section = writer.keyed("numbers", 1, &self.keys.schema("BIGINT"));
        self.keys.snapshot(section, |slot, out| out.i64(self.values[slot as usize])).unwrap();
        writer.operator("other", 1, |out| out.i64(17));
        self.keys.handed_over(&writer);
        writer.finish()
    }

    fn checkpoint(&mut self, id: u64) -> Checkpoint {
        let since = self.handed_over.replace(id);
        let scope = if since.is_some() { SnapshotScope::Changes } else { SnapshotScope::Base };
        let state =
            OperatorState { task: 0, watermark: 0, since, snapshot: self.write(scope).into() };
        let states = OperatorStates { parallelism: 1, tasks: vec![state] };
        let operators = BTreeMap::from([("numbers".into(), states)]);
        Checkpoint { id, operators, ..Checkpoint::default() }
    }
}

/// What a checkpoint holds, entries that may be damaged included.
fn try_read(checkpoint: &Checkpoint) -> flott_state::Result<BTreeMap<i64, i64>> {
    let snapshot = &checkpoint.operators["numbers"].tasks[0].snapshot;
    let mut state = State::new();
    let mut reader = StateReader::new(GROUPS, KeyGroupRange::all(GROUPS));
    reader.add(snapshot)?;
    for (_, mut value) in reader.operator("other", 1)? {
        value.i64()?;
        value.finish()?;
    }
    let entries = reader.keyed("numbers", 1, &state.keys.schema("BIGINT"))?;
    let mut values = BTreeMap::new();
    state.keys.restore(GROUPS, 0, entries, |slot, _, input| {
        values.insert(slot, input.i64()?);
        Ok(())
    })?;
    let slots: Vec<u32> = state.keys.index().slots().collect();
    let columns = state.keys.key_columns(&slots)?;
    let keys = columns[0].as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
    Ok(keys.into_iter().zip(slots).map(|(key, slot)| (key, values[&slot])).collect())
}

fn files(folder: &Path) -> (usize, u64) {
    let lengths = fs::read_dir(folder.join("shared")).unwrap();
    let lengths = lengths.map(|file| file.unwrap().metadata().unwrap().len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_loaded_is_the_whole_state(
        rounds in prop::collection::vec(
            (prop::collection::vec(0i64..600, 0..80), prop::collection::vec(0i64..600, 0..40)),
            1..40,
        ),
        retained in 1usize..4,
        first in 0i64..600,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let on_disk = CheckpointDirectory::new(folder.path(), retained);
        let in_memory = MemoryCheckpointStore::default();
        let mut state = State::new();
        state.set((0..first).collect(), -1);
        for (id, (set, removed)) in (1..).zip(rounds) {
            state.set(set, id as i64);
            state.remove(removed);
            let checkpoint = Arc::new(state.checkpoint(id));
            on_disk.publish(checkpoint.clone()).unwrap();
            in_memory.publish(checkpoint).unwrap();
            let loaded = Checkpoint::load(folder.path()).unwrap();
            prop_assert_eq!(&try_read(&loaded).unwrap(), &state.model);
            let latest = in_memory.latest().unwrap().unwrap();
            prop_assert_eq!(&try_read(&latest).unwrap(), &state.model);
            let whole = state.write(SnapshotScope::Whole);
            prop_assert!(!whole.is_continued());
        }
        // A savepoint of what was loaded has no chains and the same contents.
        let loaded = on_disk.latest().unwrap().unwrap();
        let savepoint = folder.path().join("savepoint");
        write_savepoint(&loaded, &savepoint).unwrap();
        let savepoint = Checkpoint::load(&savepoint).unwrap();
        prop_assert_eq!(&try_read(&savepoint).unwrap(), &state.model);
        let sections = &savepoint.operators["numbers"].tasks[0].snapshot.sections;
        let mut chains = sections.iter().flat_map(|section| &section.groups);
        prop_assert!(chains.all(|chain| chain.blocks.len() == 1 && chain.blocks[0].is_whole()));
    }
}

#[test]
fn a_checkpoint_costs_what_changed_and_the_disk_holds_little_more_than_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    let mut state = State::new();
    state.set((0..100_000).collect(), 1 << 40);
    store.publish(Arc::new(state.checkpoint(1))).unwrap();
    let (_, whole) = files(folder.path());
    let mut written = 0;
    for id in 2..202 {
        let start = id as i64 * 9_973;
        state
            .set((0..500).map(|key| (start + key * 31) % 100_000).collect(), id as i64 + (1 << 40));
        store.publish(Arc::new(state.checkpoint(id))).unwrap();
        let file = folder.path().join("shared").join(id.to_string());
        written += file.metadata().map_or(0, |file| file.len());
        let (count, bytes) = files(folder.path());
        assert!(count < 40, "{count} files at checkpoint {id}");
        assert!(bytes < whole * 4, "{bytes} bytes for a state of {whole}");
    }
    // 200 checkpoints change each key once.
    assert!(written < whole * 12, "{written} bytes written for a state of {whole}");
    assert_eq!(try_read(&Checkpoint::load(folder.path()).unwrap()).unwrap(), state.model);
}

#[test]
fn what_is_gone_leaves_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    let mut state = State::new();
    state.set((0..20_000).collect(), 1);
    store.publish(Arc::new(state.checkpoint(1))).unwrap();
    let (_, whole) = files(folder.path());
    state.remove((100..20_000).collect());
    store.publish(Arc::new(state.checkpoint(2))).unwrap();
    let (_, bytes) = files(folder.path());
    assert!(bytes < whole / 20, "{bytes} of {whole}");
    assert_eq!(try_read(&Checkpoint::load(folder.path()).unwrap()).unwrap().len(), 100);
}

#[test]
fn a_state_that_builds_on_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = State::new();
    state.set(vec![1, 2, 3], 1);
    let missed = state.checkpoint(1);
    state.set(vec![2], 2);
    let next = Arc::new(state.checkpoint(2));
    for store in [
        &CheckpointDirectory::new(folder.path(), 1) as &dyn CheckpointStore,
        &MemoryCheckpointStore::default(),
    ] {
        let error = store.publish(next.clone()).unwrap_err().to_string();
        assert!(error.contains("builds on checkpoint 1, which is not kept"), "{error}");
        store.publish(Arc::new(missed.clone())).unwrap();
        store.publish(next.clone()).unwrap();
        assert_eq!(try_read(&store.latest().unwrap().unwrap()).unwrap(), state.model);
    }
}

#[test]
fn a_store_that_failed_goes_on_from_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job");
    let store = CheckpointDirectory::new(&job, 1);
    let mut state = State::new();
    state.set((0..100).collect(), 1);
    store.publish(Arc::new(state.checkpoint(1))).unwrap();
    state.set(vec![5], 2);
    let next = Arc::new(state.checkpoint(2));
    // A file stands where the folder of the checkpoint should be made.
    fs::write(job.join(".chk-2.inprogress"), b"in the way").unwrap();
    store.publish(next.clone()).unwrap_err();
    let mut before = state.model.clone();
    before.insert(5, 1);
    assert_eq!(try_read(&Checkpoint::load(&job).unwrap()).unwrap(), before);
    fs::remove_file(job.join(".chk-2.inprogress")).unwrap();
    store.publish(next).unwrap();
    assert_eq!(try_read(&Checkpoint::load(&job).unwrap()).unwrap(), state.model);
}

/// A checkpoint with chains of several blocks, in a folder.
fn chained(folder: &Path) -> BTreeMap<i64, i64> {
    let store = CheckpointDirectory::new(folder, 3);
    let mut state = State::new();
    state.set((0..2_000).collect(), 1);
    store.publish(Arc::new(state.checkpoint(1))).unwrap();
    for (id, keys) in [(2, 0..300), (3, 100..180), (4, 150..170)] {
        state.set(keys.clone().collect(), id as i64);
        state.remove(keys.step_by(7).collect());
        store.publish(Arc::new(state.checkpoint(id))).unwrap();
    }
    let loaded = Checkpoint::load(folder).unwrap();
    let sections = &loaded.operators["numbers"].tasks[0].snapshot.sections;
    assert!(sections[0].groups.iter().any(|chain| chain.blocks.len() > 1));
    state.model
}

#[test]
fn damage_to_a_chain_is_named_and_the_checkpoint_before_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    chained(folder.path());
    let path = folder.path().join("shared/4");
    let sound = fs::read(&path).unwrap();
    for at in [0, sound.len() / 2, sound.len() - 1] {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        fs::write(&path, &bytes).unwrap();
        let text = Checkpoint::load(folder.path()).unwrap_err().to_string();
        assert!(text.contains("chk-4") && text.contains("fails its checksum"), "{text}");
        assert!(text.contains("resume from") && text.contains("chk-3"), "{text}");
    }
    fs::write(&path, &sound[..sound.len() - 1]).unwrap();
    let text = Checkpoint::load(folder.path()).unwrap_err().to_string();
    assert!(text.contains("ends early") && text.contains("chk-3"), "{text}");
    fs::remove_file(&path).unwrap();
    let text = Checkpoint::load(folder.path()).unwrap_err().to_string();
    assert!(text.contains("is missing") && text.contains("chk-3"), "{text}");
    // All of them stand on the first.
    fs::write(folder.path().join("shared/1"), b"").unwrap();
    let text = Checkpoint::load(folder.path()).unwrap_err().to_string();
    assert!(text.contains("there is none before it here"), "{text}");
}

/// A reader meets bytes that pass all checksums and still are not what was written.
#[test]
fn no_altered_byte_of_a_chain_is_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let model = chained(folder.path());
    let at = folder.path().join("chk-4");
    assert_eq!(try_read(&Checkpoint::load(&at).unwrap()).unwrap(), model);
    let path = at.join("_metadata");
    let sound = fs::read(&path).unwrap();
    for byte in 6..sound.len() - 8 {
        for change in [1, 0x80, 0x7F] {
            let mut bytes = sound.clone();
            bytes[byte] ^= change;
            let body = bytes.len() - 8;
            let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..body]);
            bytes[body..].copy_from_slice(&checksum.to_le_bytes());
            fs::write(&path, &bytes).unwrap();
            // Numbers of entries and of key groups are not covered by the checksums of pieces.
            if let Ok(loaded) = Checkpoint::load(&at)
                && let Some(states) = loaded.operators.get("numbers")
                && !states.tasks.is_empty()
            {
                let _ = try_read(&loaded);
            }
        }
        fs::write(&path, &sound[..byte]).unwrap();
        assert!(Checkpoint::load(&at).is_err(), "cut at {byte}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_files_are_errors(
        file in prop::sample::select(vec!["chk-4/_metadata", "shared/1", "shared/2", "shared/4"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let model = chained(folder.path());
        let path = folder.path().join(file);
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        for (at, change) in flips {
            bytes[at.index(sound.len())] ^= change;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(sound.len()));
        }
        fs::write(&path, &bytes).unwrap();
        match Checkpoint::load(&folder.path().join("chk-4")) {
            // What is altered may be what the checkpoint does not point to.
            Ok(loaded) => prop_assert_eq!(try_read(&loaded).unwrap(), model),
            Err(_) => prop_assert_ne!(bytes, sound),
        }
    }
}

/// Which keys are new to a DISTINCT with a TTL of a second.
fn distinct(resumed: Option<&Checkpoint>) -> OperatorHarness {
    let spec = GroupAggregate {
        keys: vec![0],
        calls: Vec::new(),
        input_retracts: false,
        emit_update_before: false,
        final_only: false,
        state_ttl: 1000,
        phase: AggregatePhase::Complete,
        split: None,
    };
    let schema = Schema::new(vec![Field::new("key", DataType::bigint())]);
    let operator = GroupAggregateOperator::new(&spec, None, &schema, schema.to_arrow()).unwrap();
    OperatorHarness::resumed(operator, 1, None, resumed).unwrap()
}

fn new_keys(query: &mut OperatorHarness, keys: &[i64]) -> Vec<i64> {
    let schema = Schema::new(vec![Field::new("key", DataType::bigint())]).to_arrow();
    let column: ArrayRef = Arc::new(Int64Array::from(keys.to_vec()));
    let rows = RecordBatch::try_new(schema, vec![column]).unwrap();
    query.batch(0, ChangelogBatch::inserts(rows)).unwrap();
    let mut new = Vec::new();
    for batch in query.take_batches() {
        let keys = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().values();
        let added = (0..batch.len()).filter(|row| batch.kind(*row) == RowKind::Insert);
        new.extend(added.map(|row| keys[row]));
    }
    new
}

#[test]
fn expired_state_is_not_written_and_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    let keys_in = |checkpoint: &Checkpoint| {
        let snapshot = &checkpoint.operators["operator"].tasks[0].snapshot;
        let mut reader = StateReader::new(128, KeyGroupRange::all(128));
        reader.add(snapshot).unwrap();
        let section = &snapshot.sections[0];
        reader.keyed("groups", section.version, &section.schema).unwrap().count()
    };
    let mut query = distinct(None);
    query.advance_clock(400).unwrap();
    assert_eq!(new_keys(&mut query, &[1, 2, 3]), [1, 2, 3]);
    store.publish(Arc::new(query.checkpoint(1, CheckpointKind::Checkpoint).unwrap())).unwrap();
    query.advance_clock(400).unwrap();
    assert_eq!(new_keys(&mut query, &[3, 4]), [4]);
    store.publish(Arc::new(query.checkpoint(2, CheckpointKind::Checkpoint).unwrap())).unwrap();
    let at_800 = store.latest().unwrap().unwrap();
    assert_eq!(keys_in(&at_800), 4);
    // Keys keep the times of their last writes, 400 and 800; the clock begins at 0 again.
    for (now, new) in [(1399, vec![]), (1400, vec![1, 2]), (1799, vec![1, 2])] {
        let mut resumed = distinct(Some(&at_800));
        resumed.advance_clock(now).unwrap();
        assert_eq!(new_keys(&mut resumed, &[1, 2, 3, 4]), new, "at {now}");
    }
    // 1 and 2 expire; a batch of another key sweeps them away.
    query.advance_clock(700).unwrap();
    assert_eq!(keys_in(&query.checkpoint(9, CheckpointKind::Savepoint).unwrap()), 2);
    assert_eq!(new_keys(&mut query, &[5]), [5]);
    store.publish(Arc::new(query.checkpoint(3, CheckpointKind::Checkpoint).unwrap())).unwrap();
    assert_eq!(keys_in(&store.latest().unwrap().unwrap()), 3);
    // What expired after it was written last is told to be gone before it is swept.
    assert_eq!(new_keys(&mut query, &[6]), [6]);
    query.advance_clock(5000).unwrap();
    store.publish(Arc::new(query.checkpoint(4, CheckpointKind::Checkpoint).unwrap())).unwrap();
    assert_eq!(new_keys(&mut query, &[]).len(), 0);
    store.publish(Arc::new(query.checkpoint(5, CheckpointKind::Checkpoint).unwrap())).unwrap();
    let latest = store.latest().unwrap().unwrap();
    let mut resumed = distinct(Some(&latest));
    resumed.advance_clock(7000).unwrap();
    assert_eq!(new_keys(&mut resumed, &[1, 5, 6]), [1, 5, 6]);
}

/// A store that refuses some checkpoints.
struct Flaky<S> {
    inner: S,
    seen: AtomicU64,
    refused: u64,
    kept: Mutex<Vec<u64>>,
}

impl<S: CheckpointStore> CheckpointStore for Flaky<S> {
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()> {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if self.refused >> (seen % 64) & 1 == 1 {
            let problem = CheckpointProblem::Store(Arc::new(std::io::Error::other("no room")));
            return Err(RuntimeError::Checkpoint { id: checkpoint.id, problem });
        }
        self.kept.lock().unwrap().push(checkpoint.id);
        self.inner.publish(checkpoint)
    }

    fn latest(&self) -> Result<Option<Arc<Checkpoint>>> {
        self.inner.latest()
    }
}

/// source → hash → count → sink.
fn graph(to: &TestSink, parallelism: usize) -> JobGraph {
    let split = |s: i64| (0..60).map(|i| pairs(&[(s, 0), (i % 11, 0), (7, 0)])).collect();
    let data = Batches::new((0..4).map(split).collect());
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 2, Arc::new(data), None);
    let node = checked("count", parallelism, &["key", "count"], ChangelogMode::ALL);
    let count = operator(&mut graph, node, &[(from, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
    graph
}

/// What is left of a changelog of counts.
fn fold(to: &TestSink) -> BTreeMap<i64, i64> {
    let rows = to.rows();
    let added = rows.iter().filter(|(kind, _)| kind == "+I" || kind == "+U");
    added.map(|(_, row)| (row[0], row[1])).collect()
}

#[test]
fn changes_of_checkpoints_that_failed_are_in_the_next() {
    let undisturbed = TestSink::default();
    let run = SeededRun::new(0);
    run.run(graph(&undisturbed, 1), JobConfig::default(), None).unwrap().result.unwrap();
    let expected = fold(&undisturbed);
    for seed in 0..60u64 {
        let to = TestSink::default();
        let store = Arc::new(Flaky {
            inner: MemoryCheckpointStore::default(),
            seen: AtomicU64::new(0),
            refused: (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            kept: Mutex::default(),
        });
        let config = JobConfig {
            checkpoints: Some(store.clone()),
            tolerable_failed_checkpoints: u32::MAX,
            ..JobConfig::default()
        };
        for life in 0.. {
            let run = SeededRun {
                checkpoint_every: 6,
                die_at: (life < 4).then_some(40 + seed * 7 % 110 + life * 17),
                ..SeededRun::new(seed * 1000 + life)
            };
            let resume = store.latest().unwrap();
            let parallelism = 1 + (seed as usize + life as usize / 2) % 2;
            let job = graph(&to, parallelism);
            match run.run(job, config.clone(), resume).unwrap().result {
                Ok(_) => break,
                Err(RuntimeError::Cancelled) => {}
                // The last checkpoint, at the end of a job, must be kept.
                Err(error) if error.to_string().contains("no room") => {}
                Err(error) => panic!("seed {seed}, life {life}: {error}"),
            }
        }
        assert_eq!(fold(&to), expected, "seed {seed}");
    }
}
