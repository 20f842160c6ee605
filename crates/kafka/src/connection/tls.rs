//! TLS by rustls.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::config::{Pem, Tls};
use crate::{KafkaError, Result};

pub(super) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Begins TLS on a socket; the handshake comes with the first bytes.
pub(super) fn open(address: &str, socket: TcpStream, tls: &Tls) -> Result<TlsStream> {
    let failed = |error: &dyn std::fmt::Display| KafkaError::connection(address, error);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(roots(tls)?);
    let config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(certificates(chain, "ssl.keystore.location")?, private_key(key)?)
            .map_err(|error| failed(&error))?,
    };
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
    let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
    let connection =
        ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))?;
    Ok(StreamOwned::new(connection, socket))
}

fn roots(tls: &Tls) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match &tls.trusted {
        Some(pem) => {
            for certificate in certificates(pem, "ssl.truststore.location")? {
                roots
                    .add(certificate)
                    .map_err(|error| property("ssl.truststore.location", error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(roots)
}

fn certificates(pem: &Pem, key: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = bytes(pem, key)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match certificates {
        Ok(list) if !list.is_empty() => Ok(list),
        Ok(_) => Err(property(key, "it holds no certificate in PEM form")),
        Err(error) => Err(property(key, error)),
    }
}

fn private_key(pem: &Pem) -> Result<PrivateKeyDer<'static>> {
    const KEY: &str = "ssl.keystore.key";
    PrivateKeyDer::from_pem_slice(&bytes(pem, KEY)?).map_err(|error| property(KEY, error))
}

fn bytes(pem: &Pem, key: &str) -> Result<Vec<u8>> {
    match pem {
        Pem::Text(text) => Ok(text.as_bytes().to_vec()),
        Pem::File(path) => {
            std::fs::read(path).map_err(|error| property(key, format!("{path}: {error}")))
        }
    }
}

fn property(key: &str, reason: impl std::fmt::Display) -> KafkaError {
    KafkaError::Property { key: key.into(), reason: reason.to_string() }
}
