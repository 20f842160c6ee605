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
    absent, create_folders, crash_point, remove_file, remove_folder_all, rename, sync_folder,
    write_durably,
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
    latest: Option<u64>,
    /// The shared files that each checkpoint kept points to, by its number.
    kept: BTreeMap<u64, BTreeSet<u64>>,
    /// Where the states of the latest checkpoint are.
    states: StoredStates,
    /// The length of each shared file.
    lengths: BTreeMap<u64, u64>,
}

impl CheckpointDirectory {
    /// A store in `folder`, which is the job's own. The last `retained` checkpoints are kept.
    pub fn new(folder: impl Into<PathBuf>, retained: usize) -> Self {
        Self { folder: folder.into(), retained: retained.max(1), known: Mutex::default() }
    }

    fn keep(&self, checkpoint: &Checkpoint, known: &mut Known) -> Result<()> {
        let id = checkpoint.id;
        let shared = self.folder.join(SHARED);
        let failed = |error| not_kept(id, error);
        create_folders(&shared).map_err(failed)?;
        let mut writer = ChainWriter {
            folder: &shared,
            lengths: &known.lengths,
            id,
            out: PieceFile::new(shared.join(id.to_string())),
        };
        let states = writer.write(checkpoint, &known.states, known.latest)?;
        let length = writer.out.finish().map_err(failed)?;
        sync_folder(&shared).map_err(failed)?;
        let name = |file| format!("../{SHARED}/{file}");
        let manifest = manifest::write(checkpoint, &states, name);
        publish(&self.folder, &format!("{PREFIX}{id}"), &manifest).map_err(failed)?;
        if length > 0 {
            known.lengths.insert(id, length);
        }
        let sections = states.values().flatten();
        let blocks = sections.flat_map(|section| section.groups.values().flatten());
        known.kept.insert(id, blocks.map(|block| block.piece.file).collect());
        known.states = states;
        known.latest = Some(id);
        Ok(())
    }

    /// Removes checkpoints beyond the number to keep, and the files that none points to any more.
    fn discard_old(&self, known: &mut Known) -> io::Result<()> {
        while known.kept.len() > self.retained {
            let Some((id, _)) = known.kept.pop_first() else { break };
            absent(remove_folder_all(self.folder.join(format!("{PREFIX}{id}"))))?;
        }
        let used: BTreeSet<u64> = known.kept.values().flatten().copied().collect();
        let unused: Vec<u64> =
            known.lengths.keys().copied().filter(|f| !used.contains(f)).collect();
        for file in unused {
            absent(remove_file(self.folder.join(SHARED).join(file.to_string())))?;
            known.lengths.remove(&file);
        }
        Ok(())
    }
}

impl CheckpointStore for CheckpointDirectory {
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.keep(&checkpoint, &mut known)?;
        // What is left behind is found by the next call, or is only in the way.
        if let Err(error) = self.discard_old(&mut known) {
            tracing::warn!(folder = %self.folder.display(), %error, "could not remove an old checkpoint");
        }
        Ok(())
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
    let write = || -> io::Result<()> {
        if folder.exists() {
            let message = format!("'{}' exists already", folder.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let (parent, name) = (folder.parent().unwrap_or(Path::new("")), folder.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        create_folders(parent)?;
        let unfinished = parent.join(format!(".{name}.inprogress"));
        absent(remove_folder_all(&unfinished))?;
        create_folders(&unfinished)?;
        let mut out = PieceFile::new(unfinished.join(SAVEPOINT_STATE));
        let states = chains::write_all(checkpoint, &mut out)?;
        out.finish()?;
        let manifest = manifest::write(checkpoint, &states, |_| SAVEPOINT_STATE.to_string());
        write_durably(&unfinished.join(METADATA), &manifest)?;
        sync_folder(&unfinished)?;
        rename(&unfinished, folder)?;
        sync_folder(parent)
    };
    write().map_err(|error| not_kept(checkpoint.id, error))
}

/// Makes a manifest visible under a name, wholly or not at all.
fn publish(folder: &Path, name: &str, manifest: &[u8]) -> io::Result<()> {
    let unfinished = folder.join(format!(".{name}.inprogress"));
    absent(remove_folder_all(&unfinished))?;
    create_folders(&unfinished)?;
    write_durably(&unfinished.join(METADATA), manifest)?;
    sync_folder(&unfinished)?;
    rename(&unfinished, &folder.join(name))?;
    sync_folder(folder)
}

pub(super) fn not_kept(id: u64, error: io::Error) -> RuntimeError {
    RuntimeError::Checkpoint { id, problem: CheckpointProblem::Store(Arc::new(error)) }
}
