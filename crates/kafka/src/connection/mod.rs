//! A connection to one broker: requests out, responses in, both blocking.

mod sasl;
mod scram;
mod stream;
#[cfg(feature = "tls")]
mod tls;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::protocol::{ApiVersions, In, Out, Request};
use crate::{ClientConfig, ErrorCode, KafkaError, Result};
use stream::Stream;

/// The longest response that is believed.
const LONGEST_RESPONSE: i32 = 1 << 30;

/// A connection that is logged in.
pub(crate) struct Connection {
    address: String,
    client_id: String,
    stream: Stream,
    next_id: i32,
    /// What the broker knows: key, lowest and highest version.
    versions: Vec<(i16, i16, i16)>,
    /// Whether the broker has answered anything but what it tells strangers.
    trusted: bool,
}

/// Breaks a connection off from another thread.
pub(crate) struct Closer(TcpStream);

impl Closer {
    /// Ends what the connection is waiting for.
    pub(crate) fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Connection {
    /// Connects and logs in.
    pub(crate) fn open(address: &str, config: &ClientConfig) -> Result<Self> {
        let stream = Stream::open(address, config)?;
        let mut connection = Self {
            address: address.into(),
            client_id: config.client_id.clone(),
            stream,
            next_id: 0,
            versions: Vec::new(),
            trusted: false,
        };
        connection.versions = connection.call(&ApiVersions)?;
        if let Some(sasl) = &config.security.sasl {
            sasl::log_in(&mut connection, sasl)?;
        }
        Ok(connection)
    }

    /// `host:port`
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What breaks the connection off.
    pub(crate) fn closer(&self) -> Result<Closer> {
        self.stream.socket().try_clone().map(Closer).map_err(|error| self.broken(error))
    }

    /// Sends a request and waits for the response.
    pub(crate) fn call<R: Request>(&mut self, request: &R) -> Result<R::Response> {
        self.send(request)?;
        self.receive::<R>()
    }

    /// Sends a request. Responses come in the order of the requests.
    pub(crate) fn send<R: Request>(&mut self, request: &R) -> Result<()> {
        self.check_version::<R>()?;
        let mut out = Out::default();
        out.i32(0)
            .i16(R::KEY)
            .i16(R::VERSION)
            .i32(self.next_id)
            .optional_text(Some(&self.client_id));
        if R::FLEXIBLE {
            out.no_tags();
        }
        request.write(&mut out);
        let len = (out.0.len() - 4) as i32;
        out.0[..4].copy_from_slice(&len.to_be_bytes());
        self.next_id = self.next_id.wrapping_add(1);
        self.stream.write_all(&out.0).map_err(|error| self.broken(error))
    }

    /// Receives the response to the request that was sent first of those not answered.
    pub(crate) fn receive<R: Request>(&mut self) -> Result<R::Response> {
        let mut len = [0; 4];
        self.stream.read_exact(&mut len).map_err(|error| self.broken(error))?;
        let len = i32::from_be_bytes(len);
        if !(4..=LONGEST_RESPONSE).contains(&len) {
            let text =
                format!("{} sends a response of {len} bytes; is it a Kafka broker?", self.address);
            return Err(KafkaError::Protocol(text));
        }
        let mut response = vec![0; len as usize];
        self.stream.read_exact(&mut response).map_err(|error| self.broken(error))?;
        let mut body = In::new(&response);
        body.i32()?;
        if R::FLEXIBLE {
            body.tags()?;
        }
        self.trusted |= R::KEY != ApiVersions::KEY;
        R::read(&mut body)
    }

    fn check_version<R: Request>(&self) -> Result<()> {
        let range = self.versions.iter().find(|(key, ..)| *key == R::KEY);
        let fits = range.is_some_and(|(_, low, high)| (*low..=*high).contains(&R::VERSION));
        if fits || self.versions.is_empty() {
            return Ok(());
        }
        let knows = match range {
            Some((_, low, high)) => format!("the broker {} knows {low} to {high}", self.address),
            None => format!("the broker {} does not know it", self.address),
        };
        Err(KafkaError::Broker {
            what: format!("the request {} needs version {}", R::NAME, R::VERSION),
            code: ErrorCode::UNSUPPORTED_VERSION,
            detail: Some(knows),
        })
    }

    fn broken(&self, error: std::io::Error) -> KafkaError {
        use std::io::ErrorKind::{TimedOut, UnexpectedEof, WouldBlock};
        let reason = match error.kind() {
            TimedOut | WouldBlock => "no answer in time".to_string(),
            UnexpectedEof if self.trusted => "closed by the broker".to_string(),
            UnexpectedEof => {
                "closed by the broker; does the port expect another security.protocol?".to_string()
            }
            _ => error.to_string(),
        };
        KafkaError::connection(&self.address, reason)
    }
}
