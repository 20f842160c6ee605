//! A source of rows that follow from their numbers, in two splits read side by side, a few rows at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};
use arrow::record_batch::RecordBatch;
use flott_catalog::connector::{
    Boundedness, ConnectorDef, ConnectorError, Discovery, OptionDef, OptionKind, ReaderContext,
    ScanColumn, ScanRequest, SourceEvent, SourceReader, Split, SplitEnumerator, TableContext,
    TableSource,
};
use flott_types::{ChangelogBatch, Schema};

const SPLITS: u64 = 2;

/// `id`, a key, a value and a time that rises with the id.
pub(super) static NUMBERS: ConnectorDef = ConnectorDef {
    name: "numbers",
    help: "numbers",
    options: &[OptionDef::new("connector", OptionKind::Text, "numbers"), ROWS],
    uses_format: false,
    source: Some(source),
    sink: None,
};
const ROWS: OptionDef = OptionDef::new("rows", OptionKind::Int, "rows in all").default("120");

fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    let rows = context.options.int(&ROWS)?.unwrap_or_default() as u64;
    Ok(Arc::new(Numbers { schema: context.schema.clone(), rows }))
}

struct Numbers {
    schema: Schema,
    rows: u64,
}

impl TableSource for Numbers {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        Ok(Box::new(Once { is_given: state == Some(b"given") }))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        _context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        Ok(Box::new(Reader {
            schema: self.schema.clone(),
            columns: request.columns.clone(),
            rows: self.rows,
            splits: VecDeque::new(),
        }))
    }
}

struct Once {
    is_given: bool,
}

impl SplitEnumerator for Once {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        let first =
            |part: u64| Split { id: part.to_string(), position: (part + 1).to_le_bytes().to_vec() };
        let splits = if self.is_given { Vec::new() } else { (0..SPLITS).map(first).collect() };
        self.is_given = true;
        Ok(Discovery { splits, again_after: None, tasks: Vec::new() })
    }

    fn snapshot(&self) -> Vec<u8> {
        if self.is_given { b"given".to_vec() } else { Vec::new() }
    }
}

struct Reader {
    schema: Schema,
    columns: Vec<ScanColumn>,
    rows: u64,
    /// The splits, each with its next number.
    splits: VecDeque<(String, u64)>,
}

impl SourceReader for Reader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in splits {
            let next: [u8; 8] = split.position.try_into().unwrap();
            self.splits.push_back((split.id, u64::from_le_bytes(next)));
        }
        Ok(())
    }

    fn wants_all_splits(&self) -> bool {
        true
    }

    fn poll(&mut self, _timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let Some((split, next)) = self.splits.pop_front() else { return Ok(SourceEvent::Pending) };
        if next > self.rows {
            return Ok(SourceEvent::SplitEnd(split.into()));
        }
        let ids: Vec<i64> = (0..6)
            .map(|i| next + i * SPLITS)
            .filter(|id| *id <= self.rows)
            .map(|id| id as i64)
            .collect();
        self.splits.push_back((split.clone(), next + 6 * SPLITS));
        let rows = self.batch(&ids);
        Ok(SourceEvent::Rows {
            split: split.into(),
            batch: ChangelogBatch::inserts(rows),
            bytes: 0,
        })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let split = |(id, next): &(String, u64)| Split {
            id: id.clone(),
            position: next.to_le_bytes().to_vec(),
        };
        Ok(self.splits.iter().map(split).collect())
    }
}

impl Reader {
    fn batch(&self, ids: &[i64]) -> RecordBatch {
        let longs = |value: fn(i64) -> i64| -> ArrayRef {
            Arc::new(ids.iter().map(|id| value(*id)).collect::<Int64Array>())
        };
        let columns: Vec<usize> = self
            .columns
            .iter()
            .map(|column| match column {
                ScanColumn::Physical(position) => *position,
                ScanColumn::Metadata(_) => unreachable!("there is none"),
            })
            .collect();
        let arrays = columns.iter().map(|column| match column {
            0 => longs(|id| id),
            1 => longs(|id| id * 7 % 5),
            2 => longs(|id| id * 7919 % 23),
            _ => Arc::new(ids.iter().map(|id| Some(*id)).collect::<TimestampMillisecondArray>()),
        });
        let fields = columns.iter().map(|column| self.schema.fields[*column].clone()).collect();
        let schema = Schema::new(fields).to_arrow();
        RecordBatch::try_new(schema, arrays.collect()).unwrap()
    }
}
