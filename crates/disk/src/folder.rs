//! Folders, and the names in them.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::faults::{self, Change};

/// What is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removal {
    File,
    EmptyFolder,
    FolderWithAll,
}

impl Removal {
    pub(crate) fn make(self, path: &Path) -> io::Result<()> {
        match self {
            Self::File => fs::remove_file(path),
            Self::EmptyFolder => fs::remove_dir(path),
            Self::FolderWithAll => fs::remove_dir_all(path),
        }
    }
}

/// Gives a file or folder another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::change(Change::Rename(from, to), || fs::rename(from, to))
}

/// Removes a file.
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    faults::remove(path.as_ref(), Removal::File)
}

/// Removes a folder, which must be empty.
pub fn remove_folder(path: impl AsRef<Path>) -> io::Result<()> {
    faults::remove(path.as_ref(), Removal::EmptyFolder)
}

/// Removes a folder with all that is in it.
pub fn remove_folder_all(path: impl AsRef<Path>) -> io::Result<()> {
    faults::remove(path.as_ref(), Removal::FolderWithAll)
}

/// The result of a removal, of something that may not have been there.
pub fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Waits until the names in a folder are on the disk. Where folders cannot be opened, as on Windows, the
/// system does it by itself.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let sync = || match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(_) if cfg!(windows) => Ok(()),
        Err(error) => Err(error),
    };
    faults::change(Change::SyncFolder(folder), sync)
}

/// Makes a folder and those above it, as far as they are missing.
pub fn create_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent)?;
    }
    match faults::change(Change::MakeFolder(folder), || fs::create_dir(folder)) {
        // Another made it meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// The same, and all their names are on the disk when this returns, also those that an earlier process made
/// and may not have waited for. Folders above that this process may not read are none that it made.
pub fn create_folders_durably(folder: &Path) -> io::Result<()> {
    create_folders(folder)?;
    let full = fs::canonicalize(folder)?;
    for above in full.ancestors().skip(1) {
        match sync_folder(above) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            // Some systems cannot sync every kind of folder, such as the root of a container.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {}
            synced => synced?,
        }
    }
    Ok(())
}
