//! Type names as written.

use super::{Ident, IntervalQualifier, ObjectName, Span, Text};

/// A type name: `ARRAY<DECIMAL(10, 2)> NOT NULL`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeName {
    /// The type without its nullability.
    pub kind: TypeKind,
    /// False after `NOT NULL`; true after `NULL` and where nothing is said.
    pub nullable: bool,
    /// Where it stands, nullability included.
    pub span: Span,
}

/// The kinds of types that Flink's grammar knows. Parameters are as written: `None` where the
/// type's default holds, and unchecked against the type's range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `CHAR(n)`, `CHARACTER(n)`
    Char(Option<u32>),
    /// `VARCHAR(n)`, `CHAR VARYING(n)`
    VarChar(Option<u32>),
    /// `STRING`
    String,
    /// `BINARY(n)`
    Binary(Option<u32>),
    /// `VARBINARY(n)`, `BINARY VARYING(n)`
    VarBinary(Option<u32>),
    /// `BYTES`
    Bytes,
    /// `BOOLEAN`
    Boolean,
    /// `DECIMAL(p, s)`, `DEC(p, s)`, `NUMERIC(p, s)`
    Decimal(Option<u32>, Option<u32>),
    /// `TINYINT`
    TinyInt,
    /// `SMALLINT`
    SmallInt,
    /// `INT`, `INTEGER`
    Int,
    /// `BIGINT`
    BigInt,
    /// `FLOAT`
    Float,
    /// `DOUBLE`, `DOUBLE PRECISION`
    Double,
    /// `DATE`
    Date,
    /// `TIME(p)`
    Time(Option<u32>, TimeZoneKind),
    /// `TIMESTAMP(p)`, `TIMESTAMP(p) WITH LOCAL TIME ZONE`, `TIMESTAMP_LTZ(p)`
    Timestamp(Option<u32>, TimeZoneKind),
    /// `INTERVAL DAY(2) TO SECOND(3)`
    Interval(IntervalQualifier),
    /// `ARRAY<t>`, `t ARRAY`
    Array(Box<TypeName>),
    /// `MULTISET<t>`, `t MULTISET`
    Multiset(Box<TypeName>),
    /// `MAP<k, v>`
    Map(Box<TypeName>, Box<TypeName>),
    /// `ROW<f t, …>`, `ROW(f t, …)`
    Row(Vec<FieldDefinition>),
    /// `STRUCTURED<'class', f t, …>`
    Structured(Text, Vec<FieldDefinition>),
    /// `RAW('class', 'serializer snapshot')`
    Raw(Text, Text),
    /// `VARIANT`
    Variant,
    /// `BITMAP`
    Bitmap,
    /// `NULL`
    Null,
    /// A name that is no type of Flink's grammar: a user-defined type, or a misspelt one.
    Named(ObjectName),
}

/// What a time type says of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeZoneKind {
    /// Nothing, or `WITHOUT TIME ZONE`.
    Without,
    /// `WITH LOCAL TIME ZONE`.
    Local,
}

/// A field of a row type: `name STRING NOT NULL 'what it holds'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldDefinition {
    /// The field's name.
    pub name: Ident,
    /// Its type.
    pub data_type: TypeName,
    /// The description behind it.
    pub comment: Option<Text>,
    /// Where it stands.
    pub span: Span,
}
