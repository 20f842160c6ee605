//! Reading snapshots, of one task or of many.

use xxhash_rust::xxh3::xxh3_64;

use super::decoder::StateDecoder;
use super::{FORMAT_VERSION, KEYED, MAGIC, OPERATOR, PREFIX};
use crate::error::{Result, StateError};
use crate::keys::KeyGroupRange;

/// The sections of the snapshots from which a task starts.
///
/// When the parallelism stays the same that is the task's own snapshot; when it changes, those of all
/// tasks, of which the reader gives the key groups of its range.
#[derive(Debug)]
pub struct StateReader<'a> {
    max_parallelism: u16,
    range: KeyGroupRange,
    sections: Vec<Section<'a>>,
}

/// A section's header, checked, and its body, not yet.
#[derive(Debug)]
pub(super) struct Section<'a> {
    kind: u8,
    name: &'a str,
    version: u16,
    schema: &'a str,
    max_parallelism: u16,
    blocks: Vec<Block<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Block<'a> {
    section: &'a str,
    version: u16,
    key_group: u16,
    entries: u32,
    checksum: u64,
    /// Where the block starts in its snapshot.
    offset: usize,
    bytes: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// A reader for a task that owns the key groups of `range`.
    pub fn new(max_parallelism: u16, range: KeyGroupRange) -> Self {
        Self { max_parallelism, range, sections: Vec::new() }
    }

    /// Adds a snapshot, whose section headers are checked at once and whose entries when they are read.
    pub fn add(&mut self, snapshot: &'a [u8]) -> Result<()> {
        let mut input = StateDecoder::new("snapshot", snapshot);
        while input.remaining() > 0 {
            self.sections.push(section(&mut input, snapshot)?);
        }
        Ok(())
    }

    /// The key groups the task owns.
    pub fn range(&self) -> &KeyGroupRange {
        &self.range
    }

    /// The names of the sections, each once, in the order in which they came.
    pub fn names(&self) -> Vec<&'a str> {
        let mut names = Vec::new();
        for section in &self.sections {
            if !names.contains(&section.name) {
                names.push(section.name);
            }
        }
        names
    }

    /// Whether a snapshot has a section of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name == name)
    }

    /// The entries of a keyed section in the task's key groups, from all snapshots.
    ///
    /// Fails when no snapshot has the section, or one has it in a version above `known_version`, with
    /// another schema or for another number of key groups.
    pub fn keyed(&self, name: &str, known_version: u16, schema: &str) -> Result<KeyedEntries<'a>> {
        let mut blocks = Vec::new();
        for section in self.named(name, KEYED, known_version)? {
            if section.schema != schema {
                return Err(StateError::Schema {
                    section: name.into(),
                    expected: schema.into(),
                    found: section.schema.into(),
                });
            }
            if section.max_parallelism != self.max_parallelism {
                return Err(StateError::MaxParallelism {
                    section: name.into(),
                    expected: self.max_parallelism,
                    found: section.max_parallelism,
                });
            }
            blocks.extend(section.blocks.iter().filter(|b| self.range.contains(b.key_group)));
        }
        blocks.reverse();
        Ok(KeyedEntries { blocks, current: None })
    }

    /// A section of task state, from each snapshot that has it: its version and its value.
    ///
    /// Fails when no snapshot has it, or one has it in a version above `known_version`.
    pub fn operator(&self, name: &str, known_version: u16) -> Result<Vec<(u16, StateDecoder<'a>)>> {
        let mut values = Vec::new();
        for section in self.named(name, OPERATOR, known_version)? {
            for block in &section.blocks {
                values.push((section.version, block.checked()?));
            }
        }
        Ok(values)
    }

    fn named(&self, name: &str, kind: u8, known: u16) -> Result<Vec<&Section<'a>>> {
        let found: Vec<_> =
            self.sections.iter().filter(|s| s.name == name && s.kind == kind).collect();
        if found.is_empty() {
            return Err(StateError::MissingSection { section: name.into() });
        }
        match found.iter().find(|section| section.version > known) {
            Some(later) => {
                Err(StateError::Version { section: name.into(), found: later.version, known })
            }
            None => Ok(found),
        }
    }
}

pub(super) fn section<'a>(input: &mut StateDecoder<'a>, snapshot: &'a [u8]) -> Result<Section<'a>> {
    let start = input.offset();
    if input.remaining() < PREFIX || input.take(MAGIC.len())? != MAGIC {
        return Err(if start == 0 {
            StateError::Foreign
        } else {
            input.damaged("no section here")
        });
    }
    let format = input.u16_fixed()?;
    if format != FORMAT_VERSION {
        return Err(StateError::Version {
            section: "snapshot".into(),
            found: format,
            known: FORMAT_VERSION,
        });
    }
    let kind = input.u8()?;
    input.u8()?;
    let length = input.u32_fixed()? as usize;
    let offset = input.offset();
    let mut header = StateDecoder::at("snapshot", offset, input.take(length)?);
    let end = input.offset();
    if input.u64_fixed()? != xxh3_64(&snapshot[start..end]) {
        return Err(input.damaged("section header fails its checksum"));
    }
    if kind > OPERATOR {
        return Err(input.damaged("section of an unknown kind"));
    }
    let name = header.str()?;
    let version = header.u16_fixed()?;
    let schema = header.str()?;
    let max_parallelism = header.u16_fixed()?;
    let count = header.u32_fixed()?;
    let mut blocks = Vec::new();
    for _ in 0..count {
        let key_group = header.u16_fixed()?;
        let entries = header.u32_fixed()?;
        let length = header.u64_fixed()?;
        let checksum = header.u64_fixed()?;
        let offset = input.offset();
        let length = usize::try_from(length).map_err(|_| input.damaged("ends early"))?;
        let bytes = input.take(length)?;
        blocks.push(Block { section: name, version, key_group, entries, checksum, offset, bytes });
    }
    header.finish()?;
    Ok(Section { kind, name, version, schema, max_parallelism, blocks })
}

impl Section<'_> {
    /// How long each block is, in order.
    pub(super) fn block_lengths(&self) -> Vec<usize> {
        self.blocks.iter().map(|block| block.bytes.len()).collect()
    }
}

impl<'a> Block<'a> {
    fn checked(&self) -> Result<StateDecoder<'a>> {
        let input = StateDecoder::at(self.section, self.offset, self.bytes);
        if xxh3_64(self.bytes) == self.checksum {
            Ok(input)
        } else {
            Err(input.damaged("contents fail their checksum"))
        }
    }
}

/// An entry of keyed state.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The version of its layout.
    pub version: u16,
    /// The key group it was written for.
    pub key_group: u16,
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: StateDecoder<'a>,
}

/// Entries of keyed state, key group by key group.
#[derive(Debug)]
pub struct KeyedEntries<'a> {
    /// Those not begun, last first.
    blocks: Vec<Block<'a>>,
    current: Option<(Block<'a>, StateDecoder<'a>)>,
}

impl<'a> KeyedEntries<'a> {
    /// How many entries remain.
    pub fn remaining(&self) -> usize {
        let begun = self.current.as_ref().map_or(0, |(block, _)| block.entries as usize);
        begun + self.blocks.iter().map(|block| block.entries as usize).sum::<usize>()
    }

    fn advance(&mut self) -> Result<Option<Entry<'a>>> {
        loop {
            if let Some((block, input)) = &mut self.current {
                if block.entries > 0 {
                    block.entries -= 1;
                    let key = input.bytes()?;
                    let len = input.count()?;
                    let offset = input.offset();
                    let value = StateDecoder::at(block.section, offset, input.take(len)?);
                    let (version, key_group) = (block.version, block.key_group);
                    return Ok(Some(Entry { version, key_group, key, value }));
                }
                if let Some((_, input)) = self.current.take() {
                    input.finish()?;
                }
            }
            let Some(block) = self.blocks.pop() else { return Ok(None) };
            self.current = Some((block, block.checked()?));
        }
    }
}

impl<'a> Iterator for KeyedEntries<'a> {
    type Item = Result<Entry<'a>>;

    /// The next entry; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.advance();
        if entry.is_err() {
            self.blocks.clear();
            self.current = None;
        }
        entry.transpose()
    }
}
