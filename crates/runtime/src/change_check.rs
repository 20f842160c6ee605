//! Whether an operator's snapshots of changes hold all changes; only debug builds pay for it.

use flott_state::{SectionKind, Snapshot, SnapshotScope, StateReader, StateWriter};

use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Compares, at each checkpoint of an operator, its state with the state before and what changed since.
#[derive(Default)]
pub(crate) struct ChangeCheck {
    /// All state at the last checkpoint.
    before: Option<Snapshot>,
}

/// An entry: its key group and key, none for a value of the task, and its value.
type Entry = (Option<(u16, Vec<u8>)>, Vec<u8>);

impl ChangeCheck {
    /// Looks at an operator that is about to write its state for a checkpoint.
    pub fn check(&mut self, operator: &mut dyn Operator, max_parallelism: u16) -> Result<()> {
        let mut take = |scope| -> Result<Snapshot> {
            // State that expires differs from what was written before only in that it is no longer seen.
            let mut state = StateWriter::of_scope(max_parallelism, scope, i64::MIN).trial();
            operator.snapshot(&mut state)?;
            Ok(state.finish())
        };
        let whole = take(SnapshotScope::Whole)?;
        if let Some(before) = &self.before {
            let merged = before.followed_by(&take(SnapshotScope::Changes)?)?;
            compare(&merged, &whole, max_parallelism)?;
        }
        self.before = Some(whole);
        Ok(())
    }
}

fn compare(merged: &Snapshot, whole: &Snapshot, max_parallelism: u16) -> Result<()> {
    let names = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.sections.iter().map(|section| section.name.clone()).collect()
    };
    if names(merged) != names(whole) {
        let problem = format!("sections {:?}, of changes {:?}", names(whole), names(merged));
        return Err(RuntimeError::internal("", problem));
    }
    for section in &whole.sections {
        let of = |snapshot| entries(snapshot, &section.name, section.kind, max_parallelism);
        let (expected, found) = (of(whole)?, of(merged)?);
        let missing = expected.iter().find(|entry| found.binary_search(entry).is_err());
        let stale = found.iter().find(|entry| expected.binary_search(entry).is_err());
        if missing.is_some() || stale.is_some() {
            let problem = format!(
                "state '{}' changed unnoticed: there is {missing:?}, and its snapshots hold {stale:?}",
                section.name
            );
            return Err(RuntimeError::internal("", problem));
        }
    }
    Ok(())
}

/// What a section holds, sorted.
fn entries(
    snapshot: &Snapshot,
    name: &str,
    kind: SectionKind,
    max_parallelism: u16,
) -> Result<Vec<Entry>> {
    let all = flott_state::KeyGroupRange::all(max_parallelism);
    let mut reader = StateReader::new(max_parallelism, all);
    reader.add(snapshot)?;
    let Some(section) = snapshot.sections.iter().find(|section| section.name == name) else {
        return Ok(Vec::new());
    };
    let mut entries = Vec::new();
    match kind {
        SectionKind::Operator => {
            for (_, value) in reader.operator(name, section.version)? {
                entries.push((None, value.rest().to_vec()));
            }
        }
        SectionKind::Keyed => {
            for entry in reader.keyed(name, section.version, &section.schema)? {
                let entry = entry?;
                let key = (entry.key_group, entry.key.to_vec());
                entries.push((Some(key), entry.value.rest().to_vec()));
            }
        }
    }
    entries.sort();
    Ok(entries)
}
