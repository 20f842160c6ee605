//! The only split of a table that is read from a database's log.

use flott_catalog::connector::{ConnectorError, Discovery, Split, SplitEnumerator};

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// Gives one split out, once.
pub(super) struct OneSplit {
    id: String,
    given: bool,
}

impl OneSplit {
    /// `state` is what an earlier one's snapshot gave.
    pub(super) fn new(id: String, state: Option<&[u8]>) -> Result<Self, ConnectorError> {
        let given = match state {
            Some(state) => Unpack::new(state, VERSION, "state of a CDC source")?.flag()?,
            None => false,
        };
        Ok(Self { id, given })
    }
}

impl SplitEnumerator for OneSplit {
    fn discover(&mut self) -> Result<Discovery, ConnectorError> {
        let mut found = Discovery::default();
        if !std::mem::replace(&mut self.given, true) {
            found.splits.push(Split { id: self.id.clone(), position: Vec::new() });
        }
        Ok(found)
    }

    fn snapshot(&self) -> Vec<u8> {
        Pack::new(VERSION).number(u64::from(self.given)).finish()
    }
}
