//! A server, tables and slots of a test's own, and what a query gives of them.

use std::process::Command;
use std::time::{Duration, Instant};

use flott::{Error, Outcome, QueryResult, TableEnvironment};

/// A table that a test has for itself, with a slot and a publication of the same name.
pub struct Table {
    pub name: String,
    port: u16,
}

impl Table {
    /// A table with these columns at the server of `FLOTT_TEST_POSTGRES`. Without one a test says that it does
    /// nothing, or fails in CI.
    pub fn create(name: &str, columns: &str) -> Option<Self> {
        let Ok(address) = std::env::var("FLOTT_TEST_POSTGRES") else {
            assert!(
                std::env::var_os("CI").is_none(),
                "FLOTT_TEST_POSTGRES is not set, and this is CI"
            );
            eprintln!("skipped: FLOTT_TEST_POSTGRES is not set; see scripts/postgres.sh");
            return None;
        };
        let port = address.split("localhost:").nth(1).and_then(|rest| rest.split('/').next());
        let table = Self {
            name: format!("{name}_{}", std::process::id()),
            port: port.unwrap().parse().unwrap(),
        };
        table.sql(&format!("DROP TABLE IF EXISTS {0}; CREATE TABLE {0} ({columns})", table.name));
        Some(table)
    }

    /// The same with whole rows in the log.
    pub fn create_full(name: &str, columns: &str) -> Option<Self> {
        let table = Self::create(name, columns)?;
        table.sql(&format!("ALTER TABLE {} REPLICA IDENTITY FULL", table.name));
        Some(table)
    }

    /// Runs SQL as one transaction; what psql prints.
    pub fn sql(&self, sql: &str) -> String {
        let port = self.port.to_string();
        let output = Command::new("psql")
            .env("PGPASSWORD", "secret")
            .args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-h", "localhost", "-p", &port])
            .args(["-U", "flott", "-d", "test", "-c", sql])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// Runs SQL on the table, which is `T` there.
    pub fn change(&self, sql: &str) {
        self.sql(&sql.replace(" T ", &format!(" {} ", self.name)));
    }

    /// `CREATE TABLE t (columns) WITH (…)`; an option given replaces what stands here.
    pub fn declare(&self, columns: &str, options: &[(&str, &str)]) -> String {
        let port = self.port.to_string();
        let mut all = vec![
            ("connector", "postgres-cdc"),
            ("hostname", "localhost"),
            ("port", &port),
            ("username", "flott"),
            ("password", "secret"),
            ("database-name", "test"),
            ("schema-name", "public"),
            ("table-name", &self.name),
            ("slot.name", &self.name),
            ("debezium.publication.name", &self.name),
            ("debezium.publication.autocreate.mode", "filtered"),
        ];
        all.retain(|(key, _)| options.iter().all(|(given, _)| given != key));
        all.extend(options);
        let all: Vec<_> = all.iter().map(|(key, value)| format!("'{key}' = '{value}'")).collect();
        format!("CREATE TABLE t ({columns}) WITH ({})", all.join(", "))
    }

    /// Waits until the slot is being read.
    pub fn wait_for_slot(&self) {
        let start = Instant::now();
        let active = format!(
            "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '{}' AND active",
            self.name
        );
        while self.sql(&active) != "1" {
            assert!(start.elapsed() < Duration::from_secs(60), "nobody reads the slot");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let name = &self.name;
        let cleanup = format!(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
               WHERE slot_name = '{name}' AND active;
             SELECT pg_sleep(0.2);
             SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
               WHERE slot_name = '{name}' AND NOT active;
             DROP PUBLICATION IF EXISTS {name}; DROP TABLE IF EXISTS {name}"
        );
        let port = self.port.to_string();
        let _ = Command::new("psql")
            .env("PGPASSWORD", "secret")
            .args(["-qAtX", "-h", "localhost", "-p", &port, "-U", "flott", "-d", "test"])
            .args(["-c", &cleanup])
            .output();
    }
}

/// Executes statements; the result of the last one, a query.
pub fn query(statements: &[&str]) -> Result<(TableEnvironment, QueryResult), Error> {
    let mut session = TableEnvironment::new();
    let mut result = None;
    for sql in statements {
        if let Outcome::Query(query) = session.execute(sql)? {
            result = Some(query);
        }
    }
    Ok((session, result.unwrap()))
}

/// The next so many rows.
pub fn take(result: &QueryResult, count: usize) -> Vec<String> {
    let (mut rows, start) = (Vec::new(), Instant::now());
    while rows.len() < count {
        assert!(start.elapsed() < Duration::from_secs(60), "no more than {rows:?}");
        let batch = result.next_batch_within(Duration::from_millis(500)).unwrap();
        if let Some(batch) = batch.expect("the query goes on") {
            rows.extend(result.rows(&batch).iter().map(ToString::to_string));
        }
    }
    assert_eq!(rows.len(), count, "{rows:?}");
    rows
}

/// The error that a query ends with.
pub fn failure(statements: &[&str]) -> String {
    match query(statements) {
        Ok((_session, result)) => loop {
            match result.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the query ends without an error"),
                Err(error) => break error.to_string(),
            }
        },
        Err(error) => error.to_string(),
    }
}
