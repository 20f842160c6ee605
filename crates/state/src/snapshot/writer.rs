//! Writing a snapshot.

use std::sync::Arc;

use super::block::{Block, BlockBuilder};
use super::chain::{Group, Section, SectionKind, Snapshot};
use super::encoder::StateEncoder;
use super::scratch::Scratch;
use crate::spill::SpillSpace;

/// How much a snapshot holds, and what the next one builds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotScope {
    /// Everything. What counts as changed stays so: for savepoints.
    Whole,
    /// Everything. The next of [`Self::Changes`] builds on it.
    Base,
    /// What changed since the last of [`Self::Base`] or [`Self::Changes`], where the operator can
    /// tell, and everything elsewhere. The next of its kind builds on it.
    Changes,
}

/// Collects the sections of a task's snapshot.
#[derive(Debug)]
pub struct StateWriter {
    max_parallelism: u16,
    scope: SnapshotScope,
    now: i64,
    is_trial: bool,
    scratch: Option<Scratch>,
    snapshot: Snapshot,
}

impl StateWriter {
    /// A writer of everything, for a job of `max_parallelism` key groups. Nothing counts as expired.
    pub fn new(max_parallelism: u16) -> Self {
        Self::of_scope(max_parallelism, SnapshotScope::Whole, i64::MIN)
    }

    /// A writer of a scope. What has expired at `now`, in milliseconds, is left out.
    pub fn of_scope(max_parallelism: u16, scope: SnapshotScope, now: i64) -> Self {
        let snapshot = Snapshot::default();
        Self { max_parallelism, scope, now, is_trial: false, scratch: None, snapshot }
    }

    /// The same, for a job with a place on disk: what of the snapshot is beyond a part of the memory of that is written
    /// there, until the snapshot is let go.
    pub fn beside(self, space: Option<&SpillSpace>) -> Self {
        Self { scratch: space.map(|space| Scratch::new(space, space.snapshot_room())), ..self }
    }

    /// The same, for a snapshot that is thrown away: the next one is to be as if it had not been.
    pub fn trial(self) -> Self {
        Self { is_trial: true, ..self }
    }

    /// The number of key groups.
    pub fn max_parallelism(&self) -> u16 {
        self.max_parallelism
    }

    /// How much is to be written.
    pub fn scope(&self) -> SnapshotScope {
        self.scope
    }

    /// The time at which state that is to be left out has expired.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Whether what is written here needs not be written by the next snapshot of changes.
    pub fn is_handed_over(&self) -> bool {
        self.scope != SnapshotScope::Whole && !self.is_trial
    }

    /// Begins a section of keyed state, whose name is unique in the task.
    ///
    /// `version` is that of the entries' layout, counted from 1 by whoever writes them. `schema` names
    /// what they hold; a reader with another schema is refused. It is to hold every key, unless it is
    /// made a section [of changes](KeyedSection::continued).
    pub fn keyed(&mut self, name: &str, version: u16, schema: &str) -> KeyedSection<'_> {
        let groups = usize::from(self.max_parallelism);
        let mut blocks = Vec::with_capacity(groups);
        blocks.resize_with(groups, || BlockBuilder::new(true).beside(self.scratch.clone()));
        let section = Section {
            kind: SectionKind::Keyed,
            name: name.into(),
            version,
            schema: schema.into(),
            max_parallelism: self.max_parallelism,
            is_continued: false,
            groups: Vec::new(),
        };
        KeyedSection { writer: self, section, blocks }
    }

    /// Writes a section of state that belongs to the task and not to a key.
    pub fn operator(&mut self, name: &str, version: u16, write: impl FnOnce(&mut StateEncoder)) {
        let mut value = StateEncoder::new();
        write(&mut value);
        let block = Arc::new(Block::new(true, 1, value.bytes));
        self.snapshot.sections.push(Section {
            kind: SectionKind::Operator,
            name: name.into(),
            version,
            schema: String::new(),
            max_parallelism: self.max_parallelism,
            is_continued: false,
            groups: vec![Group { key_group: 0, blocks: vec![block] }],
        });
    }

    /// The snapshot.
    pub fn finish(self) -> Snapshot {
        self.snapshot
    }
}

/// A section of keyed state under construction; it is part of the snapshot once finished.
#[derive(Debug)]
#[must_use = "a section is written by `finish`"]
pub struct KeyedSection<'a> {
    writer: &'a mut StateWriter,
    section: Section,
    blocks: Vec<BlockBuilder>,
}

impl<'a> KeyedSection<'a> {
    /// The number of key groups.
    pub fn max_parallelism(&self) -> u16 {
        self.writer.max_parallelism
    }

    /// The writer it belongs to.
    pub fn state(&self) -> &StateWriter {
        self.writer
    }

    /// Makes it hold only what changed since the snapshot before, if that is what the writer is for.
    /// Keys of such a section differ, and those that are there no longer are [said to be](Self::gone).
    pub fn continued(mut self) -> Self {
        if self.writer.scope == SnapshotScope::Changes {
            self.section.is_continued = true;
            self.blocks.iter_mut().for_each(BlockBuilder::of_changes);
        }
        self
    }

    /// Writes an entry. `key_group` is below the number of key groups; the key may be any bytes.
    pub fn entry(&mut self, key_group: u16, key: &[u8], write: impl FnOnce(&mut StateEncoder)) {
        self.blocks[usize::from(key_group)].entry(key, write);
    }

    /// Says that a key, which an earlier snapshot may hold, is there no longer. A section that holds
    /// every key need not be told.
    pub fn gone(&mut self, key_group: u16, key: &[u8]) {
        self.blocks[usize::from(key_group)].gone(key);
    }

    /// Completes the section.
    pub fn finish(mut self) {
        let blocks = (0u16..).zip(self.blocks).filter(|(_, block)| !block.is_empty());
        self.section.groups = blocks
            .map(|(key_group, block)| Group { key_group, blocks: vec![Arc::new(block.finish())] })
            .collect();
        self.writer.snapshot.sections.push(self.section);
    }
}
