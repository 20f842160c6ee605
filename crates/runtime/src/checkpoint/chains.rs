//! The chains of blocks of a checkpoint, as far as they go to disk: what is new is written, what is there
//! is pointed to, and chains that have grown long are written anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flott_state::{Block, Section, StateError, merge_from};
use xxhash_rust::xxh3::Xxh3;

use super::load::{PieceProblem, read_piece};
use super::manifest::{Piece, StoredBlock, StoredSection, StoredStates};
use super::piece_file::PieceFile;
use super::{Checkpoint, missing_base};
use crate::Result;

/// A file of which less than one byte in so many is still wanted is not pointed to any more, so
/// that it can go.
const LEAST_USE: u64 = 4;

/// The state of a task with what is new in memory.
struct State<'a> {
    uid: Arc<str>,
    task: usize,
    sections: Vec<Chained<'a>>,
}

/// A section whose new blocks are in memory.
struct Chained<'a> {
    head: Section,
    groups: BTreeMap<u16, Vec<Link<'a>>>,
}

/// A block of a chain; a new one with its hash.
#[derive(Clone)]
enum Link<'a> {
    New(&'a Block, u128),
    Stored(StoredBlock),
}

/// Where the blocks of the checkpoint before are, by hash.
type Known = HashMap<u128, Piece>;

impl Link<'_> {
    fn is_whole(&self) -> bool {
        match self {
            Self::New(block, _) => block.is_whole(),
            Self::Stored(block) => block.is_whole,
        }
    }

    fn length(&self) -> u64 {
        match self {
            Self::New(block, _) => block.len() as u64,
            Self::Stored(block) => block.piece.length,
        }
    }
}

/// Writes what a checkpoint holds and the one before it did not.
pub(super) struct ChainWriter<'a> {
    /// The folder of the files, whose names are their numbers, and the length of each.
    pub(super) folder: &'a Path,
    pub(super) lengths: &'a BTreeMap<u64, u64>,
    /// The number of the file that is written, and the file.
    pub(super) id: u64,
    pub(super) out: PieceFile,
}

impl ChainWriter<'_> {
    /// Writes the states of operators, of which `before` are those of checkpoint `base`; gives where all of
    /// them are then.
    pub(super) fn write(
        &mut self,
        checkpoint: &Checkpoint,
        before: &StoredStates,
        base: Option<u64>,
    ) -> Result<StoredStates> {
        let states = states(checkpoint, before, base)?;
        let written = self.write_states(&states, before);
        written.map_err(|error| super::directory::not_kept(checkpoint.id, error))
    }

    fn write_states(
        &mut self,
        states: &[State<'_>],
        before: &StoredStates,
    ) -> io::Result<StoredStates> {
        let known = before.values().flatten().flat_map(|section| section.groups.values().flatten());
        let mut known: Known = known.map(|block| (block.piece.hash, block.piece)).collect();
        let unwanted = unwanted_files(states, &known, self.lengths);
        known.retain(|_, piece| !unwanted.contains(&piece.file));
        let mut source = Source { folder: self.folder.to_path_buf(), open: None };
        let mut all = StoredStates::new();
        for state in states {
            let mut sections = Vec::with_capacity(state.sections.len());
            for section in &state.sections {
                let mut groups = BTreeMap::new();
                for (key_group, chain) in &section.groups {
                    let chain = compacted(&section.head.name, *key_group, chain, &mut source)?;
                    let mut blocks = Vec::with_capacity(chain.len());
                    for link in chain {
                        blocks.push(match link {
                            Kept::Stored(block) if unwanted.contains(&block.piece.file) => {
                                let hash = block.piece.hash;
                                self.put(&source.block(&block)?, hash, &known)?
                            }
                            Kept::Stored(block) => block,
                            Kept::New(block, hash) => self.put(block, hash, &known)?,
                            Kept::Merged(block) => {
                                let hash = hash(&block).map_err(io::Error::other)?;
                                self.put(&block, hash, &known)?
                            }
                        });
                    }
                    if !blocks.is_empty() {
                        groups.insert(*key_group, blocks);
                    }
                }
                sections.push(StoredSection { head: section.head.clone(), groups });
            }
            all.insert((state.uid.clone(), state.task), sections);
        }
        Ok(all)
    }

    /// Keeps a block; one that is there is pointed to.
    fn put(&mut self, block: &Block, hash: u128, known: &Known) -> io::Result<StoredBlock> {
        let piece = match known.get(&hash) {
            Some(piece) => *piece,
            None => append(&mut self.out, self.id, block, hash)?,
        };
        Ok(StoredBlock { is_whole: block.is_whole(), entries: block.entries(), piece })
    }
}

/// Writes all blocks of a checkpoint that stands by itself to one file, whose number is 0.
pub(super) fn write_all(checkpoint: &Checkpoint, out: &mut PieceFile) -> io::Result<StoredStates> {
    let states = states(checkpoint, &StoredStates::new(), None).map_err(io::Error::other)?;
    let mut all = StoredStates::new();
    for state in states {
        let mut sections = Vec::with_capacity(state.sections.len());
        for section in state.sections {
            let mut groups = BTreeMap::new();
            for (key_group, chain) in section.groups {
                let blocks: Vec<&Block> = chain.iter().filter_map(Link::in_memory).collect();
                let merged;
                let block = match blocks[..] {
                    [block] if block.is_whole() => block,
                    _ => {
                        let name = &section.head.name;
                        merged = Block::merged(name, &blocks, true).map_err(io::Error::other)?;
                        &merged
                    }
                };
                let hash = hash(block).map_err(io::Error::other)?;
                let piece = append(out, 0, block, hash)?;
                let (is_whole, entries) = (true, block.entries());
                groups.insert(key_group, vec![StoredBlock { is_whole, entries, piece }]);
            }
            sections.push(StoredSection { head: section.head, groups });
        }
        all.insert((state.uid, state.task), sections);
    }
    Ok(all)
}

impl<'a> Link<'a> {
    fn in_memory(&self) -> Option<&'a Block> {
        match self {
            Self::New(block, _) => Some(block),
            Self::Stored(_) => None,
        }
    }
}

/// The chains of a checkpoint: those of the one before, and what is new behind them.
fn states<'a>(
    checkpoint: &'a Checkpoint,
    before: &StoredStates,
    base: Option<u64>,
) -> Result<Vec<State<'a>>> {
    let mut all = Vec::new();
    for (uid, states) in &checkpoint.operators {
        for state in &states.tasks {
            let before = before.get(&(uid.clone(), state.task)).map_or(&[][..], Vec::as_slice);
            let mut sections = Vec::with_capacity(state.snapshot.sections.len());
            for section in &state.snapshot.sections {
                let mut groups = BTreeMap::new();
                if section.is_continued {
                    let found = before.iter().find(|known| known.head.is_continued_by(section));
                    let found = found.filter(|_| state.since.is_some() && state.since == base);
                    let found = found.ok_or_else(|| missing_base(uid, state))?;
                    for (key_group, blocks) in &found.groups {
                        groups
                            .insert(*key_group, blocks.iter().copied().map(Link::Stored).collect());
                    }
                }
                for group in &section.groups {
                    let chain: &mut Vec<Link<'_>> = groups.entry(group.key_group).or_default();
                    for block in &group.blocks {
                        chain.push(Link::New(block, hash(block)?));
                    }
                }
                let head = Section {
                    groups: Vec::new(),
                    is_continued: false,
                    name: section.name.clone(),
                    schema: section.schema.clone(),
                    ..*section
                };
                sections.push(Chained { head, groups });
            }
            all.push(State { uid: uid.clone(), task: state.task, sections });
        }
    }
    Ok(all)
}

/// The files of which too little is wanted.
fn unwanted_files(
    states: &[State<'_>],
    known: &Known,
    lengths: &BTreeMap<u64, u64>,
) -> BTreeSet<u64> {
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    let sections = states.iter().flat_map(|state| &state.sections);
    for (key_group, chain) in sections.flat_map(|section| &section.groups) {
        let kept = merged_from(*key_group, chain).unwrap_or(chain.len());
        for link in &chain[..kept] {
            let piece = match link {
                Link::New(_, hash) => known.get(hash),
                Link::Stored(block) => Some(&block.piece),
            };
            if let Some(piece) = piece {
                *used.entry(piece.file).or_default() += piece.length;
            }
        }
    }
    let length = |file: &u64| lengths.get(file).copied().unwrap_or(0);
    used.into_iter()
        .filter(|(file, used)| used.saturating_mul(LEAST_USE) < length(file))
        .map(|(file, _)| file)
        .collect()
}

/// A block of a chain that is to be kept.
enum Kept<'a> {
    Stored(StoredBlock),
    New(&'a Block, u128),
    Merged(Block),
}

/// From where on a chain is merged, if it has grown long.
fn merged_from(key_group: u16, chain: &[Link<'_>]) -> Option<usize> {
    let lengths: Vec<_> = chain.iter().map(|link| (link.is_whole(), link.length())).collect();
    merge_from(key_group, &lengths)
}

/// A chain with its end merged, if it has grown long.
fn compacted<'a>(
    section: &str,
    key_group: u16,
    chain: &[Link<'a>],
    source: &mut Source,
) -> io::Result<Vec<Kept<'a>>> {
    let keep = |link: &Link<'a>| match link {
        Link::New(block, hash) => Kept::New(block, *hash),
        Link::Stored(block) => Kept::Stored(*block),
    };
    let Some(from) = merged_from(key_group, chain) else {
        return Ok(chain.iter().map(keep).collect());
    };
    let mut read = Vec::new();
    for link in &chain[from..] {
        if let Link::Stored(block) = link {
            read.push(source.block(block)?);
        }
    }
    let mut read_blocks = read.iter();
    let tail: Vec<&Block> = chain[from..]
        .iter()
        .filter_map(|link| link.in_memory().or_else(|| read_blocks.next()))
        .collect();
    let merged = Block::merged(section, &tail, from == 0).map_err(io::Error::other)?;
    let mut kept: Vec<Kept<'a>> = chain[..from].iter().map(keep).collect();
    if from > 0 || !merged.is_empty() {
        kept.push(Kept::Merged(merged));
    }
    Ok(kept)
}

/// Where blocks are read from.
struct Source {
    folder: PathBuf,
    /// The file that was read last.
    open: Option<(u64, File)>,
}

impl Source {
    fn block(&mut self, stored: &StoredBlock) -> io::Result<Block> {
        let number = stored.piece.file;
        let open = self.open.take().filter(|(file, _)| *file == number);
        let (_, file) = match open {
            Some(open) => self.open.insert(open),
            None => {
                let file = flott_disk::open(&self.folder.join(number.to_string()))?;
                self.open.insert((number, file))
            }
        };
        let bytes = read_piece(file, &stored.piece).map_err(|problem| match problem {
            PieceProblem::Io(error) => error,
            PieceProblem::Damaged(what) => {
                let message = format!("file '{number}' of an earlier checkpoint {what}");
                io::Error::new(io::ErrorKind::InvalidData, message)
            }
        })?;
        Ok(Block::new(stored.is_whole, stored.entries, bytes))
    }
}

fn append(out: &mut PieceFile, file: u64, block: &Block, hash: u128) -> io::Result<Piece> {
    let offset = out.append(|part| block.read(part))?;
    Ok(Piece { file, offset, length: block.len() as u64, hash })
}

fn hash(block: &Block) -> Result<u128, StateError> {
    let mut hash = Xxh3::new();
    block.read(|chunk| hash.update(chunk))?;
    Ok(hash.digest128())
}
