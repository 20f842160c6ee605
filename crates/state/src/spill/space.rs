//! A job's place on disk.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::SpillFile;
use super::folder::{ScratchFolder, clean};
use crate::error::{Result, StateError};
use fjall::config::{BlockSizePolicy, PinningPolicy};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};

/// What a key that comes back because it is due may take, so that all that do fit into what is kept for the store.
const KEY_BYTES: u64 = 512;

/// Keys longer than this stay in memory.
pub(super) const LONGEST_KEY: usize = 60_000;

/// Where the state of a job goes that has no room in memory; cheap to clone. The folder is made when
/// something is written, and is gone with the last clone.
#[derive(Clone)]
pub struct SpillSpace(Arc<Space>);

struct Space {
    folders: Vec<PathBuf>,
    /// What the store may hold in memory, in bytes.
    memory: u64,
    /// For tests: keys that a state may hold in memory, whatever their size.
    keys: Option<usize>,
    opened: Mutex<Option<Arc<Opened>>>,
    stores: AtomicU64,
}

struct Opened {
    /// Keyspaces without entries: to make one and to delete it takes longer than to empty it.
    empty: Mutex<Vec<Keyspace>>,
    // Before the folder, which is deleted after the database is closed.
    database: Database,
    folder: ScratchFolder,
}

impl SpillSpace {
    /// A place below the first of `folders` in which a folder can be made. The store holds up to `memory`
    /// bytes itself, for what it is about to write and what it has read.
    ///
    /// Folders there that killed processes left behind are deleted.
    pub fn new(folders: Vec<PathBuf>, memory: u64) -> Self {
        clean(&folders);
        let space = Space {
            folders,
            memory,
            keys: None,
            opened: Mutex::default(),
            stores: AtomicU64::new(0),
        };
        Self(Arc::new(space))
    }

    /// A place in memory, or else in the system's folder for temporary files, for states that hold at most `keys`
    /// keys beside it, whatever their size: for tests.
    pub fn crowded(keys: usize) -> Self {
        let space = Space {
            folders: vec!["/dev/shm".into(), std::env::temp_dir()],
            memory: 1 << 20,
            keys: Some(keys),
            opened: Mutex::default(),
            stores: AtomicU64::new(0),
        };
        Self(Arc::new(space))
    }

    /// The bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        let opened = self.opened().clone();
        opened.and_then(|opened| opened.database.disk_space().ok()).unwrap_or(0)
    }

    /// The folder, once something is on disk.
    pub fn folder(&self) -> Option<PathBuf> {
        self.opened().as_ref().map(|opened| opened.folder.path().to_path_buf())
    }

    /// A new, empty file that is written through a buffer of so many bytes.
    pub fn file(&self, buffer: usize) -> Result<SpillFile> {
        let folder = self.open()?;
        let folder = folder.folder.path();
        match tempfile::tempfile_in(folder) {
            Ok(file) => Ok(SpillFile::new(file, folder.display().to_string(), buffer)),
            Err(error) => Err(disk_error(folder, error.into())),
        }
    }

    /// Whether everything is to be moved to disk that can be: for tests.
    pub fn is_crowded(&self) -> bool {
        self.0.keys.is_some()
    }

    /// How many keys come back at once because they are due.
    pub(super) fn keys_at_once(&self) -> usize {
        let room = self.0.memory / KEY_BYTES;
        self.0.keys.unwrap_or((room as usize).clamp(64, 4096)).max(1)
    }

    pub(super) fn keys(&self) -> Option<usize> {
        self.0.keys
    }

    /// A new, empty store.
    pub(super) fn store(&self) -> Result<SpillStore> {
        let space = self.open()?;
        let empty = space.empty().pop();
        if let Some(keys) = empty {
            return Ok(SpillStore { keys: Some(keys), space });
        }
        let number = self.0.stores.fetch_add(1, Ordering::Relaxed);
        let memtable = (self.0.memory / 4).clamp(1 << 20, 64 << 20);
        // Each look for a key reads filters and index, which are large: they stay in memory, about two
        // bytes a key, for the cache could not hold them.
        let options = || {
            KeyspaceCreateOptions::default()
                .filter_block_pinning_policy(PinningPolicy::all(true))
                .index_block_pinning_policy(PinningPolicy::all(true))
                .max_memtable_size(memtable)
                .manual_journal_persist(true)
                .data_block_size_policy(BlockSizePolicy::all(4 << 10))
        };
        let problem = |error| disk_error(space.folder.path(), error);
        let keys = space.database.keyspace(&number.to_string(), options).map_err(problem)?;
        Ok(SpillStore { keys: Some(keys), space })
    }

    fn open(&self) -> Result<Arc<Opened>> {
        let mut opened = self.opened();
        if let Some(opened) = &*opened {
            return Ok(opened.clone());
        }
        let new = Arc::new(self.make()?);
        *opened = Some(new.clone());
        Ok(new)
    }

    fn make(&self) -> Result<Opened> {
        let mut failure = None;
        for parent in &self.0.folders {
            match ScratchFolder::new(parent) {
                Ok(folder) => {
                    let database = Database::builder(folder.path().join("store"))
                        .cache_size((self.0.memory / 2).max(256 << 10))
                        .manual_journal_persist(true)
                        .max_journaling_size(64 << 20)
                        .worker_threads(1)
                        .open();
                    let database = database.map_err(|error| disk_error(folder.path(), error))?;
                    return Ok(Opened { empty: Mutex::default(), database, folder });
                }
                Err(error) => failure = Some(disk_error(parent, error.into())),
            }
        }
        Err(failure.unwrap_or_else(|| {
            disk_error(Path::new(""), std::io::Error::from(std::io::ErrorKind::NotFound).into())
        }))
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, Option<Arc<Opened>>> {
        self.0.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    fn empty(&self) -> std::sync::MutexGuard<'_, Vec<Keyspace>> {
        self.empty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SpillSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpillSpace").field("folders", &self.0.folders).finish_non_exhaustive()
    }
}

/// Entries of one state, by key; deleted when dropped.
pub(super) struct SpillStore {
    /// Present until dropped.
    keys: Option<Keyspace>,
    space: Arc<Opened>,
}

impl SpillStore {
    /// The entry of a key.
    pub fn entry(&self, key: &[u8]) -> Result<Option<fjall::UserValue>> {
        match &self.keys {
            Some(keys) => keys.get(key).map_err(|error| self.problem(error)),
            None => Ok(None),
        }
    }

    /// Writes and deletes entries.
    pub fn change<'a>(
        &self,
        written: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        deleted: impl Iterator<Item = &'a [u8]>,
    ) -> Result<()> {
        let Some(keys) = &self.keys else { return Ok(()) };
        let mut batch = self.space.database.batch();
        written.for_each(|(key, value)| batch.insert(keys, key, value));
        deleted.for_each(|key| batch.remove(keys, key));
        batch.commit().map_err(|error| self.problem(error))
    }

    /// Hands over up to `limit` entries in order, beginning with the first key that is not below `from`;
    /// whether there may be more.
    pub fn read(
        &self,
        from: &[u8],
        limit: usize,
        mut take: impl FnMut(&[u8], &[u8]),
    ) -> Result<bool> {
        let Some(keys) = &self.keys else { return Ok(false) };
        let mut count = 0;
        for entry in keys.range(from..).take(limit) {
            let (key, value) = entry.into_inner().map_err(|error| self.problem(error))?;
            take(&key, &value);
            count += 1;
        }
        Ok(count == limit)
    }

    fn problem(&self, error: fjall::Error) -> StateError {
        disk_error(self.space.folder.path(), error)
    }
}

impl Drop for SpillStore {
    fn drop(&mut self) {
        if let Some(keys) = self.keys.take() {
            // What cannot be emptied is deleted with the folder.
            if keys.clear().is_ok() {
                self.space.empty().push(keys);
            }
        }
    }
}

impl fmt::Debug for SpillStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpillStore").field("folder", &self.space.folder.path()).finish()
    }
}

fn disk_error(folder: &Path, error: fjall::Error) -> StateError {
    let problem = match error {
        fjall::Error::Io(error) => error.to_string(),
        fjall::Error::Storage(error) => format!("{error:?}"),
        error => format!("{error:?}"),
    };
    StateError::Disk { folder: folder.display().to_string(), problem }
}
