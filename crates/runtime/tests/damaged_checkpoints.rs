//! Checkpoints that were damaged, cut short, or are not ours: the error names the file and what to do.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointKind, CheckpointStore, OperatorState,
    OperatorStates, write_savepoint,
};
use flott_state::{SnapshotScope, StateWriter};

/// What is written for checkpoint `id` of an operator of three tasks, whole or as changes since the one before.
fn checkpoint(id: u64) -> Checkpoint {
    let tasks = (0..3).map(|task| {
        let scope = if id == 1 { SnapshotScope::Base } else { SnapshotScope::Changes };
        let mut writer = StateWriter::of_scope(128, scope, 0);
        let mut section = writer.keyed("groups", 1, "bytes").continued();
        for group in 0..6u16 {
            section.entry(group * 3 + task as u16, &[id as u8, group as u8], |out| {
                // Changes that are short beside what they change stay behind it.
                out.bytes(&vec![id as u8; if id == 1 { 900 } else { 40 }]);
            });
        }
        section.finish();
        OperatorState {
            task,
            watermark: 17,
            since: (id > 1).then(|| id - 1),
            snapshot: writer.finish().into(),
        }
    });
    let states = OperatorStates { parallelism: 3, tasks: tasks.collect() };
    let operators = BTreeMap::from([("operator".into(), states)]);
    let committables = BTreeMap::from([("sink".into(), vec![vec![id as u8; 9]])]);
    Checkpoint { id, operators, committables, ..Checkpoint::default() }
}

/// A job's folder with three checkpoints, each of which builds on the one before.
fn job(folder: &Path) -> PathBuf {
    let job = folder.join("job");
    let store = CheckpointDirectory::new(&job, 3);
    (1..4).for_each(|id| store.publish(Arc::new(checkpoint(id))).unwrap());
    job
}

/// All that a checkpoint holds, as text.
fn contents(path: &Path) -> Result<String, String> {
    let checkpoint = Checkpoint::load(path).map_err(|error| error.to_string())?;
    Ok(format!("{checkpoint:?}"))
}

/// A folder, in memory where that can be.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let above = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    tempfile::tempdir_in(above).unwrap()
}

/// Puts other bytes into a file for the time of a call.
fn with_bytes<T>(file: &Path, bytes: &[u8], call: impl FnOnce() -> T) -> T {
    let sound = fs::read(file).unwrap();
    fs::write(file, bytes).unwrap();
    let done = call();
    fs::write(file, sound).unwrap();
    done
}

/// Every byte of a file altered, and the file cut off at every byte; of long ones at a hundred.
fn damages(sound: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for at in (0..sound.len()).step_by((sound.len() / 100).max(1)) {
        for change in [1, 0x80, 0xFF] {
            let mut bytes = sound.to_vec();
            bytes[at] ^= change;
            all.push((format!("byte {at} altered by {change}"), bytes));
        }
        all.push((format!("cut off at {at}"), sound[..at].to_vec()));
    }
    all.push(("zeros".into(), vec![0; sound.len()]));
    all
}

/// The checkpoint that an error offers instead.
fn offered(error: &str) -> Option<PathBuf> {
    let (_, rest) = error.split_once("resume from '")?;
    Some(rest.split_once('\'')?.0.into())
}

#[test]
fn every_damage_of_every_file_is_told_with_the_file_and_the_cure() {
    let folder = folder();
    let job = job(folder.path());
    let sound = contents(&job).unwrap();
    for (file, name) in [
        ("chk-3/_metadata", "'_metadata'"),
        ("shared/1", "'../shared/1'"),
        ("shared/3", "'../shared/3'"),
    ] {
        let path = job.join(file);
        let Ok(bytes) = fs::read(&path) else { continue };
        let mut told = 0;
        for (damage, damaged) in damages(&bytes) {
            with_bytes(&path, &damaged, || match contents(&job) {
                // A part of a file that the checkpoint has no use for any more.
                Ok(read) => assert_eq!(read, sound, "{file}: {damage}"),
                Err(error) => {
                    told += 1;
                    assert!(error.contains("chk-3"), "{file}, {damage}: {error}");
                    assert!(error.contains(name), "{file}, {damage}: {error}");
                    match offered(&error) {
                        Some(other) => {
                            contents(&other).unwrap();
                        }
                        None => assert!(
                            error.contains("hint: resume from another checkpoint or savepoint"),
                            "{file}, {damage}: {error}"
                        ),
                    }
                }
            });
        }
        assert!(told > 50, "{file}: {told}");
    }
    assert_eq!(contents(&job).unwrap(), sound);
}

#[test]
fn damage_of_the_last_checkpoint_alone_offers_the_one_before() {
    let folder = folder();
    let job = job(folder.path());
    let manifest = job.join("chk-3/_metadata");
    let half = fs::read(&manifest).unwrap().len() / 2;
    let error = with_bytes(&manifest, &vec![7; half], || contents(&job)).unwrap_err();
    assert_eq!(offered(&error), Some(job.join("chk-2")), "{error}");
    // That is damaged as well: the one before it.
    let before = job.join("chk-2/_metadata");
    let error = with_bytes(&manifest, b"", || with_bytes(&before, b"", || contents(&job)));
    assert_eq!(offered(&error.unwrap_err()), Some(job.join("chk-1")));
}

#[test]
fn a_damaged_savepoint_is_told_with_its_file() {
    let folder = folder();
    let savepoint = folder.path().join("savepoint");
    let whole = Checkpoint { kind: CheckpointKind::Savepoint, ..checkpoint(1) };
    write_savepoint(&whole, &savepoint).unwrap();
    contents(&savepoint).unwrap();
    for (file, name) in [("_metadata", "'_metadata'"), ("state", "'state'")] {
        let path = savepoint.join(file);
        for (damage, damaged) in damages(&fs::read(&path).unwrap()) {
            let error = with_bytes(&path, &damaged, || contents(&savepoint)).unwrap_err();
            assert!(error.contains(name), "{file}, {damage}: {error}");
            assert!(error.contains("hint: resume from another"), "{file}, {damage}: {error}");
        }
    }
}

#[test]
fn what_is_not_ours_is_told() {
    let folder = folder();
    let job = job(folder.path());
    let manifest = job.join("chk-3/_metadata");
    let newer = [b"FLCP\x09\x00".as_slice(), &[1; 40]].concat();
    for (bytes, told) in [
        (b"".as_slice(), "ends early"),
        (b"FL", "ends early"),
        (b"FLCP\x02\x00\x01", "ends early"),
        (b"something else entirely, and long enough", "is no checkpoint of Flott"),
        (b"\x49\x60\x67\x2d\x00\x00\x00\x04 and what Flink writes", "is one of Flink"),
        (&newer, "has version 9"),
    ] {
        let error = with_bytes(&manifest, bytes, || contents(&job)).unwrap_err();
        assert!(error.contains(told) && error.contains("'_metadata'"), "{error}");
        assert_eq!(offered(&error), Some(job.join("chk-2")), "{error}");
    }
    // A folder where a file should be, and one file in the place of another.
    let pieces = job.join("shared/3");
    let sound = fs::read(&pieces).unwrap();
    fs::remove_file(&pieces).unwrap();
    fs::create_dir(&pieces).unwrap();
    let error = contents(&job).unwrap_err();
    assert!(error.contains("'../shared/3'"), "{error}");
    assert_eq!(offered(&error), Some(job.join("chk-2")), "{error}");
    fs::remove_dir(&pieces).unwrap();
    let error = contents(&job).unwrap_err();
    assert!(error.contains("'../shared/3' is missing"), "{error}");
    fs::write(&pieces, sound).unwrap();
    contents(&job).unwrap();
}
