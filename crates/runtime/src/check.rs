//! What an operator emits, held against what it promised; only debug builds pay for it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use flott_types::{ChangelogBatch, ChangelogMode, RowKind};

use crate::marks::Marks;
use crate::{Result, RuntimeError};

/// What the output of a source or an operator looks like.
#[derive(Debug, Clone)]
pub struct OutputContract {
    /// The Arrow schema of its batches.
    pub schema: SchemaRef,
    /// The kinds of rows that may occur.
    pub mode: ChangelogMode,
    /// Whether a row that is taken back equals the row that was given, as long as the inputs are
    /// well-formed; not so with functions that give another value at each call.
    pub repeatable: bool,
}

/// Rows that a bag follows before it gives up.
const MAX_TRACKED_ROWS: usize = 100_000;

/// Watches one output.
pub(crate) struct OutputCheck {
    operator: Arc<str>,
    contract: OutputContract,
    rows: Option<RowBag>,
    /// Set where a source takes back rows that it never gave: from then on nobody after it can be
    /// blamed for doing so.
    malformed: Arc<AtomicBool>,
    is_source: bool,
}

/// How often each row is in the table that the changelog describes.
struct RowBag {
    converter: RowConverter,
    counts: HashMap<OwnedRow, i64>,
}

impl OutputCheck {
    /// A check of what `operator` emits; `malformed` is shared by the whole job.
    pub fn new(
        operator: Arc<str>,
        contract: OutputContract,
        is_source: bool,
        malformed: Arc<AtomicBool>,
    ) -> Result<Self> {
        // Without −U a row replaces an unknown one by its key, and −D may hold nothing but the key.
        let mode = contract.mode;
        let retracts = mode.contains(RowKind::UpdateBefore)
            || (mode.contains(RowKind::Delete) && !mode.has_updates());
        let rows = if retracts && contract.repeatable {
            let fields = contract.schema.fields().iter();
            let fields: Vec<_> = fields.map(|f| SortField::new(f.data_type().clone())).collect();
            RowConverter::supports_fields(&fields)
                .then(|| RowConverter::new(fields))
                .transpose()?
                .map(|converter| RowBag { converter, counts: HashMap::new() })
        } else {
            None
        };
        Ok(Self { operator, contract, rows, malformed, is_source })
    }

    /// Gives up following rows, because what was given before is not known.
    pub fn forget_rows(&mut self) {
        self.rows = None;
    }

    /// Looks at rows on their way out.
    pub fn batch(&mut self, batch: &ChangelogBatch, marks: &Marks) -> Result<()> {
        self.columns(batch)?;
        self.kinds(batch)?;
        if marks.as_slice().iter().any(|mark| mark.row as usize > batch.len()) {
            return Err(self.broken(format!("a watermark stands after row {}", batch.len())));
        }
        self.retractions(batch)
    }

    fn columns(&self, batch: &ChangelogBatch) -> Result<()> {
        let (given, promised) = (batch.rows.schema(), &self.contract.schema);
        let types = |schema: &SchemaRef| -> Vec<_> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        if types(&given) == types(promised) {
            return Ok(());
        }
        Err(self.broken(format!("gave columns {given:?}, promised {promised:?}")))
    }

    fn kinds(&self, batch: &ChangelogBatch) -> Result<()> {
        let Some(kinds) = &batch.kinds else {
            return if self.contract.mode.contains(RowKind::Insert) {
                Ok(())
            } else {
                Err(self.broken(format!("gave +I, promised {}", self.contract.mode)))
            };
        };
        match kinds.iter().position(|kind| !self.contract.mode.contains(kind)) {
            None => Ok(()),
            Some(row) => Err(self.broken(format!(
                "gave {}, promised {}",
                describe(batch, row),
                self.contract.mode
            ))),
        }
    }

    fn retractions(&mut self, batch: &ChangelogBatch) -> Result<()> {
        if self.malformed.load(Ordering::Relaxed) {
            self.rows = None;
        }
        let Some(bag) = &mut self.rows else { return Ok(()) };
        let unknown = bag.apply(batch)?;
        if bag.counts.len() > MAX_TRACKED_ROWS {
            self.rows = None;
        }
        match unknown {
            Some(_) if self.is_source => self.malformed.store(true, Ordering::Relaxed),
            Some(row) => {
                return Err(
                    self.broken(format!("took back {}, which is not there", describe(batch, row)))
                );
            }
            None => {}
        }
        Ok(())
    }

    fn broken(&self, problem: String) -> RuntimeError {
        RuntimeError::internal(self.operator.clone(), problem)
    }
}

impl RowBag {
    /// Applies the rows in order; returns the first that takes back a row which is not there.
    fn apply(&mut self, batch: &ChangelogBatch) -> Result<Option<usize>> {
        let rows = self.converter.convert_columns(batch.rows.columns())?;
        for (row, key) in rows.iter().enumerate() {
            match (self.counts.entry(key.owned()), batch.kind(row).adds()) {
                (Entry::Occupied(mut count), true) => *count.get_mut() += 1,
                (Entry::Vacant(free), true) => {
                    free.insert(1);
                }
                (Entry::Occupied(mut count), false) if *count.get() > 1 => *count.get_mut() -= 1,
                (Entry::Occupied(count), false) => {
                    count.remove();
                }
                (Entry::Vacant(_), false) => return Ok(Some(row)),
            }
        }
        Ok(None)
    }
}

/// A row with its kind, as far as Arrow can print it.
fn describe(batch: &ChangelogBatch, row: usize) -> String {
    let values: Vec<_> =
        batch.rows.columns().iter().map(|column| format!("{:?}", column.slice(row, 1))).collect();
    format!("{} row {row} ({})", batch.kind(row), values.join(", "))
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::{DataType, Field, Schema};
    use arrow::record_batch::RecordBatch;

    use super::*;
    use crate::marks::Mark;

    fn schema(data_type: DataType) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("v", data_type, true)]))
    }

    fn check(mode: ChangelogMode, is_source: bool, malformed: &Arc<AtomicBool>) -> OutputCheck {
        let contract = OutputContract { schema: schema(DataType::Int64), mode, repeatable: true };
        OutputCheck::new("Op".into(), contract, is_source, malformed.clone()).unwrap()
    }

    fn batch(rows: &[(RowKind, i64)]) -> ChangelogBatch {
        let values: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>());
        let rows_of = RecordBatch::try_new(schema(DataType::Int64), vec![values]).unwrap();
        ChangelogBatch::new(rows_of, rows.iter().map(|row| row.0).collect())
    }

    #[test]
    fn kinds_types_and_marks_are_held_to_the_promise() {
        let fine = Arc::default();
        let mut insert_only = check(ChangelogMode::INSERT_ONLY, false, &fine);
        insert_only.batch(&batch(&[(RowKind::Insert, 1)]), &Marks::NONE).unwrap();
        let deleted = batch(&[(RowKind::Insert, 1), (RowKind::Delete, 1)]);
        let error = insert_only.batch(&deleted, &Marks::NONE).unwrap_err().to_string();
        assert!(error.starts_with("Op: gave -D row 1"), "{error}");

        let marks = [Mark { row: 2, watermark: 1 }].into_iter().collect();
        assert!(insert_only.batch(&batch(&[(RowKind::Insert, 1)]), &marks).is_err());

        let texts: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["x"]));
        let texts = RecordBatch::try_new(schema(DataType::Utf8), vec![texts]).unwrap();
        assert!(insert_only.batch(&ChangelogBatch::inserts(texts), &Marks::NONE).is_err());
    }

    #[test]
    fn what_is_taken_back_must_be_there() {
        let fine = Arc::default();
        let mut check_all = check(ChangelogMode::ALL, false, &fine);
        let rows = [(RowKind::Insert, 1), (RowKind::UpdateBefore, 1), (RowKind::UpdateAfter, 2)];
        check_all.batch(&batch(&rows), &Marks::NONE).unwrap();
        check_all.batch(&batch(&[(RowKind::Delete, 2)]), &Marks::NONE).unwrap();
        let error = check_all.batch(&batch(&[(RowKind::Delete, 2)]), &Marks::NONE).unwrap_err();
        assert!(error.to_string().contains("which is not there"), "{error}");
        // Upserts find their row by its key.
        let mut upsert = check(ChangelogMode::UPSERT, false, &fine);
        upsert.batch(&batch(&[(RowKind::Delete, 2)]), &Marks::NONE).unwrap();
    }

    #[test]
    fn nobody_is_blamed_for_a_malformed_source() {
        let malformed = Arc::default();
        let mut source = check(ChangelogMode::ALL, true, &malformed);
        let mut after = check(ChangelogMode::ALL, false, &malformed);
        let unknown = batch(&[(RowKind::Delete, 9)]);
        source.batch(&unknown, &Marks::NONE).unwrap();
        after.batch(&unknown, &Marks::NONE).unwrap();
    }
}
