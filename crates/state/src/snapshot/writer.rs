//! Writing a snapshot.

use xxhash_rust::xxh3::xxh3_64;

use super::encoder::StateEncoder;
use super::{FORMAT_VERSION, KEYED, MAGIC, OPERATOR};

/// Collects the sections of a task's snapshot.
#[derive(Debug)]
pub struct StateWriter {
    max_parallelism: u16,
    out: Vec<u8>,
}

impl StateWriter {
    /// A writer for a job of `max_parallelism` key groups.
    pub fn new(max_parallelism: u16) -> Self {
        Self { max_parallelism, out: Vec::new() }
    }

    /// The number of key groups.
    pub fn max_parallelism(&self) -> u16 {
        self.max_parallelism
    }

    /// Begins a section of keyed state, whose name is unique in the task.
    ///
    /// `version` is that of the entries' layout, counted from 1 by whoever writes them. `schema` names
    /// what they hold; a reader with another schema is refused.
    pub fn keyed(&mut self, name: &str, version: u16, schema: &str) -> KeyedSection<'_> {
        let head = Head { kind: KEYED, name: name.into(), version, schema: schema.into() };
        let groups = usize::from(self.max_parallelism);
        let mut blocks = Vec::with_capacity(groups);
        blocks.resize_with(groups, Block::default);
        KeyedSection { writer: self, head, blocks, scratch: StateEncoder::new() }
    }

    /// Writes a section of state that belongs to the task and not to a key.
    pub fn operator(&mut self, name: &str, version: u16, write: impl FnOnce(&mut StateEncoder)) {
        let mut value = StateEncoder::new();
        write(&mut value);
        let head = Head { kind: OPERATOR, name: name.into(), version, schema: String::new() };
        self.section(&head, &[(0, &Block { bytes: value.bytes, entries: 1 })]);
    }

    /// The snapshot.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn section(&mut self, head: &Head, blocks: &[(u16, &Block)]) {
        let mut header = StateEncoder::new();
        header.str(&head.name);
        header.bytes.extend_from_slice(&head.version.to_le_bytes());
        header.str(&head.schema);
        header.bytes.extend_from_slice(&self.max_parallelism.to_le_bytes());
        header.bytes.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
        for (group, block) in blocks {
            header.bytes.extend_from_slice(&group.to_le_bytes());
            header.bytes.extend_from_slice(&block.entries.to_le_bytes());
            header.bytes.extend_from_slice(&(block.bytes.len() as u64).to_le_bytes());
            header.bytes.extend_from_slice(&xxh3_64(&block.bytes).to_le_bytes());
        }
        let start = self.out.len();
        self.out.extend_from_slice(&MAGIC);
        self.out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        self.out.extend_from_slice(&[head.kind, 0]);
        self.out.extend_from_slice(&(header.bytes.len() as u32).to_le_bytes());
        self.out.extend_from_slice(&header.bytes);
        let checksum = xxh3_64(&self.out[start..]);
        self.out.extend_from_slice(&checksum.to_le_bytes());
        blocks.iter().for_each(|(_, block)| self.out.extend_from_slice(&block.bytes));
    }
}

/// What a section's header says beside its blocks.
#[derive(Debug)]
struct Head {
    kind: u8,
    name: String,
    version: u16,
    schema: String,
}

/// The entries of one key group.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    entries: u32,
}

/// A section of keyed state under construction; it is part of the snapshot once finished.
#[derive(Debug)]
#[must_use = "a section is written by `finish`"]
pub struct KeyedSection<'a> {
    writer: &'a mut StateWriter,
    head: Head,
    blocks: Vec<Block>,
    scratch: StateEncoder,
}

impl KeyedSection<'_> {
    /// The number of key groups.
    pub fn max_parallelism(&self) -> u16 {
        self.writer.max_parallelism
    }

    /// Writes an entry. `key_group` is below the number of key groups; the key may be any bytes.
    pub fn entry(&mut self, key_group: u16, key: &[u8], write: impl FnOnce(&mut StateEncoder)) {
        self.scratch.bytes.clear();
        self.scratch.bytes(key);
        let at = self.scratch.bytes.len();
        write(&mut self.scratch);
        let block = &mut self.blocks[usize::from(key_group)];
        let mut out = StateEncoder { bytes: std::mem::take(&mut block.bytes) };
        let (key, value) = self.scratch.bytes.split_at(at);
        out.bytes.extend_from_slice(key);
        out.bytes(value);
        block.bytes = out.bytes;
        block.entries += 1;
    }

    /// Completes the section.
    pub fn finish(self) {
        let blocks: Vec<_> =
            (0u16..).zip(&self.blocks).filter(|(_, block)| block.entries > 0).collect();
        self.writer.section(&self.head, &blocks);
    }
}
