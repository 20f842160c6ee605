//! Which of two keys comes behind the other in the order in which a table is read.

use std::cmp::Ordering;

use flott_catalog::connector::ConnectorError;

use super::connection::{Connection, ConnectionConfig, PgError};
use super::failure::failure;
use super::tables::TableInfo;
use crate::cdc::progress::Key;

/// Compares keys: numbers itself, all others as the database does, by asking it. That is needed only where a
/// snapshot was begun again in the middle, and for the changes that were made between.
pub(super) struct KeyOrder {
    config: ConnectionConfig,
    connection: Option<Connection>,
}

impl KeyOrder {
    pub(super) fn new(config: ConnectionConfig) -> Self {
        Self { config, connection: None }
    }

    /// Whether `key` comes behind `until`.
    pub(super) fn is_behind(
        &mut self,
        info: &TableInfo,
        key: &Key,
        until: &Key,
    ) -> Result<bool, ConnectorError> {
        if info.has_number_key()
            && let Some(order) = compare_numbers(key, until)
        {
            return Ok(order == Ordering::Greater);
        }
        let asked = format!("SELECT ({}) > ({})", info.key_values(key), info.key_values(until));
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(Connection::open(&self.config, false).map_err(failure)?),
        };
        let answer = connection.query(&asked);
        if matches!(answer, Err(PgError::Io(_))) {
            self.connection = None;
        }
        let answer = answer.map_err(failure)?;
        Ok(answer.into_iter().flatten().flatten().next().as_deref() == Some("t"))
    }
}

fn compare_numbers(left: &Key, right: &Key) -> Option<Ordering> {
    let numbers =
        |key: &Key| key.iter().map(|text| text.parse::<i64>().ok()).collect::<Option<Vec<_>>>();
    Some(numbers(left)?.cmp(&numbers(right)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let key = |parts: &[&str]| parts.iter().map(|part| part.to_string()).collect::<Key>();
        let order = |left: &[&str], right: &[&str]| compare_numbers(&key(left), &key(right));
        assert_eq!(order(&["10"], &["9"]), Some(Ordering::Greater));
        assert_eq!(order(&["1", "-5"], &["1", "4"]), Some(Ordering::Less));
        assert_eq!(order(&["1", "a"], &["1", "4"]), None);
    }
}
