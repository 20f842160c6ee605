//! VALUES: constant rows as a source of one split.

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    Boundedness, ConnectorError, Discovery, ReaderContext, ScanRequest, SourceEvent, SourceReader,
    Split, SplitEnumerator, TableSource,
};
use flott_types::ChangelogBatch;

/// A source of constant rows.
pub struct ValuesSource {
    rows: ChangelogBatch,
}

impl ValuesSource {
    /// A source that gives these rows once.
    pub fn new(rows: ChangelogBatch) -> Self {
        Self { rows }
    }
}

impl TableSource for ValuesSource {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn parallelism(&self) -> Option<usize> {
        Some(1)
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        Ok(Box::new(OneSplit { given: state.is_some_and(|state| state == [1]) }))
    }

    fn reader(
        &self,
        _request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        Ok(Box::new(ValuesReader {
            rows: self.rows.clone(),
            max_rows: context.max_rows,
            split: None,
        }))
    }
}

struct OneSplit {
    given: bool,
}

impl SplitEnumerator for OneSplit {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        let fresh = !std::mem::replace(&mut self.given, true);
        let splits = fresh.then(|| Split { id: "values".into(), position: Vec::new() });
        Ok(Discovery { splits: splits.into_iter().collect(), ..Discovery::default() })
    }

    fn snapshot(&self) -> Vec<u8> {
        vec![u8::from(self.given)]
    }
}

struct ValuesReader {
    rows: ChangelogBatch,
    max_rows: usize,
    /// The split under way and the next row of it.
    split: Option<(Arc<str>, usize)>,
}

impl SourceReader for ValuesReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        if let Some(split) = splits.into_iter().next() {
            let row = match <[u8; 8]>::try_from(split.position.as_slice()) {
                Ok(bytes) => u64::from_le_bytes(bytes) as usize,
                Err(_) => 0,
            };
            self.split = Some((split.id.into(), row.min(self.rows.len())));
        }
        Ok(())
    }

    fn poll(&mut self, _timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let Some((split, row)) = &mut self.split else { return Ok(SourceEvent::Pending) };
        if *row == self.rows.len() {
            let split = split.clone();
            self.split = None;
            return Ok(SourceEvent::SplitEnd(split));
        }
        let len = self.max_rows.min(self.rows.len() - *row);
        let batch = self.rows.slice(*row, len);
        *row += len;
        Ok(SourceEvent::Rows { split: split.clone(), batch, bytes: 0 })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let split = self.split.as_ref().map(|(id, row)| Split {
            id: id.to_string(),
            position: (*row as u64).to_le_bytes().to_vec(),
        });
        Ok(split.into_iter().collect())
    }
}
