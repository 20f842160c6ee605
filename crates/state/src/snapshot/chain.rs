//! Snapshots and what changed since, as chains of blocks.

use std::sync::Arc;

use super::block::Block;
use crate::error::{Result, StateError};

/// The state of an operator in one task: whole, or what changed since the snapshot before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Its sections, each of another name.
    pub sections: Vec<Section>,
}

/// A part of a snapshot that its operator names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// Its name.
    pub name: String,
    /// The version of what its values hold.
    pub version: u16,
    /// What keys and values are, in words.
    pub schema: String,
    /// The number of key groups.
    pub max_parallelism: u16,
    /// Whether it stands on the section of the snapshot before, to whose chains its blocks belong.
    pub is_continued: bool,
    /// The key groups that have blocks, ascending.
    pub groups: Vec<Group>,
}

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// Entries by key.
    Keyed,
    /// One value of the task.
    Operator,
}

/// The entries of a key group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The key group.
    pub key_group: u16,
    /// Its entries: those of a later block take the place of earlier ones.
    pub blocks: Vec<Arc<Block>>,
}

impl Snapshot {
    /// Whether it has no section.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The bytes of its blocks.
    pub fn len(&self) -> usize {
        let groups = self.sections.iter().flat_map(|section| &section.groups);
        groups.flat_map(|group| &group.blocks).map(|block| block.len()).sum()
    }

    /// The bytes of its blocks that are in memory.
    pub fn memory(&self) -> usize {
        let groups = self.sections.iter().flat_map(|section| &section.groups);
        groups.flat_map(|group| &group.blocks).map(|block| block.memory()).sum()
    }

    /// Whether it stands on the snapshot before.
    pub fn is_continued(&self) -> bool {
        self.sections.iter().any(|section| section.is_continued)
    }

    /// This snapshot with the next one behind it. Sections that the next one does not have are gone.
    ///
    /// Fails when the next one stands on a section that is not here.
    pub fn followed_by(&self, next: &Self) -> Result<Self> {
        let follow = |next: &Section| {
            if !next.is_continued {
                return Ok(next.clone());
            }
            let mut section = self.section_before(next)?.clone();
            for added in &next.groups {
                section.group(added.key_group).blocks.extend(added.blocks.iter().cloned());
            }
            Ok(section)
        };
        Ok(Self { sections: next.sections.iter().map(follow).collect::<Result<_>>()? })
    }

    /// The section here on which one of the next snapshot stands.
    fn section_before(&self, next: &Section) -> Result<&Section> {
        let found = self.sections.iter().find(|section| section.is_continued_by(next));
        found.ok_or_else(|| StateError::MissingSection { section: next.name.clone() })
    }

    /// Merges blocks of chains that have grown long, as [`merge_from`] says; of chains whose beginning is
    /// not here only the changes among each other.
    pub fn compact(&mut self) -> Result<()> {
        for section in &mut self.sections {
            for group in &mut section.groups {
                group.compact(&section.name, !section.is_continued)?;
            }
            section.groups.retain(|group| !group.blocks.is_empty());
        }
        Ok(())
    }
}

impl Section {
    /// Whether `next`, of a later snapshot, can stand on this section.
    pub fn is_continued_by(&self, next: &Self) -> bool {
        let is_same = |of: fn(&Self) -> (&str, u16, &str, u16)| of(self) == of(next);
        self.kind == next.kind
            && is_same(|of| (&of.name, of.version, &of.schema, of.max_parallelism))
    }

    /// A key group of the section, which is made if there is none.
    pub fn group(&mut self, key_group: u16) -> &mut Group {
        let found = self.groups.binary_search_by_key(&key_group, |group| group.key_group);
        let at = found.unwrap_or_else(|at| {
            self.groups.insert(at, Group { key_group, blocks: Vec::new() });
            at
        });
        &mut self.groups[at]
    }
}

impl Group {
    fn compact(&mut self, section: &str, begins_here: bool) -> Result<()> {
        let lengths: Vec<_> =
            self.blocks.iter().map(|block| (block.is_whole(), block.len() as u64)).collect();
        let from = match begins_here {
            true => merge_from(self.key_group, &lengths),
            false => uneven_from(&lengths, 0),
        };
        if let Some(from) = from {
            let tail: Vec<&Block> = self.blocks[from..].iter().map(|block| &**block).collect();
            let merged = Block::merged(section, &tail, from == 0 && begins_here)?;
            self.blocks.truncate(from);
            if from > 0 || !merged.is_empty() {
                self.blocks.push(Arc::new(merged));
            }
        }
        Ok(())
    }
}

/// From which block on the blocks of a whole chain are worth merging into one, if any are; of each is
/// given whether it is whole, and its length.
///
/// A chain is written anew when its changes exceed about half of what they change: between a quarter and
/// three quarters, by its key group, so that not all of them are due at once. And each block of changes is at
/// least twice as long as the next. So the cost of merging stays proportional to what changes, each byte
/// is written again a logarithmic number of times, and chains stay short.
pub fn merge_from(key_group: u16, blocks: &[(bool, u64)]) -> Option<usize> {
    let share = u64::from(key_group) * 157 % 256 + 128;
    let changes = blocks.iter().rposition(|(is_whole, _)| *is_whole).map_or(0, |whole| whole + 1);
    let base = if changes == 0 { 0 } else { blocks[changes - 1].1 };
    let changed: u64 = blocks[changes..].iter().map(|(_, length)| length).sum();
    if changes < blocks.len() && changed.saturating_mul(512) > base.saturating_mul(share) {
        return Some(0);
    }
    uneven_from(blocks, changes)
}

/// From which block on, at or behind the `first`, blocks are to be merged so that each is at least twice as
/// long as the next.
fn uneven_from(blocks: &[(bool, u64)], first: usize) -> Option<usize> {
    let mut from = blocks.len().checked_sub(1)?;
    let mut length = blocks[from].1;
    while from > first && blocks[from - 1].1 < length.saturating_mul(2) {
        from -= 1;
        length = length.saturating_add(blocks[from].1);
    }
    (from + 1 < blocks.len()).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_stay_short_and_the_cost_is_amortised() {
        for change in [1, 10, 100, 5_000] {
            let base = 1_000_000;
            let mut chain = vec![(true, base)];
            let (mut written, mut longest) = (0, 0);
            let rounds = 20_000;
            for _ in 0..rounds {
                chain.push((false, change));
                written += change;
                if let Some(from) = merge_from(100, &chain) {
                    let merged: u64 = chain[from..].iter().map(|(_, length)| length).sum();
                    // Every change was of a key that is there, so that the base does not grow.
                    let merged = if from == 0 { base } else { merged };
                    written += merged;
                    chain.truncate(from);
                    chain.push((from == 0, merged));
                }
                longest = longest.max(chain.len());
            }
            assert!(longest <= 20, "{longest} blocks");
            let factor = written as f64 / (rounds * change) as f64;
            assert!(factor < 22.0, "each byte written {factor} times, changes of {change}");
        }
    }

    #[test]
    fn a_chain_without_a_base_becomes_one() {
        // Of group 128 half may change.
        assert_eq!(merge_from(128, &[]), None);
        assert_eq!(merge_from(128, &[(false, 7)]), Some(0));
        assert_eq!(merge_from(128, &[(true, 7)]), None);
        assert_eq!(merge_from(128, &[(true, 100), (false, 30)]), None);
        assert_eq!(merge_from(128, &[(true, 100), (false, 30), (false, 15)]), None);
        assert_eq!(merge_from(128, &[(true, 100), (false, 30), (false, 16)]), Some(1));
        assert_eq!(merge_from(128, &[(true, 100), (false, 30), (false, 21)]), Some(0));
    }
}
