//! The properties of a client: those of the Java client, as `properties.*` options give them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::records::Compression;
use crate::{KafkaError, Result};

/// What a client is made of.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// `bootstrap.servers`
    pub servers: Vec<String>,
    /// `client.id`
    pub client_id: String,
    /// `group.id`
    pub group: Option<String>,
    /// `security.protocol` and what it needs.
    pub security: Security,
    /// `request.timeout.ms`: a broker that does not answer for so long is left.
    pub request_timeout: Duration,
    /// `socket.connection.setup.timeout.ms`
    pub connect_timeout: Duration,
    /// `default.api.timeout.ms`: for so long a request is tried again.
    pub api_timeout: Duration,
    /// `retry.backoff.ms`, which doubles up to `retry.backoff.max.ms`.
    pub backoff: (Duration, Duration),
    /// `metadata.max.age.ms`
    pub metadata_age: Duration,
    /// `allow.auto.create.topics`
    pub create_topics: bool,
    /// Of consumers.
    pub fetch: FetchConfig,
    /// Of producers.
    pub produce: ProduceConfig,
}

/// How records are fetched.
#[derive(Debug, Clone)]
pub struct FetchConfig {
    /// `isolation.level` = `read_committed`
    pub read_committed: bool,
    /// `fetch.min.bytes`
    pub min_bytes: i32,
    /// `fetch.max.bytes`
    pub max_bytes: i32,
    /// `max.partition.fetch.bytes`
    pub partition_bytes: i32,
    /// `fetch.max.wait.ms`
    pub max_wait: Duration,
    /// `auto.offset.reset`
    pub reset: OffsetReset,
    /// `check.crcs`
    pub check_crcs: bool,
}

/// Where to read on when an offset is gone or was never committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetReset {
    /// At the beginning.
    Earliest,
    /// At the end.
    Latest,
    /// Nowhere: it is an error.
    None,
}

/// How records are produced.
#[derive(Debug, Clone)]
pub struct ProduceConfig {
    /// `acks`: −1 for `all`.
    pub acks: i16,
    /// `compression.type`
    pub compression: Compression,
    /// `batch.size`: a batch of more bytes gets no more records.
    pub batch_bytes: usize,
    /// `linger.ms`: how long an incomplete batch waits for more records.
    pub linger: Duration,
    /// `max.request.size`
    pub max_request: usize,
    /// `buffer.memory`: whoever writes waits while more bytes are under way.
    pub buffer: usize,
    /// `delivery.timeout.ms`: a record not written after so long is an error.
    pub delivery_timeout: Duration,
    /// `max.block.ms`: how long to wait for a topic that is not there.
    pub max_block: Duration,
    /// `transaction.timeout.ms`
    pub transaction_timeout: Duration,
}

/// How a client logs in.
#[derive(Debug, Clone, Default)]
pub struct Security {
    /// `security.protocol` = `SSL` or `SASL_SSL`
    pub tls: Option<Tls>,
    /// `security.protocol` = `SASL_PLAINTEXT` or `SASL_SSL`
    pub sasl: Option<Sasl>,
}

/// TLS, with certificates in PEM form.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// The authorities that are trusted: a file or the text itself; those of the system when absent.
    pub trusted: Option<Pem>,
    /// The client's own certificate chain and key, if brokers want one.
    pub identity: Option<(Pem, Pem)>,
}

/// Where a certificate or key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pem {
    /// In a file.
    File(String),
    /// Here.
    Text(String),
}

/// A SASL mechanism with its credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

impl std::fmt::Debug for Sasl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sasl({} as {})", self.mechanism.name(), self.user)
    }
}

/// The SASL mechanisms that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// PLAIN
    Plain,
    /// SCRAM-SHA-256
    ScramSha256,
    /// SCRAM-SHA-512
    ScramSha512,
}

impl Mechanism {
    /// The mechanism's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// Properties of the Java client that say nothing here, because what they tune is not there or is done
/// by Flott. Names that end in a dot stand for all that begin so.
const WITHOUT_MEANING: &[&str] = &[
    "auto.commit.interval.ms",
    "auto.include.jmx.reporter",
    "client.dns.lookup",
    "connections.max.idle.ms",
    "enable.auto.commit",
    "enable.idempotence",
    "enable.metrics.push",
    "exclude.internal.topics",
    "group.protocol",
    "heartbeat.interval.ms",
    "max.in.flight.requests.per.connection",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.max.idle.ms",
    "metadata.recovery.strategy",
    "metrics.",
    "metric.reporters",
    "partition.assignment.strategy",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "retries",
    "send.buffer.bytes",
    "session.timeout.ms",
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.protocol",
];

impl ClientConfig {
    /// Reads properties. Those that nothing here corresponds to are named in the log; those that would
    /// change what is read, written or trusted are refused.
    pub fn of<'a>(properties: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut given = Given(properties.into_iter().collect());
        let servers = given.take("bootstrap.servers").unwrap_or_default();
        let servers: Vec<String> = servers
            .split(',')
            .map(|server| server.trim().to_string())
            .filter(|server| !server.is_empty())
            .collect();
        if servers.is_empty() {
            return Err(invalid("bootstrap.servers", "it names no server"));
        }
        if let Some(server) = servers.iter().find(|server| port(server).is_none()) {
            return Err(invalid("bootstrap.servers", format!("'{server}' is not host:port")));
        }
        let config = Self {
            servers,
            client_id: given.take("client.id").unwrap_or("flott").into(),
            group: given.take("group.id").map(str::to_string),
            security: given.security()?,
            request_timeout: given.millis("request.timeout.ms", 30_000)?,
            connect_timeout: given.millis("socket.connection.setup.timeout.ms", 10_000)?,
            api_timeout: given.millis("default.api.timeout.ms", 60_000)?,
            backoff: (
                given.millis("retry.backoff.ms", 100)?,
                given.millis("retry.backoff.max.ms", 1_000)?,
            ),
            metadata_age: given.millis("metadata.max.age.ms", 300_000)?,
            create_topics: given.bool("allow.auto.create.topics", true)?,
            fetch: given.fetch()?,
            produce: given.produce()?,
        };
        given.refuse_the_rest()?;
        Ok(config)
    }
}

/// Properties not read yet.
struct Given<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Given<'a> {
    fn take(&mut self, key: &str) -> Option<&'a str> {
        self.0.remove(key).map(str::trim)
    }

    fn number<T: std::str::FromStr>(&mut self, key: &str, default: T) -> Result<T> {
        match self.take(key) {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|_| invalid(key, format!("'{text}' is not a fitting number")))
            }
        }
    }

    fn millis(&mut self, key: &str, default: u64) -> Result<Duration> {
        self.number(key, default).map(Duration::from_millis)
    }

    fn bool(&mut self, key: &str, default: bool) -> Result<bool> {
        match self.take(key).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(invalid(key, format!("'{other}' is neither true nor false"))),
        }
    }

    fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)], default: T) -> Result<T> {
        let Some(text) = self.take(key) else { return Ok(default) };
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            invalid(key, format!("'{text}' is none of {}", words.join(", ")))
        })
    }

    fn fetch(&mut self) -> Result<FetchConfig> {
        let levels = [("read_uncommitted", false), ("read_committed", true)];
        let resets = [
            ("earliest", OffsetReset::Earliest),
            ("latest", OffsetReset::Latest),
            ("none", OffsetReset::None),
        ];
        Ok(FetchConfig {
            read_committed: self.word("isolation.level", &levels, false)?,
            min_bytes: self.number("fetch.min.bytes", 1)?,
            max_bytes: self.number("fetch.max.bytes", 16 << 20)?,
            partition_bytes: self.number("max.partition.fetch.bytes", 1 << 20)?,
            max_wait: self.millis("fetch.max.wait.ms", 500)?,
            reset: self.word("auto.offset.reset", &resets, OffsetReset::None)?,
            check_crcs: self.bool("check.crcs", true)?,
        })
    }

    fn produce(&mut self) -> Result<ProduceConfig> {
        let acks = [("all", -1), ("-1", -1), ("1", 1), ("0", 0)];
        let compression = match self.take("compression.type") {
            None => Compression::None,
            Some(name) => Compression::of(name).ok_or_else(|| {
                invalid(
                    "compression.type",
                    format!("'{name}' is none of none, gzip, snappy, lz4, zstd"),
                )
            })?,
        };
        Ok(ProduceConfig {
            acks: self.word("acks", &acks, -1)?,
            compression,
            batch_bytes: self.number("batch.size", 256 << 10)?,
            linger: self.millis("linger.ms", 0)?,
            max_request: self.number("max.request.size", 1 << 20)?,
            buffer: self.number("buffer.memory", 32 << 20)?,
            delivery_timeout: self.millis("delivery.timeout.ms", 120_000)?,
            max_block: self.millis("max.block.ms", 60_000)?,
            transaction_timeout: self.millis("transaction.timeout.ms", 900_000)?,
        })
    }

    fn security(&mut self) -> Result<Security> {
        let protocols = [
            ("PLAINTEXT", (false, false)),
            ("SSL", (true, false)),
            ("SASL_PLAINTEXT", (false, true)),
            ("SASL_SSL", (true, true)),
        ];
        let (tls, sasl) = self.word("security.protocol", &protocols, (false, false))?;
        let security = Security {
            sasl: if sasl { Some(self.sasl()?) } else { None },
            tls: if tls { Some(self.tls()?) } else { None },
        };
        if tls && cfg!(not(feature = "tls")) {
            return Err(invalid(
                "security.protocol",
                "this build has no TLS; build with `--features kafka-ssl`",
            ));
        }
        // They say nothing without the protocol that they belong to, as in the Java client.
        self.0.retain(|key, _| {
            (sasl || !key.starts_with("sasl.")) && (tls || !key.starts_with("ssl."))
        });
        Ok(security)
    }

    fn sasl(&mut self) -> Result<Sasl> {
        let mechanisms = [Mechanism::Plain, Mechanism::ScramSha256, Mechanism::ScramSha512];
        let name = self.take("sasl.mechanism").unwrap_or("GSSAPI");
        let mechanism = mechanisms.into_iter().find(|m| m.name().eq_ignore_ascii_case(name));
        let mechanism = mechanism.ok_or_else(|| {
            let reason = format!("'{name}' is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512");
            invalid("sasl.mechanism", reason)
        })?;
        let jaas = self.take("sasl.jaas.config").unwrap_or_default();
        let of =
            |key: &str| {
                jaas_value(jaas, key).ok_or_else(|| {
                invalid("sasl.jaas.config", format!(
                    "it has no {key}; it is written as '…LoginModule required username=\"…\" \
                     password=\"…\";'"
                ))
            })
            };
        Ok(Sasl { mechanism, user: of("username")?, password: of("password")? })
    }

    fn tls(&mut self) -> Result<Tls> {
        for (key, instead) in [
            ("ssl.truststore.password", "ssl.truststore.location"),
            ("ssl.keystore.password", "ssl.keystore.location"),
        ] {
            if self.0.contains_key(key) {
                return Err(invalid(
                    key,
                    format!(
                        "Java key stores are not read; export them to PEM files, and set '{instead}' to \
                     the file"
                    ),
                ));
            }
        }
        for key in ["ssl.truststore.type", "ssl.keystore.type"] {
            if self.take(key).is_some_and(|kind| !kind.eq_ignore_ascii_case("PEM")) {
                return Err(invalid(key, "only PEM is read"));
            }
        }
        let checked = self.take("ssl.endpoint.identification.algorithm");
        if checked.is_some_and(|algorithm| !algorithm.eq_ignore_ascii_case("https")) {
            let reason = "the names in certificates are always checked";
            return Err(invalid("ssl.endpoint.identification.algorithm", reason));
        }
        let mut pem = |file: &str, text: &str| {
            let text = self.take(text).map(|text| Pem::Text(text.into()));
            text.or(self.take(file).map(|file| Pem::File(file.into())))
        };
        let trusted = pem("ssl.truststore.location", "ssl.truststore.certificates");
        let chain = pem("ssl.keystore.location", "ssl.keystore.certificate.chain");
        let key = pem("ssl.key.location", "ssl.keystore.key").or(chain.clone());
        Ok(Tls { trusted, identity: chain.zip(key) })
    }

    fn refuse_the_rest(self) -> Result<()> {
        for key in self.0.into_keys() {
            let matches =
                |known: &&str| *known == key || known.ends_with('.') && key.starts_with(*known);
            if WITHOUT_MEANING.iter().any(matches) {
                tracing::debug!(property = key, "the Kafka property has no meaning here");
                continue;
            }
            let reason = match key {
                "key.serializer" | "value.serializer" | "key.deserializer"
                | "value.deserializer" => {
                    "the table's formats decide how keys and values are written".to_string()
                }
                "transactional.id" => "it is made of 'sink.transactional-id-prefix'".to_string(),
                "client.rack" => {
                    tracing::warn!("'client.rack' is not followed: records are read from leaders");
                    continue;
                }
                "interceptor.classes" | "partitioner.class" | "config.providers" => {
                    "Java classes cannot be loaded".to_string()
                }
                _ if key.starts_with("sasl.") || key.starts_with("ssl.") => {
                    "nothing corresponds to it here, and it may matter for security".to_string()
                }
                _ => {
                    tracing::warn!(
                        property = key,
                        "the Kafka property is not known here; it does nothing"
                    );
                    continue;
                }
            };
            return Err(invalid(key, reason));
        }
        Ok(())
    }
}

fn port(server: &str) -> Option<u16> {
    server.rsplit_once(':')?.1.parse().ok()
}

/// The value of `key="…"` in a JAAS configuration.
fn jaas_value(jaas: &str, key: &str) -> Option<String> {
    let mut rest = jaas;
    loop {
        let at = rest.find(key)?;
        let before = rest[..at].chars().next_back();
        rest = &rest[at + key.len()..];
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        if before.is_some_and(|c| !c.is_whitespace()) {
            continue;
        }
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        return match quote {
            Some(quote) => {
                let mut text = String::new();
                let mut chars = value[1..].chars();
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => text.extend(chars.next()),
                        c if c == quote => return Some(text),
                        c => text.push(c),
                    }
                }
                None
            }
            None => {
                let end = value.find(|c: char| c.is_whitespace() || c == ';');
                Some(value[..end.unwrap_or(value.len())].into())
            }
        };
    }
}

fn invalid(key: &str, reason: impl Into<String>) -> KafkaError {
    KafkaError::Property { key: key.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<ClientConfig> {
        ClientConfig::of(pairs.iter().copied().chain([("bootstrap.servers", "a:1, b:2")]))
    }

    #[test]
    fn properties_are_read() {
        let config = of(&[
            ("group.id", "g"),
            ("acks", "1"),
            ("isolation.level", "read_committed"),
            ("compression.type", "lz4"),
            ("linger.ms", "5"),
            ("enable.auto.commit", "false"),
            ("sasl.mechanism", "PLAIN"),
        ])
        .unwrap();
        assert_eq!(config.servers, ["a:1", "b:2"]);
        assert!(config.fetch.read_committed && config.security.sasl.is_none());
        assert_eq!((config.produce.acks, config.produce.compression), (1, Compression::Lz4));
    }

    #[test]
    fn a_login_is_taken_from_the_jaas_text() {
        let jaas = "org.apache.kafka.common.security.scram.ScramLoginModule required \
                    username=\"alice\" password='it\\'s \"=1';";
        let config = of(&[
            ("security.protocol", "SASL_PLAINTEXT"),
            ("sasl.mechanism", "SCRAM-SHA-256"),
            ("sasl.jaas.config", jaas),
        ]);
        let sasl = config.unwrap().security.sasl.unwrap();
        assert_eq!((&*sasl.user, &*sasl.password), ("alice", "it's \"=1"));
        assert!(!format!("{sasl:?}").contains("it's"));
    }

    #[test]
    fn what_would_go_wrong_unseen_is_refused() {
        for (key, value) in [
            ("value.deserializer", "x"),
            ("transactional.id", "x"),
            ("acks", "2"),
            ("linger.ms", "soon"),
            ("security.protocol", "TLS"),
            ("interceptor.classes", "x"),
        ] {
            let error = of(&[(key, value)]).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
        assert!(ClientConfig::of([("bootstrap.servers", "localhost")]).is_err());
        assert!(ClientConfig::of([]).is_err());
        assert!(of(&[("some.new.property", "x")]).is_ok());
    }
}
