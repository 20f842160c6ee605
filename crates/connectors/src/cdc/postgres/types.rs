//! Which SQL types the values of PostgreSQL's types can have.

use flott_types::{DataType, TypeRoot};

/// Whether values of a type of PostgreSQL, named as in `pg_type.typname`, can be read as `wanted`.
pub(super) fn fits(typname: &str, wanted: &DataType) -> bool {
    use TypeRoot::{
        Array, BigInt, Binary, Boolean, Char, Date, Decimal, Double, Float, Int, SmallInt, Time,
        Timestamp, TimestampLtz, Varbinary, Varchar,
    };
    match (typname, &wanted.root) {
        // Any value has a text.
        (_, Char(_) | Varchar(_)) => typname != "bytea",
        ("bool", Boolean) => true,
        ("int2", SmallInt | Int | BigInt | Decimal { .. }) => true,
        ("int4", Int | BigInt | Decimal { .. }) => true,
        ("int8" | "oid", BigInt | Decimal { .. }) => true,
        ("float4", Float | Double) | ("float8", Double) => true,
        ("numeric", Decimal { .. }) => true,
        ("bytea", Binary(_) | Varbinary(_)) => true,
        ("date", Date) | ("time" | "timetz", Time(_)) => true,
        ("timestamp", Timestamp(_)) | ("timestamptz", TimestampLtz(_)) => true,
        (_, Array(element)) => typname.strip_prefix('_').is_some_and(|of| match &element.root {
            Array(_) => fits(typname, element),
            _ => fits(of, element),
        }),
        _ => false,
    }
}

/// The type to declare for a type of PostgreSQL.
pub(super) fn proposal(typname: &str) -> String {
    if let Some(element) = typname.strip_prefix('_') {
        return format!("ARRAY<{}>", proposal(element));
    }
    match typname {
        "bool" => "BOOLEAN",
        "int2" => "SMALLINT",
        "int4" => "INT",
        "int8" | "oid" => "BIGINT",
        "float4" => "FLOAT",
        "float8" => "DOUBLE",
        "numeric" => "DECIMAL",
        "bytea" => "BYTES",
        "date" => "DATE",
        "time" | "timetz" => "TIME",
        "timestamp" => "TIMESTAMP(6)",
        "timestamptz" => "TIMESTAMP_LTZ(6)",
        _ => "STRING",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_types_that_hold_all_of_them() {
        for (typname, wanted, expected) in [
            ("int4", DataType::int(), true),
            ("int4", DataType::bigint(), true),
            ("int8", DataType::int(), false),
            ("uuid", DataType::string(), true),
            ("numeric", DataType::decimal(10, 2), true),
            ("numeric", DataType::double(), false),
            ("timestamptz", DataType::timestamp(3), false),
            ("timestamptz", DataType::timestamp_ltz(3), true),
            ("_int4", DataType::array(DataType::int()), true),
            ("_int4", DataType::array(DataType::array(DataType::int())), true),
            ("_text", DataType::array(DataType::int()), false),
            ("text", DataType::array(DataType::string()), false),
        ] {
            assert_eq!(fits(typname, &wanted), expected, "{typname} as {wanted}");
        }
        assert_eq!(proposal("_int4"), "ARRAY<INT>");
    }
}
