//! What can go wrong between a client and its brokers.

use std::sync::Arc;

/// An error of the client.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KafkaError {
    /// No broker could be reached, or one broke off.
    #[error("no connection to the Kafka broker {address}: {reason}")]
    Connection {
        /// `host:port`.
        address: String,
        /// What the system said.
        reason: Arc<str>,
    },
    /// A broker that was reached says no to the credentials.
    #[error("the Kafka broker {address} refuses the login: {reason}")]
    Authentication {
        /// `host:port`.
        address: String,
        /// What the broker said.
        reason: Arc<str>,
    },
    /// A broker answers a request with an error.
    #[error("{what}: {code}{}", detail.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
    Broker {
        /// What was asked.
        what: String,
        /// Kafka's error code.
        code: ErrorCode,
        /// What else the broker said.
        detail: Option<String>,
    },
    /// Something did not happen in time; `last` is why it was tried again last.
    #[error("{what} within {millis} ms{}", last.as_ref().map(|text| format!("; at last: {text}")).unwrap_or_default())]
    Timeout {
        /// What did not happen.
        what: String,
        /// The time it was given.
        millis: u128,
        /// The last error.
        last: Option<String>,
    },
    /// A broker sends what this client cannot read.
    #[error("unreadable data from Kafka: {0}")]
    Protocol(String),
    /// A property has no meaning here or a wrong value.
    #[error("invalid Kafka property '{key}': {reason}")]
    Property {
        /// The property.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// A record is larger than what may be sent.
    #[error("a record of {size} bytes is larger than max.request.size = {limit}")]
    RecordTooLarge {
        /// Its size.
        size: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The consumer or producer was closed.
    #[error("the Kafka client is closed")]
    Closed,
}

impl KafkaError {
    pub(crate) fn connection(address: &str, reason: impl std::fmt::Display) -> Self {
        Self::Connection { address: address.into(), reason: reason.to_string().into() }
    }

    pub(crate) fn broker(what: impl Into<String>, code: ErrorCode) -> Self {
        Self::Broker { what: what.into(), code, detail: None }
    }

    /// Whether the same may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Timeout { .. } => true,
            Self::Broker { code, .. } => code.is_retriable(),
            _ => false,
        }
    }

    /// The broker's error code, if it was one that answered.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Broker { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// An error code of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub i16);

macro_rules! codes {
    ($($name:ident = $code:literal, $retriable:literal, $text:literal;)*) => {
        impl ErrorCode {
            $(#[doc = $text] pub const $name: Self = Self($code);)*

            /// Whether Kafka holds that the request may be sent again.
            pub fn is_retriable(self) -> bool {
                match self.0 {
                    $($code => $retriable,)*
                    _ => false,
                }
            }

            fn text(self) -> Option<(&'static str, &'static str)> {
                match self.0 {
                    $($code => Some((stringify!($name), $text)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    NONE = 0, false, "no error";
    OFFSET_OUT_OF_RANGE = 1, false, "the offset is no longer, or not yet, in the partition";
    CORRUPT_MESSAGE = 2, true, "a record batch is damaged";
    UNKNOWN_TOPIC_OR_PARTITION = 3, true, "the topic or partition does not exist";
    LEADER_NOT_AVAILABLE = 5, true, "the partition has no leader at the moment";
    NOT_LEADER_OR_FOLLOWER = 6, true, "the broker does not lead the partition";
    REQUEST_TIMED_OUT = 7, true, "the broker could not do it in time";
    REPLICA_NOT_AVAILABLE = 9, true, "the replica is not available";
    MESSAGE_TOO_LARGE = 10, false, "the batch is larger than the topic's max.message.bytes";
    NETWORK_EXCEPTION = 13, true, "the broker lost a connection";
    COORDINATOR_LOAD_IN_PROGRESS = 14, true, "the coordinator is starting";
    COORDINATOR_NOT_AVAILABLE = 15, true, "the coordinator is not available";
    NOT_COORDINATOR = 16, true, "the broker is not the coordinator";
    INVALID_TOPIC = 17, false, "the topic's name is not allowed";
    RECORD_LIST_TOO_LARGE = 18, false, "the batch is larger than a segment";
    NOT_ENOUGH_REPLICAS = 19, true, "fewer replicas are in sync than min.insync.replicas";
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, true, "fewer replicas than wanted took the batch";
    TOPIC_AUTHORIZATION_FAILED = 29, false, "not authorized for the topic";
    GROUP_AUTHORIZATION_FAILED = 30, false, "not authorized for the group";
    CLUSTER_AUTHORIZATION_FAILED = 31, false, "not authorized for the cluster";
    UNSUPPORTED_SASL_MECHANISM = 33, false, "the SASL mechanism is not enabled on the broker";
    UNSUPPORTED_VERSION = 35, false, "the broker does not know the request's version";
    TOPIC_ALREADY_EXISTS = 36, false, "the topic exists";
    INVALID_REQUEST = 42, false, "the request is malformed";
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, false, "the topic's message format is too old";
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, false, "batches before this one are missing";
    DUPLICATE_SEQUENCE_NUMBER = 46, false, "the batch has been written already";
    INVALID_PRODUCER_EPOCH = 47, false, "a newer producer has taken the transactional id over, or the transaction timed out";
    INVALID_TXN_STATE = 48, false, "the transaction is in another state";
    INVALID_PRODUCER_ID_MAPPING = 49, false, "the transactional id is not, or no longer, known";
    INVALID_TRANSACTION_TIMEOUT = 50, false, "transaction.timeout.ms is longer than the broker's transaction.max.timeout.ms";
    CONCURRENT_TRANSACTIONS = 51, true, "the transaction before is not complete yet";
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, false, "not authorized for the transactional id";
    KAFKA_STORAGE_ERROR = 56, true, "the broker has trouble with its disk";
    SASL_AUTHENTICATION_FAILED = 58, false, "wrong credentials";
    UNKNOWN_PRODUCER_ID = 59, false, "the broker no longer knows the producer";
    FETCH_SESSION_ID_NOT_FOUND = 70, true, "the fetch session is gone";
    FENCED_LEADER_EPOCH = 74, true, "the leader has changed";
    UNKNOWN_LEADER_EPOCH = 75, true, "the broker has yet to learn of the leader";
    UNSUPPORTED_COMPRESSION_TYPE = 76, false, "the broker does not know the compression";
    OFFSET_NOT_AVAILABLE = 78, true, "the new leader does not know its end yet";
    INVALID_RECORD = 87, false, "the broker refuses the record";
    UNSTABLE_OFFSET_COMMIT = 88, true, "the offset is part of an open transaction";
    PRODUCER_FENCED = 90, false, "a newer producer has taken the transactional id over, or the transaction timed out";
    TRANSACTIONAL_ID_NOT_FOUND = 105, false, "the transactional id is not known";
}

impl ErrorCode {
    /// Fails unless the code says that all is well.
    pub(crate) fn check(self, what: impl FnOnce() -> String) -> Result<(), KafkaError> {
        if self == Self::NONE { Ok(()) } else { Err(KafkaError::broker(what(), self)) }
    }

    /// Whether it says that another producer has the transactional id, or that the broker ended the
    /// transaction by itself.
    pub fn is_fenced(self) -> bool {
        matches!(self, Self::INVALID_PRODUCER_EPOCH | Self::PRODUCER_FENCED)
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.text() {
            Some((name, text)) => write!(f, "{text} ({name})"),
            None => write!(f, "error {} of the protocol", self.0),
        }
    }
}
