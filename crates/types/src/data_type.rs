//! Flink's SQL types: root, parameters and nullability, printed as Flink prints them.

use std::fmt;
use std::sync::Arc;

/// The largest length of a character or byte string; `STRING` is `VARCHAR(MAX_LENGTH)`.
const MAX_LENGTH: u32 = i32::MAX as u32;

/// A SQL type with its nullability, Flink's `LogicalType`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    /// The type without its nullability.
    pub root: TypeRoot,
    /// Whether NULL is a value of the type; `NOT NULL` types are not nullable.
    pub nullable: bool,
}

/// A type and its parameters, nullability aside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TypeRoot {
    /// The type of an untyped NULL literal.
    Null,
    /// `BOOLEAN`
    Boolean,
    /// `TINYINT`, 8 bit.
    TinyInt,
    /// `SMALLINT`, 16 bit.
    SmallInt,
    /// `INT`, 32 bit.
    Int,
    /// `BIGINT`, 64 bit.
    BigInt,
    /// `FLOAT`, IEEE 4 byte.
    Float,
    /// `DOUBLE`, IEEE 8 byte.
    Double,
    /// `DECIMAL(precision, scale)`, precision 1 to 38.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// `CHAR(n)`: exactly n characters; 0 is the type of an empty literal.
    Char(u32),
    /// `VARCHAR(n)`: up to n characters; `STRING` at the largest n.
    Varchar(u32),
    /// `BINARY(n)`
    Binary(u32),
    /// `VARBINARY(n)`; `BYTES` at the largest n.
    Varbinary(u32),
    /// `DATE`, days since 1970-01-01.
    Date,
    /// `TIME(p)`; the run time keeps milliseconds whatever p says, as Flink does.
    Time(u8),
    /// `TIMESTAMP(p)` without a time zone.
    Timestamp(u8),
    /// `TIMESTAMP_LTZ(p)`: an instant, shown in the session's time zone.
    TimestampLtz(u8),
    /// An interval of months (`INTERVAL YEAR TO MONTH` and its kin).
    IntervalYearMonth,
    /// An interval of milliseconds (`INTERVAL DAY TO SECOND` and its kin).
    IntervalDayTime,
    /// `ARRAY<t>`
    Array(Arc<DataType>),
    /// `MAP<k, v>`
    Map(Arc<DataType>, Arc<DataType>),
    /// `MULTISET<t>`: elements with a count each.
    Multiset(Arc<DataType>),
    /// `ROW<name type, …>`
    Row(Arc<[RowField]>),
    /// `STRUCTURED<'class', name type, …>`: a row with a class identity.
    Structured {
        /// The class name as written.
        class: Arc<str>,
        /// The attributes in order.
        fields: Arc<[RowField]>,
    },
    /// `VARIANT`: self-describing semi-structured data.
    Variant,
    /// `BITMAP`: a set of 32-bit integers.
    Bitmap,
    /// `RAW('class', '…')`: opaque bytes.
    Raw(Arc<str>),
    /// The type of a `DESCRIPTOR(…)` argument.
    Descriptor,
}

/// A field of a `ROW` type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowField {
    /// The field's name.
    pub name: Arc<str>,
    /// Its type.
    pub data_type: DataType,
    /// Its description (`ROW<a INT 'what it is'>`).
    pub description: Option<Arc<str>>,
}

impl RowField {
    /// A field without a description.
    pub fn new(name: impl Into<Arc<str>>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, description: None }
    }
}

/// The family of a type, Flink's `LogicalTypeFamily` as far as rules ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// The untyped NULL.
    Null,
    /// BOOLEAN
    Boolean,
    /// Exact and approximate numbers.
    Numeric,
    /// CHAR and VARCHAR.
    CharacterString,
    /// BINARY and VARBINARY.
    BinaryString,
    /// DATE
    Date,
    /// TIME
    Time,
    /// TIMESTAMP and TIMESTAMP_LTZ.
    Timestamp,
    /// Both kinds of interval.
    Interval,
    /// ARRAY, MAP, MULTISET.
    Collection,
    /// ROW and STRUCTURED.
    Row,
    /// VARIANT, BITMAP, RAW, DESCRIPTOR.
    Other,
}

impl TypeRoot {
    /// The nullable type of this root.
    pub fn nullable(self) -> DataType {
        DataType::new(self)
    }

    /// The `NOT NULL` type of this root.
    pub fn not_null(self) -> DataType {
        DataType { root: self, nullable: false }
    }

    /// The family the root belongs to.
    pub fn family(&self) -> Family {
        use TypeRoot::*;
        match self {
            Null => Family::Null,
            Boolean => Family::Boolean,
            TinyInt | SmallInt | Int | BigInt | Float | Double | Decimal { .. } => Family::Numeric,
            Char(_) | Varchar(_) => Family::CharacterString,
            Binary(_) | Varbinary(_) => Family::BinaryString,
            Date => Family::Date,
            Time(_) => Family::Time,
            Timestamp(_) | TimestampLtz(_) => Family::Timestamp,
            IntervalYearMonth | IntervalDayTime => Family::Interval,
            Array(_) | Map(..) | Multiset(_) => Family::Collection,
            Row(_) | Structured { .. } => Family::Row,
            Variant | Bitmap | Raw(_) | Descriptor => Family::Other,
        }
    }

    /// TINYINT, SMALLINT, INT or BIGINT.
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt)
    }

    /// An integer or DECIMAL.
    pub fn is_exact_numeric(&self) -> bool {
        self.is_integer() || matches!(self, Self::Decimal { .. })
    }

    /// FLOAT or DOUBLE.
    pub fn is_approximate(&self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// The fields of a ROW or structured type.
    pub fn row_fields(&self) -> Option<&[RowField]> {
        match self {
            Self::Row(fields) | Self::Structured { fields, .. } => Some(fields),
            _ => None,
        }
    }

    /// Precision and scale an exact number has as a decimal: TINYINT (3, 0) to BIGINT (19, 0).
    pub fn as_decimal(&self) -> Option<(u8, u8)> {
        match self {
            Self::TinyInt => Some((3, 0)),
            Self::SmallInt => Some((5, 0)),
            Self::Int => Some((10, 0)),
            Self::BigInt => Some((19, 0)),
            Self::Decimal { precision, scale } => Some((*precision, *scale)),
            _ => None,
        }
    }
}

impl DataType {
    /// The nullable type of a root.
    pub fn new(root: TypeRoot) -> Self {
        Self { root, nullable: true }
    }

    /// `STRING`, that is `VARCHAR(2147483647)`.
    pub fn string() -> Self {
        Self::new(TypeRoot::Varchar(MAX_LENGTH))
    }

    /// `BYTES`, that is `VARBINARY(2147483647)`.
    pub fn bytes() -> Self {
        Self::new(TypeRoot::Varbinary(MAX_LENGTH))
    }

    /// The nullable BOOLEAN.
    pub fn boolean() -> Self {
        Self::new(TypeRoot::Boolean)
    }

    /// The nullable INT.
    pub fn int() -> Self {
        Self::new(TypeRoot::Int)
    }

    /// The nullable BIGINT.
    pub fn bigint() -> Self {
        Self::new(TypeRoot::BigInt)
    }

    /// The nullable DOUBLE.
    pub fn double() -> Self {
        Self::new(TypeRoot::Double)
    }

    /// The nullable `DECIMAL(precision, scale)`.
    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::new(TypeRoot::Decimal { precision, scale })
    }

    /// The nullable `TIMESTAMP(precision)`.
    pub fn timestamp(precision: u8) -> Self {
        Self::new(TypeRoot::Timestamp(precision))
    }

    /// The nullable `TIMESTAMP_LTZ(precision)`.
    pub fn timestamp_ltz(precision: u8) -> Self {
        Self::new(TypeRoot::TimestampLtz(precision))
    }

    /// The nullable array of `element`.
    pub fn array(element: DataType) -> Self {
        Self::new(TypeRoot::Array(Arc::new(element)))
    }

    /// The nullable map from `key` to `value`.
    pub fn map(key: DataType, value: DataType) -> Self {
        Self::new(TypeRoot::Map(Arc::new(key), Arc::new(value)))
    }

    /// The nullable row of `fields`.
    pub fn row(fields: impl Into<Arc<[RowField]>>) -> Self {
        Self::new(TypeRoot::Row(fields.into()))
    }

    /// The type of an untyped NULL.
    pub fn null() -> Self {
        Self::new(TypeRoot::Null)
    }

    /// The same type without NULL.
    pub fn not_null(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// The same type with the nullability given.
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// The family of the type.
    pub fn family(&self) -> Family {
        self.root.family()
    }

    /// Whether two types are the same but for nullability at the top.
    pub fn same_root(&self, other: &DataType) -> bool {
        self.root == other.root
    }

    /// The type in Flink's short form: `STRING`, `BYTES` and `TIMESTAMP_LTZ(p)` instead of the longest
    /// `VARCHAR` and `VARBINARY` and of `TIMESTAMP(p) WITH LOCAL TIME ZONE`, at any depth. Flink prints schemas and results so.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        write_type(&mut out, self, true).expect("writing to a String cannot fail");
        out
    }
}

impl From<TypeRoot> for DataType {
    fn from(root: TypeRoot) -> Self {
        Self::new(root)
    }
}

impl fmt::Display for DataType {
    /// Flink's serializable form: `VARCHAR(2147483647)`, `ROW<`a` INT NOT NULL>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self, false)
    }
}

impl fmt::Display for TypeRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_root(f, self, false)
    }
}

fn write_type(out: &mut impl fmt::Write, ty: &DataType, short: bool) -> fmt::Result {
    write_root(out, &ty.root, short)?;
    if ty.nullable || ty.root == TypeRoot::Null { Ok(()) } else { out.write_str(" NOT NULL") }
}

fn write_root(out: &mut impl fmt::Write, root: &TypeRoot, short: bool) -> fmt::Result {
    use TypeRoot::*;
    match root {
        Null => out.write_str("NULL"),
        Boolean => out.write_str("BOOLEAN"),
        TinyInt => out.write_str("TINYINT"),
        SmallInt => out.write_str("SMALLINT"),
        Int => out.write_str("INT"),
        BigInt => out.write_str("BIGINT"),
        Float => out.write_str("FLOAT"),
        Double => out.write_str("DOUBLE"),
        Decimal { precision, scale } => write!(out, "DECIMAL({precision}, {scale})"),
        Char(n) => write!(out, "CHAR({n})"),
        Varchar(n) if short && *n == MAX_LENGTH => out.write_str("STRING"),
        Varchar(n) => write!(out, "VARCHAR({n})"),
        Binary(n) => write!(out, "BINARY({n})"),
        Varbinary(n) if short && *n == MAX_LENGTH => out.write_str("BYTES"),
        Varbinary(n) => write!(out, "VARBINARY({n})"),
        Date => out.write_str("DATE"),
        Time(p) => write!(out, "TIME({p})"),
        Timestamp(p) => write!(out, "TIMESTAMP({p})"),
        TimestampLtz(p) if short => write!(out, "TIMESTAMP_LTZ({p})"),
        TimestampLtz(p) => write!(out, "TIMESTAMP({p}) WITH LOCAL TIME ZONE"),
        IntervalYearMonth => out.write_str("INTERVAL MONTH"),
        IntervalDayTime => out.write_str("INTERVAL SECOND(3)"),
        Array(element) => {
            out.write_str("ARRAY<")?;
            write_type(out, element, short)?;
            out.write_char('>')
        }
        Map(key, value) => {
            out.write_str("MAP<")?;
            write_type(out, key, short)?;
            out.write_str(", ")?;
            write_type(out, value, short)?;
            out.write_char('>')
        }
        Multiset(element) => {
            out.write_str("MULTISET<")?;
            write_type(out, element, short)?;
            out.write_char('>')
        }
        Row(fields) => {
            out.write_str("ROW<")?;
            write_fields(out, fields, short)?;
            out.write_char('>')
        }
        Structured { class, fields } => {
            write!(out, "STRUCTURED<'{class}'")?;
            if !fields.is_empty() {
                out.write_str(", ")?;
            }
            write_fields(out, fields, short)?;
            out.write_char('>')
        }
        Variant => out.write_str("VARIANT"),
        Bitmap => out.write_str("BITMAP"),
        Raw(class) => write!(out, "RAW('{class}', '...')"),
        Descriptor => out.write_str("DESCRIPTOR"),
    }
}

fn write_fields(out: &mut impl fmt::Write, fields: &[RowField], short: bool) -> fmt::Result {
    for (i, field) in fields.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        write!(out, "`{}` ", field.name.replace('`', "``"))?;
        write_type(out, &field.data_type, short)?;
        if let Some(text) = field.description.as_ref().filter(|_| !short) {
            write!(out, " '{}'", text.replace('\'', "''"))?;
        }
    }
    Ok(())
}
