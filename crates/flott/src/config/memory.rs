//! Memory of jobs, and the disk beyond it: Flink's keys.

use std::path::{Path, PathBuf};

use flott_catalog::connector::{OptionDef, OptionKind};
use flott_plan::PlanError;
use flott_runtime::MemoryBudget;

use super::SessionConfig;

const MANAGED: OptionDef = OptionDef::new(
    "taskmanager.memory.managed.size",
    OptionKind::MemorySize,
    "what a job's state and rows between tasks may take; without it half of the machine's memory, \
     or of the control group's where that is less",
);
const BACKEND: OptionDef = OptionDef::new(
    "state.backend.type",
    OptionKind::Enum(&["hashmap", "rocksdb", "forst"]),
    "taken for Flink's sake: state is in memory, and on disk what has no room there, under each name",
)
.default("hashmap");
const FOLDERS: OptionDef = OptionDef::new(
    "io.tmp.dirs",
    OptionKind::Text,
    "folders for state without room in memory, separated by commas or |, of which the first that can be \
     written to is taken; without it the system's folder for temporary files",
);

/// The options of this file.
pub const OPTIONS: &[OptionDef] = &[MANAGED, BACKEND, FOLDERS];

/// What a job may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    bytes: u64,
    folders: Vec<PathBuf>,
}

impl Memory {
    /// The budget of a job that is about to start.
    pub(crate) fn budget(&self) -> MemoryBudget {
        MemoryBudget::spilling(self.bytes, self.folders.clone())
    }
}

impl SessionConfig {
    /// What jobs may use. Relative paths are relative to `working_directory`.
    pub(crate) fn memory(&self, working_directory: &Path) -> Result<Memory, PlanError> {
        let options = &self.options;
        if let Some(name) = options.text(&BACKEND) {
            BACKEND.check(BACKEND.key, name)?;
        }
        let bytes = match options.memory_size(&MANAGED)? {
            Some(0) => {
                return Err(PlanError::new(format!(
                    "invalid value '0' for option '{}'",
                    MANAGED.key
                ))
                .hint("give a size, as in 512 mb"));
            }
            Some(bytes) => bytes,
            None => machine_memory().map_or(u64::MAX, |bytes| bytes / 2),
        };
        let named = options.text(&FOLDERS).unwrap_or_default();
        let named = named.split([',', '|']).map(str::trim).filter(|path| !path.is_empty());
        let mut folders: Vec<PathBuf> = named.map(|path| working_directory.join(path)).collect();
        if folders.is_empty() {
            folders.push(std::env::temp_dir());
        }
        Ok(Memory { bytes, folders })
    }
}

/// The memory that this process can have: the machine's, or its control group's where that is less. `None`
/// where the system does not say.
fn machine_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| total(&text));
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .find_map(|path| read(path)?.trim().parse().ok());
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(options: &[(&str, &str)]) -> Result<Memory, PlanError> {
        let mut config = SessionConfig::default();
        options.iter().for_each(|(key, value)| config.set(key, value));
        config.memory(Path::new("/work"))
    }

    #[test]
    fn sizes_and_folders_are_read_as_flink_writes_them() {
        let found = memory(&[
            ("taskmanager.memory.managed.size", "64 mb"),
            ("io.tmp.dirs", "/fast, spill|/slow"),
            ("state.backend.type", "RocksDB"),
        ])
        .unwrap();
        let folders = ["/fast", "/work/spill", "/slow"].map(PathBuf::from).into();
        assert_eq!(found, Memory { bytes: 64 << 20, folders });
        let default = memory(&[]).unwrap();
        assert_eq!(default.folders, [std::env::temp_dir()]);
        assert!(default.bytes > 1 << 20);
    }

    #[test]
    fn what_is_no_size_and_no_backend_is_refused() {
        for (key, value) in [
            ("taskmanager.memory.managed.size", "much"),
            ("taskmanager.memory.managed.size", "0"),
            ("state.backend.type", "tape"),
        ] {
            let error = memory(&[(key, value)]).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        assert_eq!(total("MemTotal:       24689764 kB\nMemFree: 1 kB\n"), Some(24_689_764 << 10));
        assert_eq!(total("nothing"), None);
    }
}
