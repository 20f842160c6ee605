//! What would be lost if the power failed now.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Change;
use super::random::Random;
use crate::folder::Removal;

/// Everything that was done and not waited for. What is removed is put aside until its folder was synced.
///
/// After a loss of power a beginning of the changes of names stands, in the order in which they were made,
/// those aside whose folders were synced; and of a file's bytes a beginning, at least those that were synced,
/// and behind them perhaps zeros.
pub(super) struct Losses {
    names: Vec<Name>,
    files: BTreeMap<PathBuf, Synced>,
    aside: PathBuf,
    removed: u64,
}

/// A change of a name that may be undone.
#[derive(Debug)]
enum Name {
    /// It is there now.
    Added(PathBuf),
    Renamed {
        from: PathBuf,
        to: PathBuf,
    },
    /// It is gone, and what it named is aside.
    Removed {
        path: PathBuf,
        aside: PathBuf,
    },
}

/// How much of a file is on the disk.
#[derive(Debug, Clone, Copy)]
enum Synced {
    To(u64),
    /// A sync failed: nothing after these bytes ever gets there.
    StuckAt(u64),
}

impl Name {
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Added(path) | Self::Removed { path, .. } => path.parent(),
            Self::Renamed { to, .. } => to.parent(),
        }
    }
}

impl Losses {
    pub(super) fn new(aside: PathBuf) -> Self {
        Self { names: Vec::new(), files: BTreeMap::new(), aside, removed: 0 }
    }

    /// Before a change: what it would overwrite is put aside.
    pub(super) fn before(&mut self, change: &Change<'_>) -> io::Result<()> {
        match change {
            Change::Create(path) if path.is_file() => self.remove(path, Removal::File),
            Change::Rename(from, to) if to.is_file() && from.is_file() => {
                self.remove(to, Removal::File)
            }
            _ => Ok(()),
        }
    }

    /// After it.
    pub(super) fn after(&mut self, change: &Change<'_>) {
        match *change {
            Change::Create(path) => {
                self.names.push(Name::Added(path.into()));
                self.files.insert(path.into(), Synced::To(0));
            }
            Change::MakeFolder(path) => self.names.push(Name::Added(path.into())),
            Change::Sync(path) => {
                let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
                if let Some(Synced::To(synced)) = self.files.get_mut(path) {
                    *synced = length;
                }
            }
            Change::SyncFolder(folder) => self.synced(folder),
            Change::Rename(from, to) => {
                self.names.push(Name::Renamed { from: from.into(), to: to.into() });
                move_keys(&mut self.files, from, to);
            }
            Change::Append(_) | Change::Read(_) => {}
        }
    }

    /// Removes something so that it can come back.
    pub(super) fn remove(&mut self, path: &Path, how: Removal) -> io::Result<()> {
        let fits = match how {
            Removal::File => fs::symlink_metadata(path)?.is_file(),
            Removal::EmptyFolder => fs::read_dir(path)?.next().is_none(),
            Removal::FolderWithAll => fs::symlink_metadata(path)?.is_dir(),
        };
        if !fits {
            return how.make(path);
        }
        fs::create_dir_all(&self.aside)?;
        self.removed += 1;
        let aside = self.aside.join(self.removed.to_string());
        fs::rename(path, &aside)?;
        move_keys(&mut self.files, path, &aside);
        self.names.push(Name::Removed { path: path.into(), aside });
        Ok(())
    }

    /// A sync has failed.
    pub(super) fn forget_unsynced(&mut self, file: &Path) {
        if let Some(synced) = self.files.get_mut(file)
            && let Synced::To(length) = *synced
        {
            *synced = Synced::StuckAt(length);
        }
    }

    fn synced(&mut self, folder: &Path) {
        let (done, left) = std::mem::take(&mut self.names)
            .into_iter()
            .partition::<Vec<_>, _>(|name| name.folder() == Some(folder));
        self.names = left;
        for name in done {
            match name {
                Name::Added(_) => {}
                Name::Removed { aside, .. } => discard(&aside),
                // What is below it is found under the new name from now on.
                Name::Renamed { from, to } => {
                    for name in &mut self.names {
                        match name {
                            Name::Added(path) | Name::Removed { path, .. } => {
                                *path = moved(path, &from, &to).unwrap_or_else(|| path.clone());
                            }
                            Name::Renamed { from: one, to: other } => {
                                *one = moved(one, &from, &to).unwrap_or_else(|| one.clone());
                                *other = moved(other, &from, &to).unwrap_or_else(|| other.clone());
                            }
                        }
                    }
                }
            }
        }
    }

    /// The power fails.
    pub(super) fn happen(&mut self, random: &mut Random) {
        let stand = random.below(self.names.len() as u64 + 1) as usize;
        let undone = self.names.split_off(stand);
        for name in undone.into_iter().rev() {
            self.undo(name);
        }
        self.names.drain(..).for_each(|name| {
            if let Name::Removed { aside, .. } = name {
                discard(&aside);
            }
        });
        for (path, synced) in std::mem::take(&mut self.files) {
            let (Synced::To(kept) | Synced::StuckAt(kept)) = synced;
            let Ok(length) = fs::metadata(&path).map(|metadata| metadata.len()) else { continue };
            let Ok(file) = OpenOptions::new().write(true).open(&path) else { continue };
            let torn = kept + random.below(length.saturating_sub(kept) + 1);
            let _ = file.set_len(torn.min(length));
            if random.below(3) == 0 {
                let _ = file.set_len(length);
            }
        }
    }

    fn undo(&mut self, name: Name) {
        let undone = match name {
            Name::Added(path) => {
                discard(&path);
                Ok(())
            }
            Name::Renamed { from, to } => {
                move_keys(&mut self.files, &to, &from);
                fs::rename(to, from)
            }
            Name::Removed { path, aside } => {
                move_keys(&mut self.files, &aside, &path);
                fs::rename(aside, path)
            }
        };
        // What was in a folder that is gone is gone with it.
        let _ = undone;
    }
}

fn discard(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// A path below `from` as one below `to`.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    Some(if rest.as_os_str().is_empty() { to.to_path_buf() } else { to.join(rest) })
}

fn move_keys(files: &mut BTreeMap<PathBuf, Synced>, from: &Path, to: &Path) {
    let below: Vec<_> = files.keys().filter(|path| path.starts_with(from)).cloned().collect();
    for path in below {
        if let (Some(synced), Some(to)) = (files.remove(&path), moved(&path, from, to)) {
            files.insert(to, synced);
        }
    }
}
