//! The manifest: what a stored checkpoint says of itself, as bytes. The layout is in
//! `docs/state-format.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use flott_catalog::connector::Split;
use flott_state::{Section, SectionKind, StateDecoder, StateEncoder, StateError};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Checkpoint, CheckpointKind, OperatorState, OperatorStates, SourceState, SourceTaskState,
};

const MAGIC: [u8; 4] = *b"FLCP";
/// What `_metadata` of Flink begins with.
const FLINK: [u8; 4] = [0x49, 0x60, 0x67, 0x2D];
const VERSION: u16 = 2;
/// The version in which snapshots were runs of bytes.
const RUNS_OF_BYTES: u16 = 1;
/// Magic and version before the body, and the checksum behind it.
const PREFIX: usize = 6;
const CHECKSUM: usize = 8;

/// Where some bytes of a snapshot are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The file: its position in the manifest's list, or its number in the store.
    pub(super) file: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    /// XXH3-128 of the bytes.
    pub(super) hash: u128,
}

/// A block of a chain that is on disk.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredBlock {
    pub(super) is_whole: bool,
    pub(super) entries: u32,
    pub(super) piece: Piece,
}

/// A section whose blocks are on disk: its head, which has no groups, and the chains by key group.
#[derive(Debug, Clone)]
pub(super) struct StoredSection {
    pub(super) head: Section,
    pub(super) groups: BTreeMap<u16, Vec<StoredBlock>>,
}

/// The sections of each task of each operator, by the operator's fingerprint and the task's number.
pub(super) type StoredStates = BTreeMap<(Arc<str>, usize), Vec<StoredSection>>;

/// How the state of a task is kept.
#[derive(Debug)]
pub(super) enum StoredState {
    /// Version 1: these pieces, one after the other, are a snapshot.
    Bytes(Vec<Piece>),
    Sections(Vec<StoredSection>),
}

/// Why a manifest cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("its manifest '_metadata' ends early")]
    Short,
    #[error("'_metadata' is no checkpoint of Flott")]
    Foreign,
    #[error("'_metadata' is one of Flink, whose state Flott cannot read")]
    Flink,
    #[error(
        "'_metadata' has version {0} of the format, and this program knows {VERSION}: use a newer one"
    )]
    Version(u16),
    #[error("its manifest fails its checksum: '_metadata' was altered or cut off")]
    Checksum,
    #[error("its manifest '_metadata' cannot be read: {0}")]
    Contents(#[from] StateError),
}

/// A manifest as read, with snapshots still in pieces.
pub(super) struct Manifest {
    /// The files that hold pieces, relative to the manifest's folder.
    pub(super) files: Vec<String>,
    /// The checkpoint, with empty snapshots.
    pub(super) checkpoint: Checkpoint,
    /// Where the state of each task is, in the order of operators and tasks.
    pub(super) states: Vec<StoredState>,
}

/// Writes a manifest. `states` is where the state of each task is, by numbers of files, and `name` gives
/// the name of a file.
pub(super) fn write(
    checkpoint: &Checkpoint,
    states: &StoredStates,
    name: impl Fn(u64) -> String,
) -> Vec<u8> {
    let mut files = Vec::new();
    let mut operators = StateEncoder::new();
    operators.list(checkpoint.operators.iter(), |out, (uid, of)| {
        out.str(uid);
        number(out, of.parallelism);
        out.list(of.tasks.iter(), |out, state| {
            number(out, state.task);
            out.i64(state.watermark);
            let sections = states.get(&(uid.clone(), state.task)).map_or(&[][..], Vec::as_slice);
            out.list(sections.iter(), |out, section| write_section(out, section, &mut files));
        });
    });
    let mut body = StateEncoder::new();
    body.u64(checkpoint.id);
    body.u8(match checkpoint.kind {
        CheckpointKind::Checkpoint => 0,
        CheckpointKind::Savepoint => 1,
    });
    body.list(files.iter(), |body, file| body.str(&name(*file)));
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
    bytes
}

/// Writes a section; `files` are the numbers of files met so far.
fn write_section(out: &mut StateEncoder, section: &StoredSection, files: &mut Vec<u64>) {
    let head = &section.head;
    out.u8(match head.kind {
        SectionKind::Keyed => 0,
        SectionKind::Operator => 1,
    });
    out.str(&head.name);
    out.u64(head.version.into());
    out.str(&head.schema);
    out.u64(head.max_parallelism.into());
    out.list(section.groups.iter(), |out, (key_group, blocks)| {
        out.u64((*key_group).into());
        out.list(blocks.iter(), |out, block| {
            out.bool(block.is_whole);
            out.u32(block.entries);
            let Piece { file, offset, length, hash } = block.piece;
            let known = files.iter().position(|known| *known == file);
            number(out, known.unwrap_or(files.len()));
            if known.is_none() {
                files.push(file);
            }
            out.u64(offset);
            out.u64(length);
            out.u64(hash as u64);
            out.u64((hash >> 64) as u64);
        });
    });
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
    if bytes.starts_with(&FLINK) {
        return Err(ManifestError::Flink);
    }
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err(ManifestError::Foreign);
    }
    if bytes.len() < PREFIX + CHECKSUM {
        return Err(ManifestError::Short);
    }
    let version = u16::from_le_bytes([bytes[4], bytes[5]]);
    if version != VERSION && version != RUNS_OF_BYTES {
        return Err(ManifestError::Version(version));
    }
    let (whole, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if xxh3_64(whole).to_le_bytes() != checksum {
        return Err(ManifestError::Checksum);
    }
    Ok(read_body(&whole[PREFIX..], version)?)
}

fn read_body(bytes: &[u8], version: u16) -> Result<Manifest, StateError> {
    let mut input = StateDecoder::new("manifest", bytes);
    let mut checkpoint = Checkpoint { id: input.u64()?, ..Checkpoint::default() };
    checkpoint.kind = match input.u8()? {
        0 => CheckpointKind::Checkpoint,
        1 => CheckpointKind::Savepoint,
        _ => return Err(input.damaged("a kind that is none")),
    };
    let files = input.list(|input| Ok(input.str()?.to_string()))?;
    let mut states = Vec::new();
    let operators = input.list(|input| {
        let uid: Arc<str> = input.str()?.into();
        let parallelism = read_number(input)?;
        let tasks = input.list(|input| {
            let (task, watermark) = (read_number(input)?, input.i64()?);
            states.push(if version == RUNS_OF_BYTES {
                StoredState::Bytes(input.list(|input| read_piece(input, files.len()))?)
            } else {
                StoredState::Sections(input.list(|input| read_section(input, files.len()))?)
            });
            Ok(OperatorState { task, watermark, since: None, snapshot: Arc::default() })
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
    Ok(Manifest { files, checkpoint, states })
}

fn read_section(input: &mut StateDecoder<'_>, files: usize) -> Result<StoredSection, StateError> {
    let kind = match input.u8()? {
        0 => SectionKind::Keyed,
        1 => SectionKind::Operator,
        _ => return Err(input.damaged("a section of an unknown kind")),
    };
    let name = input.str()?.to_string();
    let version = read_short(input)?;
    let schema = input.str()?.to_string();
    let max_parallelism = read_short(input)?;
    let mut groups = BTreeMap::new();
    for _ in 0..input.count()? {
        let key_group = read_short(input)?;
        let blocks = input.list(|input| read_block(input, files))?;
        if blocks.iter().skip(1).any(|block: &StoredBlock| block.is_whole) {
            return Err(input.damaged("a whole block behind another"));
        }
        if groups.insert(key_group, blocks).is_some() {
            return Err(input.damaged("a key group twice"));
        }
    }
    let is_continued = false;
    let head =
        Section { kind, name, version, schema, max_parallelism, is_continued, groups: Vec::new() };
    Ok(StoredSection { head, groups })
}

fn read_block(input: &mut StateDecoder<'_>, files: usize) -> Result<StoredBlock, StateError> {
    let (is_whole, entries) = (input.bool()?, input.u32()?);
    let piece = read_piece(input, files)?;
    // Each entry takes at least one byte, so that a number of them is no reason to run out of memory.
    if u64::from(entries) > piece.length.max(1) {
        return Err(input.damaged("more entries than bytes"));
    }
    Ok(StoredBlock { is_whole, entries, piece })
}

fn read_short(input: &mut StateDecoder<'_>) -> Result<u16, StateError> {
    u16::try_from(input.u64()?).map_err(|_| input.damaged("a number that is too large"))
}

fn read_piece(input: &mut StateDecoder<'_>, files: usize) -> Result<Piece, StateError> {
    let file = input.u64()?;
    if file >= files as u64 {
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
