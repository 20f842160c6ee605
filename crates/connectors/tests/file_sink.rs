//! Writing tables of files.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use flott_catalog::connector::{Committable, WriterContext};
use flott_types::{ChangelogMode, DataType, TypeRoot, Value};
use proptest::prelude::*;
use support::*;
use tempfile::tempdir;

fn columns() -> [(&'static str, DataType); 2] {
    [("id", DataType::int()), ("k", DataType::string())]
}

fn visible(tree: Vec<String>) -> Vec<String> {
    tree.into_iter().filter(|path| !path.contains("/.")).collect()
}

#[test]
fn rows_become_visible_with_the_commit() {
    let dir = tempdir().unwrap();
    let table = Table::new(dir.path(), &columns(), &[("path", "out/t")]);
    let sink = table.sink();
    assert_eq!(sink.changelog_mode(ChangelogMode::ALL), ChangelogMode::INSERT_ONLY);
    let mut writer = sink.writer(&writer_context()).unwrap();
    writer.write(&table.batch_of(&[vec![int(1), text("a")], vec![int(2), Value::Null]])).unwrap();
    let prepared = writer.prepare_commit(false).unwrap();
    assert!(visible(tree(dir.path())).is_empty());
    sink.committer().unwrap().unwrap().commit(prepared.clone(), false).unwrap();
    assert_eq!(table.rows(), ["1|a", "2|~"]);
    let names = tree(dir.path());
    assert!(names.len() == 1 && names[0].starts_with("out/t/part-") && names[0].ends_with("-0-0"));
    // Committing again, by another committer, changes nothing.
    sink.committer().unwrap().unwrap().commit(prepared, false).unwrap();
    assert_eq!(tree(dir.path()), names);
}

#[test]
fn no_rows_make_no_file() {
    let dir = tempdir().unwrap();
    let streaming = Table::new(dir.path(), &columns(), &[("path", "out/s")]);
    streaming.insert(&[]);
    assert!(!dir.path().join("out").exists());
    let batch = Table::new(dir.path(), &columns(), &[("path", "out/b")]).batch();
    batch.insert(&[]);
    assert!(batch.rows().is_empty() && tree(dir.path()).is_empty());
}

#[test]
fn what_is_dropped_or_aborted_leaves_nothing() {
    let dir = tempdir().unwrap();
    let table = Table::new(dir.path(), &columns(), &[("path", "out")]).partitioned_by(&[1]);
    let sink = table.sink();
    let rows = table.batch_of(&[vec![int(1), text("a")], vec![int(2), text("b")]]);
    let mut writer = sink.writer(&writer_context()).unwrap();
    writer.write(&rows).unwrap();
    let prepared = writer.prepare_commit(false).unwrap();
    writer.write(&rows).unwrap();
    drop(writer);
    assert_eq!(tree(dir.path()).len(), 2);
    sink.committer().unwrap().unwrap().abort(prepared).unwrap();
    assert!(std::fs::read_dir(dir.path().join("out")).unwrap().next().is_none());
}

#[test]
fn partitions_become_directories() {
    let dir = tempdir().unwrap();
    let columns =
        [("k", DataType::string()), ("id", DataType::int()), ("d", TypeRoot::Date.into())];
    let table = Table::new(dir.path(), &columns, &[("path", "out")]).partitioned_by(&[2, 0]);
    table.insert(&[
        vec![text("x/y"), int(1), Value::Date(0)],
        vec![text(""), int(2), Value::Date(0)],
        vec![Value::Null, int(3), Value::Date(1)],
        vec![text("x/y"), int(4), Value::Date(0)],
    ]);
    let directories: BTreeSet<_> =
        tree(dir.path()).iter().map(|path| path.rsplit_once('/').unwrap().0.to_string()).collect();
    let expected = [
        "out/d=1970-01-01/k=__DEFAULT_PARTITION__",
        "out/d=1970-01-01/k=x%2Fy",
        "out/d=1970-01-02/k=__DEFAULT_PARTITION__",
    ];
    assert_eq!(directories, expected.map(String::from).into());
    let rows = table.sorted_rows();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].starts_with("x/y|1|") && rows[3].starts_with("~|3|"), "{rows:?}");
}

#[test]
fn files_roll_by_size_at_the_end_of_a_record() {
    let dir = tempdir().unwrap();
    let options = [("path", "out"), ("sink.rolling-policy.file-size", "10 b")];
    let table = Table::new(dir.path(), &columns(), &options);
    let rows: Vec<_> = (0..7).map(|i| vec![int(i), text("a")]).collect();
    table.insert(&rows);
    // Records have 4 bytes: a file ends once it has more than 10.
    assert_eq!(tree(dir.path()).len(), 3);
    assert_eq!(table.sorted_rows().len(), 7);
}

#[test]
fn many_partitions_do_not_keep_their_files_open() {
    let dir = tempdir().unwrap();
    let table = Table::new(dir.path(), &columns(), &[("path", "out")]).partitioned_by(&[1]);
    let long = "x".repeat(200_000);
    let columns = [("v", DataType::string()), ("k", DataType::string())];
    let wide = Table::new(dir.path(), &columns, &[("path", "wide")]).partitioned_by(&[1]);
    let sink = wide.sink();
    let mut writer = sink.writer(&writer_context()).unwrap();
    for _ in 0..2 {
        let rows: Vec<_> = (0..150).map(|i| vec![text(&long), text(&i.to_string())]).collect();
        writer.write(&wide.batch_of(&rows)).unwrap();
    }
    let committables = writer.prepare_commit(true).unwrap();
    sink.committer().unwrap().unwrap().commit(committables, true).unwrap();
    assert_eq!(wide.rows().len(), 300);
    assert!(table.rows().is_empty());
}

#[test]
fn overwriting_replaces_the_table_or_its_touched_partitions() {
    let dir = tempdir().unwrap();
    let overwrite = WriterContext { overwrite: true, ..writer_context() };
    let plain = Table::new(dir.path(), &columns(), &[("path", "plain")]).batch();
    plain.insert(&[vec![int(1), text("a")]]);
    plain.insert_with(&[vec![int(2), text("b")]], &overwrite);
    assert_eq!(plain.rows(), ["2|b"]);
    plain.insert_with(&[], &overwrite);
    assert!(plain.rows().is_empty());

    let parts =
        Table::new(dir.path(), &columns(), &[("path", "parts")]).batch().partitioned_by(&[1]);
    parts.insert(&[vec![int(1), text("a")], vec![int(2), text("b")]]);
    parts.insert_with(&[vec![int(3), text("a")]], &overwrite);
    assert_eq!(parts.sorted_rows(), ["2|b", "3|a"]);
    parts.insert_with(&[], &overwrite);
    assert_eq!(parts.sorted_rows(), ["2|b", "3|a"]);

    let streaming = Table::new(dir.path(), &columns(), &[("path", "plain")]);
    assert!(!streaming.sink().supports_overwrite() && plain.sink().supports_overwrite());
    assert!(streaming.sink().writer(&overwrite).is_err());
}

#[test]
fn an_interrupted_overwrite_can_be_repeated() {
    let dir = tempdir().unwrap();
    let overwrite = WriterContext { overwrite: true, ..writer_context() };
    let table = Table::new(dir.path(), &columns(), &[("path", "t")]).batch();
    table.insert(&[vec![int(1), text("old")]]);
    let sink = table.sink();
    let mut prepared: Vec<Committable> = Vec::new();
    for task in 0..2 {
        let context = WriterContext { task, parallelism: 2, ..overwrite.clone() };
        let mut writer = sink.writer(&context).unwrap();
        writer.write(&table.batch_of(&[vec![int(task as i64), text("new")]])).unwrap();
        prepared.extend(writer.prepare_commit(true).unwrap());
    }
    // The first commit is interrupted after one of its files.
    sink.committer().unwrap().unwrap().commit(prepared[..1].to_vec(), true).unwrap();
    sink.committer().unwrap().unwrap().commit(prepared.clone(), true).unwrap();
    sink.committer().unwrap().unwrap().commit(prepared, true).unwrap();
    assert_eq!(table.sorted_rows(), ["0|new", "1|new"]);
}

#[test]
fn complete_partitions_are_marked() {
    let dir = tempdir().unwrap();
    let options = [
        ("path", "t"),
        ("sink.partition-commit.policy.kind", "success-file"),
        ("sink.partition-commit.trigger", "partition-time"),
        ("sink.partition-commit.delay", "1 h"),
        ("sink.partition-commit.success-file.name", "_DONE"),
    ];
    let table = Table::new(dir.path(), &columns(), &options).partitioned_by(&[1]);
    let sink = table.sink();
    let mut committer = sink.committer().unwrap().unwrap();
    let mut writer = sink.writer(&writer_context()).unwrap();
    let mark = |day: &str| dir.path().join(format!("t/k={day}/_DONE")).exists();
    let (first, second) = ("1970-01-01", "1970-01-02");
    writer
        .write(&table.batch_of(&[vec![int(1), text(first)], vec![int(2), text(second)]]))
        .unwrap();
    let hour = 3_600_000;
    writer.watermark(hour).unwrap();
    committer.commit(writer.prepare_commit(false).unwrap(), false).unwrap();
    assert!(!mark(first));
    // A crash: writer and committer start anew from the writer's state.
    let state = writer.snapshot().unwrap();
    let mut writer =
        sink.writer(&WriterContext { state: Some(state), ..writer_context() }).unwrap();
    let mut committer = sink.committer().unwrap().unwrap();
    writer.watermark(hour + 1).unwrap();
    committer.commit(writer.prepare_commit(false).unwrap(), false).unwrap();
    assert!(mark(first) && !mark(second));
    committer.commit(writer.prepare_commit(true).unwrap(), true).unwrap();
    assert!(mark(second));
    assert_eq!(table.rows().len(), 2);
}

#[test]
fn a_partition_is_marked_when_all_tasks_have_passed_it() {
    let dir = tempdir().unwrap();
    let options = [
        ("path", "t"),
        ("sink.partition-commit.policy.kind", "success-file"),
        ("sink.partition-commit.trigger", "partition-time"),
    ];
    let table = Table::new(dir.path(), &columns(), &options).partitioned_by(&[1]);
    let sink = table.sink();
    let mut committer = sink.committer().unwrap().unwrap();
    let context = |task| WriterContext { task, parallelism: 2, ..writer_context() };
    let mut writers = [0, 1].map(|task| sink.writer(&context(task)).unwrap());
    writers[0].write(&table.batch_of(&[vec![int(1), text("1970-01-01")]])).unwrap();
    writers[0].watermark(5).unwrap();
    let marked = || dir.path().join("t/k=1970-01-01/_SUCCESS").exists();
    let prepare = |writers: &mut [Box<dyn flott_catalog::connector::SinkWriter>; 2]| {
        writers.iter_mut().flat_map(|w| w.prepare_commit(false).unwrap()).collect::<Vec<_>>()
    };
    committer.commit(prepare(&mut writers), false).unwrap();
    assert!(!marked());
    writers[1].watermark(1).unwrap();
    committer.commit(prepare(&mut writers), false).unwrap();
    assert!(marked());
}

#[test]
fn batch_mode_marks_the_whole_table_and_static_partitions() {
    let dir = tempdir().unwrap();
    let policy = ("sink.partition-commit.policy.kind", "success-file");
    let plain = Table::new(dir.path(), &columns(), &[("path", "plain"), policy]).batch();
    plain.insert(&[vec![int(1), text("a")]]);
    assert!(dir.path().join("plain/_SUCCESS").exists());
    let parts = Table::new(dir.path(), &columns(), &[("path", "parts"), policy]).batch();
    let statics = vec![("k".to_string(), "z".to_string())];
    let context = WriterContext { static_partitions: statics, ..writer_context() };
    parts.partitioned_by(&[1]).insert_with(&[], &context);
    assert!(dir.path().join("parts/k=z/_SUCCESS").exists());
    let streaming = Table::new(dir.path(), &columns(), &[("path", "s"), policy]);
    streaming.insert(&[vec![int(1), text("a")]]);
    assert!(!dir.path().join("s/_SUCCESS").exists());
}

#[test]
fn files_of_a_checkpoint_are_merged() {
    let dir = tempdir().unwrap();
    let options = [
        ("path", "t"),
        ("auto-compaction", "true"),
        ("compaction.file-size", "12 b"),
        ("sink.rolling-policy.file-size", "1 b"),
    ];
    let table = Table::new(dir.path(), &columns(), &options);
    let rows: Vec<_> = (0..7).map(|i| vec![int(i), text("a")]).collect();
    table.insert(&rows);
    let names = tree(dir.path());
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| name.starts_with("t/compacted-part-")), "{names:?}");
    assert_eq!(table.sorted_rows().len(), 7);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let dir = tempdir().unwrap();
    write(dir.path().join("file"), "x");
    for (options, culprit) in [
        (&[("sink.partition-commit.policy.kind", "custom")][..], "'custom'"),
        (&[("sink.partition-commit.policy.kind", "metastore")], "metastore"),
        (&[("sink.partition-commit.policy.kind", "nope")], "'nope'"),
        (&[("sink.partition-commit.watermark-time-zone", "Nowhere/Zone")], "'Nowhere/Zone'"),
        (&[("sink.rolling-policy.file-size", "0 b")], "'sink.rolling-policy.file-size'"),
        (&[("sink.parallelism", "0")], "'sink.parallelism'"),
        (&[("partition.time-extractor.kind", "custom")], "'custom'"),
        (&[("partition.time-extractor.timestamp-formatter", "EEE")], "'EEE'"),
        (&[("format", "nope")], "'nope'"),
    ] {
        let error =
            Table::new(dir.path(), &columns(), options).try_sink().err().unwrap().to_string();
        assert!(error.contains(culprit), "{error} does not name {culprit}");
    }
    let table = Table::new(dir.path(), &columns(), &[("path", "file")]);
    let mut writer = table.sink().writer(&writer_context()).unwrap();
    let error = writer.write(&table.batch_of(&[vec![int(1), text("a")]])).unwrap_err();
    assert!(error.message.contains("directory"), "{error}");
    let two = Table::new(dir.path(), &columns(), &[("sink.parallelism", "2")]).sink();
    assert_eq!(two.parallelism(), Some(2));
}

/// What happens to a job in the test below.
#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(i64, u8)>),
    /// A checkpoint completes: what was prepared is committed.
    Checkpoint,
    /// The job dies before the commit, and resumes from the checkpoint, committing it (again).
    CrashAfterPrepare,
    /// The job dies with rows since the last checkpoint, which come again.
    Crash,
    /// The job dies after the commit, which is repeated.
    CrashAfterCommit,
    /// The commit is stopped after some of the files.
    CrashWithinCommit(usize),
    /// The checkpoint fails, and the job resumes from the one before it.
    Abort,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((0i64..1000, 0u8..4), 1..20).prop_map(Step::Write),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::CrashAfterPrepare),
        1 => Just(Step::Crash),
        1 => Just(Step::CrashAfterCommit),
        1 => (0usize..6).prop_map(Step::CrashWithinCommit),
        1 => Just(Step::Abort),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happens between writing, preparing and committing, exactly the rows of completed
    /// checkpoints are visible.
    #[test]
    fn exactly_the_committed_rows_are_visible(
        steps in prop::collection::vec(step(), 1..16),
        compact: bool,
        roll in 1u32..60,
    ) {
        let dir = tempdir().unwrap();
        let size = format!("{roll} b");
        let options = [
            ("path", "t"),
            ("sink.rolling-policy.file-size", size.as_str()),
            ("auto-compaction", if compact { "true" } else { "false" }),
            ("compaction.file-size", "100 b"),
        ];
        let table = Table::new(dir.path(), &columns(), &options).partitioned_by(&[1]);
        let sink = table.sink();
        let new_writer = || sink.writer(&writer_context()).unwrap();
        let mut writer = new_writer();
        let (mut committed, mut uncommitted) = (Vec::new(), Vec::new());
        for step in steps {
            let committer = || sink.committer().unwrap().unwrap();
            match step {
                Step::Write(rows) => {
                    let rows: Vec<_> = rows
                        .into_iter()
                        .map(|(id, k)| vec![int(id), text(&k.to_string())])
                        .collect();
                    writer.write(&table.batch_of(&rows)).unwrap();
                    uncommitted.extend(rows);
                    continue;
                }
                Step::Crash => {
                    // A killed process has no time to tidy up.
                    std::mem::forget(std::mem::replace(&mut writer, new_writer()));
                    uncommitted.clear();
                    continue;
                }
                _ => {}
            }
            let prepared = writer.prepare_commit(false).unwrap();
            if matches!(step, Step::Abort) {
                committer().abort(prepared).unwrap();
                writer = new_writer();
                uncommitted.clear();
                continue;
            }
            committed.append(&mut uncommitted);
            match step {
                Step::Checkpoint => committer().commit(prepared, false).unwrap(),
                Step::CrashAfterPrepare => {
                    writer = new_writer();
                    committer().commit(prepared, false).unwrap();
                }
                Step::CrashAfterCommit => {
                    committer().commit(prepared.clone(), false).unwrap();
                    writer = new_writer();
                    committer().commit(prepared, false).unwrap();
                }
                Step::CrashWithinCommit(done) if !compact => {
                    let some = prepared[..done.min(prepared.len())].to_vec();
                    committer().commit(some, false).unwrap();
                    writer = new_writer();
                    committer().commit(prepared, false).unwrap();
                }
                _ => committer().commit(prepared, false).unwrap(),
            }
        }
        drop(writer);
        let mut expected: Vec<_> =
            committed.iter().map(|row| format!("{}|{}", row[0].as_int().unwrap(), row[1].as_str().unwrap())).collect();
        expected.sort();
        let actual = if dir.path().join("t").exists() { table.sorted_rows() } else { vec![] };
        prop_assert_eq!(actual, expected);
    }
}
