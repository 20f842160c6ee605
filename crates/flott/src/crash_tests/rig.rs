//! A job that can be run with and without trouble, and what its tables hold afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flott_catalog::connector::Registry;
use flott_disk::faults::{Death, FaultyDisk};
use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointStore, JobConfig, MemoryBudget, SeededRun,
};
use flott_sql::parse_statement;

use super::numbers::NUMBERS;
use crate::TableEnvironment;
use crate::job::{DeadLetterTables, JobMaker};

/// A job, its tables in a folder of its own, and what they hold when nothing happens.
pub(super) struct Rig {
    pub(super) name: String,
    folder: tempfile::TempDir,
    maker: JobMaker,
    expected: Content,
}

/// How often each row is in each table, once all changes have been made.
type Content = BTreeMap<String, i64>;

/// What happened in a run, or in several.
#[derive(Debug, Default)]
pub(super) struct Story {
    runs: u64,
    faults: u64,
    restarts: u64,
    deaths: u64,
}

impl Story {
    pub(super) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.faults += other.faults;
        self.restarts += other.restarts;
        self.deaths += other.deaths;
    }
}

/// How the life of a process ended.
enum End {
    /// With the job's.
    Finished,
    Died,
}

impl Rig {
    /// A job of `parallelism` tasks an operator that writes each of `tables` with the rows of a query.
    pub(super) fn new(
        name: &str,
        sources: &str,
        tables: &[(&str, &str)],
        parallelism: usize,
    ) -> Self {
        // In memory where that can be: what is lost is for the test to say.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let folder = tempfile::tempdir_in(folder).unwrap();
        let mut connectors = flott_connectors::all();
        connectors.push(&NUMBERS);
        let registry = Arc::new(Registry::new(connectors, flott_formats::all()));
        let mut session = TableEnvironment::with_registry(registry, folder.path().into());
        session.config_mut().set("parallelism.default", &parallelism.to_string());
        for statement in crate::split_script(sources) {
            session.execute(statement.text).unwrap();
        }
        let mut inserts = String::new();
        for (table, query) in tables {
            session.execute(&definition(&session, table, query)).unwrap();
            inserts += &format!("INSERT INTO {table} {query};\n");
        }
        let set = format!("EXECUTE STATEMENT SET BEGIN\n{inserts}END");
        let plan = Arc::new(session.plan(&parse_statement(&set).unwrap()).unwrap());
        let (settings, config) = session.planning().unwrap();
        let maker = JobMaker::new(plan, settings, config, DeadLetterTables::new(), None);
        let name = format!("{name}, {parallelism} tasks");
        let mut rig = Self { name, folder, maker, expected: Content::new() };
        let graph = rig.maker.graph(None).unwrap().0;
        SeededRun::new(0).run(graph, JobConfig::default(), None).unwrap().result.unwrap();
        rig.expected = rig.content().unwrap();
        assert!(rig.expected.len() > 20, "{}: {:?}", rig.name, rig.expected);
        rig
    }

    /// Runs the job on a disk that fails as the seed has it, again and again until it has finished.
    pub(super) fn disturbed(&self, seed: u64) -> Result<Story, String> {
        for folder in ["out", "checkpoints", "lost"] {
            let _ = fs::remove_dir_all(self.folder.path().join(folder));
        }
        let lost = self.folder.path().join("lost");
        let disk = FaultyDisk::new(seed, 1 + (seed / 3 % 6) as u32, 20 + seed * 37 % 400, lost);
        let mut story = Story { runs: 1, ..Story::default() };
        let mut from = None;
        let told = |problem: String, disk: &FaultyDisk| {
            format!("{problem}\nwhat happened: {}", disk.story().join("\n  "))
        };
        for life in 0..30 {
            match self.life(seed, life, &disk, from.as_deref(), &mut story) {
                Ok(End::Finished) => break,
                Ok(End::Died) => {}
                Err(problem) => return Err(told(problem, &disk)),
            }
            story.deaths += 1;
            disk.restart();
            from = self.youngest(life).or(from);
        }
        // What was committed is there for good.
        disk.die(Death::PowerLoss);
        disk.restart();
        disk.calm();
        story.faults = disk.story().len() as u64 - 1;
        let content = self.content().map_err(|problem| told(problem, &disk))?;
        if content == self.expected {
            return Ok(story);
        }
        let differs = |(row, count): (&String, &i64), other: &Content| {
            (other.get(row) != Some(count)).then(|| format!("{count} x {row}"))
        };
        let too_many: Vec<_> =
            content.iter().filter_map(|row| differs(row, &self.expected)).take(4).collect();
        let missing: Vec<_> =
            self.expected.iter().filter_map(|row| differs(row, &content)).take(4).collect();
        let problem = format!("it has\n  {too_many:?}\nfor\n  {missing:?}");
        Err(told(problem, &disk))
    }

    /// One process: the job fails and restarts until it has finished or the process dies.
    fn life(
        &self,
        seed: u64,
        life: u64,
        disk: &FaultyDisk,
        from: Option<&Path>,
        story: &mut Story,
    ) -> Result<End, String> {
        let store = CheckpointDirectory::new(self.job_folder(life), 1 + seed as usize % 3);
        let store = Arc::new(store);
        let config = JobConfig {
            job_id: format!("{seed}-{life}").into(),
            channel_rows: 20,
            tolerable_failed_checkpoints: [0, 2, u32::MAX][seed as usize / 5 % 3],
            checkpoints: Some(store.clone()),
            memory: match seed % 16 {
                7 | 12 => MemoryBudget::crowded(3),
                _ => MemoryBudget::unlimited(),
            },
            ..JobConfig::default()
        };
        let from = from.map(|from| retried(disk, || Checkpoint::load(from)));
        let from = match from.transpose()? {
            Some(None) => return Ok(End::Died),
            from => from.flatten(),
        };
        let mut resume = from.clone();
        for attempt in 0..40 {
            let run = SeededRun {
                checkpoint_every: 6 + seed % 20,
                max_steps: 200_000,
                ..SeededRun::new(seed * 10_000 + life * 100 + attempt)
            };
            let graph = self.maker.graph(None).map_err(|error| error.to_string())?.0;
            let done = run.run(graph, config.clone(), resume.take());
            let done = done.and_then(|outcome| outcome.result);
            if disk.is_dead() {
                return Ok(End::Died);
            }
            let Err(error) = done else { return Ok(End::Finished) };
            if attempt == 39 {
                return Err(format!("it fails for ever: {error}"));
            }
            story.restarts += 1;
            match retried(disk, || store.latest())? {
                None => return Ok(End::Died),
                Some(latest) => resume = latest.or_else(|| from.clone()),
            }
        }
        Ok(End::Finished)
    }

    fn job_folder(&self, life: u64) -> PathBuf {
        self.folder.path().join("checkpoints").join(life.to_string())
    }

    /// The folder of the job that this process ran, if it left a checkpoint.
    fn youngest(&self, life: u64) -> Option<PathBuf> {
        let folder = self.job_folder(life);
        let mut entries = fs::read_dir(&folder).ok()?.filter_map(Result::ok);
        let found = entries.any(|entry| {
            entry.file_name().to_string_lossy().starts_with("chk-")
                && entry.path().join("_metadata").exists()
        });
        found.then_some(folder)
    }

    /// What all tables hold now.
    fn content(&self) -> Result<Content, String> {
        let mut content = Content::new();
        let out = self.folder.path().join("out");
        read_tables(&out, &out, &mut content)?;
        content.retain(|_, count| *count != 0);
        Ok(content)
    }
}

/// A table for the rows of a query. Of three one has its files merged, and one is partitioned.
fn definition(session: &TableEnvironment, table: &str, query: &str) -> String {
    let plan = session.plan(&parse_statement(query).unwrap()).unwrap();
    let fields = &plan.node(plan.sinks[0]).schema.fields;
    let columns = fields.iter().enumerate().map(|(i, field)| {
        format!("c{i} {}", field.data_type.to_string().trim_end_matches(" NOT NULL"))
    });
    let columns: Vec<String> = columns.collect();
    let (partitioned, more) = match table {
        "b" => ("", "'auto-compaction' = 'true',"),
        "c" => ("PARTITIONED BY (c0)", "'sink.partition-commit.policy.kind' = 'success-file',"),
        _ => ("", ""),
    };
    format!(
        "CREATE TABLE {table} ({}) {partitioned} WITH ('connector' = 'filesystem', {more}
         'path' = 'out/{table}', 'format' = 'debezium-json')",
        columns.join(", ")
    )
}

/// Tries again what fails while the process lives; `None` once it is dead.
fn retried<T>(
    disk: &FaultyDisk,
    mut call: impl FnMut() -> flott_runtime::Result<T>,
) -> Result<Option<T>, String> {
    let mut tries = 0;
    loop {
        let done = call();
        if disk.is_dead() {
            return Ok(None);
        }
        match done {
            Ok(done) => return Ok(Some(done)),
            Err(error) if tries == 8 => return Err(error.to_string()),
            Err(_) => tries += 1,
        }
    }
}

/// Takes in the changes in all visible files of a folder, and how often partitions are marked.
fn read_tables(root: &Path, folder: &Path, content: &mut Content) -> Result<(), String> {
    let place = folder.strip_prefix(root).unwrap().display().to_string();
    for entry in fs::read_dir(folder).map_err(|error| format!("{place}: {error}"))? {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if entry.path().is_dir() {
            read_tables(root, &entry.path(), content)?;
        } else if name == "_SUCCESS" {
            content.insert(format!("{place} is complete"), 1);
        } else {
            let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
            for line in text.lines() {
                let change: serde_json::Value = serde_json::from_str(line)
                    .map_err(|error| format!("{place}/{name}: {error} in {line}"))?;
                for (side, count) in [("before", -1), ("after", 1)] {
                    if !change[side].is_null() {
                        *content.entry(format!("{place} {}", change[side])).or_default() += count;
                    }
                }
            }
        }
    }
    Ok(())
}
