//! A socket, plain or with TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

use crate::{ClientConfig, KafkaError, Result};

pub(super) enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<super::tls::TlsStream>),
}

impl Stream {
    pub(super) fn open(address: &str, config: &ClientConfig) -> Result<Self> {
        let socket = connect(address, config)?;
        match &config.security.tls {
            None => Ok(Self::Plain(socket)),
            #[cfg(feature = "tls")]
            Some(tls) => super::tls::open(address, socket, tls).map(|tls| Self::Tls(Box::new(tls))),
            #[cfg(not(feature = "tls"))]
            Some(_) => Err(KafkaError::connection(address, "this build has no TLS")),
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            #[cfg(feature = "tls")]
            Self::Tls(tls) => &tls.sock,
        }
    }
}

/// Connects to the first address of a name that answers.
fn connect(address: &str, config: &ClientConfig) -> Result<TcpStream> {
    let failed = |error: io::Error| KafkaError::connection(address, error);
    let mut last = io::Error::other("the name has no address");
    for resolved in address.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&resolved, config.connect_timeout) {
            Ok(socket) => {
                socket.set_nodelay(true).map_err(failed)?;
                socket.set_read_timeout(Some(config.request_timeout)).map_err(failed)?;
                socket.set_write_timeout(Some(config.request_timeout)).map_err(failed)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.flush(),
        }
    }
}
