//! Databases, tables of a test's own, and sessions.

use std::sync::atomic::{AtomicU32, Ordering};

use flott::{Error, Outcome, TableEnvironment};
use tempfile::TempDir;

/// A database to test against.
pub enum Database {
    Sqlite(TempDir),
    Postgres(String),
    MariaDb(String),
}

impl Database {
    pub fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// The server of `FLOTT_TEST_POSTGRES`.
    pub fn postgres() -> Option<Self> {
        server("FLOTT_TEST_POSTGRES", "scripts/postgres.sh").map(Self::Postgres)
    }

    /// The server of `FLOTT_TEST_MARIADB`.
    pub fn mariadb() -> Option<Self> {
        server("FLOTT_TEST_MARIADB", "scripts/mariadb.sh").map(Self::MariaDb)
    }

    /// All that there are.
    pub fn all() -> Vec<Self> {
        [Some(Self::sqlite()), Self::postgres(), Self::mariadb()].into_iter().flatten().collect()
    }

    /// The address for the option `url`.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => {
                format!("jdbc:sqlite:{}", folder.path().join("test.db").display())
            }
            Self::Postgres(url) | Self::MariaDb(url) => url.clone(),
        }
    }

    /// Runs statements in the database itself.
    pub fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite(_) => self.open().execute_batch(sql).unwrap(),
            Self::Postgres(url) => postgres(url).batch_execute(sql).unwrap(),
            Self::MariaDb(url) => {
                use mysql::prelude::Queryable;
                let mut connection = mariadb(url);
                for statement in sql.split(';').filter(|part| !part.trim().is_empty()) {
                    connection.query_drop(statement).unwrap();
                }
            }
        }
    }

    /// The rows of a query in the database itself, as text: columns with `|`, NULL as `NULL`.
    pub fn query(&self, sql: &str) -> Vec<String> {
        let shown = |values: Vec<Option<String>>| {
            let values = values.into_iter().map(|value| value.unwrap_or_else(|| "NULL".into()));
            values.collect::<Vec<_>>().join("|")
        };
        match self {
            Self::Sqlite(_) => {
                let connection = self.open();
                let mut statement = connection.prepare(sql).unwrap();
                let width = statement.column_count();
                let rows = statement.query_map([], |row| {
                    let of = |at| row.get::<_, rusqlite::types::Value>(at).map(sqlite_text);
                    Ok(shown((0..width).map(of).collect::<Result<_, _>>()?))
                });
                rows.unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres(url) => {
                let messages = postgres(url).simple_query(sql).unwrap();
                let row = |message| match message {
                    postgres::SimpleQueryMessage::Row(row) => Some(shown(
                        (0..row.len()).map(|at| row.get(at).map(str::to_string)).collect(),
                    )),
                    _ => None,
                };
                messages.into_iter().filter_map(row).collect()
            }
            Self::MariaDb(url) => {
                use mysql::prelude::Queryable;
                let rows: Vec<mysql::Row> = mariadb(url).query(sql).unwrap();
                let text = |value: mysql::Value| match value {
                    mysql::Value::NULL => None,
                    mysql::Value::Bytes(bytes) => {
                        Some(String::from_utf8_lossy(&bytes).into_owned())
                    }
                    other => Some(format!("{other:?}")),
                };
                rows.into_iter()
                    .map(|row| shown(row.unwrap().into_iter().map(text).collect()))
                    .collect()
            }
        }
    }

    /// A name that no other test has.
    pub fn unique(&self, name: &str) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        format!("{name}_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates a table of these columns in the database, and returns its name.
    pub fn create(&self, name: &str, columns: &str) -> String {
        let name = self.unique(name);
        self.execute(&format!("CREATE TABLE {name} ({columns})"));
        name
    }

    /// `CREATE TABLE name (columns) WITH (…)` for a table of the database.
    pub fn table(
        &self,
        name: &str,
        columns: &str,
        table: &str,
        options: &[(&str, &str)],
    ) -> String {
        let url = self.url();
        let fixed = [("connector", "jdbc"), ("url", &*url), ("table-name", table)];
        let options: Vec<_> = fixed
            .iter()
            .chain(options)
            .map(|(key, value)| format!("'{key}' = '{}'", value.replace('\'', "''")))
            .collect();
        format!("CREATE TABLE {name} ({columns}) WITH ({})", options.join(", "))
    }

    fn open(&self) -> rusqlite::Connection {
        let Self::Sqlite(folder) = self else { panic!("no file") };
        rusqlite::Connection::open(folder.path().join("test.db")).unwrap()
    }
}

fn sqlite_text(value: rusqlite::types::Value) -> Option<String> {
    use rusqlite::types::Value;
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) => Some(text),
        Value::Blob(bytes) => Some(format!("{bytes:02x?}")),
    }
}

/// `user:password@host:port/database` of a test's address.
fn native(url: &str) -> (String, String, String) {
    let rest = url.split_once("//").unwrap().1;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let of = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, v)| v.to_string()).next().unwrap_or_default()
    };
    (place.into(), of("user"), of("password"))
}

fn postgres(url: &str) -> postgres::Client {
    let (place, user, password) = native(url);
    let address = format!("postgresql://{user}:{password}@{place}");
    postgres::Client::connect(&address, postgres::NoTls).unwrap()
}

fn mariadb(url: &str) -> mysql::Conn {
    let (place, user, password) = native(url);
    mysql::Conn::new(format!("mysql://{user}:{password}@{place}").as_str()).unwrap()
}

/// The address of a server. Without one a test says that it does nothing, or fails in CI.
fn server(variable: &str, script: &str) -> Option<String> {
    let address = std::env::var(variable).ok();
    if address.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{variable} is not set, and this is CI");
        eprintln!("skipped: {variable} is not set; see {script}");
    }
    address
}

/// Executes statements, waits for jobs, and gives the rows of the last query, sorted.
pub fn run(session: &mut TableEnvironment, statements: &[&str]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for sql in statements {
        match session.execute(sql)? {
            Outcome::Query(result) => {
                rows = result.collect()?.iter().map(ToString::to_string).collect();
                rows.sort();
            }
            Outcome::Job(job) => drop(job.wait()?),
            _ => {}
        }
    }
    Ok(rows)
}

/// What EXPLAIN says of a query.
pub fn explain(session: &mut TableEnvironment, sql: &str) -> String {
    match session.execute(&format!("EXPLAIN {sql}")).unwrap() {
        Outcome::Table(table) => table.rows.iter().map(|row| format!("{row:?}")).collect(),
        _ => panic!("EXPLAIN gave no table"),
    }
}
