//! Checkpoints in a folder of the local file system.
//!
//! ```text
//! <folder of the job>/chk-7/_metadata          the manifest; there wholly or not at all
//! <folder of the job>/shared/7                 what checkpoint 7 holds and none before it held
//! <savepoint>/_metadata, <savepoint>/state     a savepoint stands by itself
//! ```
//!
//! State is kept in pieces of one key group each. A piece that an earlier checkpoint holds is
//! not written again; the manifest points to it. A checkpoint is published by renaming its folder,
//! after everything in it has reached the disk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::manifest::{self, Piece, Pieces};
use super::piece_file::{PieceFile, sync_folder, write_durably};
use super::{Checkpoint, CheckpointStore};
use crate::{CheckpointProblem, Result, RuntimeError};

/// The name of a manifest, as in Flink.
pub(super) const METADATA: &str = "_metadata";
/// What the folder of a checkpoint is called before its number.
pub(super) const PREFIX: &str = "chk-";
const SHARED: &str = "shared";
const SAVEPOINT_STATE: &str = "state";
/// A file of which less than one byte in so many is still wanted is not pointed to any more, so
/// that it can go.
const LEAST_USE: u64 = 4;

/// Keeps the checkpoints of one job in a folder of its own.
pub struct CheckpointDirectory {
    folder: PathBuf,
    retained: usize,
    known: Mutex<Known>,
}

/// What is on disk.
#[derive(Default)]
struct Known {
    latest: Option<Arc<Checkpoint>>,
    /// The shared files that each checkpoint kept points to, by its number.
    kept: BTreeMap<u64, BTreeSet<u64>>,
    /// Where the pieces of the latest checkpoint are, by hash.
    pieces: HashMap<u128, Place>,
    /// The length of each shared file.
    lengths: BTreeMap<u64, u64>,
}

/// A part of a shared file.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: u64,
    offset: u64,
    length: u64,
}

impl CheckpointDirectory {
    /// A store in `folder`, which is the job's own. The last `retained` checkpoints are kept.
    pub fn new(folder: impl Into<PathBuf>, retained: usize) -> Self {
        Self { folder: folder.into(), retained: retained.max(1), known: Mutex::default() }
    }

    fn keep(&self, checkpoint: &Checkpoint, known: &mut Known) -> io::Result<()> {
        let id = checkpoint.id;
        let shared = self.folder.join(SHARED);
        fs::create_dir_all(&shared)?;
        let mut pieces = SharedPieces {
            old: &known.pieces,
            wanted: known.wanted_files(),
            new: HashMap::new(),
            id,
            out: PieceFile::new(shared.join(id.to_string())),
            files: Vec::new(),
        };
        let manifest = manifest::write(checkpoint, &mut pieces)?;
        let SharedPieces { new, files, out, .. } = pieces;
        let length = out.finish()?;
        sync_folder(&shared)?;
        publish(&self.folder, &format!("{PREFIX}{id}"), &manifest)?;
        if length > 0 {
            known.lengths.insert(id, length);
        }
        known.pieces = new;
        known.kept.insert(id, files.into_iter().collect());
        Ok(())
    }

    /// Removes checkpoints beyond the number to keep, and the files that none points to any more.
    fn discard_old(&self, known: &mut Known) -> io::Result<()> {
        while known.kept.len() > self.retained {
            let Some((id, _)) = known.kept.pop_first() else { break };
            remove(fs::remove_dir_all(self.folder.join(format!("{PREFIX}{id}"))))?;
        }
        let used: BTreeSet<u64> = known.kept.values().flatten().copied().collect();
        let unused: Vec<u64> =
            known.lengths.keys().copied().filter(|f| !used.contains(f)).collect();
        for file in unused {
            remove(fs::remove_file(self.folder.join(SHARED).join(file.to_string())))?;
            known.lengths.remove(&file);
        }
        Ok(())
    }
}

impl CheckpointStore for CheckpointDirectory {
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let id = checkpoint.id;
        self.keep(&checkpoint, &mut known).map_err(|error| not_kept(id, error))?;
        known.latest = Some(checkpoint);
        // What is left behind is found by the next call, or is only in the way.
        if let Err(error) = self.discard_old(&mut known) {
            tracing::warn!(folder = %self.folder.display(), %error, "could not remove an old checkpoint");
        }
        Ok(())
    }

    fn latest(&self) -> Result<Option<Arc<Checkpoint>>> {
        Ok(self.known.lock().unwrap_or_else(PoisonError::into_inner).latest.clone())
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.folder)
    }

    fn discard(&self) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Known::default();
        remove(fs::remove_dir_all(&self.folder)).map_err(|error| not_kept(0, error))
    }
}

impl Known {
    /// The files whose pieces are worth pointing to.
    fn wanted_files(&self) -> BTreeSet<u64> {
        let mut used: BTreeMap<u64, u64> = BTreeMap::new();
        for place in self.pieces.values() {
            *used.entry(place.file).or_default() += place.length;
        }
        let length = |file: &u64| self.lengths.get(file).copied().unwrap_or(0);
        used.into_iter()
            .filter(|(file, used)| used.saturating_mul(LEAST_USE) >= length(file))
            .map(|(file, _)| file)
            .collect()
    }
}

/// Points to the pieces that are there and writes the others.
struct SharedPieces<'a> {
    old: &'a HashMap<u128, Place>,
    wanted: BTreeSet<u64>,
    new: HashMap<u128, Place>,
    id: u64,
    out: PieceFile,
    /// The files pointed to, in the order of the manifest's list.
    files: Vec<u64>,
}

impl Pieces for SharedPieces<'_> {
    fn place(&mut self, bytes: &[u8], hash: u128) -> io::Result<Piece> {
        let old = self.old.get(&hash).filter(|place| self.wanted.contains(&place.file));
        let place = match old.or_else(|| self.new.get(&hash)) {
            Some(place) => *place,
            None => {
                Place { file: self.id, offset: self.out.append(bytes)?, length: bytes.len() as u64 }
            }
        };
        self.new.insert(hash, place);
        let file = match self.files.iter().position(|file| *file == place.file) {
            Some(at) => at,
            None => {
                self.files.push(place.file);
                self.files.len() - 1
            }
        };
        Ok(Piece { file, offset: place.offset, length: place.length, hash })
    }

    fn files(&self) -> Vec<String> {
        self.files.iter().map(|file| format!("../{SHARED}/{file}")).collect()
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
        fs::create_dir_all(parent)?;
        let unfinished = parent.join(format!(".{name}.inprogress"));
        remove(fs::remove_dir_all(&unfinished))?;
        fs::create_dir_all(&unfinished)?;
        let mut pieces = OwnPieces(PieceFile::new(unfinished.join(SAVEPOINT_STATE)));
        let manifest = manifest::write(checkpoint, &mut pieces)?;
        pieces.0.finish()?;
        write_durably(&unfinished.join(METADATA), &manifest)?;
        sync_folder(&unfinished)?;
        fs::rename(&unfinished, folder)?;
        sync_folder(parent)
    };
    write().map_err(|error| not_kept(checkpoint.id, error))
}

/// Writes every piece.
struct OwnPieces(PieceFile);

impl Pieces for OwnPieces {
    fn place(&mut self, bytes: &[u8], hash: u128) -> io::Result<Piece> {
        let offset = self.0.append(bytes)?;
        Ok(Piece { file: 0, offset, length: bytes.len() as u64, hash })
    }

    fn files(&self) -> Vec<String> {
        vec![SAVEPOINT_STATE.to_string()]
    }
}

/// Makes a manifest visible under a name, wholly or not at all.
fn publish(folder: &Path, name: &str, manifest: &[u8]) -> io::Result<()> {
    let unfinished = folder.join(format!(".{name}.inprogress"));
    remove(fs::remove_dir_all(&unfinished))?;
    fs::create_dir_all(&unfinished)?;
    write_durably(&unfinished.join(METADATA), manifest)?;
    sync_folder(&unfinished)?;
    fs::rename(&unfinished, folder.join(name))?;
    sync_folder(folder)
}

/// What is gone need not be removed.
fn remove(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn not_kept(id: u64, error: io::Error) -> RuntimeError {
    RuntimeError::Checkpoint { id, problem: CheckpointProblem::Store(Arc::new(error)) }
}
