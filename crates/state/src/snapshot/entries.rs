//! The entries of keyed state, read through the blocks of each key group.

use hashbrown::HashSet;

use super::block::Items;
use super::chain::Group;
use super::decoder::StateDecoder;
use crate::error::Result;

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

/// A key group of a section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain<'a> {
    pub section: &'a str,
    pub version: u16,
    pub group: &'a Group,
}

/// Entries of keyed state, key group by key group, each as it was written last.
#[derive(Debug)]
pub struct KeyedEntries<'a> {
    /// Those not begun, last first.
    chains: Vec<Chain<'a>>,
    current: Option<Current<'a>>,
}

#[derive(Debug)]
struct Current<'a> {
    chain: Chain<'a>,
    /// How many blocks, the earliest, are not begun.
    blocks: usize,
    items: Items<'a>,
    /// The keys of the blocks that were read, which are later ones.
    seen: HashSet<&'a [u8], foldhash::fast::FixedState>,
}

impl<'a> KeyedEntries<'a> {
    /// The entries of key groups in this order.
    pub(super) fn new(mut chains: Vec<Chain<'a>>) -> Self {
        chains.retain(|chain| !chain.group.blocks.is_empty());
        chains.reverse();
        Self { chains, current: None }
    }

    /// How many entries remain, those included that later ones took the place of.
    pub fn remaining(&self) -> usize {
        let of = |chain: &Chain<'_>, blocks: usize| -> usize {
            chain.group.blocks[..blocks].iter().map(|block| block.entries() as usize).sum()
        };
        let begun =
            |current: &Current<'_>| current.items.remaining() + of(&current.chain, current.blocks);
        self.current.as_ref().map_or(0, begun)
            + self.chains.iter().map(|chain| of(chain, chain.group.blocks.len())).sum::<usize>()
    }

    fn advance(&mut self) -> Result<Option<Entry<'a>>> {
        loop {
            if let Some(current) = &mut self.current {
                while let Some((key, value)) = current.items.next()? {
                    if current.is_latest(key)
                        && let Some(value) = value
                    {
                        let Chain { version, group, .. } = current.chain;
                        return Ok(Some(Entry { version, key_group: group.key_group, key, value }));
                    }
                }
                if current.go_back() {
                    continue;
                }
            }
            let Some(chain) = self.chains.pop() else { return Ok(None) };
            let blocks = chain.group.blocks.len() - 1;
            let items = Items::new(chain.section, &chain.group.blocks[blocks]);
            self.current = Some(Current { chain, blocks, items, seen: HashSet::default() });
        }
    }
}

impl<'a> Current<'a> {
    /// Goes on with the block before; whether there is one.
    fn go_back(&mut self) -> bool {
        let Some(before) = self.blocks.checked_sub(1) else { return false };
        self.blocks = before;
        self.items = Items::new(self.chain.section, &self.chain.group.blocks[before]);
        true
    }

    /// Whether no later block has the key.
    fn is_latest(&mut self, key: &'a [u8]) -> bool {
        match self.blocks {
            // Nobody asks for the keys of the first block.
            0 => self.seen.is_empty() || !self.seen.contains(key),
            _ => self.seen.insert(key),
        }
    }
}

impl<'a> Iterator for KeyedEntries<'a> {
    type Item = Result<Entry<'a>>;

    /// The next entry; after an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.advance();
        if entry.is_err() {
            self.chains.clear();
            self.current = None;
        }
        entry.transpose()
    }
}
