//! What a server of PostgreSQL holds.

use flott_types::{DataType, TypeRoot};

use super::super::catalog::{Found, Metadata, texts, with_texts};
use super::super::connection::{Column, Connection, DatabaseError, Statement};
use super::super::dialect::quoted;

/// Databases, schemas and tables of PostgreSQL.
pub(super) struct PostgresMetadata;

const TABLES: &str = "SELECT table_schema::text, table_name::text FROM information_schema.tables \
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') \
    AND table_schema NOT LIKE 'pg\\_toast%' AND table_schema NOT LIKE 'pg\\_temp%'";

/// Name, type, what bounds it, whether it is not NULL, and the kind of type; of a domain those of its type.
const COLUMNS: &str = "SELECT a.attname::text, coalesce(b.typname, t.typname)::text, \
    CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END::text, \
    (a.attnotnull OR t.typnotnull)::text, coalesce(b.typtype, t.typtype)::text \
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
    LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype \
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

const KEY: &str = "SELECT c.conname::text, a.attname::text FROM pg_catalog.pg_constraint c \
    CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k(number, place) \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number \
    WHERE c.contype = 'p' AND c.conrelid = to_regclass($1) ORDER BY k.place";

impl Metadata for PostgresMetadata {
    fn databases(&self) -> &'static str {
        "SELECT datname::text FROM pg_catalog.pg_database WHERE NOT datistemplate AND datallowconn"
    }

    fn tables(&self, _: &str) -> Statement {
        Statement::plain(TABLES)
    }

    /// Tables are called `schema.table`; without a schema one of `public` is meant, as in Flink.
    fn table(
        &self,
        connection: &mut dyn Connection,
        _: &str,
        name: &str,
    ) -> Result<Option<Found>, DatabaseError> {
        let (schema, table) = name.split_once('.').unwrap_or(("public", name));
        let exact = format!("{}.{}", quoted(schema, '"'), quoted(table, '"'));
        let rows = texts(connection, &with_texts(COLUMNS, &[&exact]), 5)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::new();
        for row in rows {
            let [name, kind, bound, required, class] = fields(row);
            let bound = bound.parse().unwrap_or(-1);
            let Some(data_type) = data_type(&kind, bound, &class) else {
                return Err(DatabaseError::rejected(format!(
                    "column '{name}' is of type {kind}, which no type of SQL here stands for; CREATE \
                     TABLE with the other columns can read the table"
                )));
            };
            let data_type = data_type.with_nullable(required != "true");
            columns.push(Column { name: name.into(), data_type });
        }
        let key = texts(connection, &with_texts(KEY, &[&exact]), 2)?.into_iter().map(fields::<2>);
        let mut constraint = String::new();
        let key = key.map(|[name, column]| {
            constraint = name;
            column
        });
        let key = key.collect();
        let plain = |part: &str| {
            part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let table_name =
            if plain(schema) && plain(table) { format!("{schema}.{table}") } else { exact };
        Ok(Some(Found { table_name, columns, key: (constraint, key) }))
    }
}

fn fields<const N: usize>(row: Vec<Option<String>>) -> [String; N] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().flatten().unwrap_or_default())
}

/// The type of a column, by the name of the type there and what bounds it.
fn data_type(name: &str, bound: i32, class: &str) -> Option<DataType> {
    use TypeRoot as T;
    if let Some(element) = name.strip_prefix('_') {
        return Some(DataType::array(data_type(element, bound, class)?));
    }
    let length = u32::try_from(bound - 4).ok().filter(|length| *length > 0);
    let places = u8::try_from(bound).ok().filter(|places| *places <= 6).unwrap_or(6);
    Some(match name {
        "bool" => T::Boolean.nullable(),
        "int2" => T::SmallInt.nullable(),
        "int4" => T::Int.nullable(),
        "int8" => T::BigInt.nullable(),
        "float4" => T::Float.nullable(),
        "float8" => T::Double.nullable(),
        "numeric" => {
            let bound = u32::try_from(bound - 4).ok();
            let digits = bound.map(|bound| ((bound >> 16) & 0xffff, bound & 0x7ff));
            match digits {
                // Without bounds, as in Flink.
                None => DataType::decimal(38, 18),
                Some((precision, scale)) if precision <= 38 && scale <= precision => {
                    DataType::decimal(precision as u8, scale as u8)
                }
                Some(_) => DataType::string(),
            }
        }
        "bpchar" => length.map_or_else(DataType::string, |length| T::Char(length).nullable()),
        "varchar" => length.map_or_else(DataType::string, |length| T::Varchar(length).nullable()),
        "text" | "name" | "json" | "jsonb" | "uuid" | "xml" | "citext" => DataType::string(),
        "bytea" => DataType::bytes(),
        "date" => T::Date.nullable(),
        "time" => T::Time(places).nullable(),
        "timestamp" => DataType::timestamp(places),
        "timestamptz" => DataType::timestamp_ltz(places),
        _ if class == "e" => DataType::string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_bounds() {
        let of = |name, bound| data_type(name, bound, "b").map(|ty| ty.summary());
        assert_eq!(of("numeric", (10 << 16) + 2 + 4).as_deref(), Some("DECIMAL(10, 2)"));
        assert_eq!(of("numeric", -1).as_deref(), Some("DECIMAL(38, 18)"));
        assert_eq!(of("varchar", 24).as_deref(), Some("VARCHAR(20)"));
        assert_eq!(of("varchar", -1).as_deref(), Some("STRING"));
        assert_eq!(of("timestamptz", 3).as_deref(), Some("TIMESTAMP_LTZ(3)"));
        assert_eq!(of("_int4", -1).as_deref(), Some("ARRAY<INT>"));
        assert_eq!(of("interval", -1), None);
        assert_eq!(data_type("mood", -1, "e"), Some(DataType::string()));
    }
}
