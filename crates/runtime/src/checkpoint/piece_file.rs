//! Files that reach the disk before anything points to them.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use flott_disk::{DiskFile, crash_point};

/// A file of pieces one after the other, made when the first one comes.
pub(super) struct PieceFile {
    path: PathBuf,
    out: Option<BufWriter<DiskFile>>,
    length: u64,
}

impl PieceFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, out: None, length: 0 }
    }

    /// Adds a piece, whose bytes `write` hands over in parts, and says where it starts.
    pub(super) fn append(
        &mut self,
        write: impl FnOnce(&mut dyn FnMut(&[u8])) -> flott_state::Result<()>,
    ) -> io::Result<u64> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(BufWriter::with_capacity(1 << 20, DiskFile::create(&*self.path)?)),
        };
        let offset = self.length;
        let mut written = Ok(());
        write(&mut |part| {
            if written.is_ok() {
                written = out.write_all(part);
                self.length += part.len() as u64;
            }
        })
        .map_err(io::Error::other)?;
        written?;
        crash_point("part written");
        Ok(offset)
    }

    /// Waits until everything is on the disk; the length, 0 when there is no file.
    pub(super) fn finish(self) -> io::Result<u64> {
        if let Some(out) = self.out {
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync()?;
        }
        Ok(self.length)
    }
}
