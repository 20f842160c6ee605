//! Reading snapshots, of one task or of many.

use super::chain::{Section, SectionKind, Snapshot};
use super::decoder::StateDecoder;
use super::entries::{Chain, KeyedEntries};
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
    sections: Vec<&'a Section>,
}

impl<'a> StateReader<'a> {
    /// A reader for a task that owns the key groups of `range`.
    pub fn new(max_parallelism: u16, range: KeyGroupRange) -> Self {
        Self { max_parallelism, range, sections: Vec::new() }
    }

    /// Adds the snapshot of a task, whose entries are checked when they are read.
    ///
    /// Fails when it holds only what changed since another one.
    pub fn add(&mut self, snapshot: &'a Snapshot) -> Result<()> {
        if let Some(section) = snapshot.sections.iter().find(|section| section.is_continued) {
            return Err(StateError::MissingSection { section: section.name.clone() });
        }
        self.sections.extend(&snapshot.sections);
        Ok(())
    }

    /// The key groups the task owns.
    pub fn range(&self) -> &KeyGroupRange {
        &self.range
    }

    /// The names of the sections, each once, in the order in which they came.
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for section in &self.sections {
            if !names.contains(&&*section.name) {
                names.push(&section.name);
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
        let mut chains = Vec::new();
        for section in self.named(name, SectionKind::Keyed, known_version)? {
            if section.schema != schema {
                return Err(StateError::Schema {
                    section: name.into(),
                    expected: schema.into(),
                    found: section.schema.clone(),
                });
            }
            if section.max_parallelism != self.max_parallelism {
                return Err(StateError::MaxParallelism {
                    section: name.into(),
                    expected: self.max_parallelism,
                    found: section.max_parallelism,
                });
            }
            let groups = section.groups.iter().filter(|g| self.range.contains(g.key_group));
            chains.extend(groups.map(|group| Chain {
                section: &section.name,
                version: section.version,
                group,
            }));
        }
        Ok(KeyedEntries::new(chains))
    }

    /// A section of task state, from each snapshot that has it: its version and its value.
    ///
    /// Fails when no snapshot has it, or one has it in a version above `known_version`.
    pub fn operator(&self, name: &str, known_version: u16) -> Result<Vec<(u16, StateDecoder<'a>)>> {
        let mut values = Vec::new();
        for section in self.named(name, SectionKind::Operator, known_version)? {
            for block in section.groups.iter().flat_map(|group| &group.blocks) {
                let bytes = block.chunk(0)?.unwrap_or_default();
                values.push((section.version, StateDecoder::new(&section.name, bytes)));
            }
        }
        Ok(values)
    }

    fn named(&self, name: &str, kind: SectionKind, known: u16) -> Result<Vec<&'a Section>> {
        let sections = self.sections.iter().copied();
        let found: Vec<_> = sections.filter(|s| s.name == name && s.kind == kind).collect();
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
