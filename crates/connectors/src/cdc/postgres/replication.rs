//! The log as the server sends it, and what is told back.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::connection::{Connection, ConnectionConfig, PgError};
use super::lsn::Lsn;

/// Milliseconds between 1970 and PostgreSQL's epoch.
const EPOCH: i128 = 946_684_800_000;

/// What the server sends.
pub(super) enum Sent {
    /// A message of the plugin.
    Change(Bytes),
    /// All transactions that end before this are sent.
    KeepAlive(Lsn),
    /// Nothing came in time.
    Nothing,
}

/// The log from a slot.
pub(super) struct Replication {
    connection: Connection,
    feedback: Arc<Feedback>,
    /// After so long without a word the server is taken for lost; `None` when it is not bound to speak.
    silence: Option<Duration>,
    heard: Instant,
}

impl Replication {
    /// Begins at `from`, or where the slot stands if that is later. `pulse` is how often the server is told at
    /// least where reading stands, however slow the job is; `flushed` is how far the slot may forget.
    pub(super) fn start(
        config: &ConnectionConfig,
        slot: &str,
        publication: &str,
        from: Lsn,
        flushed: Lsn,
        pulse: Duration,
    ) -> Result<Self, PgError> {
        let mut settings = Connection::open(config, false)?;
        let timeout = settings.query(
            "SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'",
        )?;
        drop(settings);
        let timeout = timeout.into_iter().flatten().flatten().next();
        let timeout = timeout.and_then(|text| text.parse().ok()).filter(|millis| *millis > 0);
        let timeout = timeout.map(Duration::from_millis);
        let mut connection = Connection::open(config, true)?;
        let publication = publication.replace('\'', "''").replace('"', "\"\"");
        connection.copy_both(&format!(
            "START_REPLICATION SLOT \"{slot}\" LOGICAL {from} \
             (proto_version '1', publication_names '\"{publication}\"')"
        ))?;
        let pulse = timeout.map_or(pulse, |timeout| pulse.min(timeout / 3));
        let feedback = Feedback::start(connection.writer()?, from, flushed, pulse);
        let silence = timeout.map(|timeout| timeout * 3);
        Ok(Self { connection, feedback, silence, heard: Instant::now() })
    }

    /// The next that the server sends.
    pub(super) fn next(&mut self, within: Duration) -> Result<Sent, PgError> {
        loop {
            let Some(message) = self.connection.next(within)? else {
                if self.silence.is_some_and(|silence| self.heard.elapsed() > silence) {
                    return Err(PgError::Io(std::io::ErrorKind::TimedOut.into()));
                }
                return Ok(Sent::Nothing);
            };
            self.heard = Instant::now();
            let mut body = message.body;
            match (message.tag, body.first()) {
                (b'd', Some(b'w')) if body.len() >= 25 => {
                    body.advance(25);
                    return Ok(Sent::Change(body));
                }
                (b'd', Some(b'k')) if body.len() >= 18 => {
                    body.advance(1);
                    let end = Lsn(body.get_u64());
                    body.advance(8);
                    if body.get_u8() != 0 {
                        self.feedback.speak();
                    }
                    return Ok(Sent::KeepAlive(end));
                }
                (b'c', _) => return Err(PgError::Io(std::io::ErrorKind::ConnectionAborted.into())),
                (b'd', _) => return Err(PgError::Protocol("a log message of unknown form")),
                _ => {}
            }
        }
    }

    /// Says how far the log is read.
    pub(super) fn received(&self, lsn: Lsn) {
        self.feedback.received.fetch_max(lsn.0, Ordering::Relaxed);
    }

    /// Lets the slot forget the log up to here.
    pub(super) fn flush(&self, lsn: Lsn) {
        if self.feedback.flushed.fetch_max(lsn.0, Ordering::Relaxed) < lsn.0 {
            self.feedback.speak();
        }
    }
}

impl Drop for Replication {
    fn drop(&mut self) {
        *self.feedback.state() = State::Stopped;
        self.feedback.changed.notify_all();
    }
}

/// Tells the server where reading stands, from a thread of its own: while the job is slow nobody reads what the
/// server sends, and it would take the reader for dead.
struct Feedback {
    received: AtomicU64,
    flushed: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Quiet,
    /// Something is to be told now.
    Due,
    Stopped,
}

impl Feedback {
    fn start(stream: TcpStream, received: Lsn, flushed: Lsn, pulse: Duration) -> Arc<Self> {
        let feedback = Arc::new(Self {
            received: AtomicU64::new(received.0),
            flushed: AtomicU64::new(flushed.0),
            state: Mutex::new(State::Due),
            changed: Condvar::new(),
        });
        let of_thread = feedback.clone();
        let run = move || of_thread.run(stream, pulse.max(Duration::from_millis(10)));
        let started = std::thread::Builder::new().name("postgres-cdc feedback".into()).spawn(run);
        if let Err(error) = started {
            tracing::warn!(%error, "no thread to keep the connection to PostgreSQL alive");
        }
        feedback
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn speak(&self) {
        let mut state = self.state();
        if *state == State::Quiet {
            *state = State::Due;
            self.changed.notify_all();
        }
    }

    fn run(&self, mut stream: TcpStream, pulse: Duration) {
        loop {
            let mut state = self.state();
            if *state == State::Quiet {
                let quiet = |state: &mut State| *state == State::Quiet;
                let waited = self.changed.wait_timeout_while(state, pulse, quiet);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if *state == State::Stopped {
                return;
            }
            *state = State::Quiet;
            drop(state);
            // What is wrong with the connection is found by who reads it.
            if stream.write_all(&self.message()).is_err() {
                return;
            }
        }
    }

    fn message(&self) -> BytesMut {
        let (received, flushed) =
            (self.received.load(Ordering::Relaxed), self.flushed.load(Ordering::Relaxed));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut out = BytesMut::with_capacity(39);
        out.put_u8(b'd');
        out.put_u32(4 + 34);
        out.put_u8(b'r');
        out.put_u64(received.max(flushed));
        out.put_u64(flushed);
        out.put_u64(flushed);
        out.put_i64((now.as_micros() as i128 - EPOCH * 1000) as i64);
        out.put_u8(0);
        out
    }
}
