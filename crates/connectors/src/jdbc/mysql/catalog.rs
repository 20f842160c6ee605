//! What a server of MySQL or MariaDB holds.

use flott_types::{DataType, TypeRoot};

use super::super::catalog::{Found, Metadata, texts, with_texts};
use super::super::connection::{Column, Connection, DatabaseError, Statement};
use super::super::dialect::quoted;

/// Databases and tables of MySQL and MariaDB.
pub(super) struct MySqlMetadata;

const COLUMNS: &str = "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, \
    CAST(COALESCE(CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, DATETIME_PRECISION) AS CHAR), \
    CAST(NUMERIC_SCALE AS CHAR) FROM information_schema.COLUMNS \
    WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION";

const KEY: &str = "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
    WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = 'PRIMARY' \
    ORDER BY ORDINAL_POSITION";

impl Metadata for MySqlMetadata {
    fn databases(&self) -> &'static str {
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN \
         ('information_schema', 'mysql', 'performance_schema', 'sys')"
    }

    fn tables(&self, database: &str) -> Statement {
        with_texts(
            "SELECT '', TABLE_NAME FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'",
            &[database],
        )
    }

    fn table(
        &self,
        connection: &mut dyn Connection,
        database: &str,
        name: &str,
    ) -> Result<Option<Found>, DatabaseError> {
        let mut columns = Vec::new();
        for row in texts(connection, &with_texts(COLUMNS, &[database, name]), 6)? {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let [name, kind, full, nullable, length, scale]: [String; 6] =
                std::array::from_fn(|_| row.next().unwrap_or_default());
            let Some(data_type) = data_type(&kind, &full, &length, &scale) else {
                return Err(DatabaseError::rejected(format!(
                    "column '{name}' is of type {full}, which no type of SQL here stands for; CREATE \
                     TABLE with the other columns can read the table"
                )));
            };
            let data_type = data_type.with_nullable(nullable == "YES");
            columns.push(Column { name: name.into(), data_type });
        }
        if columns.is_empty() {
            return Ok(None);
        }
        let key = texts(connection, &with_texts(KEY, &[database, name]), 1)?;
        let key = key.into_iter().flatten().flatten().collect();
        let table_name =
            if name.contains(['.', '`']) { quoted(name, '`') } else { name.to_string() };
        Ok(Some(Found { table_name, columns, key: ("PRIMARY".into(), key) }))
    }
}

/// The type of a column, by the name of the type there, all of it, and its length and scale.
fn data_type(name: &str, full: &str, length: &str, scale: &str) -> Option<DataType> {
    use TypeRoot as T;
    let unsigned = full.to_ascii_lowercase().contains("unsigned");
    let length: u64 = length.parse().unwrap_or(0);
    let characters = u32::try_from(length).ok().filter(|length| *length > 0);
    let places = u8::try_from(length).ok().filter(|places| *places <= 6).unwrap_or(0);
    Some(match (name.to_ascii_lowercase().as_str(), unsigned) {
        ("tinyint", _) if full.eq_ignore_ascii_case("tinyint(1)") => T::Boolean.nullable(),
        ("bit", _) if length == 1 => T::Boolean.nullable(),
        ("tinyint", false) => T::TinyInt.nullable(),
        ("tinyint", true) | ("smallint", false) => T::SmallInt.nullable(),
        ("smallint", true) | ("mediumint" | "int" | "integer", false) | ("year", _) => {
            T::Int.nullable()
        }
        ("mediumint", true) => T::Int.nullable(),
        ("int" | "integer", true) | ("bigint", false) => T::BigInt.nullable(),
        ("bigint", true) => DataType::decimal(20, 0),
        ("decimal" | "numeric", _) => match (u8::try_from(length), scale.parse::<u8>()) {
            (Ok(precision), Ok(scale)) if precision <= 38 => DataType::decimal(precision, scale),
            _ => DataType::string(),
        },
        ("float", _) => T::Float.nullable(),
        ("double", _) => T::Double.nullable(),
        ("char", _) => {
            characters.map_or_else(DataType::string, |length| T::Char(length).nullable())
        }
        ("varchar", _) => {
            characters.map_or_else(DataType::string, |length| T::Varchar(length).nullable())
        }
        ("tinytext" | "text" | "mediumtext" | "longtext" | "json" | "enum" | "set" | "uuid", _) => {
            DataType::string()
        }
        ("tinyblob" | "blob" | "mediumblob" | "longblob" | "varbinary" | "binary", _) => {
            DataType::bytes()
        }
        ("date", _) => T::Date.nullable(),
        ("time", _) => T::Time(places).nullable(),
        ("datetime" | "timestamp", _) => DataType::timestamp(places),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_bounds() {
        let of =
            |name, full, length, scale| data_type(name, full, length, scale).map(|ty| ty.summary());
        assert_eq!(of("tinyint", "tinyint(1)", "3", "0").as_deref(), Some("BOOLEAN"));
        assert_eq!(
            of("bigint", "bigint(20) unsigned", "20", "0").as_deref(),
            Some("DECIMAL(20, 0)")
        );
        assert_eq!(of("decimal", "decimal(10,2)", "10", "2").as_deref(), Some("DECIMAL(10, 2)"));
        assert_eq!(of("varchar", "varchar(9)", "9", "").as_deref(), Some("VARCHAR(9)"));
        assert_eq!(of("datetime", "datetime(3)", "3", "").as_deref(), Some("TIMESTAMP(3)"));
        assert_eq!(of("geometry", "geometry", "", ""), None);
    }
}
