//! The catalog `jdbc`: the databases of a server with their tables, without DDL.

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};
use flott_catalog::{Column as TableColumn, ColumnKind, ExternalCatalog, PrimaryKey, Table};
use flott_types::{DataType, Value};
use jiff::tz::TimeZone;

use super::address::Address;
use super::connection::{Column, Connection, DatabaseError, Login, Statement};
use super::dialect::{self, Dialect};
use super::options::{PASSWORD, TABLE_NAME, URL, USERNAME};
use crate::common::{CONNECTOR, invalid};

const DEFAULT_DATABASE: OptionDef = OptionDef::new(
    "default-database",
    OptionKind::Text,
    "the database that is current after USE CATALOG",
)
.required();
const BASE_URL: OptionDef = OptionDef::new(
    "base-url",
    OptionKind::Text,
    "the server: jdbc:postgresql://host:port, jdbc:mysql://… or jdbc:mariadb://…, without a database",
)
.required();

/// The options of the catalog.
pub(super) static OPTIONS: [OptionDef; 7] = [
    OptionDef::new("type", OptionKind::Text, "the type of the catalog").required(),
    OptionDef::new("property-version", OptionKind::Int, "version of the options").default("1"),
    DEFAULT_DATABASE,
    OptionDef::new(USERNAME.key, OptionKind::Text, "the user").required(),
    OptionDef::new(PASSWORD.key, OptionKind::Text, "the user's password").required(),
    BASE_URL,
    OptionDef::new(
        "compatible-mode",
        OptionKind::Enum(&["mysql", "postgresql"]),
        "accepted for Flink's sake; the database is known by its address",
    ),
];

/// How a server is asked for what it holds.
pub(super) trait Metadata: Send + Sync {
    /// A query of the names of databases that are the users'.
    fn databases(&self) -> &'static str;

    /// A query of the names of the tables of the database, as two columns: the schema, empty where
    /// databases have none, and the name.
    fn tables(&self, database: &str) -> Statement;

    /// A table by the name that it has in the catalog: its name for the option `table-name`, and its
    /// columns; `None` when there is none.
    fn table(
        &self,
        connection: &mut dyn Connection,
        database: &str,
        name: &str,
    ) -> Result<Option<Found>, DatabaseError>;
}

/// A table as the server describes it.
pub(super) struct Found {
    pub(super) table_name: String,
    pub(super) columns: Vec<Column>,
    /// The name of the primary key's constraint and its columns; no columns without a key.
    pub(super) key: (String, Vec<String>),
}

/// Checks the options and opens a catalog.
pub(super) fn open(options: &Options) -> Result<Arc<dyn ExternalCatalog>, ConnectorError> {
    let text = |def: &OptionDef| options.raw(def.key).unwrap_or_default().to_string();
    let base = Address::parse(&text(&BASE_URL))?;
    if !base.database.is_empty() {
        return Err(invalid(BASE_URL.key, &text(&BASE_URL), "an address that names no database"));
    }
    let dialect = dialect::of(&base)?;
    let Some(metadata) = dialect.metadata() else {
        let wanted = "an address of PostgreSQL, MySQL or MariaDB";
        return Err(invalid(BASE_URL.key, &text(&BASE_URL), wanted));
    };
    let catalog = JdbcCatalog {
        dialect,
        metadata,
        base,
        base_url: text(&BASE_URL),
        default_database: text(&DEFAULT_DATABASE),
        user: text(&USERNAME),
        password: text(&PASSWORD),
    };
    // Tells at once of a server that is not there.
    catalog.connect(&catalog.default_database)?;
    Ok(Arc::new(catalog))
}

struct JdbcCatalog {
    dialect: &'static dyn Dialect,
    metadata: &'static dyn Metadata,
    base: Address,
    base_url: String,
    default_database: String,
    user: String,
    password: String,
}

impl JdbcCatalog {
    fn connect(&self, database: &str) -> Result<Box<dyn Connection>, ConnectorError> {
        let address = Address { database: database.into(), ..self.base.clone() };
        let shown = address.shown();
        let login = Login {
            address,
            user: Some(self.user.clone()),
            password: Some(self.password.clone()),
            timeout: Duration::from_secs(60),
            zone: TimeZone::UTC,
        };
        self.dialect.connect(&login).map_err(|error| ConnectorError::from(error).at(shown))
    }

    /// The address of one of the server's databases.
    fn url(&self, database: &str) -> String {
        let (base, query) = match self.base_url.split_once('?') {
            Some((base, query)) => (base, format!("?{query}")),
            None => (self.base_url.as_str(), String::new()),
        };
        format!("{}/{database}{query}", base.trim_end_matches('/'))
    }

    fn failed(&self, error: DatabaseError) -> ConnectorError {
        ConnectorError::from(error).at(self.base.shown())
    }
}

impl ExternalCatalog for JdbcCatalog {
    fn default_database(&self) -> &str {
        &self.default_database
    }

    fn databases(&self) -> Result<Vec<String>, ConnectorError> {
        let mut connection = self.connect(&self.default_database)?;
        let query = Statement::plain(self.metadata.databases());
        let rows = texts(&mut *connection, &query, 1).map_err(|error| self.failed(error))?;
        let mut names: Vec<String> = rows.into_iter().flatten().flatten().collect();
        names.sort_unstable();
        Ok(names)
    }

    fn tables(&self, database: &str) -> Result<Vec<String>, ConnectorError> {
        let mut connection = self.connect(database)?;
        let rows = texts(&mut *connection, &self.metadata.tables(database), 2);
        let rows = rows.map_err(|error| self.failed(error))?;
        let mut names: Vec<String> = rows
            .into_iter()
            .map(|row| {
                row.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>()
            })
            .map(|parts| parts.join("."))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn table(&self, database: &str, name: &str) -> Result<Option<Table>, ConnectorError> {
        if !self.databases()?.iter().any(|known| known == database) {
            return Ok(None);
        }
        let mut connection = self.connect(database)?;
        let found = self.metadata.table(&mut *connection, database, name);
        let Some(found) =
            found.map_err(|error| self.failed(error).at(format!("table '{name}'")))?
        else {
            return Ok(None);
        };
        let (constraint, key) = found.key;
        let columns = found.columns.into_iter().map(|column| TableColumn {
            name: column.name.to_string(),
            data_type: column.data_type,
            kind: ColumnKind::Physical,
            comment: None,
        });
        let options = [
            (CONNECTOR.key, "jdbc".to_string()),
            (URL.key, self.url(database)),
            (USERNAME.key, self.user.clone()),
            (PASSWORD.key, self.password.clone()),
            (TABLE_NAME.key, found.table_name),
        ];
        Ok(Some(Table {
            columns: columns.collect(),
            watermark: None,
            primary_key: (!key.is_empty()).then_some(PrimaryKey { name: constraint, columns: key }),
            partition_keys: Vec::new(),
            distribution: None,
            comment: None,
            options: Options::new(options.map(|(key, value)| (key.to_string(), value))),
        }))
    }
}

/// The rows of a query of so many columns of text.
pub(super) fn texts(
    connection: &mut dyn Connection,
    query: &Statement,
    width: usize,
) -> Result<Vec<Vec<Option<String>>>, DatabaseError> {
    let column = |at: usize| Column { name: at.to_string().into(), data_type: DataType::string() };
    let columns: Vec<Column> = (0..width).map(column).collect();
    let mut rows = Vec::new();
    connection.query(query, &columns, usize::MAX, &mut |values| {
        for row in 0..values.first().map_or(0, Vec::len) {
            let text = |column: &Vec<Value>| column[row].as_str().map(str::to_string);
            rows.push(values.iter().map(text).collect());
        }
        Ok(true)
    })?;
    Ok(rows)
}

/// A query with texts as parameters.
pub(super) fn with_texts(sql: &str, parameters: &[&str]) -> Statement {
    Statement {
        sql: sql.into(),
        types: Arc::new([DataType::string()]),
        values: parameters.iter().map(Value::string).collect(),
    }
}
