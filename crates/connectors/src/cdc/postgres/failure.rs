//! What goes wrong, and what to do about it.

use std::io;

use flott_catalog::connector::ConnectorError;

use super::connection::PgError;

/// An error of the database as a connector's, with the cure where there is one.
pub(super) fn failure(error: PgError) -> ConnectorError {
    let message = error.to_string();
    match error {
        PgError::Io(error) => {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionAborted => {
                    "the server closed the connection".to_string()
                }
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                    "the server does not answer".to_string()
                }
                _ => message,
            };
            ConnectorError::new(format!("PostgreSQL cannot be reached: {what}"))
                .hint("check 'hostname' and 'port', and that the server runs and lets this machine in")
                .transient()
        }
        PgError::Protocol(_) => ConnectorError::new(format!("PostgreSQL: {message}")),
        PgError::Login(_) => ConnectorError::new(format!("cannot log in to PostgreSQL: {message}")),
        PgError::Server { code, hint, .. } => {
            let error = ConnectorError::new(format!("PostgreSQL: {message} ({code})"));
            let advice = advice(&code, &message).map(str::to_string).or(hint);
            let error = match advice {
                Some(advice) => error.hint(advice),
                None => error,
            };
            if is_transient(&code) { error.transient() } else { error }
        }
    }
}

/// Whether the server may take the same later: it starts or stops, has no connection left, or another session is in
/// the way.
fn is_transient(code: &str) -> bool {
    matches!(code, "55006" | "53300" | "40001" | "40P01")
        || code.starts_with("57P")
        || code.starts_with("08")
}

fn advice(code: &str, message: &str) -> Option<&'static str> {
    Some(match code {
        "28P01" | "28000" => "check 'username' and 'password', and pg_hba.conf of the server",
        "3D000" => "check 'database-name'",
        "55006" => {
            "each table of a job needs a slot of its own ('slot.name'), and no other program may read it; \
             SELECT active_pid FROM pg_replication_slots tells who does"
        }
        "53400" => "raise max_replication_slots on the server, or drop slots that nobody reads",
        "55000" if message.contains("wal_level") => {
            "ALTER SYSTEM SET wal_level = logical, and restart the server"
        }
        "42501" if message.contains("replication") => {
            "ALTER ROLE … WITH REPLICATION: the user must be allowed to replicate"
        }
        "42501" => "the user needs SELECT on the tables and USAGE on their schema",
        _ => return None,
    })
}
