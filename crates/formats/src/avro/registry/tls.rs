//! TLS on the way to the registry, in builds that have it.

use flott_catalog::connector::ConnectorError;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

#[cfg(not(feature = "tls"))]
pub(super) fn configure(
    config: ConfigBuilder<AgentScope>,
    secure: bool,
    _: Option<&str>,
    _: Option<&str>,
) -> Result<ConfigBuilder<AgentScope>, ConnectorError> {
    if secure {
        return Err(ConnectorError::new("this build of Flott has no TLS")
            .hint("build it with the feature 'kafka-ssl'"));
    }
    Ok(config)
}

#[cfg(feature = "tls")]
pub(super) fn configure(
    config: ConfigBuilder<AgentScope>,
    secure: bool,
    trusted: Option<&str>,
    identity: Option<&str>,
) -> Result<ConfigBuilder<AgentScope>, ConnectorError> {
    use std::sync::Arc;

    use ureq::tls::{ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};

    if !secure {
        return Ok(config);
    }
    let items = |option: &str, path: &str| -> Result<Vec<PemItem<'static>>, ConnectorError> {
        let broken = |error: String| ConnectorError::new(format!("'{option}': {path}: {error}"));
        let bytes = std::fs::read(path).map_err(|error| broken(error.to_string()))?;
        let items = parse_pem(&bytes).collect::<Result<Vec<_>, _>>();
        match items {
            Ok(items) if !items.is_empty() => Ok(items),
            Ok(_) => Err(broken("it holds nothing in PEM form".into())),
            Err(error) => Err(broken(error.to_string())),
        }
    };
    let mut tls = TlsConfig::builder();
    if let Some(path) = trusted {
        let certificates = items("ssl.truststore.location", path)?.into_iter().filter_map(|item| {
            if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None }
        });
        tls = tls.root_certs(RootCerts::Specific(Arc::new(certificates.collect())));
    }
    if let Some(path) = identity {
        let (mut chain, mut key) = (Vec::new(), None);
        for item in items("ssl.keystore.location", path)? {
            match item {
                PemItem::Certificate(certificate) => chain.push(certificate),
                PemItem::PrivateKey(own) => key = Some(own),
                _ => {}
            }
        }
        let Some(key) = key else {
            return Err(ConnectorError::new(format!(
                "'ssl.keystore.location': {path} holds no private key in PEM form"
            )));
        };
        tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.tls_config(tls.build()))
}
