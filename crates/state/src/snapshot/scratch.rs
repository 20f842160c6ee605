//! Parts of snapshots on disk, until the checkpoint is written.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{Result, StateError};
use crate::spill::SpillSpace;

/// Parts on disk are of about so many bytes, so that as many of them as there are key groups fit into memory.
const PART: usize = 16 << 10;

/// A file without a name, for what of a snapshot has no room in memory.
#[derive(Debug)]
struct ScratchFile {
    file: Mutex<(File, u64)>,
    folder: String,
}

/// Bytes in such a file.
#[derive(Debug, Clone)]
pub(super) struct ScratchPart {
    file: Arc<ScratchFile>,
    offset: u64,
    length: usize,
    /// The bytes, once somebody wanted to keep them.
    loaded: Arc<OnceLock<Vec<u8>>>,
}

/// Decides which parts of a snapshot stay in memory.
#[derive(Debug, Clone)]
pub(super) struct Scratch(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    space: SpillSpace,
    file: Option<Arc<ScratchFile>>,
    /// The bytes that may yet stay in memory.
    room: usize,
}

impl Scratch {
    /// Parts beyond `room` bytes go to a file.
    pub fn new(space: &SpillSpace, room: usize) -> Self {
        Self(Arc::new(Mutex::new(Open { space: space.clone(), file: None, room })))
    }

    /// About how many bytes a part is to have.
    pub fn part(&self) -> usize {
        PART
    }

    /// Writes a part, unless there is room for it or it cannot be written: then it stays where it is.
    pub fn put(&self, bytes: &[u8]) -> Option<ScratchPart> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rest) = open.room.checked_sub(bytes.len()) {
            open.room = rest;
            return None;
        }
        if open.file.is_none() {
            let (file, folder) = open.space.scratch().ok()?;
            open.file = Some(Arc::new(ScratchFile { file: Mutex::new((file, 0)), folder }));
        }
        let file = open.file.clone()?;
        let offset = {
            let mut locked = file.file.lock().unwrap_or_else(PoisonError::into_inner);
            let (out, end) = &mut *locked;
            out.seek(SeekFrom::Start(*end)).and_then(|_| out.write_all(bytes)).ok()?;
            let offset = *end;
            *end += bytes.len() as u64;
            offset
        };
        Some(ScratchPart { file, offset, length: bytes.len(), loaded: Arc::default() })
    }
}

impl ScratchPart {
    pub fn len(&self) -> usize {
        self.length
    }

    /// The bytes held in memory.
    pub fn memory(&self) -> usize {
        self.loaded.get().map_or(0, Vec::capacity)
    }

    /// Reads the bytes into `out`, which is cleared before.
    pub fn read(&self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.resize(self.length, 0);
        let mut locked = self.file.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = &mut locked.0;
        let read = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_exact(out));
        read.map_err(|error| StateError::Disk {
            folder: self.file.folder.clone(),
            problem: error.to_string(),
        })
    }

    /// The bytes, which stay in memory from now on.
    pub fn load(&self) -> Result<&[u8]> {
        if let Some(bytes) = self.loaded.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        self.read(&mut bytes)?;
        Ok(self.loaded.get_or_init(|| bytes))
    }
}
