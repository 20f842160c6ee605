//! The tables of the database that are read: their columns and keys.

use flott_catalog::connector::ConnectorError;

use super::connection::Connection;
use super::failure::failure;
use super::table::Table;
use super::types;
use crate::cdc::progress::Key;

/// A table of the database.
#[derive(Debug, Clone)]
pub(super) struct TableInfo {
    pub(super) schema: String,
    pub(super) name: String,
    /// Whether its rows are those of its partitions.
    pub(super) partitioned: bool,
    /// Whether changes tell the whole row as it was.
    pub(super) full_identity: bool,
    /// The columns by whose order it is read; empty when there is no key.
    pub(super) key: Vec<KeyColumn>,
}

/// A column of a key.
#[derive(Debug, Clone)]
pub(super) struct KeyColumn {
    pub(super) name: String,
    /// As it is written in SQL.
    data_type: String,
    /// As it is written in SQL, where values have an order that depends on it.
    collation: Option<String>,
}

impl TableInfo {
    /// `schema.table` as SQL writes it.
    pub(super) fn sql_name(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    /// `(a, b)`
    pub(super) fn key_columns(&self) -> String {
        let names: Vec<_> = self.key.iter().map(|column| quote(&column.name)).collect();
        names.join(", ")
    }

    /// The values of a key as a row in SQL, which compares as the columns do.
    pub(super) fn key_values(&self, key: &Key) -> String {
        let value = |(column, text): (&KeyColumn, &String)| {
            let cast = format!("{}::{}", literal(text), column.data_type);
            match &column.collation {
                None => cast,
                Some(collation) => format!("{cast} COLLATE {collation}"),
            }
        };
        let values: Vec<_> = self.key.iter().zip(key).map(value).collect();
        values.join(", ")
    }

    /// Whether keys are numbers, which need no database to be compared.
    pub(super) fn has_number_key(&self) -> bool {
        let is_number = |column: &KeyColumn| {
            matches!(column.data_type.as_str(), "smallint" | "integer" | "bigint")
        };
        self.key.iter().all(is_number)
    }
}

/// A name in SQL.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in SQL.
pub(super) fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// The tables that the options name. Fails when there is none, or when one lacks a column or has one whose values do not
/// fit.
pub(super) fn find(
    connection: &mut Connection,
    table: &Table,
) -> Result<Vec<TableInfo>, ConnectorError> {
    let rows = connection.query(
        "SELECT c.oid, n.nspname, c.relname, c.relreplident = 'f', c.relispartition,
         c.relkind = 'p'
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
         AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3",
    );
    let rows = rows.map_err(failure)?;
    let mut found = Vec::new();
    for row in &rows {
        let [Some(oid), Some(schema), Some(name), Some(full), Some(partition), Some(partitioned)] =
            row.as_slice()
        else {
            continue;
        };
        if table.wants(schema, name) {
            let info = TableInfo {
                schema: schema.clone(),
                name: name.clone(),
                partitioned: partitioned == "t",
                full_identity: full == "t",
                key: Vec::new(),
            };
            found.push((oid, info, partition == "t"));
        }
    }
    // The changes of partitions come under the name of the table they belong to.
    if found.iter().any(|(.., partition)| !partition) {
        found.retain(|(.., partition)| !partition);
    }
    if found.is_empty() {
        return Err(ConnectorError::new(format!(
            "no table of the database '{}' matches 'schema-name' and 'table-name'",
            table.connection.database
        ))
        .at(table.context.identifier.clone())
        .hint("both are names or regular expressions that must match the whole name; the user needs USAGE on the schema"));
    }
    let infos = found.into_iter().map(|(oid, mut info, _)| {
        let columns = columns(connection, oid)?;
        let (schema, name) = (&info.schema, &info.name);
        check(table, schema, name, &columns)?;
        let key = match &table.key_column {
            Some(name) => vec![name.clone()],
            None => primary_key(connection, oid)?,
        };
        let of_key = |key: String| {
            let found = columns.iter().find(|column| column.name == key);
            let fine = |column: &&Column| {
                column.not_null && (column.unique || table.key_column.is_none())
            };
            let column = found.filter(fine).ok_or_else(|| {
                ConnectorError::new(format!(
                    "the table {schema}.{name} has no column '{key}' that is NOT NULL and UNIQUE"
                ))
                .hint("'scan.incremental.snapshot.chunk.key-column' must name one, or leave the option out")
            })?;
            let (data_type, collation) = (column.sql_type.clone(), column.collation.clone());
            Ok(KeyColumn { name: key, data_type, collation })
        };
        info.key = key.into_iter().map(of_key).collect::<Result<_, ConnectorError>>()?;
        Ok(info)
    });
    infos.collect()
}

struct Column {
    name: String,
    /// The type's name, of a domain that of what it is made of.
    typname: String,
    sql_type: String,
    collation: Option<String>,
    not_null: bool,
    /// Whether no two rows have one value.
    unique: bool,
}

fn columns(connection: &mut Connection, oid: &str) -> Result<Vec<Column>, ConnectorError> {
    let rows = connection.query(&format!(
        "SELECT a.attname, b.typname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
         EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique
           AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum AND i.indpred IS NULL),
         pg_catalog.quote_ident(cn.nspname) || '.' || pg_catalog.quote_ident(co.collname)
         FROM pg_catalog.pg_attribute a
         JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
         JOIN pg_catalog.pg_type b
           ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
         LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
         LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
         WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    ));
    let column = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        let mut next = || row.next().flatten();
        let (name, typname, sql_type) = (next(), next(), next());
        let (not_null, unique) = (next().as_deref() == Some("t"), next().as_deref() == Some("t"));
        Column {
            name: name.unwrap_or_default(),
            typname: typname.unwrap_or_default(),
            sql_type: sql_type.unwrap_or_default(),
            not_null,
            unique,
            collation: next(),
        }
    };
    Ok(rows.map_err(failure)?.into_iter().map(column).collect())
}

fn primary_key(connection: &mut Connection, oid: &str) -> Result<Vec<String>, ConnectorError> {
    let rows = connection.query(&format!(
        "SELECT a.attname FROM pg_catalog.pg_index i
         CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, at)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
         WHERE i.indrelid = {oid} AND i.indisprimary ORDER BY k.at"
    ));
    Ok(rows.map_err(failure)?.into_iter().flatten().flatten().collect())
}

/// Every declared column must be there, with values that fit.
fn check(
    table: &Table,
    schema: &str,
    name: &str,
    columns: &[Column],
) -> Result<(), ConnectorError> {
    for field in &table.context.schema.fields {
        let Some(column) = columns.iter().find(|column| *column.name == *field.name) else {
            let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
            return Err(ConnectorError::new(format!(
                "the table {schema}.{name} has no column '{}'",
                field.name
            ))
            .at(table.context.identifier.clone())
            .hint(format!("its columns are {}; upper and lower case differ", names.join(", "))));
        };
        if !types::fits(&column.typname, &field.data_type) {
            return Err(ConnectorError::new(format!(
                "the column '{}' of {schema}.{name} is {}, which is not read as {}",
                field.name,
                column.sql_type,
                field.data_type.summary()
            ))
            .at(table.context.identifier.clone())
            .hint(format!("declare it {}", types::proposal(&column.typname))));
        }
    }
    Ok(())
}
