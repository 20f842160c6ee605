//! The manifest: what a stored checkpoint says of itself, as bytes. The layout is in
//! `docs/state-format.md`.

use std::io;
use std::sync::Arc;

use flott_catalog::connector::Split;
use flott_state::{StateDecoder, StateEncoder, StateError, snapshot_parts};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{
    Checkpoint, CheckpointKind, OperatorState, OperatorStates, SourceState, SourceTaskState,
};

const MAGIC: [u8; 4] = *b"FLCP";
const VERSION: u16 = 1;
/// Magic and version before the body, and the checksum behind it.
const PREFIX: usize = 6;
const CHECKSUM: usize = 8;

/// Where some bytes of a snapshot are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The position of the file in the manifest's list.
    pub(super) file: usize,
    pub(super) offset: u64,
    pub(super) length: u64,
    /// XXH3-128 of the bytes.
    pub(super) hash: u128,
}

/// Why a manifest cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("it is no checkpoint of Flott")]
    Foreign,
    #[error("it has version {0} of the format, and this program knows {VERSION}: use a newer one")]
    Version(u16),
    #[error("its manifest fails its checksum")]
    Checksum,
    #[error("{0}")]
    Contents(#[from] StateError),
}

/// A manifest as read, with snapshots still in pieces.
pub(super) struct Manifest {
    /// The files that hold pieces, relative to the manifest's folder.
    pub(super) files: Vec<String>,
    /// The checkpoint, with empty snapshots.
    pub(super) checkpoint: Checkpoint,
    /// The pieces of each snapshot, in the order of operators and tasks.
    pub(super) pieces: Vec<Vec<Piece>>,
}

/// Keeps the parts of snapshots.
pub(super) trait Pieces {
    /// Keeps some bytes, whose hash is XXH3-128, and says where.
    fn place(&mut self, bytes: &[u8], hash: u128) -> io::Result<Piece>;

    /// The names of the files that pieces are in, as the manifest's list.
    fn files(&self) -> Vec<String>;
}

/// Writes a manifest, and what it points to through `pieces`.
pub(super) fn write(checkpoint: &Checkpoint, pieces: &mut impl Pieces) -> io::Result<Vec<u8>> {
    let mut operators = StateEncoder::new();
    operators.count(checkpoint.operators.len());
    for (uid, states) in &checkpoint.operators {
        operators.str(uid);
        number(&mut operators, states.parallelism);
        operators.count(states.tasks.len());
        for state in &states.tasks {
            number(&mut operators, state.task);
            operators.i64(state.watermark);
            let parts = snapshot_parts(&state.snapshot).map_err(io::Error::other)?;
            operators.count(parts.len());
            for part in parts {
                let piece = pieces.place(part, xxh3_128(part))?;
                number(&mut operators, piece.file);
                operators.u64(piece.offset);
                operators.u64(piece.length);
                operators.u64(piece.hash as u64);
                operators.u64((piece.hash >> 64) as u64);
            }
        }
    }
    let mut body = StateEncoder::new();
    body.u64(checkpoint.id);
    body.u8(match checkpoint.kind {
        CheckpointKind::Checkpoint => 0,
        CheckpointKind::Savepoint => 1,
    });
    body.list(pieces.files().iter(), |body, file| body.str(file));
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &body.into_bytes()].concat();
    bytes.extend_from_slice(&operators.into_bytes());
    let mut rest = StateEncoder::new();
    rest.list(checkpoint.sources.iter(), |out, (uid, source)| write_source(out, uid, source));
    rest.list(checkpoint.committables.iter(), |out, (uid, committables)| {
        out.str(uid);
        out.list(committables.iter(), |out, committable| out.bytes(committable));
    });
    bytes.extend_from_slice(&rest.into_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn write_source(out: &mut StateEncoder, uid: &str, source: &SourceState) {
    out.str(uid);
    out.bytes(&source.enumerator);
    out.list(source.unassigned.iter(), |out, (split, task)| {
        write_split(out, split);
        out.option(*task, number);
    });
    number(out, source.parallelism);
    out.list(source.tasks.iter(), |out, task| {
        number(out, task.task);
        out.list(task.splits.iter(), |out, (split, watermark)| {
            write_split(out, split);
            out.i64(*watermark);
        });
        out.i64(task.watermark);
        out.i64(task.emitted);
    });
}

/// A number that counts nothing that follows.
fn number(out: &mut StateEncoder, number: usize) {
    out.u64(number as u64);
}

fn write_split(out: &mut StateEncoder, split: &Split) {
    out.str(&split.id);
    out.bytes(&split.position);
}

/// Reads a manifest.
pub(super) fn read(bytes: &[u8]) -> Result<Manifest, ManifestError> {
    if bytes.len() < PREFIX + CHECKSUM || bytes[..MAGIC.len()] != MAGIC {
        return Err(ManifestError::Foreign);
    }
    let version = u16::from_le_bytes([bytes[4], bytes[5]]);
    if version != VERSION {
        return Err(ManifestError::Version(version));
    }
    let (whole, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if xxh3_64(whole).to_le_bytes() != checksum {
        return Err(ManifestError::Checksum);
    }
    Ok(read_body(&whole[PREFIX..])?)
}

fn read_body(bytes: &[u8]) -> Result<Manifest, StateError> {
    let mut input = StateDecoder::new("manifest", bytes);
    let mut checkpoint = Checkpoint { id: input.u64()?, ..Checkpoint::default() };
    checkpoint.kind = match input.u8()? {
        0 => CheckpointKind::Checkpoint,
        1 => CheckpointKind::Savepoint,
        _ => return Err(input.damaged("a kind that is none")),
    };
    let files = input.list(|input| Ok(input.str()?.to_string()))?;
    let mut pieces = Vec::new();
    let operators = input.list(|input| {
        let uid: Arc<str> = input.str()?.into();
        let parallelism = read_number(input)?;
        let tasks = input.list(|input| {
            let (task, watermark) = (read_number(input)?, input.i64()?);
            pieces.push(input.list(|input| read_piece(input, files.len()))?);
            Ok(OperatorState { task, watermark, snapshot: Arc::from([]) })
        })?;
        Ok((uid, OperatorStates { parallelism, tasks }))
    })?;
    checkpoint.operators = operators.into_iter().collect();
    checkpoint.sources = input.list(read_source)?.into_iter().collect();
    let committables = input.list(|input| {
        let uid: Arc<str> = input.str()?.into();
        Ok((uid, input.list(|input| Ok(input.bytes()?.to_vec()))?))
    })?;
    checkpoint.committables = committables.into_iter().collect();
    input.finish()?;
    Ok(Manifest { files, checkpoint, pieces })
}

fn read_piece(input: &mut StateDecoder<'_>, files: usize) -> Result<Piece, StateError> {
    let file = read_number(input)?;
    if file >= files {
        return Err(input.damaged("a file that is not listed"));
    }
    let (offset, length) = (input.u64()?, input.u64()?);
    let hash = u128::from(input.u64()?) | u128::from(input.u64()?) << 64;
    Ok(Piece { file, offset, length, hash })
}

fn read_source(input: &mut StateDecoder<'_>) -> Result<(Arc<str>, SourceState), StateError> {
    let uid: Arc<str> = input.str()?.into();
    let enumerator = input.bytes()?.to_vec();
    let unassigned = input.list(|input| Ok((read_split(input)?, input.option(read_number)?)))?;
    let parallelism = read_number(input)?;
    let tasks = input.list(|input| {
        Ok(SourceTaskState {
            task: read_number(input)?,
            splits: input.list(|input| Ok((read_split(input)?, input.i64()?)))?,
            watermark: input.i64()?,
            emitted: input.i64()?,
        })
    })?;
    Ok((uid, SourceState { enumerator, unassigned, parallelism, tasks }))
}

fn read_number(input: &mut StateDecoder<'_>) -> Result<usize, StateError> {
    let number = input.u64()?;
    usize::try_from(number).map_err(|_| input.damaged("a number that is too large"))
}

fn read_split(input: &mut StateDecoder<'_>) -> Result<Split, StateError> {
    Ok(Split { id: input.str()?.to_string(), position: input.bytes()?.to_vec() })
}
