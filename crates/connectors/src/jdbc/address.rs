//! Where a database is: `jdbc:…` addresses as users of Flink write them.

use std::time::Duration;

use flott_catalog::connector::ConnectorError;

use super::options::URL;

/// A JDBC address taken to pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Address {
    /// What stands behind `jdbc:`, such as `postgresql`.
    pub(super) subprotocol: String,
    /// The servers; of several, one is tried after the other.
    pub(super) hosts: Vec<(String, Option<u16>)>,
    /// The database; of SQLite the file. Empty when the address names none.
    pub(super) database: String,
    /// What stands behind `?`, in order.
    pub(super) properties: Vec<(String, String)>,
}

impl Address {
    /// Reads an address.
    pub(super) fn parse(text: &str) -> Result<Self, ConnectorError> {
        let wrong = || {
            ConnectorError::new(format!("invalid value '{text}' for option '{}'", URL.key)).hint(
                "write jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, \
                 jdbc:mariadb://host:port/db or jdbc:sqlite:path",
            )
        };
        let rest = text.trim().strip_prefix("jdbc:").ok_or_else(wrong)?;
        let (subprotocol, rest) = rest.split_once(':').ok_or_else(wrong)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut address = Self { subprotocol: subprotocol.into(), ..Self::default() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            address.properties.push((decoded(key), decoded(value)));
        }
        if subprotocol == "sqlite" {
            address.database = rest.into();
            return Ok(address);
        }
        let Some(rest) = rest.strip_prefix("//") else {
            // PostgreSQL's `jdbc:postgresql:database`.
            address.database = decoded(rest.trim_start_matches('/'));
            return Ok(address);
        };
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        for host in hosts.split(',').filter(|host| !host.is_empty()) {
            address.hosts.push(host_and_port(host).ok_or_else(wrong)?);
        }
        address.database = decoded(database);
        Ok(address)
    }

    /// The last value of a property, whatever the case of its name.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        let mut found = self.properties.iter().rev();
        found.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// A property that is a time, in `unit`s; none when it is 0 or no number.
    pub(super) fn duration(&self, name: &str, unit: Duration) -> Option<Duration> {
        let number: u32 = self.property(name)?.trim().parse().ok()?;
        (number > 0).then(|| unit * number)
    }

    /// The address without its properties, of which one may be a password.
    pub(super) fn shown(&self) -> String {
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|(host, port)| port.map_or(host.clone(), |port| format!("{host}:{port}")))
            .collect();
        match self.subprotocol.as_str() {
            "sqlite" => format!("jdbc:sqlite:{}", self.database),
            other => format!("jdbc:{other}://{}/{}", hosts.join(","), self.database),
        }
    }
}

fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = rest.strip_prefix(':').map(str::parse).transpose().ok()?;
        return Some((host.into(), port));
    }
    match text.split_once(':') {
        None => Some((text.into(), None)),
        Some((host, port)) => Some((host.into(), Some(port.parse().ok()?))),
    }
}

/// The text that `%41` and its kin stand for.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_their_drivers_read_them() {
        let of = |text| Address::parse(text).unwrap();
        let full = of("jdbc:postgresql://db.example:5433/my%20db?user=a%26b&ssl=false");
        assert_eq!(full.hosts, [("db.example".to_string(), Some(5433))]);
        assert_eq!((full.database.as_str(), full.property("USER")), ("my db", Some("a&b")));
        assert_eq!(full.shown(), "jdbc:postgresql://db.example:5433/my db");
        assert_eq!(of("jdbc:postgresql:sales").database, "sales");
        assert_eq!(of("jdbc:postgresql:///sales").database, "sales");
        let two = of("jdbc:mysql://one,[::1]:3307/d?connectTimeout=500");
        assert_eq!(two.hosts, [("one".into(), None), ("::1".into(), Some(3307))]);
        let millis = Duration::from_millis(1);
        assert_eq!(two.duration("connectTimeout", millis), Some(Duration::from_millis(500)));
        assert_eq!(of("jdbc:sqlite:/tmp/a b.db").database, "/tmp/a b.db");
        for wrong in ["postgresql://h/d", "jdbc:", "jdbc:mysql://h:port/d"] {
            assert!(Address::parse(wrong).unwrap_err().hint.is_some(), "{wrong}");
        }
    }
}
