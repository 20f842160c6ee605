//! Writing rows into part files.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use flott_catalog::connector::{Committable, ConnectorError, SinkWriter, WriterContext};
use flott_disk::{crash_point, create_folders_durably, sync_folder};
use flott_types::ChangelogBatch;

use super::super::failure::failure;
use super::super::partition::write_directory;
use super::Table;
use super::committable::{Prepared, Progress};
use super::hidden::{random_uuid, remove_hidden};
use super::output::{Bucket, Files, Output, PartFile};
use super::pending::PendingPartitions;
use super::router::Router;

/// Up to so many files stay open; with more partitions each write opens its file.
const MAX_OPEN_FILES: usize = 128;

/// Writes the rows of one task.
pub(super) struct FileWriter<O: Output> {
    table: Arc<Table>,
    task: usize,
    tasks: usize,
    /// The directory of the partition that `INSERT INTO … PARTITION (…)` names entirely.
    static_partition: Option<String>,
    output: O,
    router: Option<Router>,
    buckets: Vec<Bucket<O::Part>>,
    files: Files,
    checked: Instant,
    watermark: i64,
    pending: PendingPartitions,
    /// Whether the table's directory is there for good.
    has_root: bool,
}

impl<O: Output> FileWriter<O> {
    pub(super) fn new(
        table: Arc<Table>,
        context: &WriterContext,
        output: O,
    ) -> Result<Self, ConnectorError> {
        let uuid = random_uuid();
        let prefix = if table.batch {
            format!("part-{uuid}-task-{}-file", context.task)
        } else {
            format!("part-{uuid}-{}", context.task)
        };
        let pending = match &context.state {
            Some(state) => PendingPartitions::unpack(state)?,
            None => PendingPartitions::default(),
        };
        let overwrite = context.overwrite;
        Ok(Self {
            task: context.task,
            tasks: context.parallelism,
            static_partition: static_partition(&table, context),
            output,
            router: if table.partition_columns.is_empty() {
                None
            } else {
                Some(Router::new(&table)?)
            },
            buckets: Vec::new(),
            files: Files { prefix, count: 0, round: 0, overwrite, finished: Vec::new() },
            checked: Instant::now(),
            watermark: i64::MIN,
            pending,
            has_root: false,
            table,
        })
    }

    /// Ends files that are too old or too idle, looking at them now and then.
    fn roll_by_age(&mut self) -> Result<(), ConnectorError> {
        let rolling = &self.table.rolling;
        if self.checked.elapsed() < rolling.check {
            return Ok(());
        }
        self.checked = Instant::now();
        for bucket in &mut self.buckets {
            let due = bucket.part.as_ref().is_some_and(|part| {
                let (opened, written) = part.times();
                opened.elapsed() >= rolling.age || written.elapsed() >= rolling.inactivity
            });
            if due {
                self.files.finish(&mut bucket.part)?;
            }
        }
        Ok(())
    }

    /// Makes the entries of new files and directories durable.
    fn sync_directories(&mut self) -> Result<(), ConnectorError> {
        let root = &self.table.root;
        if !self.has_root && !self.files.finished.is_empty() {
            create_folders_durably(root)
                .map_err(|error| failure("create", root.display(), &error))?;
            self.has_root = true;
        }
        let mut directories = BTreeSet::new();
        for file in &self.files.finished {
            let leaf = self.table.root.join(&file.directory);
            directories.extend(
                leaf.ancestors()
                    .take_while(|path| path.starts_with(&self.table.root))
                    .map(|path| path.to_path_buf()),
            );
        }
        for directory in directories {
            sync_folder(&directory)
                .map_err(|error| failure("write", directory.display(), &error))?;
        }
        Ok(())
    }

    /// What the committer needs to know for marking partitions complete.
    fn progress(&mut self, end_of_input: bool) -> Option<Progress> {
        let commit = self.table.commit.as_ref()?;
        // A table without partitions is marked as a whole, which only batch mode completes.
        let marks = !self.table.partition_columns.is_empty() || self.table.batch;
        if !marks {
            return None;
        }
        self.pending.forget_marked(&self.table.root, commit.mark());
        for file in &self.files.finished {
            self.pending.prepared(&file.directory);
        }
        if self.table.batch && end_of_input {
            match &self.static_partition {
                Some(directory) => self.pending.prepared(directory),
                None if self.table.partition_columns.is_empty() => self.pending.prepared(""),
                None => {}
            }
        }
        Some(Progress {
            task: self.task as u64,
            tasks: self.tasks as u64,
            watermark: self.watermark,
            partitions: self.pending.announced(),
        })
    }
}

impl<O: Output> SinkWriter for FileWriter<O> {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        if batch.is_empty() {
            return Ok(());
        }
        let Self { table, output, buckets, files, .. } = self;
        let untouched = buckets.is_empty();
        let mut write = |bucket: usize, new: Option<String>, rows: ChangelogBatch| {
            if let Some(directory) = new {
                buckets.push(Bucket { directory, part: None });
            }
            let keep_open = buckets.len() <= MAX_OPEN_FILES;
            output.append(table, files, &mut buckets[bucket], &rows, keep_open)
        };
        match &mut self.router {
            None => {
                let new = untouched.then(String::new);
                write(0, new, batch.clone())?;
            }
            Some(router) => router.route(table, batch, |bucket, new, rows| {
                let records_only = rows
                    .rows
                    .project(&table.record_columns)
                    .map_err(|error| ConnectorError::new(error.to_string()))?;
                write(bucket, new, ChangelogBatch { rows: records_only, kinds: rows.kinds })
            })?,
        }
        self.output.relieve(&mut self.buckets)?;
        self.roll_by_age()
    }

    fn watermark(&mut self, millis: i64) -> Result<(), ConnectorError> {
        self.watermark = millis;
        Ok(())
    }

    /// Files are of no use to anyone before their commit, so that nothing needs to go out now.
    fn flush(&mut self) -> Result<(), ConnectorError> {
        self.roll_by_age()
    }

    fn prepare_commit(&mut self, end_of_input: bool) -> Result<Vec<Committable>, ConnectorError> {
        for mut bucket in self.buckets.drain(..) {
            self.files.finish(&mut bucket.part)?;
        }
        if let Some(router) = &mut self.router {
            router.clear();
        }
        self.sync_directories()?;
        crash_point("files prepared");
        let progress = self.progress(end_of_input);
        self.files.round += 1;
        let mut prepared: Vec<_> = self.files.finished.drain(..).map(Prepared::File).collect();
        prepared.extend(progress.map(Prepared::Progress));
        if self.table.batch && end_of_input {
            let whole = self.files.overwrite && self.table.partition_columns.is_empty();
            prepared.push(Prepared::Table { overwrite: whole });
        }
        Ok(prepared.iter().map(Prepared::pack).collect())
    }

    fn snapshot(&mut self) -> Result<Vec<u8>, ConnectorError> {
        Ok(self.pending.pack())
    }
}

impl<O: Output> Drop for FileWriter<O> {
    /// Files that no commit knows of go.
    fn drop(&mut self) {
        for file in &self.files.finished {
            remove_hidden(&self.table.root, &file.directory, &file.hidden);
        }
    }
}

fn static_partition(table: &Table, context: &WriterContext) -> Option<String> {
    if table.partition_columns.is_empty() {
        return None;
    }
    let mut directory = String::new();
    for column in &table.partition_columns {
        let given = context.static_partitions.iter().find(|(name, _)| **name == *column.name);
        let (name, value) = given?;
        let value = if value.is_empty() { &table.default_name } else { value };
        write_directory(&mut directory, name, value);
    }
    Some(directory)
}
