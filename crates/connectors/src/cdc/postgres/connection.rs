//! A blocking connection that speaks PostgreSQL's protocol: simple queries, whose values come as text, and what
//! replication needs. Values of the log come as text too, so that there is one way from values to columns.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use postgres_protocol::authentication;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use postgres_protocol::message::frontend;

/// How long the answer to a query may take.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Where the database is and who asks.
#[derive(Debug, Clone)]
pub(super) struct ConnectionConfig {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: String,
    pub(super) timeout: Duration,
}

/// What goes wrong on a connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum PgError {
    /// The network, or a server that went away.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The server refuses.
    #[error("{message}")]
    Server { code: String, message: String, hint: Option<String> },
    /// What came is not what the protocol says.
    #[error("the server sent {0}")]
    Protocol(&'static str),
    /// A login that cannot be done.
    #[error("{0}")]
    Login(String),
}

/// One message of the server.
pub(super) struct Message {
    pub(super) tag: u8,
    pub(super) body: Bytes,
}

/// A connection after its login.
pub(super) struct Connection {
    stream: TcpStream,
    input: BytesMut,
    /// The read timeout that is set, so that it is set only when it changes.
    timeout: Option<Duration>,
}

impl Connection {
    /// Connects and logs in; with `replication` as a sender of the log.
    pub(super) fn open(config: &ConnectionConfig, replication: bool) -> Result<Self, PgError> {
        let mut last = None;
        for address in (config.host.as_str(), config.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, config.timeout.max(Duration::from_millis(1)))
            {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(Duration::from_secs(60)))?;
                    let mut connection = Self { stream, input: BytesMut::new(), timeout: None };
                    connection.log_in(config, replication)?;
                    return Ok(connection);
                }
                Err(error) => last = Some(error),
            }
        }
        Err(PgError::Io(last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into())))
    }

    fn log_in(&mut self, config: &ConnectionConfig, replication: bool) -> Result<(), PgError> {
        let mut parameters = vec![
            ("user", config.user.as_str()),
            ("database", &config.database),
            ("client_encoding", "UTF8"),
            ("application_name", "flott"),
            (
                "options",
                "-c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3 -c timezone=UTC \
                 -c bytea_output=hex -c statement_timeout=0 -c idle_in_transaction_session_timeout=0",
            ),
        ];
        if replication {
            parameters.push(("replication", "database"));
        }
        let mut out = BytesMut::new();
        frontend::startup_message(parameters, &mut out)?;
        self.send(&out)?;
        let mut scram = None;
        loop {
            let mut message = self.expect(config.timeout)?;
            match message.tag {
                b'Z' => return Ok(()),
                b'R' => self.authenticate(&mut message.body, config, &mut scram)?,
                // Parameters and the key for cancelling.
                _ => {}
            }
        }
    }

    fn authenticate(
        &mut self,
        body: &mut Bytes,
        config: &ConnectionConfig,
        scram: &mut Option<ScramSha256>,
    ) -> Result<(), PgError> {
        let mut out = BytesMut::new();
        let kind = body.try_get_u32().map_err(|_| PgError::Protocol("a login without its kind"))?;
        match kind {
            0 => return Ok(()),
            3 => frontend::password_message(config.password.as_bytes(), &mut out)?,
            5 => {
                let salt: [u8; 4] =
                    body[..].try_into().map_err(|_| PgError::Protocol("no salt"))?;
                let (user, password) = (config.user.as_bytes(), config.password.as_bytes());
                let hash = authentication::md5_hash(user, password, salt);
                frontend::password_message(hash.as_bytes(), &mut out)?;
            }
            10 => {
                if !body.split(|byte| *byte == 0).any(|name| name == b"SCRAM-SHA-256") {
                    return Err(PgError::Login(
                        "the server wants a login that is not known".into(),
                    ));
                }
                let login =
                    ScramSha256::new(config.password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response("SCRAM-SHA-256", login.message(), &mut out)?;
                *scram = Some(login);
            }
            11 | 12 => {
                let wrong = |error: io::Error| PgError::Login(error.to_string());
                let login = scram.as_mut().ok_or(PgError::Protocol("an answer to no question"))?;
                if kind == 12 {
                    return login.finish(body).map_err(wrong);
                }
                login.update(body).map_err(wrong)?;
                frontend::sasl_response(login.message(), &mut out)?;
            }
            _ => {
                return Err(PgError::Login(format!(
                    "the server wants a login of kind {kind}; passwords are known, plain, by MD5 and by \
                     SCRAM-SHA-256"
                )));
            }
        }
        self.send(&out)
    }

    /// A handle on the same connection to write by.
    pub(super) fn writer(&self) -> Result<TcpStream, PgError> {
        Ok(self.stream.try_clone()?)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), PgError> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The next message within a time, `None` when there is none. What the server only mentions is passed over, and
    /// its errors are errors.
    pub(super) fn next(&mut self, within: Duration) -> Result<Option<Message>, PgError> {
        loop {
            while let Some(message) = self.buffered()? {
                match message.tag {
                    b'N' | b'S' => {}
                    b'E' => return Err(server_error(&message.body)),
                    _ => return Ok(Some(message)),
                }
            }
            if !self.read(within)? {
                return Ok(None);
            }
        }
    }

    fn expect(&mut self, within: Duration) -> Result<Message, PgError> {
        self.next(within)?.ok_or_else(|| PgError::Io(io::ErrorKind::TimedOut.into()))
    }

    fn buffered(&mut self) -> Result<Option<Message>, PgError> {
        let Some((head, _)) = self.input.split_first_chunk::<5>() else { return Ok(None) };
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if !(4..=(1 << 30) + 64).contains(&length) {
            return Err(PgError::Protocol("a message of impossible length"));
        }
        if self.input.len() <= length {
            self.input.reserve(length + 1 - self.input.len());
            return Ok(None);
        }
        let tag = head[0];
        let mut body = self.input.split_to(length + 1).freeze();
        body.advance(5);
        Ok(Some(Message { tag, body }))
    }

    /// Reads what there is; false when nothing came in time.
    fn read(&mut self, within: Duration) -> Result<bool, PgError> {
        let within = within.max(Duration::from_millis(1));
        if self.timeout != Some(within) {
            self.stream.set_read_timeout(Some(within))?;
            self.timeout = Some(within);
        }
        let filled = self.input.len();
        self.input.resize(filled + (64 << 10), 0);
        let read = self.stream.read(&mut self.input[filled..]);
        self.input.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(PgError::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(false),
                io::ErrorKind::Interrupted => Ok(true),
                _ => Err(PgError::Io(error)),
            },
        }
    }

    /// Sends statements and hands each row of their results over.
    pub(super) fn query_each<E: From<PgError>>(
        &mut self,
        sql: &str,
        mut each: impl FnMut(Fields<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut out = BytesMut::new();
        frontend::query(sql, &mut out).map_err(PgError::Io)?;
        self.send(&out)?;
        loop {
            let message = match self.expect(PATIENCE) {
                Ok(message) => message,
                Err(error @ PgError::Server { .. }) => {
                    // The connection can be used again behind the error.
                    while self.expect(PATIENCE)?.tag != b'Z' {}
                    return Err(error.into());
                }
                Err(error) => return Err(error.into()),
            };
            match message.tag {
                b'D' => each(Fields::of(&message.body)?)?,
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    /// Sends statements; all rows of their results.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, PgError> {
        let mut rows = Vec::new();
        self.query_each(sql, |fields| {
            let row = fields.map(|field| {
                field?
                    .map(|text| String::from_utf8(text.to_vec()))
                    .transpose()
                    .map_err(|_| PgError::Protocol("a text that is not UTF-8"))
            });
            rows.push(row.collect::<Result<_, _>>()?);
            Ok::<_, PgError>(())
        })?;
        Ok(rows)
    }

    /// Begins to copy in both directions.
    pub(super) fn copy_both(&mut self, command: &str) -> Result<(), PgError> {
        let mut out = BytesMut::new();
        frontend::query(command, &mut out)?;
        self.send(&out)?;
        loop {
            match self.expect(PATIENCE)?.tag {
                b'W' => return Ok(()),
                b'Z' => return Err(PgError::Protocol("no log")),
                _ => {}
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Other handles on the socket must not keep it open.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The values of a row.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Fields<'a> {
    fn of(body: &'a [u8]) -> Result<Self, PgError> {
        let (count, rest) = body.split_first_chunk::<2>().ok_or(SHORT_ROW)?;
        Ok(Self { rest, left: usize::from(u16::from_be_bytes(*count)) })
    }

    /// The bytes of the values that are left, among which they lie.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

const SHORT_ROW: PgError = PgError::Protocol("a row that ends too soon");

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Option<&'a [u8]>, PgError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let Some((length, rest)) = self.rest.split_first_chunk::<4>() else {
            return Some(Err(SHORT_ROW));
        };
        self.rest = rest;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            return Some(Ok(None));
        };
        let Some((value, rest)) = self.rest.split_at_checked(length) else {
            return Some(Err(SHORT_ROW));
        };
        self.rest = rest;
        Some(Ok(Some(value)))
    }
}

fn server_error(body: &[u8]) -> PgError {
    let (mut code, mut message, mut hint) = (String::new(), String::new(), None);
    for field in body.split(|byte| *byte == 0) {
        let Some((kind, text)) = field.split_first() else { continue };
        let text = String::from_utf8_lossy(text).into_owned();
        match kind {
            b'C' => code = text,
            b'M' => message = text,
            b'H' => hint = Some(text),
            _ => {}
        }
    }
    PgError::Server { code, message, hint }
}
