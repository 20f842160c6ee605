//! Making prepared files visible and marking complete partitions.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use flott_catalog::connector::{Committable, Committer, ConnectorError};
use flott_disk::{
    DiskFile, absent, crash_point, create_folders, create_folders_durably, remove_file,
    remove_folder_all, sync_folder,
};

use super::super::failure::failure;
use super::super::listing::visible_entries;
use super::Table;
use super::committable::{Prepared, PreparedFile, Progress};
use super::compaction::compact;
use super::hidden::remove_hidden;
use super::pending::now_millis;

/// Commits what the table's writers prepared. Doing it again does nothing.
pub(super) struct FileCommitter {
    table: Arc<Table>,
    /// Directories whose old content went, and the files put in its place.
    cleared: HashSet<PathBuf>,
    replaced: HashSet<PathBuf>,
    /// The event time that each task has reached.
    watermarks: BTreeMap<u64, i64>,
    /// Partitions that are not marked yet, each with the time of its first row.
    pending: BTreeMap<String, u64>,
}

impl FileCommitter {
    pub(super) fn new(table: Arc<Table>) -> Self {
        Self {
            table,
            cleared: HashSet::new(),
            replaced: HashSet::new(),
            watermarks: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// Removes what the directories of an overwriting job held before it.
    fn clear(&mut self, files: &[PreparedFile], whole_table: bool) -> Result<(), ConnectorError> {
        let root = &self.table.root;
        let new = files.iter().filter(|file| file.overwrite);
        self.replaced.extend(new.clone().map(|file| root.join(&file.directory).join(&file.name)));
        let mut directories: BTreeSet<_> = new.map(|file| root.join(&file.directory)).collect();
        if whole_table {
            directories.insert(root.clone());
        }
        for directory in directories {
            if !self.cleared.insert(directory.clone()) || !directory.exists() {
                continue;
            }
            for entry in visible_entries(&directory)? {
                if !self.replaced.contains(&entry) {
                    remove(&entry)?;
                }
            }
        }
        Ok(())
    }

    fn publish(&self, files: &[PreparedFile]) -> Result<(), ConnectorError> {
        let root = &self.table.root;
        match self.table.compaction {
            Some(bytes) => compact(&self.table, files, bytes)?,
            None => files.iter().try_for_each(|file| {
                let directory = root.join(&file.directory);
                rename(&directory.join(&file.hidden), &directory.join(&file.name))?;
                crash_point("commit half");
                Ok::<_, ConnectorError>(())
            })?,
        }
        let directories: BTreeSet<_> = files.iter().map(|file| &file.directory).collect();
        directories.into_iter().try_for_each(|directory| sync(&root.join(directory)))
    }

    /// Marks the partitions that are complete: all of them at the end.
    fn mark(&mut self, progress: Vec<Progress>, end_of_input: bool) -> Result<(), ConnectorError> {
        let Some(commit) = &self.table.commit else { return Ok(()) };
        let mut tasks = self.watermarks.len() as u64;
        for Progress { task, tasks: of, watermark, partitions } in progress {
            self.watermarks.insert(task, watermark);
            tasks = of;
            for (directory, since) in partitions {
                self.pending.entry(directory).or_insert(since);
            }
        }
        // A task that has not reported yet holds event time back.
        let reported = self.watermarks.range(..tasks).count() as u64 == tasks;
        let reached = self.watermarks.range(..tasks).map(|(_, watermark)| *watermark).min();
        let watermark = reached.filter(|_| reported).unwrap_or(i64::MIN);
        let now = now_millis();
        let mut complete = Vec::new();
        for (directory, since) in &self.pending {
            if end_of_input || commit.is_complete(directory, *since, now, watermark)? {
                complete.push(directory.clone());
            }
        }
        for directory in complete {
            put_mark(&self.table.root.join(&directory), commit.mark())?;
            self.pending.remove(&directory);
        }
        Ok(())
    }
}

impl Committer for FileCommitter {
    fn commit(
        &mut self,
        committables: Vec<Committable>,
        end_of_input: bool,
    ) -> Result<(), ConnectorError> {
        let (mut files, mut progress) = (Vec::new(), Vec::new());
        let (mut batch, mut whole_table) = (false, false);
        for committable in &committables {
            match Prepared::unpack(committable)? {
                Prepared::File(file) => files.push(file),
                Prepared::Progress(of_task) => progress.push(of_task),
                Prepared::Table { overwrite } => {
                    batch = true;
                    whole_table |= overwrite;
                }
            }
        }
        if batch {
            let root = &self.table.root;
            create_folders_durably(root)
                .map_err(|error| failure("create", root.display(), &error))?;
        }
        crash_point("commit begun");
        self.clear(&files, whole_table)?;
        self.publish(&files)?;
        self.mark(progress, end_of_input)?;
        crash_point("commit finished");
        Ok(())
    }

    fn abort(&mut self, committables: Vec<Committable>) -> Result<(), ConnectorError> {
        for committable in &committables {
            if let Prepared::File(file) = Prepared::unpack(committable)? {
                remove_hidden(&self.table.root, &file.directory, &file.hidden);
            }
        }
        Ok(())
    }
}

/// Renames a prepared file. When it is gone, an earlier attempt has renamed it.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), ConnectorError> {
    match flott_disk::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if !to.exists() {
                tracing::warn!(
                    path = %to.display(),
                    "committed file is not there; it was taken away after an earlier commit"
                );
            }
            Ok(())
        }
        result => result.map_err(|error| failure("rename", from.display(), &error)),
    }
}

/// Makes the entries of a directory durable.
fn sync(directory: &Path) -> Result<(), ConnectorError> {
    absent(sync_folder(directory)).map_err(|error| failure("write", directory.display(), &error))
}

fn remove(path: &Path) -> Result<(), ConnectorError> {
    let removed = if path.is_dir() { remove_folder_all(path) } else { remove_file(path) };
    absent(removed).map_err(|error| failure("remove", path.display(), &error))
}

/// Puts the empty file into a partition that says that it is complete.
fn put_mark(directory: &Path, mark: &str) -> Result<(), ConnectorError> {
    let path = directory.join(mark);
    create_folders(directory)
        .and_then(|()| DiskFile::create(&*path))
        // The time tells writers that the mark is newer than their files.
        .and_then(|file| file.set_modified(SystemTime::now()).and_then(|()| file.sync()))
        .and_then(|()| sync_folder(directory))
        .map_err(|error| failure("write", path.display(), &error))
}
