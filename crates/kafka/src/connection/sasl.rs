//! Logging in by SASL.

use super::Connection;
use super::scram::Scram;
use crate::config::{Mechanism, Sasl};
use crate::protocol::{SaslAuthenticate, SaslHandshake};
use crate::{ErrorCode, KafkaError, Result};

pub(super) fn log_in(connection: &mut Connection, sasl: &Sasl) -> Result<()> {
    let mechanism = sasl.mechanism;
    let (code, known) = connection.call(&SaslHandshake(mechanism.name()))?;
    if code != ErrorCode::NONE {
        let reason = format!("it knows {}, not {}", known.join(", "), mechanism.name());
        return Err(refused(connection, reason));
    }
    if mechanism == Mechanism::Plain {
        let login = format!("\0{}\0{}", sasl.user, sasl.password);
        return say(connection, login.as_bytes()).map(drop);
    }
    let mut scram = Scram::new(sasl)?;
    let answer = say(connection, scram.first().as_bytes())?;
    let last = scram.last(&answer).map_err(|reason| refused(connection, reason))?;
    let answer = say(connection, last.as_bytes())?;
    scram.verify(&answer).map_err(|reason| refused(connection, reason))
}

fn say(connection: &mut Connection, bytes: &[u8]) -> Result<Vec<u8>> {
    let (code, reason, answer) = connection.call(&SaslAuthenticate(bytes))?;
    if code == ErrorCode::NONE {
        return Ok(answer);
    }
    Err(refused(connection, reason.unwrap_or_else(|| code.to_string())))
}

fn refused(connection: &Connection, reason: impl Into<String>) -> KafkaError {
    let address = connection.address().to_string();
    KafkaError::Authentication { address, reason: reason.into().into() }
}
