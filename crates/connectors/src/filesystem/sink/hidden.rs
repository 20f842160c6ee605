//! Files that nobody sees yet.

use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flott_catalog::connector::ConnectorError;
use flott_disk::DiskFile;

use super::super::failure::failure;
use super::committable::PreparedFile;

/// A hidden file; when it is dropped before it was [completed](Self::complete), it is removed.
pub(super) struct HiddenFile {
    root: PathBuf,
    directory: String,
    hidden: String,
    name: String,
    complete: bool,
}

impl HiddenFile {
    /// Creates the file, which is to be called `name`, and the directories above it.
    pub(super) fn create(
        root: &Path,
        directory: &str,
        name: String,
    ) -> Result<(Self, DiskFile), ConnectorError> {
        let hidden = format!(".{name}.inprogress.{}", random_uuid());
        let parent = root.join(directory);
        let path = parent.join(&hidden);
        let file =
            create_in(&parent, &path).map_err(|error| failure("create", path.display(), &error))?;
        let directory = directory.into();
        Ok((Self { root: root.into(), directory, hidden, name, complete: false }, file))
    }

    /// Where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.directory).join(&self.hidden)
    }

    /// The file is written and on the disk.
    pub(super) fn complete(mut self, bytes: u64, round: u64, overwrite: bool) -> PreparedFile {
        self.complete = true;
        PreparedFile {
            directory: std::mem::take(&mut self.directory),
            hidden: std::mem::take(&mut self.hidden),
            name: std::mem::take(&mut self.name),
            bytes,
            round,
            overwrite,
        }
    }
}

impl Drop for HiddenFile {
    fn drop(&mut self) {
        if !self.complete {
            remove_hidden(&self.root, &self.directory, &self.hidden);
        }
    }
}

/// Removes a hidden file, and directories of its partition that are empty without it.
pub(super) fn remove_hidden(root: &Path, directory: &str, hidden: &str) {
    let mut path = root.join(directory).join(hidden);
    if let Err(error) = flott_disk::remove_file(&path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "unfinished file could not be removed");
        return;
    }
    while path.pop() && path != root {
        // Fails for directories that hold something, which is what ends this.
        if flott_disk::remove_folder(&path).is_err() {
            return;
        }
    }
}

/// Another writer may remove the directory as empty right after it was made.
fn create_in(parent: &Path, path: &Path) -> std::io::Result<DiskFile> {
    let mut attempts = 0;
    loop {
        flott_disk::create_folders(parent)?;
        match DiskFile::create_new(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && attempts < 5 => attempts += 1,
            result => return result,
        }
    }
}

/// A random UUID, as Flink puts it into the names of files.
pub(super) fn random_uuid() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    let (a, b) = (random(), random());
    let version = (a & 0xffff_ffff_ffff_0fff) | 0x4000;
    let variant = (b & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        version >> 32,
        (version >> 16) & 0xffff,
        version & 0xffff,
        variant >> 48,
        variant & 0xffff_ffff_ffff
    )
}
