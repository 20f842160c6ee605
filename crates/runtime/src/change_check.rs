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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use flott_state::KeySlots;
    use flott_types::{ChangelogBatch, DataType, Field, Schema};

    use super::*;
    use crate::context::OperatorContext;
    use crate::testing::OperatorHarness;

    /// Counts rows by key, and forgets that they changed if it is told to.
    struct Forgetful {
        keys: KeySlots,
        counts: Vec<i64>,
        notes_changes: bool,
    }

    impl Operator for Forgetful {
        fn name(&self) -> &str {
            "Forgetful"
        }

        fn on_batch(
            &mut self,
            _input: usize,
            batch: ChangelogBatch,
            _ctx: &mut OperatorContext,
        ) -> Result<()> {
            let keys = self.keys.encoder().encode(batch.rows.columns(), batch.len())?;
            let (mut slots, mut fresh) = (Vec::new(), Vec::new());
            self.keys.find_or_write(&keys, 0, &mut slots, &mut fresh)?;
            for slot in slots {
                self.counts.resize(self.counts.len().max(slot as usize + 1), 0);
                self.counts[slot as usize] += 1;
                if self.notes_changes {
                    self.keys.changed(slot);
                }
            }
            Ok(())
        }

        fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
            let section = state.keyed("counts", 1, &self.keys.schema("COUNT(*)"));
            self.keys.snapshot(section, |slot, out| out.i64(self.counts[slot as usize]))?;
            self.keys.handed_over(state);
            Ok(())
        }

        fn state_bytes(&self) -> usize {
            self.keys.memory()
        }
    }

    #[test]
    fn a_change_that_is_not_noted_is_told() {
        let schema = Schema::new(vec![Field::new("key", DataType::bigint())]).to_arrow();
        for notes_changes in [true, false] {
            let keys = KeySlots::new(&[DataType::bigint()], None);
            let operator = Forgetful { keys, counts: Vec::new(), notes_changes };
            let mut harness = OperatorHarness::new(operator, 1, None).unwrap();
            let fed: Result<()> = (0..10).try_for_each(|_| {
                let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
                let rows = RecordBatch::try_new(schema.clone(), vec![column])?;
                harness.batch(0, ChangelogBatch::inserts(rows))
            });
            match fed {
                Ok(()) => assert!(notes_changes),
                Err(error) => {
                    assert!(!notes_changes);
                    let text = error.to_string();
                    assert!(text.contains("state 'counts' changed unnoticed"), "{text}");
                }
            }
        }
    }
}
