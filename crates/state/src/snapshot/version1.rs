//! Snapshots of version 1: sections one after the other, in one run of bytes.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::block::Block;
use super::chain::{Group, Section, SectionKind, Snapshot};
use super::decoder::StateDecoder;
use crate::error::{Result, StateError};

/// What a section starts with.
const MAGIC: [u8; 4] = *b"FLST";
/// The version of the container's layout.
const FORMAT_VERSION: u16 = 1;
const KEYED: u8 = 0;
const OPERATOR: u8 = 1;
/// Magic, format version, kind, reserved byte and header length.
const PREFIX: usize = 12;

impl Snapshot {
    /// Reads a snapshot of version 1, all of which is checked.
    pub fn from_version_1(bytes: &[u8]) -> Result<Self> {
        let mut input = StateDecoder::new("snapshot", bytes);
        let mut snapshot = Self::default();
        while input.remaining() > 0 {
            snapshot.sections.push(section(&mut input, bytes)?);
        }
        Ok(snapshot)
    }
}

fn section(input: &mut StateDecoder<'_>, snapshot: &[u8]) -> Result<Section> {
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
    let kind = match input.u8()? {
        KEYED => SectionKind::Keyed,
        OPERATOR => SectionKind::Operator,
        _ => return Err(input.damaged("section of an unknown kind")),
    };
    input.u8()?;
    let length = input.u32_fixed()? as usize;
    let offset = input.offset();
    let mut header = StateDecoder::at("snapshot", offset, input.take(length)?);
    let end = input.offset();
    if input.u64_fixed()? != xxh3_64(&snapshot[start..end]) {
        return Err(input.damaged("section header fails its checksum"));
    }
    let name = header.str()?.to_string();
    let version = header.u16_fixed()?;
    let schema = header.str()?.to_string();
    let max_parallelism = header.u16_fixed()?;
    let count = header.u32_fixed()?;
    let mut section = Section {
        kind,
        name,
        version,
        schema,
        max_parallelism,
        is_continued: false,
        groups: Vec::new(),
    };
    for _ in 0..count {
        let key_group = header.u16_fixed()?;
        let entries = header.u32_fixed()?;
        let length = header.u64_fixed()?;
        let checksum = header.u64_fixed()?;
        let length = usize::try_from(length).map_err(|_| input.damaged("ends early"))?;
        let bytes = input.take(length)?;
        if xxh3_64(bytes) != checksum {
            return Err(input.damaged("contents fail their checksum"));
        }
        let block = Arc::new(Block::new(true, entries, bytes.to_vec()));
        section.groups.push(Group { key_group, blocks: vec![block] });
    }
    header.finish()?;
    Ok(section)
}
