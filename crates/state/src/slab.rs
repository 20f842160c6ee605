//! Byte strings of any length in a few large blocks: no allocation each, freed space used again.

/// Bytes of one block, but for strings that are longer than that.
const BLOCK: usize = 1 << 18;
/// Positions count in units of 8 bytes, so that 32 bits reach 32 GiB.
const UNIT: usize = 8;
const UNITS_A_BLOCK: u32 = (BLOCK / UNIT) as u32;
/// Up to here the sizes step by one unit, beyond by a quarter of the power of two below.
const LINEAR: usize = 256;

/// Where a byte string lies in a [`ByteSlab`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByteRef {
    at: u32,
    len: u32,
}

/// An allocator of byte strings that never move.
///
/// Strings are rounded up to size classes (8 bytes apart up to 256, then four classes to each
/// doubling); a freed string's place serves the next of its class. Strings longer than a block
/// have one of their own, which is given back to the system when freed.
#[derive(Debug, Default)]
pub struct ByteSlab {
    blocks: Vec<Vec<u8>>,
    /// Free places by size class.
    free: Vec<Vec<u32>>,
    /// Blocks whose long string was freed.
    free_blocks: Vec<u32>,
    /// The block that grows; none at first.
    open: Option<u32>,
}

impl ByteSlab {
    /// Keeps a copy of `bytes`, or `None` when 32 GiB are in use or the string is over 4 GiB.
    pub fn insert(&mut self, bytes: &[u8]) -> Option<ByteRef> {
        let len = u32::try_from(bytes.len()).ok()?;
        if len == 0 {
            return Some(ByteRef::default());
        }
        let (class, size) = class_of(bytes.len());
        let at = if size > BLOCK { self.insert_long(bytes)? } else { self.place(class, size)? };
        if size <= BLOCK {
            let (block, start) = split(at);
            self.blocks[block][start..start + bytes.len()].copy_from_slice(bytes);
        }
        Some(ByteRef { at, len })
    }

    /// The bytes at `place`, which must be of this slab and not freed.
    #[inline]
    pub fn bytes(&self, place: ByteRef) -> &[u8] {
        if place.len == 0 {
            return &[];
        }
        let (block, start) = split(place.at);
        &self.blocks[block][start..start + place.len as usize]
    }

    /// Gives `place` back, which must be of this slab and not freed.
    pub fn remove(&mut self, place: ByteRef) {
        if place.len == 0 {
            return;
        }
        let (class, size) = class_of(place.len as usize);
        if size > BLOCK {
            let (block, _) = split(place.at);
            self.blocks[block] = Vec::new();
            self.free_blocks.push(block as u32);
            return;
        }
        if class >= self.free.len() {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(place.at);
    }

    /// The bytes the slab occupies, free places included.
    pub fn memory(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        let free: usize = self.free.iter().map(|places| places.capacity() * 4).sum();
        blocks + free + self.blocks.capacity() * size_of::<Vec<u8>>()
    }

    fn place(&mut self, class: usize, size: usize) -> Option<u32> {
        if let Some(at) = self.free.get_mut(class).and_then(Vec::pop) {
            return Some(at);
        }
        let block = match self.open {
            Some(block) if self.blocks[block as usize].len() + size <= BLOCK => block,
            _ => {
                // The first block grows by doubling so that small states stay small.
                let capacity = if self.open.is_none() { 0 } else { BLOCK };
                let block = self.new_block(Vec::with_capacity(capacity))?;
                self.open = Some(block);
                block
            }
        };
        let bytes = &mut self.blocks[block as usize];
        let start = bytes.len();
        bytes.resize(start + size, 0);
        Some(block * UNITS_A_BLOCK + (start / UNIT) as u32)
    }

    fn insert_long(&mut self, bytes: &[u8]) -> Option<u32> {
        self.new_block(bytes.to_vec()).map(|block| block * UNITS_A_BLOCK)
    }

    fn new_block(&mut self, bytes: Vec<u8>) -> Option<u32> {
        if let Some(block) = self.free_blocks.pop() {
            self.blocks[block as usize] = bytes;
            return Some(block);
        }
        let block = self.blocks.len() as u32;
        if block == u32::MAX / UNITS_A_BLOCK {
            return None;
        }
        self.blocks.push(bytes);
        Some(block)
    }
}

fn split(at: u32) -> (usize, usize) {
    ((at / UNITS_A_BLOCK) as usize, (at % UNITS_A_BLOCK) as usize * UNIT)
}

/// The size class of a string of `len` > 0 bytes, and the bytes a string of the class occupies.
fn class_of(len: usize) -> (usize, usize) {
    if len <= LINEAR {
        let units = len.div_ceil(UNIT);
        return (units - 1, units * UNIT);
    }
    let power = usize::BITS - 1 - (len - 1).leading_zeros();
    let step = 1usize << (power - 2);
    let size = len.next_multiple_of(step);
    let quarter = size / step - 4;
    let doublings = (power - LINEAR.trailing_zeros()) as usize;
    (LINEAR / UNIT - 1 + doublings * 4 + quarter, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_ascend_and_fit() {
        let mut last = (0, 8);
        for len in 1..100_000 {
            let (class, size) = class_of(len);
            assert!(size >= len && size.is_multiple_of(UNIT));
            assert!((class, size) == last || (class == last.0 + 1 && size > last.1), "{len}");
            last = (class, size);
        }
    }

    #[test]
    fn strings_stay_and_freed_places_are_used_again() {
        let mut slab = ByteSlab::default();
        let text = |i: usize| vec![(i % 251) as u8; i * 37 % 5000];
        let mut kept: Vec<_> = (0..3000).map(|i| (i, slab.insert(&text(i)).unwrap())).collect();
        kept.retain(|(i, place)| {
            let keep = i % 3 == 0;
            if !keep {
                slab.remove(*place);
            }
            keep
        });
        let before = slab.memory();
        kept.extend((0..3000).filter(|i| i % 3 != 0).map(|i| (i, slab.insert(&text(i)).unwrap())));
        assert!(slab.memory() <= before + before / 8);
        for (i, place) in &kept {
            assert_eq!(slab.bytes(*place), text(*i));
        }
    }

    #[test]
    fn long_strings_give_their_memory_back() {
        let mut slab = ByteSlab::default();
        let long = slab.insert(&vec![7; 3 * BLOCK]).unwrap();
        let short = slab.insert(b"short").unwrap();
        assert_eq!(slab.bytes(long).len(), 3 * BLOCK);
        slab.remove(long);
        assert!(slab.memory() < BLOCK);
        let again = slab.insert(&vec![8; 2 * BLOCK]).unwrap();
        assert_eq!(slab.bytes(short), b"short");
        assert!(slab.bytes(again).iter().all(|byte| *byte == 8));
    }
}
