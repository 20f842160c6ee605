//! Files that reach the disk before anything points to them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file of pieces one after the other, made when the first one comes.
pub(super) struct PieceFile {
    path: PathBuf,
    out: Option<BufWriter<File>>,
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
            none => none.insert(BufWriter::with_capacity(1 << 20, File::create(&self.path)?)),
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
        written.map(|()| offset)
    }

    /// Waits until everything is on the disk; the length, 0 when there is no file.
    pub(super) fn finish(self) -> io::Result<u64> {
        if let Some(out) = self.out {
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        }
        Ok(self.length)
    }
}

/// Writes a file whose bytes are on the disk when this returns.
pub(super) fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Waits until the names in a folder are on the disk. Where folders cannot be opened, as on
/// Windows, the system does it by itself.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match OpenOptions::new().read(true).open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(_) if cfg!(windows) => Ok(()),
        Err(error) => Err(error),
    }
}
