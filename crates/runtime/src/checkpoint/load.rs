//! Reading a stored checkpoint.

use std::fs::{self, File};
use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flott_state::{Block, Group, Section, Snapshot};
use xxhash_rust::xxh3::xxh3_128;

use super::Checkpoint;
use super::directory::{METADATA, PREFIX};
use super::manifest::{self, ManifestError, Piece, StoredBlock, StoredSection, StoredState};
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
        match read(&folder).and_then(|checkpoint| hold(&folder).map(|()| checkpoint)) {
            Ok(checkpoint) => Ok(Arc::new(checkpoint)),
            Err(problem) => Err(stored(&folder, problem_of(&folder, problem))),
        }
    }
}

/// Why a checkpoint in a folder cannot be read.
enum Problem {
    Missing,
    Io {
        file: String,
        error: io::Error,
    },
    /// Its name may not be on the disk.
    Unheld(io::Error),
    Manifest(ManifestError),
    Piece {
        file: String,
        what: String,
    },
}

/// Waits until the name of a checkpoint is on the disk. Who wrote it may have died before that, and what is
/// committed because of it must not outlive it.
fn hold(folder: &Path) -> Result<(), Problem> {
    let above = folder.parent().unwrap_or(Path::new(""));
    match flott_disk::sync_folder(above) {
        // Where nothing can be written nobody is about to write.
        Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => Ok(()),
        held => held.map_err(Problem::Unheld),
    }
}

fn read(folder: &Path) -> Result<Checkpoint, Problem> {
    let bytes = flott_disk::read(&folder.join(METADATA)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::Missing,
        _ => Problem::Io { file: METADATA.into(), error },
    })?;
    let manifest = manifest::read(&bytes).map_err(Problem::Manifest)?;
    let mut checkpoint = manifest.checkpoint;
    let mut files: Vec<Option<File>> = manifest.files.iter().map(|_| None).collect();
    let mut read = |piece: &Piece| {
        let name = &manifest.files[piece.file as usize];
        let broken = |what: &str| Problem::Piece { file: name.clone(), what: what.to_string() };
        let refused = |error| Problem::Io { file: name.clone(), error };
        let file =
            match &mut files[piece.file as usize] {
                Some(file) => file,
                none => none.insert(flott_disk::open(&folder.join(name)).map_err(|error| {
                    match error.kind() {
                        io::ErrorKind::NotFound => broken("is missing"),
                        _ => refused(error),
                    }
                })?),
            };
        read_piece(file, piece).map_err(|problem| match problem {
            PieceProblem::Io(error) => refused(error),
            PieceProblem::Damaged(what) => broken(what),
        })
    };
    let states = checkpoint.operators.values_mut().flat_map(|states| &mut states.tasks);
    // Both are in the order in which they were written but for tasks of operators, which a map
    // orders by name as the writer did.
    for (state, stored) in states.zip(manifest.states) {
        state.snapshot = Arc::new(match stored {
            StoredState::Bytes(pieces) => {
                let bytes: Vec<Vec<u8>> = pieces.iter().map(&mut read).collect::<Result<_, _>>()?;
                Snapshot::from_version_1(&bytes.concat())
                    .map_err(|error| Problem::Manifest(error.into()))?
            }
            StoredState::Sections(sections) => {
                let sections = sections.into_iter().map(|stored| section(stored, &mut read));
                Snapshot { sections: sections.collect::<Result<_, _>>()? }
            }
        });
    }
    Ok(checkpoint)
}

fn section(
    stored: StoredSection,
    read: &mut impl FnMut(&Piece) -> Result<Vec<u8>, Problem>,
) -> Result<Section, Problem> {
    let mut section = stored.head;
    for (key_group, chain) in stored.groups {
        let block = |stored: StoredBlock| {
            let bytes = read(&stored.piece)?;
            Ok(Arc::new(Block::new(stored.is_whole, stored.entries, bytes)))
        };
        let blocks = chain.into_iter().map(block).collect::<Result<_, Problem>>()?;
        section.groups.push(Group { key_group, blocks });
    }
    Ok(section)
}

/// Why a piece cannot be read.
pub(super) enum PieceProblem {
    Io(io::Error),
    /// What is wrong with its file.
    Damaged(&'static str),
}

/// Reads a piece of a file and checks it.
pub(super) fn read_piece(file: &mut File, piece: &Piece) -> Result<Vec<u8>, PieceProblem> {
    let length = file.metadata().map_err(PieceProblem::Io)?.len();
    if piece.offset.checked_add(piece.length).is_none_or(|end| end > length) {
        return Err(PieceProblem::Damaged("ends early"));
    }
    file.seek(SeekFrom::Start(piece.offset)).map_err(PieceProblem::Io)?;
    // As long as the file at most.
    let mut bytes = vec![0; usize::try_from(piece.length).unwrap_or(usize::MAX)];
    file.read_exact(&mut bytes).map_err(PieceProblem::Io)?;
    if xxh3_128(&bytes) != piece.hash {
        return Err(PieceProblem::Damaged("was altered: a part of it fails its checksum"));
    }
    Ok(bytes)
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
        Problem::Missing => return StoredProblem::Missing,
        Problem::Io { file, error } => format!("its file '{file}' cannot be read: {error}"),
        Problem::Unheld(error) => format!("it cannot be made sure that it stays: {error}"),
        Problem::Manifest(error) => error.to_string(),
        Problem::Piece { file, what } => format!("its file '{file}' {what}"),
    };
    let earlier = numbered(folder.parent().unwrap_or(Path::new("")));
    let until = earlier.iter().position(|(_, other)| other == folder).unwrap_or(0);
    let before = earlier[..until].iter().rev().find(|(_, other)| read(other).is_ok());
    let cure = match before {
        Some((_, path)) => {
            format!(
                "the checkpoint before it is whole: resume from '{}'; what sinks that append made visible \
                 since then comes again",
                path.display()
            )
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
