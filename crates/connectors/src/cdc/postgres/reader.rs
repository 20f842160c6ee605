//! The task that reads: first the snapshot, then the log.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flott_catalog::connector::{ConnectorError, SourceEvent, SourceReader, Split};

use super::begin::{Begun, begin};
use super::changes::Changes;
use super::failure::failure;
use super::lsn::Lsn;
use super::position::Position;
use super::replication::{Replication, Sent};
use super::snapshot::SnapshotReader;
use super::table::{Startup, Table};
use crate::cdc::rows::Rows;

/// Reads the one split there is.
pub(super) struct ChangeReader {
    table: Arc<Table>,
    rows: Rows,
    max_rows: usize,
    split: Option<Reading>,
    /// How far checkpoints that are complete have read, the oldest first, and what the slot may forget.
    complete: VecDeque<Lsn>,
    flushed: Lsn,
}

/// The split under way.
struct Reading {
    id: Arc<str>,
    /// `None` until the slot is found.
    position: Option<Position>,
    phase: Phase,
    /// How often connecting has failed since it last went well, and when it is tried again.
    failures: u32,
    again_at: Instant,
}

enum Phase {
    /// Not connected.
    Begin,
    Snapshot(Box<SnapshotReader>),
    Log(Box<(Replication, Changes)>),
    /// Read to its end, of which is told.
    End,
}

/// How long after a lost connection it is tried again, doubled at each failure up to the second.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl ChangeReader {
    pub(super) fn new(table: Arc<Table>, rows: Rows, max_rows: usize) -> Self {
        let (complete, flushed) = (VecDeque::new(), Lsn(0));
        Self { table, rows, max_rows: max_rows.max(2), split: None, complete, flushed }
    }
}

impl Reading {
    /// Connects, and goes on with what is not read.
    fn begin(&mut self, table: &Arc<Table>, flushed: Lsn) -> Result<(), ConnectorError> {
        let Begun { connection, infos } = begin(table, &mut self.position)?;
        let Some(position) = &self.position else { return Ok(()) };
        self.phase = if !position.is_snapshot_done() {
            let size = table.fetch_size;
            Phase::Snapshot(Box::new(SnapshotReader::new(connection, infos, size)?))
        } else if table.startup == Startup::Snapshot {
            Phase::End
        } else {
            let log = Replication::start(
                &table.connection,
                &table.slot,
                &table.publication,
                position.lsn,
                flushed,
                table.heartbeat,
            );
            let log = log.map_err(|error| of_log(failure(error), table))?;
            Phase::Log(Box::new((log, Changes::new(table.clone(), infos))))
        };
        Ok(())
    }

    /// Appends what comes within the time.
    fn read(
        &mut self,
        table: &Arc<Table>,
        rows: &mut Rows,
        max_rows: usize,
        within: Duration,
    ) -> Result<(), ConnectorError> {
        let Some(position) = &mut self.position else { return Ok(()) };
        match &mut self.phase {
            Phase::Snapshot(reader) => {
                let read = reader.read(position, rows, &table.connection.database);
                if read.is_err() {
                    // The position stands before them.
                    rows.clear();
                }
                read?;
                if position.is_snapshot_done() {
                    self.phase = Phase::Begin;
                }
            }
            Phase::Log(log) => {
                let (log, changes) = &mut **log;
                let deadline = Instant::now() + within;
                // A change gives two rows at most.
                while rows.len() + 2 <= max_rows {
                    let left = match rows.len() {
                        0 => deadline.saturating_duration_since(Instant::now()),
                        _ => Duration::ZERO,
                    };
                    match log.next(left).map_err(|error| of_log(failure(error), table))? {
                        Sent::Change(message) => changes.read(&message, position, rows)?,
                        Sent::KeepAlive(end) if changes.is_between() => position.advance(end),
                        Sent::KeepAlive(_) => {}
                        Sent::Nothing => break,
                    }
                    if rows.len() == 0 && Instant::now() >= deadline {
                        break;
                    }
                }
                log.received(position.lsn);
            }
            Phase::Begin | Phase::End => {}
        }
        self.failures = 0;
        Ok(())
    }

    /// Decides whether to connect again after an error.
    fn failed(&mut self, error: ConnectorError, retries: u32) -> Result<(), ConnectorError> {
        if !error.transient || self.failures >= retries {
            return Err(error);
        }
        let pause = PAUSE.saturating_mul(1 << self.failures.min(6)).min(LONGEST_PAUSE);
        tracing::warn!(%error, ?pause, "reading from PostgreSQL is tried again");
        self.failures += 1;
        self.again_at = Instant::now() + pause;
        self.phase = Phase::Begin;
        Ok(())
    }
}

impl SourceReader for ChangeReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in splits {
            let position = match split.position.as_slice() {
                [] => None,
                bytes => Some(Position::unpack(bytes)?),
            };
            self.split = Some(Reading {
                id: split.id.as_str().into(),
                position,
                phase: Phase::Begin,
                failures: 0,
                again_at: Instant::now(),
            });
        }
        Ok(())
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        let Some(reading) = &mut self.split else { return Ok(SourceEvent::Pending) };
        if matches!(reading.phase, Phase::Begin) {
            let pause = reading.again_at.saturating_duration_since(Instant::now());
            if !pause.is_zero() {
                std::thread::sleep(pause.min(timeout));
                return Ok(SourceEvent::Pending);
            }
            if let Err(error) = reading.begin(&self.table, self.flushed) {
                reading.failed(error, self.table.max_retries)?;
                return Ok(SourceEvent::Pending);
            }
        }
        if matches!(reading.phase, Phase::End) {
            let id = reading.id.clone();
            self.split = None;
            return Ok(SourceEvent::SplitEnd(id));
        }
        if let Err(error) = reading.read(&self.table, &mut self.rows, self.max_rows, timeout) {
            reading.failed(error, self.table.max_retries)?;
        }
        let split = reading.id.clone();
        Ok(match self.rows.take()? {
            Some(batch) => SourceEvent::Rows { split, batch, bytes: 0 },
            None => SourceEvent::Pending,
        })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        let split = |reading: &Reading| Split {
            id: reading.id.to_string(),
            position: reading.position.as_ref().map(Position::pack).unwrap_or_default(),
        };
        Ok(self.split.iter().map(split).collect())
    }

    fn checkpoint_complete(&mut self, splits: &[Split]) -> Result<(), ConnectorError> {
        for split in splits.iter().filter(|split| !split.position.is_empty()) {
            self.complete.push_back(Position::unpack(&split.position)?.lsn);
        }
        while self.complete.len() > self.table.commit_delay {
            let Some(lsn) = self.complete.pop_front() else { break };
            self.flushed = self.flushed.max(lsn);
        }
        if let Some(Reading { phase: Phase::Log(log), .. }) = &self.split {
            log.0.flush(self.flushed);
        }
        Ok(())
    }
}

/// What is wrong with the slot, where the server says it in words that do not tell the cure.
fn of_log(error: ConnectorError, table: &Table) -> ConnectorError {
    if error.message.contains("(42704)") && error.message.contains("publication") {
        return error.hint(format!(
            "the slot is older than the publication; SELECT pg_drop_replication_slot('{}'), and start the job \
             without its state",
            table.slot
        ));
    }
    error
}
