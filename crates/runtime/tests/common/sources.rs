//! Sources of ready batches.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use flott_catalog::connector::{
    Boundedness, ConnectorError, Discovery, ReaderContext, ScanRequest, SourceEvent, SourceReader,
    Split, SplitEnumerator, TableSource,
};
use flott_types::ChangelogBatch;

/// Splits of ready batches; a split's position is the number of batches read.
#[derive(Clone)]
pub struct Batches {
    pub splits: Arc<Vec<Vec<ChangelogBatch>>>,
    /// Whether the splits are read side by side, a batch of each in turn.
    pub side_by_side: bool,
    /// Whether splits never end.
    pub endless: bool,
}

impl Batches {
    pub fn new(splits: Vec<Vec<ChangelogBatch>>) -> Self {
        Self { splits: Arc::new(splits), side_by_side: false, endless: false }
    }
}

impl TableSource for Batches {
    fn boundedness(&self) -> Boundedness {
        if self.endless { Boundedness::Unbounded } else { Boundedness::Bounded }
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let given = state == Some(b"given");
        Ok(Box::new(Once { left: if given { 0 } else { self.splits.len() }, given }))
    }

    fn reader(
        &self,
        _request: &ScanRequest,
        _context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        Ok(Box::new(BatchReader { source: self.clone(), splits: VecDeque::new() }))
    }
}

struct Once {
    left: usize,
    given: bool,
}

impl SplitEnumerator for Once {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        let split = |id: usize| Split { id: id.to_string(), position: vec![0; 8] };
        self.given = true;
        let splits = (0..std::mem::take(&mut self.left)).map(split).collect();
        Ok(Discovery { splits, again_after: None, tasks: Vec::new() })
    }

    fn snapshot(&self) -> Vec<u8> {
        if self.given { b"given".to_vec() } else { b"new".to_vec() }
    }
}

struct BatchReader {
    source: Batches,
    /// Id and position.
    splits: VecDeque<(usize, u64)>,
}

impl SourceReader for BatchReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in splits {
            let position = u64::from_le_bytes(split.position.try_into().unwrap());
            self.splits.push_back((split.id.parse().unwrap(), position));
        }
        Ok(())
    }

    fn wants_all_splits(&self) -> bool {
        self.source.side_by_side
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let Some((id, position)) = self.splits.pop_front() else {
            std::thread::sleep(timeout);
            return Ok(SourceEvent::Pending);
        };
        let name: Arc<str> = id.to_string().into();
        match self.source.splits[id].get(position as usize) {
            Some(batch) => {
                self.splits.push_back((id, position + 1));
                Ok(SourceEvent::Rows { split: name, batch: batch.clone(), bytes: 1 })
            }
            None if self.source.endless => {
                self.splits.push_back((id, position));
                std::thread::sleep(timeout);
                Ok(SourceEvent::Pending)
            }
            None => Ok(SourceEvent::SplitEnd(name)),
        }
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let split = |(id, position): &(usize, u64)| Split {
            id: id.to_string(),
            position: position.to_le_bytes().to_vec(),
        };
        Ok(self.splits.iter().map(split).collect())
    }
}

/// One split, fed by the test while the job runs.
#[derive(Clone, Default)]
pub struct Live(Arc<(Mutex<LiveState>, Condvar)>);

#[derive(Default)]
struct LiveState {
    batches: VecDeque<ChangelogBatch>,
    closed: bool,
}

impl Live {
    pub fn push(&self, batch: ChangelogBatch) {
        self.0.0.lock().unwrap().batches.push_back(batch);
        self.0.1.notify_all();
    }

    pub fn close(&self) {
        self.0.0.lock().unwrap().closed = true;
        self.0.1.notify_all();
    }
}

impl TableSource for Live {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Unbounded
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        _state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        Ok(Box::new(Once { left: 1, given: false }))
    }

    fn reader(
        &self,
        _request: &ScanRequest,
        _context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        Ok(Box::new(self.clone()))
    }
}

impl SourceReader for Live {
    fn add_splits(&mut self, _splits: Vec<Split>) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let state = self.0.0.lock().unwrap();
        let empty = |state: &mut LiveState| state.batches.is_empty() && !state.closed;
        let mut state = self.0.1.wait_timeout_while(state, timeout, empty).unwrap().0;
        Ok(match state.batches.pop_front() {
            Some(batch) => SourceEvent::Rows { split: "0".into(), batch, bytes: 0 },
            None if state.closed => SourceEvent::SplitEnd("0".into()),
            None => SourceEvent::Pending,
        })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        Ok(Vec::new())
    }
}
