//! What differs between databases.

use flott_catalog::connector::{ConnectorError, Predicate, PredicateSupport};
use flott_types::{DataType, Schema};

use super::address::Address;
use super::catalog::Metadata;
use super::connection::{Column, Connection, DatabaseError, Login};
use super::mysql::MySql;
use super::options::URL;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::statement::Names;

/// The SQL of a database, its types, and how to connect.
pub(super) trait Dialect: Send + Sync {
    /// The database's name.
    fn name(&self) -> &'static str;

    /// What addresses begin with behind `jdbc:`.
    fn subprotocols(&self) -> &'static [&'static str];

    /// The classes of JDBC drivers that users name for it.
    fn drivers(&self) -> &'static [&'static str];

    /// Whether columns of the type can be read and written.
    fn supports(&self, data_type: &DataType) -> bool;

    /// A name in quotes.
    fn quote(&self, name: &str) -> String;

    /// Writes the place of the parameter of this number, from 1.
    fn parameter(&self, out: &mut String, number: usize);

    /// How many parameters a statement may have.
    fn max_parameters(&self) -> usize;

    /// What follows `INSERT INTO … VALUES …` so that rows replace those of their keys. Names are quoted;
    /// `others` are the columns outside the key.
    fn on_conflict(&self, key: &[&str], others: &[&str]) -> String;

    /// What the database makes of a condition; it need not look into AND and OR.
    fn predicate_support(&self, predicate: &Predicate, schema: &Schema) -> PredicateSupport;

    /// Connects.
    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, DatabaseError>;

    /// How to ask a server for its tables; `None` where catalogs are not offered.
    fn metadata(&self) -> Option<&'static dyn Metadata> {
        None
    }

    /// How the database calls a table and its columns.
    fn names(
        &self,
        _connection: &mut dyn Connection,
        table: &str,
        columns: &[Column],
    ) -> Result<Names, DatabaseError> {
        let mark = self.quote("").chars().next().unwrap_or('"');
        let table: Vec<String> =
            parts(table, mark).iter().map(|(part, _)| self.quote(part)).collect();
        let columns = columns.iter().map(|column| self.quote(&column.name)).collect();
        Ok(Names { table: table.join("."), columns })
    }
}

/// All dialects.
static DIALECTS: &[&dyn Dialect] = &[&Postgres, &MySql, &Sqlite];

/// The dialect of an address.
pub(super) fn of(address: &Address) -> Result<&'static dyn Dialect, ConnectorError> {
    let found = DIALECTS
        .iter()
        .find(|dialect| dialect.subprotocols().contains(&address.subprotocol.as_str()));
    found.copied().ok_or_else(|| {
        let known: Vec<String> = DIALECTS
            .iter()
            .flat_map(|dialect| dialect.subprotocols())
            .map(|name| format!("jdbc:{name}:"))
            .collect();
        ConnectorError::new(format!(
            "no database is known for 'jdbc:{}:' in option '{}'",
            address.subprotocol, URL.key
        ))
        .hint(format!("known: {}", known.join(", ")))
    })
}

/// A name between `mark`s, which are doubled in it.
pub(super) fn quoted(name: &str, mark: char) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push(mark);
    for c in name.chars() {
        if c == mark {
            out.push(mark);
        }
        out.push(c);
    }
    out.push(mark);
    out
}

/// The parts of a name, and whether each was in quotes.
pub(super) fn parts(name: &str, mark: char) -> Vec<(String, bool)> {
    let mut parts = vec![(String::new(), false)];
    let mut inside = false;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let Some((text, quoted)) = parts.last_mut() else { break };
        match c {
            c if c == mark && inside && chars.peek() == Some(&mark) => {
                chars.next();
                text.push(mark);
            }
            c if c == mark => {
                inside = !inside;
                *quoted = true;
            }
            '.' if !inside => parts.push((String::new(), false)),
            c => text.push(c),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_to_pieces() {
        let of = |name: &str| parts(name, '"');
        assert_eq!(of("public.Users"), [("public".into(), false), ("Users".into(), false)]);
        assert_eq!(of(r#""a.b"."c""d""#), [("a.b".into(), true), (r#"c"d"#.into(), true)]);
        assert_eq!(quoted(r#"c"d"#, '"'), r#""c""d""#);
    }
}
