//! Blocks: entries of one key group, written together.

use hashbrown::HashSet;

use super::decoder::StateDecoder;
use super::encoder::StateEncoder;
use crate::error::Result;

/// Entries lie in chunks of about so many bytes, so that a large block is never moved as it grows.
const CHUNK: usize = 1 << 20;

/// Entries of one key group: all there are, or what became of some keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    is_whole: bool,
    entries: u32,
    /// Whole entries each.
    chunks: Vec<Vec<u8>>,
}

impl Block {
    /// A block of these bytes, as [`Self::chunks`] gave them.
    pub fn new(is_whole: bool, entries: u32, bytes: Vec<u8>) -> Self {
        Self { is_whole, entries, chunks: vec![bytes] }
    }

    /// Whether it holds every key of its group, and not changes only.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The number of entries.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// The bytes in order.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(Vec::as_slice)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
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

    pub(super) fn chunk(&self, at: usize) -> Option<&[u8]> {
        self.chunks.get(at).map(Vec::as_slice)
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
            && let Some(chunk) = self.block.chunk(self.next)
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
    chunks: Vec<Vec<u8>>,
    open: StateEncoder,
}

impl BlockBuilder {
    pub fn new(is_whole: bool) -> Self {
        Self { is_whole, ..Self::default() }
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
            self.chunks.push(self.open.bytes);
        }
        Block { is_whole: self.is_whole, entries: self.entries, chunks: self.chunks }
    }

    fn count(&mut self) {
        self.entries += 1;
        if self.open.bytes.len() >= CHUNK {
            let full = std::mem::replace(&mut self.open.bytes, Vec::with_capacity(CHUNK + 4096));
            self.chunks.push(full);
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
        assert!(block.chunks().count() > 3);
        assert_eq!(content(&block).len(), 100_000);
        let bytes: Vec<u8> = block.chunks().flatten().copied().collect();
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
}
