//! Blocks: entries of one key group, written together.

use hashbrown::HashSet;

use super::decoder::StateDecoder;
use super::encoder::StateEncoder;
use super::scratch::{Scratch, ScratchPart};
use crate::error::Result;

/// Entries lie in chunks of about so many bytes, so that a large block is never moved as it grows.
const CHUNK: usize = 1 << 20;

/// Entries of one key group: all there are, or what became of some keys.
#[derive(Debug, Clone, Default)]
pub struct Block {
    is_whole: bool,
    entries: u32,
    /// Whole entries each.
    chunks: Vec<Chunk>,
}

/// Part of a block's bytes.
#[derive(Debug, Clone)]
enum Chunk {
    Memory(Vec<u8>),
    Disk(ScratchPart),
}

impl Chunk {
    fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Disk(part) => part.len(),
        }
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |block: &Self| {
            let mut bytes = Vec::with_capacity(block.len());
            block.read(|chunk| bytes.extend_from_slice(chunk)).map(|()| bytes)
        };
        self.is_whole == other.is_whole
            && self.entries == other.entries
            && matches!((bytes(self), bytes(other)), (Ok(left), Ok(right)) if left == right)
    }
}

impl Eq for Block {}

impl Block {
    /// A block of these bytes, as [`Self::read`] gave them.
    pub fn new(is_whole: bool, entries: u32, bytes: Vec<u8>) -> Self {
        Self { is_whole, entries, chunks: vec![Chunk::Memory(bytes)] }
    }

    /// Whether it holds every key of its group, and not changes only.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The number of entries.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Hands over the bytes in order, part by part. Those on disk do not stay in memory.
    ///
    /// Fails when the disk cannot be read.
    pub fn read(&self, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut buffer = Vec::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Memory(bytes) => take(bytes),
                Chunk::Disk(part) => {
                    part.read(&mut buffer)?;
                    take(&buffer);
                }
            }
        }
        Ok(())
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }

    /// The bytes held in memory.
    pub fn memory(&self) -> usize {
        let of = |chunk: &Chunk| match chunk {
            Chunk::Memory(bytes) => bytes.capacity(),
            Chunk::Disk(part) => part.memory(),
        };
        self.chunks.iter().map(of).sum()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The blocks of a chain, first to last, as one. `is_whole` says that nothing is before the
    /// first, so that keys that are gone need not be remembered.
    ///
    /// Fails when a block is damaged; `section` names it then.
    pub fn merged(section: &str, blocks: &[&Self], is_whole: bool) -> Result<Self> {
        let is_whole = is_whole || blocks.first().is_some_and(|block| block.is_whole);
        let mut merged = BlockBuilder::new(is_whole);
        let mut seen: HashSet<&[u8], foldhash::fast::FixedState> = HashSet::default();
        for (at, block) in blocks.iter().enumerate().rev() {
            let mut items = Items::new(section, block);
            while let Some((key, value)) = items.next()? {
                let is_latest = if at == 0 { !seen.contains(key) } else { seen.insert(key) };
                match value {
                    _ if !is_latest => {}
                    Some(value) => {
                        merged.entry(key, |out| out.bytes.extend_from_slice(value.rest()));
                    }
                    None => merged.gone(key),
                }
            }
        }
        Ok(merged.finish())
    }

    pub(super) fn chunk(&self, at: usize) -> Result<Option<&[u8]>> {
        match self.chunks.get(at) {
            None => Ok(None),
            Some(Chunk::Memory(bytes)) => Ok(Some(bytes)),
            Some(Chunk::Disk(part)) => part.load().map(Some),
        }
    }
}

/// Reads the entries of a block: keys, and values of those that are not gone.
#[derive(Debug)]
pub(super) struct Items<'a> {
    section: &'a str,
    block: &'a Block,
    left: u32,
    /// The chunk that is read, and the number of the next.
    input: StateDecoder<'a>,
    next: usize,
}

/// A key, and its value unless it is gone.
pub(super) type Item<'a> = (&'a [u8], Option<StateDecoder<'a>>);

impl<'a> Items<'a> {
    pub fn new(section: &'a str, block: &'a Block) -> Self {
        let input = StateDecoder::new(section, &[]);
        Self { section, block, left: block.entries, input, next: 0 }
    }

    /// The next entry; fails when the bytes do not hold as many as they should.
    pub fn next(&mut self) -> Result<Option<Item<'a>>> {
        while self.input.remaining() == 0
            && let Some(chunk) = self.block.chunk(self.next)?
        {
            self.input = StateDecoder::at(self.section, self.input.offset(), chunk);
            self.next += 1;
        }
        if self.left == 0 {
            return match self.input.remaining() {
                0 => Ok(None),
                _ => Err(self.input.damaged("more bytes than expected")),
            };
        }
        self.left -= 1;
        let key = self.input.bytes()?;
        if !self.block.is_whole && !self.input.bool()? {
            return Ok(Some((key, None)));
        }
        let len = self.input.count()?;
        let offset = self.input.offset();
        let value = StateDecoder::at(self.section, offset, self.input.take(len)?);
        Ok(Some((key, Some(value))))
    }

    /// How many entries are left.
    pub fn remaining(&self) -> usize {
        self.left as usize
    }
}

/// A block under construction.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    is_whole: bool,
    entries: u32,
    chunks: Vec<Chunk>,
    open: StateEncoder,
    /// Where chunks go that are full.
    scratch: Option<Scratch>,
}

impl BlockBuilder {
    pub fn new(is_whole: bool) -> Self {
        Self { is_whole, ..Self::default() }
    }

    /// The same, whose chunks go to disk when memory has no room.
    pub fn beside(self, scratch: Option<Scratch>) -> Self {
        Self { scratch, ..self }
    }

    /// Makes a block that was to be whole, and has no entry yet, one of changes.
    pub fn of_changes(&mut self) {
        self.is_whole = false;
    }

    /// Adds an entry, whose value `write` writes.
    pub fn entry(&mut self, key: &[u8], write: impl FnOnce(&mut StateEncoder)) {
        self.open.bytes(key);
        if !self.is_whole {
            self.open.bool(true);
        }
        let at = self.open.bytes.len();
        // Most values are so short that their length is one byte.
        self.open.bytes.push(0);
        write(&mut self.open);
        let len = self.open.bytes.len() - at - 1;
        if len < 0x80 {
            self.open.bytes[at] = len as u8;
        } else {
            let mut prefix = StateEncoder::new();
            prefix.count(len);
            self.open.bytes.splice(at..=at, prefix.bytes);
        }
        self.count();
    }

    /// Says that a key is gone; a block of all there is need not.
    pub fn gone(&mut self, key: &[u8]) {
        if !self.is_whole {
            self.open.bytes(key);
            self.open.bool(false);
            self.count();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn finish(mut self) -> Block {
        if !self.open.bytes.is_empty() {
            let on_disk = self.scratch.as_ref().and_then(|disk| disk.put(&self.open.bytes));
            self.open.bytes.shrink_to_fit();
            self.chunks.push(on_disk.map_or(Chunk::Memory(self.open.bytes), Chunk::Disk));
        }
        Block { is_whole: self.is_whole, entries: self.entries, chunks: self.chunks }
    }

    fn count(&mut self) {
        self.entries += 1;
        let full = self.scratch.as_ref().map_or(CHUNK, Scratch::part);
        if self.open.bytes.len() < full {
            return;
        }
        if let Some(part) = self.scratch.as_ref().and_then(|disk| disk.put(&self.open.bytes)) {
            self.chunks.push(Chunk::Disk(part));
            self.open.bytes.clear();
        } else {
            let next = Vec::with_capacity(full + full / 16);
            let bytes = std::mem::replace(&mut self.open.bytes, next);
            self.chunks.push(Chunk::Memory(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(is_whole: bool, entries: &[(&[u8], Option<&[u8]>)]) -> Block {
        let mut builder = BlockBuilder::new(is_whole);
        for (key, value) in entries {
            match value {
                Some(value) => builder.entry(key, |out| out.bytes.extend_from_slice(value)),
                None => builder.gone(key),
            }
        }
        builder.finish()
    }

    fn content(block: &Block) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let mut items = Items::new("test", block);
        let mut all = Vec::new();
        while let Some((key, value)) = items.next().unwrap() {
            all.push((key.to_vec(), value.map(|value| value.rest().to_vec())));
        }
        all.sort();
        all
    }

    #[test]
    fn what_comes_later_counts() {
        let long = vec![7; 300];
        let base = block(true, &[(b"a", Some(b"1")), (b"b", Some(b"2")), (b"c", Some(&long))]);
        let first = block(false, &[(b"a", None), (b"d", Some(b"4")), (b"b", Some(b"5"))]);
        let second = block(false, &[(b"d", None), (b"a", Some(b"6"))]);
        let whole = Block::merged("test", &[&base, &first, &second], false).unwrap();
        let expected: [(&[u8], &[u8]); 3] = [(b"a", b"6"), (b"b", b"5"), (b"c", &long)];
        let expected = expected.map(|(key, value)| (key.to_vec(), Some(value.to_vec())));
        assert!(whole.is_whole());
        assert_eq!(content(&whole), expected);
        let changes = Block::merged("test", &[&first, &second], false).unwrap();
        assert!(!changes.is_whole());
        assert_eq!(content(&changes).len(), 3, "what is gone must be remembered");
        let same = Block::merged("test", &[&base, &changes], false).unwrap();
        assert_eq!(content(&same), expected);
        let alone = Block::merged("test", &[&first, &second], true).unwrap();
        assert_eq!(content(&alone).len(), 2);
    }

    #[test]
    fn large_blocks_are_kept_in_chunks() {
        let mut builder = BlockBuilder::new(true);
        for number in 0..100_000u64 {
            builder.entry(&number.to_le_bytes(), |out| (0..4).for_each(|_| out.f64(1.5)));
        }
        let block = builder.finish();
        assert!(block.chunks.len() > 3);
        assert_eq!(content(&block).len(), 100_000);
        let mut bytes = Vec::new();
        block.read(|chunk| bytes.extend_from_slice(chunk)).unwrap();
        assert_eq!(bytes.len(), block.len());
        assert_eq!(content(&Block::new(true, 100_000, bytes.clone())), content(&block));
        let short = Block::new(true, 100_001, bytes);
        let mut items = Items::new("test", &short);
        let error = loop {
            match items.next() {
                Ok(entry) => assert!(entry.is_some()),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("ends early"), "{error}");
    }

    #[test]
    fn what_has_no_room_in_memory_is_on_disk() {
        let space = crate::SpillSpace::new(vec![std::env::temp_dir()], 1 << 20);
        let scratch = Scratch::new(&space, 100_000);
        let write = |builder: &mut BlockBuilder| {
            for number in 0..100_000u64 {
                builder.entry(&number.to_le_bytes(), |out| (0..4).for_each(|_| out.f64(1.5)));
            }
        };
        let (mut on_disk, mut in_memory) =
            (BlockBuilder::new(true).beside(Some(scratch)), BlockBuilder::new(true));
        write(&mut on_disk);
        write(&mut in_memory);
        let (on_disk, in_memory) = (on_disk.finish(), in_memory.finish());
        assert!(on_disk.len() > 4_000_000);
        assert!(on_disk.memory() < 300_000, "{}", on_disk.memory());
        assert!(on_disk == in_memory);
        // To read all bytes once keeps none of them, to read entries does.
        assert!(on_disk.memory() < 300_000, "{}", on_disk.memory());
        assert_eq!(content(&on_disk), content(&in_memory));
    }
}
