//! Checkpoints on disk: what was published can be resumed from, whatever happens to the process, and
//! what is damaged is named.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::operators::Count;
use common::sinks::TestSink;
use common::sources::Batches;
use common::{by_key, checked, operator, pairs, sink, source};
use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointKind, CheckpointStore, Exchange, JobConfig,
    JobGraph, JobHandle, OperatorState, OperatorStates, RestoreEffects, RuntimeError, SeededRun,
    SourceState, SourceTaskState, start, write_savepoint,
};
use flott_state::StateWriter;
use flott_types::ChangelogMode;

/// source → hash → count → sink.
fn graph(to: &TestSink) -> JobGraph {
    let data = Batches::new((0..4).map(|s| vec![pairs(&[(s, 0), (7, 0)]); 40]).collect());
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 2, Arc::new(data), None);
    let node = checked("count", 2, &["key", "count"], ChangelogMode::ALL);
    let count = operator(&mut graph, node, &[(from, by_key())], Count::new);
    sink(&mut graph, count, Exchange::Single, Arc::new(to.clone()));
    graph
}

#[test]
fn a_job_that_dies_resumes_from_what_is_on_disk() {
    for seed in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let to = TestSink::default();
        let mut resume: Option<Arc<Checkpoint>> = None;
        for life in 0u64.. {
            // As another process would do it: a folder of its own, and nothing in memory.
            let job = folder.path().join(life.to_string());
            let store = Arc::new(CheckpointDirectory::new(&job, 2));
            let config = JobConfig { checkpoints: Some(store), ..JobConfig::default() };
            let run = SeededRun {
                checkpoint_every: 8,
                die_at: (life < 4).then_some(30 + seed * 7 % 90),
                ..SeededRun::new(seed * 10 + life)
            };
            match run.run(graph(&to), config, resume.clone()).unwrap().result {
                Ok(_) => break,
                Err(RuntimeError::Cancelled) => {}
                Err(error) => panic!("seed {seed}, life {life}: {error}"),
            }
            if job.exists() {
                resume = Some(Checkpoint::load(&job).unwrap());
            }
        }
        let mut counts = std::collections::BTreeMap::new();
        for (kind, row) in to.rows() {
            if kind == "+I" || kind == "+U" {
                counts.insert(row[0], row[1]);
            }
        }
        let expected = [(0, 40), (1, 40), (2, 40), (3, 40), (7, 160)];
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected, "seed {seed}");
    }
}

/// A checkpoint of an operator with a key in each of some key groups.
fn checkpoint(id: u64, values: &[(u16, i64)]) -> Checkpoint {
    let mut writer = StateWriter::new(128);
    let mut section = writer.keyed("counts", 1, "BIGINT");
    for (group, value) in values {
        section.entry(*group, &group.to_le_bytes(), |out| {
            (0..500).for_each(|i| out.i64(value.wrapping_mul(i)));
        });
    }
    section.finish();
    let state =
        OperatorState { task: 0, watermark: 17, since: None, snapshot: writer.finish().into() };
    let mut checkpoint = Checkpoint { id, ..Checkpoint::default() };
    let states = OperatorStates { parallelism: 1, tasks: vec![state] };
    checkpoint.operators.insert("count".into(), states);
    let split = flott_catalog::connector::Split { id: "a".into(), position: vec![1, 2] };
    let task = SourceTaskState {
        task: 1,
        splits: vec![(split.clone(), i64::MIN)],
        watermark: 5,
        emitted: -4,
    };
    let source = SourceState {
        enumerator: vec![9; 3],
        unassigned: vec![(split.clone(), None), (split, Some(3))],
        parallelism: 4,
        tasks: vec![task],
    };
    checkpoint.sources.insert("source".into(), source);
    checkpoint.committables.insert("sink".into(), vec![vec![1], Vec::new()]);
    checkpoint
}

fn assert_same(one: &Checkpoint, other: &Checkpoint) {
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

fn shared_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder.join("shared")).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn what_is_loaded_is_what_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    let first = checkpoint(7, &[(0, 1), (64, 2)]);
    store.publish(Arc::new(first.clone())).unwrap();
    for path in ["", "chk-7", "chk-7/_metadata"] {
        assert_same(&Checkpoint::load(&folder.path().join(path)).unwrap(), &first);
    }
    let mut savepoint = first.clone();
    savepoint.kind = CheckpointKind::Savepoint;
    let at = folder.path().join("by hand");
    write_savepoint(&savepoint, &at).unwrap();
    store.discard().unwrap();
    assert!(!folder.path().join("chk-7").exists());
    assert!(write_savepoint(&savepoint, &folder.path().join("other")).is_ok());
}

#[test]
fn a_savepoint_stands_by_itself_and_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("deep/savepoint");
    let mut savepoint = checkpoint(3, &[(1, 1)]);
    savepoint.kind = CheckpointKind::Savepoint;
    write_savepoint(&savepoint, &at).unwrap();
    let moved = folder.path().join("moved");
    fs::rename(&at, &moved).unwrap();
    assert_same(&Checkpoint::load(&moved).unwrap(), &savepoint);
    let error = write_savepoint(&savepoint, &moved).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
}

#[test]
fn only_key_groups_that_changed_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 2);
    let mut values: Vec<(u16, i64)> =
        (0..100).map(|group| (group, i64::from(group) + 1000)).collect();
    store.publish(Arc::new(checkpoint(1, &values))).unwrap();
    let whole = shared_bytes(folder.path());
    for id in 2..6 {
        values[id as usize].1 += 1;
        let next = checkpoint(id, &values);
        store.publish(Arc::new(next.clone())).unwrap();
        assert_same(&Checkpoint::load(folder.path()).unwrap(), &next);
        let written = folder.path().join("shared").join(id.to_string()).metadata().unwrap().len();
        assert!(written < whole / 15, "{written} of {whole} bytes for one key group of 100");
    }
    let kept = |id: u64| folder.path().join(format!("chk-{id}")).exists();
    assert_eq!((1..6).map(kept).collect::<Vec<_>>(), [false, false, false, true, true]);
}

#[test]
fn files_that_nothing_needs_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 1);
    for id in 1..50 {
        let values: Vec<_> =
            (0..20).map(|group| (group, id as i64 * 100 + i64::from(group))).collect();
        store.publish(Arc::new(checkpoint(id, &values))).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path().join("shared")).unwrap().count(), 1);
}

#[test]
fn damage_is_named_and_the_checkpoint_before_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    let store = CheckpointDirectory::new(folder.path(), 3);
    store.publish(Arc::new(checkpoint(1, &[(0, 1)]))).unwrap();
    store.publish(Arc::new(checkpoint(2, &[(0, 2)]))).unwrap();
    let load = || Checkpoint::load(folder.path()).map(drop);
    let message = |result: Result<(), RuntimeError>| result.unwrap_err().to_string();
    for (file, expected) in
        [("chk-2/_metadata", "manifest fails its checksum"), ("shared/2", "fails its checksum")]
    {
        let path = folder.path().join(file);
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let text = message(load());
        assert!(text.contains(expected) && text.contains("chk-2"), "{text}");
        assert!(text.contains("resume from") && text.contains("chk-1"), "{text}");
        fs::write(&path, &sound[..middle]).unwrap();
        assert!(message(load()).contains("chk-1"));
        fs::write(&path, &sound).unwrap();
        load().unwrap();
    }
    fs::remove_file(folder.path().join("shared/2")).unwrap();
    assert!(message(load()).contains("'../shared/2' is missing"));
    let foreign = tempfile::tempdir().unwrap();
    let nothing = message(Checkpoint::load(foreign.path()).map(drop));
    assert!(nothing.contains("there is no checkpoint here"), "{nothing}");
    fs::write(foreign.path().join("_metadata"), b"something else entirely").unwrap();
    let other = message(Checkpoint::load(foreign.path()).map(drop));
    assert!(other.contains("no checkpoint of Flott"), "{other}");
}

#[test]
fn no_altered_byte_makes_the_reader_panic() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("savepoint");
    write_savepoint(&checkpoint(1, &[(3, 1), (9, 2)]), &at).unwrap();
    let path = at.join("_metadata");
    let sound = fs::read(&path).unwrap();
    for byte in 0..sound.len() {
        for change in [1, 0x80, 0xFF] {
            let mut bytes = sound.clone();
            bytes[byte] ^= change;
            // With a checksum that fits, so that the reader goes on to what it covers.
            let body = bytes.len() - 8;
            let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..body]);
            bytes[body..].copy_from_slice(&checksum.to_le_bytes());
            fs::write(&path, &bytes).unwrap();
            let _ = Checkpoint::load(&at);
        }
        fs::write(&path, &sound[..byte]).unwrap();
        assert!(Checkpoint::load(&at).is_err(), "cut at {byte}");
    }
}

/// A job that never ends by itself.
fn endless(to: &TestSink, config: JobConfig) -> JobHandle {
    let mut data = Batches::new(vec![vec![pairs(&[(1, 1), (2, 2)]); 20]; 2]);
    data.endless = true;
    let mut graph = JobGraph::new();
    let from = source(&mut graph, "source", 2, Arc::new(data), None);
    sink(&mut graph, from, Exchange::Single, Arc::new(to.clone()));
    let job = start(graph, config, None).unwrap();
    while job.metrics().operators[0].total().rows_out < 80 {
        std::thread::sleep(Duration::from_millis(2));
    }
    job
}

#[test]
fn a_savepoint_commits_only_if_the_job_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let to = TestSink::default();
    let job = endless(&to, JobConfig::default());
    job.savepoint(folder.path().join("one"), false).unwrap();
    assert!(to.rows().is_empty());
    let taken = job.savepoint(folder.path().join("one"), false).unwrap_err().to_string();
    assert!(taken.contains("exists already"), "{taken}");
    job.savepoint(folder.path().join("two"), true).unwrap();
    assert!(matches!(job.wait(), Err(RuntimeError::Cancelled)));
    assert_eq!(to.rows().len(), 80, "what the first one held belongs to the second");
    assert!(!Checkpoint::load(&folder.path().join("one")).unwrap().committables.is_empty());
}

#[test]
fn a_commit_that_fails_at_the_end_fails_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let to = TestSink::default();
    let job = endless(&to, JobConfig::default());
    to.with(|table| table.refuses_commits = true);
    let error = job.savepoint(folder.path().join("last"), true).unwrap_err().to_string();
    assert!(error.contains("commits are refused"), "{error}");
    let ended = job.wait().unwrap_err().to_string();
    assert!(ended.contains("commits are refused"), "{ended}");
}

#[test]
fn what_becomes_of_state_is_told_before_the_start() {
    let job = graph(&TestSink::default());
    let mut old = checkpoint(1, &[(0, 1)]);
    let state = old.operators["count"].clone();
    old.operators.insert("gone".into(), state);
    old.committables.clear();
    let effects = RestoreEffects::new(&job, &old);
    assert_eq!(effects.kept, ["source", "count"]);
    assert_eq!(effects.rebuilt, ["sink"]);
    assert_eq!(effects.dropped, ["gone"]);
    assert!(effects.to_string().contains("ignore-unclaimed-state"), "{effects}");
}
