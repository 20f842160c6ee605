//! Reading a stored checkpoint.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::Checkpoint;
use super::directory::{METADATA, PREFIX};
use super::manifest::{self, ManifestError, Piece};
use crate::error::StoredProblem;
use crate::{Result, RuntimeError};

impl Checkpoint {
    /// Reads a stored checkpoint or savepoint. `path` is its folder, its `_metadata`, or the folder
    /// of a job, of which the latest checkpoint is read.
    ///
    /// Everything is checked. A checkpoint that is damaged is not passed over silently: the error
    /// names it, and the one before it if there is one.
    pub fn load(path: &Path) -> Result<Arc<Self>> {
        let folder = folder_of(path)?;
        match read(&folder) {
            Ok(checkpoint) => Ok(Arc::new(checkpoint)),
            Err(problem) => Err(stored(&folder, problem_of(&folder, problem))),
        }
    }
}

/// Why a checkpoint in a folder cannot be read.
enum Problem {
    Io(io::Error),
    Manifest(ManifestError),
    Piece { file: String, what: &'static str },
}

fn read(folder: &Path) -> Result<Checkpoint, Problem> {
    let bytes = fs::read(folder.join(METADATA)).map_err(Problem::Io)?;
    let manifest = manifest::read(&bytes).map_err(Problem::Manifest)?;
    let mut checkpoint = manifest.checkpoint;
    let mut files: Vec<Option<File>> = manifest.files.iter().map(|_| None).collect();
    let states = checkpoint.operators.values_mut().flat_map(|states| &mut states.tasks);
    // Both are in the order in which they were written but for tasks of operators, which a map
    // orders by name as the writer did.
    for (state, pieces) in states.zip(&manifest.pieces) {
        let mut snapshot = Vec::new();
        for piece in pieces {
            let name = &manifest.files[piece.file];
            append(&mut snapshot, folder, name, &mut files[piece.file], piece)?;
        }
        state.snapshot = snapshot.into();
    }
    Ok(checkpoint)
}

fn append(
    out: &mut Vec<u8>,
    folder: &Path,
    name: &str,
    file: &mut Option<File>,
    piece: &Piece,
) -> Result<(), Problem> {
    let broken = |what| Problem::Piece { file: name.to_string(), what };
    let file = match file {
        Some(file) => file,
        none => none.insert(File::open(folder.join(name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => broken("is missing"),
            _ => Problem::Io(error),
        })?),
    };
    let length = file.metadata().map_err(Problem::Io)?.len();
    if piece.offset.checked_add(piece.length).is_none_or(|end| end > length) {
        return Err(broken("ends early"));
    }
    file.seek(SeekFrom::Start(piece.offset)).map_err(Problem::Io)?;
    let start = out.len();
    file.take(piece.length).read_to_end(out).map_err(Problem::Io)?;
    if xxh3_128(&out[start..]) != piece.hash {
        return Err(broken("was altered: a part of it fails its checksum"));
    }
    Ok(())
}

/// The folder that holds the manifest.
fn folder_of(path: &Path) -> Result<PathBuf> {
    let io = |error: io::Error| stored(path, StoredProblem::Io(Arc::new(error)));
    if path.file_name().is_some_and(|name| name == METADATA) {
        return Ok(path.parent().unwrap_or(Path::new("")).to_path_buf());
    }
    if path.join(METADATA).try_exists().map_err(io)? {
        return Ok(path.to_path_buf());
    }
    match numbered(path).pop() {
        Some((_, folder)) => Ok(folder),
        None => Err(stored(path, StoredProblem::Missing)),
    }
}

/// The checkpoints in the folder of a job by number.
fn numbered(job: &Path) -> Vec<(u64, PathBuf)> {
    let Ok(entries) = fs::read_dir(job) else { return Vec::new() };
    let mut found: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let id = entry.file_name().to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
            entry.path().join(METADATA).exists().then(|| (id, entry.path()))
        })
        .collect();
    found.sort();
    found
}

fn problem_of(folder: &Path, problem: Problem) -> StoredProblem {
    let what = match problem {
        Problem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            return StoredProblem::Missing;
        }
        Problem::Io(error) => return StoredProblem::Io(Arc::new(error)),
        Problem::Manifest(error) => error.to_string(),
        Problem::Piece { file, what } => format!("its file '{file}' {what}"),
    };
    let earlier = numbered(folder.parent().unwrap_or(Path::new("")));
    let until = earlier.iter().position(|(_, other)| other == folder).unwrap_or(0);
    let before = earlier[..until].iter().rev().find(|(_, other)| read(other).is_ok());
    let cure = match before {
        Some((_, path)) => {
            format!("the checkpoint before it is whole: resume from '{}'", path.display())
        }
        None => {
            "resume from another checkpoint or savepoint; there is none before it here".to_string()
        }
    };
    StoredProblem::Unusable { what, cure }
}

fn stored(path: &Path, problem: StoredProblem) -> RuntimeError {
    RuntimeError::StoredCheckpoint { path: path.into(), problem }
}
