//! The folder of a job's state on disk, and those that jobs left behind which were killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// What the names of folders begin with.
const PREFIX: &str = "flott-state-";
/// The file in each that is locked as long as it is in use. The system lets go of the lock of who dies.
const LOCK: &str = "in-use";
/// A folder without that file is left alone for so long: it may be about to get one.
const NEW: Duration = Duration::from_secs(3600);

/// A folder that nobody else takes for left behind; it is deleted when dropped.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    folder: TempDir,
    /// Holds the lock.
    _lock: File,
}

impl ScratchFolder {
    /// A new, empty folder in `parent`.
    pub fn new(parent: &Path) -> io::Result<Self> {
        let name = format!("{PREFIX}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&name).tempdir_in(parent)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        match lock.try_lock() {
            // Where files cannot be locked nobody takes folders away, either.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Self::new(parent),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Deletes the folders in `parents` whose process has ended without doing so. What cannot be deleted stays.
pub(super) fn clean(parents: &[PathBuf]) {
    let dead: Vec<(PathBuf, Option<File>)> =
        parents.iter().flat_map(|parent| left_behind(parent)).collect();
    if dead.is_empty() {
        return;
    }
    let delete = move || {
        for (folder, _lock) in dead {
            // The lock is held meanwhile, so that nobody else deletes it too.
            let _ = fs::remove_dir_all(folder);
        }
    };
    // There may be much to delete, for which nobody waits.
    let _ = std::thread::Builder::new().name("flott clean".into()).spawn(delete);
}

/// Folders that nobody uses, each with its lock.
fn left_behind(parent: &Path) -> Vec<(PathBuf, Option<File>)> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let ours = entries.flatten().filter(|entry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let dead = ours.filter_map(|entry| {
        let path = entry.path();
        match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok().then_some((path, Some(lock))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let age = entry.metadata().ok()?.modified().ok()?.elapsed().ok()?;
                (age > NEW).then_some((path, None))
            }
            Err(_) => None,
        }
    });
    dead.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_deleted_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let of_dead = |name: &str| {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("data"), "data").unwrap();
            folder
        };
        let dead = of_dead("flott-state-1-a");
        File::create_new(dead.join(LOCK)).unwrap();
        let beginning = of_dead("flott-state-2-b");
        let others = of_dead("another");
        let living = ScratchFolder::new(parent.path()).unwrap();
        clean(&[parent.path().to_path_buf(), "/nonexistent/folder".into()]);
        let begun = std::time::Instant::now();
        while dead.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!dead.exists());
        assert!(beginning.exists() && others.exists() && living.path().exists());
        let path = living.path().to_path_buf();
        drop(living);
        assert!(!path.exists());
    }
}
