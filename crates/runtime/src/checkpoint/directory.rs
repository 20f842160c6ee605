//! Checkpoints in a folder of the local file system.
//!
//! ```text
//! <folder of the job>/chk-7/_metadata          the manifest; there wholly or not at all
//! <folder of the job>/shared/7                 what checkpoint 7 holds and none before it held
//! <savepoint>/_metadata, <savepoint>/state     a savepoint stands by itself
//! ```
//!
//! State is kept in blocks, chains of which hold what is there of a key group. A block that an earlier
//! checkpoint holds is not written again; the manifest points to it. A checkpoint is published by renaming its folder,
//! after everything in it has reached the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flott_disk::{
    absent, crash_point, create_folders, create_folders_durably, remove_file, remove_folder_all,
    rename, sync_folder, write_durably,
};

use super::chains::{self, ChainWriter};
use super::manifest::{self, StoredStates};
use super::piece_file::PieceFile;
use super::{Checkpoint, CheckpointStore};
use crate::{CheckpointProblem, Result, RuntimeError};

/// The name of a manifest, as in Flink.
pub(super) const METADATA: &str = "_metadata";
/// What the folder of a checkpoint is called before its number.
pub(super) const PREFIX: &str = "chk-";
const SHARED: &str = "shared";
const SAVEPOINT_STATE: &str = "state";

/// Keeps the checkpoints of one job in a folder of its own.
pub struct CheckpointDirectory {
    folder: PathBuf,
    retained: usize,
    known: Mutex<Known>,
}

/// What is on disk.
#[derive(Default)]
struct Known {
    /// Whether the folders are there for good.
    has_folders: bool,
    latest: Option<u64>,
    /// The shared files that each checkpoint kept points to, by its number.
    kept: BTreeMap<u64, BTreeSet<u64>>,
    /// Where the states of the latest checkpoint are.
    states: StoredStates,
    /// The length of each shared file.
    lengths: BTreeMap<u64, u64>,
    /// Checkpoints that are not kept, and that somebody may find nevertheless.
    doubtful: BTreeSet<u64>,
    /// Attempts that failed, of which something may be left.
    failed: BTreeSet<u64>,
}

impl CheckpointDirectory {
    /// A store in `folder`, which is the job's own. The last `retained` checkpoints are kept.
    pub fn new(folder: impl Into<PathBuf>, retained: usize) -> Self {
        Self { folder: folder.into(), retained: retained.max(1), known: Mutex::default() }
    }

    fn keep(&self, checkpoint: &Checkpoint, known: &mut Known) -> Result<()> {
        let id = checkpoint.id;
        self.prepare(known).map_err(|error| not_kept(id, error))?;
        let written = self.write(checkpoint, known);
        // What is left of an attempt that fails goes with the files that nothing points to.
        known.lengths.entry(id).or_insert(0);
        let (states, length) = written?;
        let name = |file| format!("../{SHARED}/{file}");
        let manifest = manifest::write(checkpoint, &states, name);
        if let Err(error) = publish(&self.folder, &format!("{PREFIX}{id}"), &manifest) {
            return Err(match self.withdraw(id) {
                Ok(()) => not_kept(id, error),
                Err(_) => {
                    known.doubtful.insert(id);
                    doubtful(id, error)
                }
            });
        }
        known.lengths.insert(id, length);
        let sections = states.values().flatten();
        let blocks = sections.flat_map(|section| section.groups.values().flatten());
        known.kept.insert(id, blocks.map(|block| block.piece.file).collect());
        known.states = states;
        known.latest = Some(id);
        Ok(())
    }

    /// Makes the folders, and takes back what may have been published in vain: a job that goes on from an
    /// earlier checkpoint must not be outlived by a later one that it knows nothing of.
    fn prepare(&self, known: &mut Known) -> io::Result<()> {
        if !known.has_folders {
            create_folders_durably(&self.folder.join(SHARED))?;
            known.has_folders = true;
        }
        while let Some(id) = known.doubtful.first().copied() {
            self.withdraw(id)?;
            known.doubtful.remove(&id);
        }
        Ok(())
    }

    /// Writes the pieces of a checkpoint that are new: where all are then, and how long the new file is.
    fn write(&self, checkpoint: &Checkpoint, known: &Known) -> Result<(StoredStates, u64)> {
        let (id, shared) = (checkpoint.id, self.folder.join(SHARED));
        let failed = |error| not_kept(id, error);
        let mut writer = ChainWriter {
            folder: &shared,
            lengths: &known.lengths,
            id,
            out: PieceFile::new(shared.join(id.to_string())),
        };
        let states = writer.write(checkpoint, &known.states, known.latest)?;
        let length = writer.out.finish().map_err(failed)?;
        if length > 0 {
            sync_folder(&shared).map_err(failed)?;
        }
        crash_point("parts synced");
        Ok((states, length))
    }

    /// Takes the name of a checkpoint away that may have been published.
    fn withdraw(&self, id: u64) -> io::Result<()> {
        let name = format!("{PREFIX}{id}");
        if self.folder.join(&name).try_exists()? {
            let hidden = self.folder.join(unfinished(&name));
            absent(remove_folder_all(&hidden))?;
            rename(&self.folder.join(name), &hidden)?;
        }
        sync_folder(&self.folder)
    }

    /// Removes checkpoints beyond the number to keep, and the files that none points to any more.
    fn discard_old(&self, known: &mut Known) -> io::Result<()> {
        while known.kept.len() > self.retained
            && let Some(id) = known.kept.first_key_value().map(|(id, _)| *id)
        {
            absent(remove_folder_all(self.folder.join(format!("{PREFIX}{id}"))))?;
            known.kept.remove(&id);
        }
        crash_point("cleanup half");
        let used: BTreeSet<u64> = known.kept.values().flatten().copied().collect();
        let is_used = |file: &u64| used.contains(file) || known.doubtful.contains(file);
        let unused: Vec<u64> =
            known.lengths.keys().copied().filter(|file| !is_used(file)).collect();
        while let Some(id) = known.failed.first().copied() {
            absent(remove_folder_all(self.folder.join(unfinished(&format!("{PREFIX}{id}")))))?;
            known.failed.remove(&id);
        }
        for file in unused {
            absent(remove_file(self.folder.join(SHARED).join(file.to_string())))?;
            known.lengths.remove(&file);
        }
        crash_point("cleaned up");
        Ok(())
    }
}

impl CheckpointStore for CheckpointDirectory {
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = self.keep(&checkpoint, &mut known);
        if kept.is_err() {
            known.failed.insert(checkpoint.id);
        }
        // What is left behind, also by an attempt that failed, is found by the next call.
        if let Err(error) = self.discard_old(&mut known) {
            tracing::warn!(folder = %self.folder.display(), %error, "could not remove an old checkpoint");
        }
        kept
    }

    fn latest(&self) -> Result<Option<Arc<Checkpoint>>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // State is not held in memory once more; it is read when it is needed.
        let folder = known.latest.map(|id| self.folder.join(format!("{PREFIX}{id}")));
        folder.map(|folder| Checkpoint::load(&folder)).transpose()
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.folder)
    }

    fn discard(&self) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Known::default();
        absent(remove_folder_all(&self.folder)).map_err(|error| not_kept(0, error))
    }
}

/// Writes a savepoint into `folder`, which must not exist.
pub fn write_savepoint(checkpoint: &Checkpoint, folder: &Path) -> Result<()> {
    let failed = |error| not_kept(checkpoint.id, error);
    let (parent, name) = (folder.parent().unwrap_or(Path::new("")), folder.file_name());
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hidden = parent.join(unfinished(&name));
    let write = || -> io::Result<()> {
        if folder.exists() {
            let message = format!("'{}' exists already", folder.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        create_folders_durably(parent)?;
        absent(remove_folder_all(&hidden))?;
        create_folders(&hidden)?;
        let mut out = PieceFile::new(hidden.join(SAVEPOINT_STATE));
        let states = chains::write_all(checkpoint, &mut out)?;
        out.finish()?;
        let manifest = manifest::write(checkpoint, &states, |_| SAVEPOINT_STATE.to_string());
        write_durably(&hidden.join(METADATA), &manifest)?;
        sync_folder(&hidden)
    };
    write().map_err(failed)?;
    let Err(error) = rename(&hidden, folder).and_then(|()| sync_folder(parent)) else {
        return Ok(());
    };
    let withdraw = || -> io::Result<()> {
        if folder.try_exists()? {
            rename(folder, &hidden)?;
        }
        sync_folder(parent)
    };
    Err(match withdraw() {
        Ok(()) => failed(error),
        Err(_) => doubtful(checkpoint.id, error),
    })
}

/// Makes a manifest visible under a name, wholly or not at all.
fn publish(folder: &Path, name: &str, manifest: &[u8]) -> io::Result<()> {
    let hidden = folder.join(unfinished(name));
    absent(remove_folder_all(&hidden))?;
    create_folders(&hidden)?;
    write_durably(&hidden.join(METADATA), manifest)?;
    sync_folder(&hidden)?;
    crash_point("manifest written");
    rename(&hidden, &folder.join(name))?;
    crash_point("manifest renamed");
    sync_folder(folder)?;
    crash_point("checkpoint published");
    Ok(())
}

/// What the folder of a checkpoint is called until it is complete.
fn unfinished(name: &str) -> String {
    format!(".{name}.inprogress")
}

pub(super) fn not_kept(id: u64, error: io::Error) -> RuntimeError {
    RuntimeError::Checkpoint { id, problem: CheckpointProblem::Store(Arc::new(error)) }
}

fn doubtful(id: u64, error: io::Error) -> RuntimeError {
    RuntimeError::Checkpoint { id, problem: CheckpointProblem::Doubtful(Arc::new(error)) }
}
