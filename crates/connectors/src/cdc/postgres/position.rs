//! Where reading stands: the split's position.

use flott_catalog::connector::ConnectorError;

use super::lsn::Lsn;
use crate::cdc::progress::{Seen, TableProgress, pack_tables, unpack_tables};
use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;
const WHAT: &str = "position of a PostgreSQL source";

/// Where reading stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Behind the last transaction of the log that is read as a whole.
    pub(super) lsn: Lsn,
    /// The transaction that is read in part: where its commit is, and how many of its changes are read.
    pub(super) transaction: Option<(Lsn, u64)>,
    /// The tables of the snapshot; empty once the log has come to where their last row was read.
    pub(super) tables: Vec<TableProgress<Snapshot>>,
}

/// What a transaction that reads sees, from `txid_current_snapshot()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// All transactions before this one are seen.
    oldest: u64,
    /// None from this one on is.
    next: u64,
    /// Those between that had not ended.
    running: Vec<u64>,
    /// Behind the commits of all that are seen.
    pub(super) lsn: Lsn,
}

impl Snapshot {
    /// Reads `10:20:10,14,15`.
    pub(super) fn parse(text: &str, lsn: Lsn) -> Option<Self> {
        let mut parts = text.split(':');
        let (oldest, next) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let running = parts.next()?.split(',').filter(|xid| !xid.is_empty());
        let running = running.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self { oldest, next, running, lsn })
    }

    /// Whether the transaction of this number, which the log tells without its epoch, is seen.
    pub(super) fn sees(&self, xid: u32) -> bool {
        const EPOCH: u64 = 1 << 32;
        let mut full = self.next / EPOCH * EPOCH + u64::from(xid);
        if full > self.next + EPOCH / 2 {
            full = full.saturating_sub(EPOCH);
        } else if full + EPOCH / 2 < self.next {
            full += EPOCH;
        }
        full < self.oldest || full < self.next && !self.running.contains(&full)
    }
}

impl Seen for Snapshot {
    fn pack(&self, pack: Pack) -> Pack {
        let pack = pack.number(self.oldest).number(self.next);
        pack.list(self.running.iter(), |pack, xid| pack.number(*xid)).number(self.lsn.0)
    }

    fn unpack(unpack: &mut Unpack<'_>) -> Result<Self, ConnectorError> {
        let (oldest, next) = (unpack.number()?, unpack.number()?);
        let running = unpack.list(Unpack::number)?;
        Ok(Self { oldest, next, running, lsn: Lsn(unpack.number()?) })
    }
}

impl Position {
    /// Whether all rows of the snapshot are read.
    pub(super) fn is_snapshot_done(&self) -> bool {
        self.tables.iter().all(TableProgress::is_done)
    }

    /// Moves behind a transaction.
    pub(super) fn advance(&mut self, lsn: Lsn) {
        self.transaction = None;
        self.lsn = self.lsn.max(lsn);
        let seen = self.tables.iter().flat_map(|table| &table.runs).map(|run| run.seen.lsn).max();
        if seen.is_some_and(|seen| seen <= self.lsn) && self.is_snapshot_done() {
            self.tables.clear();
        }
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        let (commit, done) = self.transaction.unwrap_or_default();
        let pack = Pack::new(VERSION).number(self.lsn.0).number(commit.0).number(done);
        pack_tables(pack, &self.tables).finish()
    }

    pub(super) fn unpack(bytes: &[u8]) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(bytes, VERSION, WHAT)?;
        let lsn = Lsn(unpack.number()?);
        let (commit, done) = (Lsn(unpack.number()?), unpack.number()?);
        let transaction = (commit != Lsn(0)).then_some((commit, done));
        Ok(Self { lsn, transaction, tables: unpack_tables(&mut unpack)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_sees_what_had_ended() {
        let snapshot = Snapshot::parse("10:20:10,14", Lsn(1)).unwrap();
        for (xid, seen) in
            [(9, true), (10, false), (11, true), (14, false), (19, true), (20, false)]
        {
            assert_eq!(snapshot.sees(xid), seen, "{xid}");
        }
        let idle = Snapshot::parse("7:7:", Lsn(1)).unwrap();
        assert!(idle.sees(6) && !idle.sees(7));
    }

    #[test]
    fn transactions_are_counted_round_and_round() {
        let epoch = 1_u64 << 32;
        let snapshot = Snapshot::parse(&format!("{0}:{0}:", 3 * epoch + 5), Lsn(1)).unwrap();
        assert!(snapshot.sees(4) && snapshot.sees(u32::MAX) && !snapshot.sees(5));
        assert!(!snapshot.sees(1 << 20));
        let before = Snapshot::parse(&format!("{0}:{0}:", 3 * epoch - 5), Lsn(1)).unwrap();
        assert!(before.sees(u32::MAX - 6) && !before.sees(2));
    }

    #[test]
    fn positions_come_back() {
        let mut position =
            Position { lsn: Lsn(7), transaction: Some((Lsn(9), 3)), tables: Vec::new() };
        let mut table = TableProgress::new("public".into(), "t".into(), vec!["id".into()]);
        let seen = Snapshot::parse("10:20:10,14", Lsn(99)).unwrap();
        table.read(&seen, Some(vec!["5".into()]));
        position.tables.push(table);
        assert_eq!(Position::unpack(&position.pack()).unwrap(), position);
        position.advance(Lsn(100));
        assert_eq!(position.tables.len(), 1, "the snapshot is not done");
        position.tables[0].read(&seen, None);
        position.advance(Lsn(98));
        assert_eq!((position.lsn, position.transaction), (Lsn(100), None));
        assert!(position.tables.is_empty());
        assert_eq!(Position::unpack(&position.pack()).unwrap(), position);
    }
}
