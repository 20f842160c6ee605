//! Errors of the client, as a user of a table should read them.

use flott_catalog::connector::ConnectorError;
use flott_kafka::{ErrorCode, KafkaError};

/// The error with what can be done about it.
pub(super) fn failure(error: KafkaError) -> ConnectorError {
    let transient = error.is_transient();
    let hint = match &error {
        KafkaError::Connection { .. } => Some(
            "check that the broker runs and that 'properties.bootstrap.servers' and \
             'properties.security.protocol' are right",
        ),
        KafkaError::Timeout { last: Some(last), .. } if last.contains("does not exist") => {
            Some(MISSING_TOPIC)
        }
        KafkaError::Timeout { .. } => {
            Some("check that the brokers run and can be reached under the names they give out")
        }
        KafkaError::Authentication { .. } => Some(
            "check 'properties.sasl.mechanism' and the user and password in \
             'properties.sasl.jaas.config'",
        ),
        KafkaError::Broker { code, .. } => of_code(*code),
        KafkaError::RecordTooLarge { .. } => {
            Some("raise 'properties.max.request.size', and the topic's max.message.bytes with it")
        }
        KafkaError::Property { .. } | KafkaError::Protocol(_) | KafkaError::Closed => None,
    };
    let message = match &error {
        KafkaError::Property { key, reason } => {
            format!("invalid value for option 'properties.{key}': {reason}")
        }
        other => other.to_string(),
    };
    let mut error = ConnectorError::new(message);
    error.hint = hint.map(str::to_string);
    if transient { error.transient() } else { error }
}

const MISSING_TOPIC: &str = "create the topic, or check its name in the option 'topic'";

fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION | ErrorCode::INVALID_TOPIC => MISSING_TOPIC,
        ErrorCode::OFFSET_OUT_OF_RANGE => {
            "the records were deleted before they were read; with 'properties.auto.offset.reset' = \
             'earliest' or 'latest' reading goes on elsewhere"
        }
        ErrorCode::INVALID_TRANSACTION_TIMEOUT => {
            "lower 'properties.transaction.timeout.ms', or raise transaction.max.timeout.ms of the \
             brokers"
        }
        code if code.is_fenced() => {
            "either another job runs with this 'sink.transactional-id-prefix', or the transaction took \
             longer than 'properties.transaction.timeout.ms'"
        }
        ErrorCode::TOPIC_AUTHORIZATION_FAILED
        | ErrorCode::GROUP_AUTHORIZATION_FAILED
        | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
        | ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED => "ask for the right in Kafka's ACLs",
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => {
            "raise the topic's max.message.bytes, or lower 'properties.batch.size'"
        }
        ErrorCode::UNSUPPORTED_VERSION => {
            "brokers from Kafka 2.4 are spoken to; transactions need 3.0"
        }
        ErrorCode::INVALID_RECORD => "a topic that is compacted takes only records with a key",
        _ => return None,
    })
}
