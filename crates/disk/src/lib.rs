//! Changes of files and folders that are to outlive the process, and the machine's loss of power.
//!
//! What is written to a file is on the disk once the file was [synced](DiskFile::sync), and that a name
//! stands for it once the folder was ([`sync_folder`]). Everything that Flott means to find again goes
//! through here, so that there is one place that says so, and one place where tests make it fail.
//!
//! In release builds these are the calls of `std::fs` and nothing else. In debug builds a test can put a
//! [disk that fails](faults::FaultyDisk) in their place, and have the process die at a named [`crash_point`].

mod crash_point;
#[cfg(debug_assertions)]
pub mod faults;
mod file;
mod folder;

#[cfg(not(debug_assertions))]
mod faults {
    //! Disks of release builds fail by themselves.

    use std::io;
    use std::path::Path;

    use crate::folder::Removal;

    #[inline]
    pub(crate) fn change<T>(
        _change: Change<'_>,
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        make()
    }

    #[inline]
    pub(crate) fn remove(path: &Path, how: Removal) -> io::Result<()> {
        how.make(path)
    }

    #[inline]
    pub(crate) fn writable(_path: &Path, bytes: usize) -> io::Result<usize> {
        Ok(bytes)
    }

    #[allow(dead_code, reason = "only disks of debug builds look at it")]
    pub(crate) enum Change<'a> {
        Create(&'a Path),
        Append(&'a Path),
        Sync(&'a Path),
        SyncFolder(&'a Path),
        MakeFolder(&'a Path),
        Rename(&'a Path, &'a Path),
        Read(&'a Path),
    }
}

pub use crash_point::crash_point;
pub use file::{DiskFile, open, read, write_durably};
pub use folder::{
    absent, create_folders, create_folders_durably, remove_file, remove_folder, remove_folder_all,
    rename, sync_folder,
};

/// Asks whether scratch in a folder can be used now: a test may say no, a disk says so by itself.
#[inline]
pub fn scratch(folder: &std::path::Path) -> std::io::Result<()> {
    faults::change(faults::Change::Read(folder), || Ok(()))
}
