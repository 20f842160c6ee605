//! Whatever change of the disk goes wrong, and however, the store says what is kept.

#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use flott_disk::faults::{Death, Fault, FaultyDisk};
use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointProblem, CheckpointStore, OperatorState,
    OperatorStates, RuntimeError, write_savepoint,
};
use flott_state::StateWriter;

/// A checkpoint whose state holds some values.
fn checkpoint(id: u64, values: &[i64]) -> Arc<Checkpoint> {
    let mut writer = StateWriter::new(128);
    let mut section = writer.keyed("values", 1, "BIGINT");
    for (group, value) in values.iter().enumerate() {
        section.entry(group as u16, &[group as u8], |out| out.i64(*value));
    }
    section.finish();
    let snapshot = Arc::new(writer.finish());
    let state = OperatorState { task: 0, watermark: id as i64, since: None, snapshot };
    let states = OperatorStates { parallelism: 1, tasks: vec![state] };
    let operators = BTreeMap::from([("operator".into(), states)]);
    Arc::new(Checkpoint { id, operators, ..Checkpoint::default() })
}

/// The mark of a checkpoint: its number and its watermark, which tells attempts of one number apart.
fn mark(checkpoint: &Checkpoint) -> (u64, i64) {
    (checkpoint.id, checkpoint.operators["operator"].tasks[0].watermark)
}

fn is_doubtful(error: &RuntimeError) -> bool {
    matches!(error, RuntimeError::Checkpoint { problem: CheckpointProblem::Doubtful(_), .. })
}

/// What can be resumed from once the power has failed.
fn left(disk: &FaultyDisk, folder: &Path) -> Option<(u64, i64)> {
    if !disk.is_dead() {
        disk.die(Death::PowerLoss);
    }
    disk.restart();
    disk.calm();
    match Checkpoint::load(folder) {
        Ok(checkpoint) => Some(mark(&checkpoint)),
        Err(error) => {
            assert!(error.to_string().contains("there is no checkpoint here"), "{error}");
            None
        }
    }
}

/// Calls `test` with the changes that go wrong, one after the other, until there are no more.
fn at_every_change(test: impl Fn(FaultyDisk, &Path, &str) -> bool) {
    for fault in Fault::ALL {
        for change in 1.. {
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultyDisk::failing_at(change, fault, folder.path().join("lost"));
            if !test(disk, &folder.path().join("a/job"), &format!("{fault:?} at change {change}")) {
                assert!(change > 10, "{fault:?}: {change} changes");
                break;
            }
        }
    }
}

#[test]
fn what_the_store_says_is_kept_is_there_and_nothing_else() {
    at_every_change(|disk, folder, story| {
        let store = CheckpointDirectory::new(folder, 1);
        let mut kept = None;
        let mut perhaps = Vec::new();
        for id in 1..5u64 {
            // A job that fails begins again with the same number, and other contents.
            for attempt in 0..40 {
                let mut next = Checkpoint::clone(&checkpoint(id, &[1, 2, id as i64]));
                let state = &mut next.operators.get_mut("operator").unwrap().tasks[0];
                state.watermark = attempt;
                let this = mark(&next);
                match store.publish(Arc::new(next)) {
                    Ok(()) => {
                        (kept, perhaps) = (Some(this), Vec::new());
                        break;
                    }
                    Err(error) if is_doubtful(&error) || disk.is_dead() => perhaps.push(this),
                    Err(_) => {}
                }
                if disk.is_dead() {
                    break;
                }
            }
            if disk.is_dead() {
                break;
            }
            assert_eq!(store.latest().map(|latest| latest.map(|l| mark(&l))).unwrap_or(kept), kept);
        }
        let has_failed = !disk.story().is_empty();
        let found = left(&disk, folder);
        let fits = found == kept || found.is_some_and(|found| perhaps.contains(&found));
        assert!(fits, "{story}: {found:?}, not {kept:?} or {perhaps:?}: {:?}", disk.story());
        has_failed
    });
}

#[test]
fn a_savepoint_that_is_said_to_be_written_is_there_and_no_other() {
    at_every_change(|disk, folder, story| {
        let written = write_savepoint(&checkpoint(7, &[1, 2, 3]), folder);
        let (has_failed, died) = (!disk.story().is_empty(), disk.is_dead());
        let found = left(&disk, folder);
        match written {
            Ok(()) => assert_eq!(found, Some((7, 7)), "{story}"),
            Err(error) if died || is_doubtful(&error) => {}
            Err(_) => assert_eq!(found, None, "{story}: {:?}", disk.story()),
        }
        has_failed
    });
}

#[test]
fn no_room_leaves_nothing_behind() {
    for change in 1..40 {
        let folder = tempfile::tempdir().unwrap();
        let job = folder.path().join("job");
        let disk = FaultyDisk::failing_at(change, Fault::Full, folder.path().join("lost"));
        let store = CheckpointDirectory::new(&job, 1);
        for id in 1..40 {
            let _ = store.publish(checkpoint(id, &[id as i64; 20]));
        }
        assert!(!disk.story().is_empty());
        let files = std::fs::read_dir(job.join("shared")).unwrap().count();
        assert_eq!(files, 1, "no room at change {change}");
        let names = std::fs::read_dir(&job).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        assert!(names.len() <= 3, "no room at change {change}: {names:?}");
    }
}
