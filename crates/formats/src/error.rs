//! What can be wrong with records, types and options.

use flott_catalog::connector::ConnectorError;

/// The longest part of a value that a message shows.
const SHOWN: usize = 60;

/// Why a record cannot be decoded, a row not be encoded, or a table not use a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    #[error("cannot read '{value}' as {data_type} for column '{column}'")]
    Value { value: String, data_type: String, column: String },
    #[error("broken JSON at byte {at}: {what}")]
    Json { what: &'static str, at: usize },
    #[error("JSON value is {found}, not {wanted}")]
    Shape { found: &'static str, wanted: &'static str },
    #[error("column '{0}' is missing in the JSON object")]
    Missing(String),
    #[error("row has {found} values, but {expected} columns are read")]
    TooFewCells { found: usize, expected: usize },
    #[error("row has {found} values, but the table has {expected} columns")]
    MissingCells { found: usize, expected: usize },
    #[error("row has more values than the table has columns ({0})")]
    TooManyCells(usize),
    #[error("text follows the closing quote of a value")]
    AfterQuote,
    #[error("closing quote is missing")]
    OpenQuote,
    #[error("input ends after an escape character")]
    OpenEscape,
    #[error("text is not valid UTF-8")]
    Utf8,
    #[error("message is empty")]
    Empty,
    #[error("size of data for {data_type} is {found} bytes, not {expected}")]
    Size { data_type: &'static str, found: usize, expected: usize },
    #[error("corrupt {format} message: {what}")]
    Message { format: &'static str, what: String },
    #[error("the \"before\" field of {op} message is null")]
    NoBefore { op: &'static str, database: &'static str },
    #[error("map of column '{0}' has a NULL key, which JSON cannot express")]
    NullKey(String),
    #[error("format '{format}' does not support type {data_type} of column '{column}'")]
    Type { format: &'static str, data_type: String, column: String },
    #[error("format 'csv' only supports simple types inside of column '{column}', not {data_type}")]
    Nested { data_type: String, column: String },
    #[error("JSON only supports text as key of a map, but column '{column}' is {data_type}")]
    MapKey { data_type: String, column: String },
    #[error("format 'raw' only supports a single physical column, but the table has {0}")]
    ColumnCount(String),
    #[error("column is not laid out as {data_type}")]
    Layout { data_type: String },
    #[error("unsupported value '{value}' for '{option}'")]
    Option { option: String, value: String, wanted: String },
    #[error("'{0}' and '{1}' exclude each other")]
    Conflict(String, String),
    #[error("format '{format}' finds rows by their key, but the table has no PRIMARY KEY")]
    NoKey { format: &'static str },
    #[error("broken Avro at byte {at}: {what}")]
    Avro { what: String, at: usize },
    #[error("not an Avro schema: {0}")]
    Schema(String),
    #[error("the Avro schema has {found} where the table has {data_type} for column '{column}'")]
    SchemaMatch { column: String, found: String, data_type: String },
    #[error("Avro has no type for {data_type} of column '{column}'")]
    AvroType { data_type: String, column: String },
    #[error("Avro only supports text as key of a map, but column '{column}' is {data_type}")]
    AvroKey { data_type: String, column: String },
    #[error("'{0}' is no name in Avro: names are of letters, digits and '_'")]
    AvroName(String),
    #[error("column '{0}' is NULL, which its Avro schema does not allow")]
    AvroNull(String),
    #[error("value of column '{column}' cannot be written: {what}")]
    AvroValue { column: String, what: String },
    #[error("broken protobuf message at byte {at}: {what}")]
    Protobuf { what: String, at: usize },
    #[error("column '{column}' does not exist in the protobuf message '{message}'")]
    PbMissing { column: String, message: String },
    #[error("protobuf field type does not match the type of column '{column}': {what}")]
    PbType { column: String, what: String },
    #[error("the required field '{0}' of the protobuf message has no value")]
    PbRequired(String),
    #[error("records of format '{0}' have no end that files could mark")]
    NoStream(&'static str),
    #[error("format '{format}' has no metadata column '{key}'")]
    Metadata { format: &'static str, key: String },
}

impl FormatError {
    /// A value that is not one of its column's type.
    pub(crate) fn value(value: &[u8], data_type: String, column: String) -> Self {
        Self::Value { value: shown(value), data_type, column }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Value { value, .. } if value.is_empty() => {
                "empty text is NULL only where the format is told so, as by 'csv.null-literal' = ''"
                    .into()
            }
            Self::Value { .. } => {
                "correct the record or the column's type; 'ignore-parse-errors' reads such values \
                 as NULL"
                    .into()
            }
            Self::Avro { .. } => {
                "look whether the record was written with this schema; 'on-error' = 'skip' or \
                 'dead-letter' goes on without it"
                    .into()
            }
            Self::Schema(_) => "correct the schema".into(),
            Self::SchemaMatch { .. } => {
                "names, order, types and NOT NULL of the table's columns and of the schema's fields \
                 must agree"
                    .into()
            }
            Self::AvroType { .. } => {
                "TIME and TIMESTAMP have up to 3 digits; 'avro.timestamp_mapping.legacy' = 'false' \
                 allows TIMESTAMP(6) and TIMESTAMP_LTZ outside of arrays and maps"
                    .into()
            }
            Self::AvroKey { .. } | Self::AvroName(_) => "rename or convert the column".into(),
            Self::AvroNull(_) | Self::AvroValue { .. } => {
                "filter such rows out, or replace the value".into()
            }
            Self::Protobuf { .. } => {
                "look whether 'protobuf.message-class-name' is what was written; \
                 'protobuf.ignore-parse-errors' skips such records"
                    .into()
            }
            Self::PbMissing { .. } => "columns are found by the names of fields, case and all".into(),
            Self::PbType { .. } => {
                "docs/protobuf.md tells which type is which; numbers are INT or BIGINT as they have 32 \
                 or 64 bits"
                    .into()
            }
            Self::PbRequired(_) => "declare the column, and fill it".into(),
            Self::NoStream(_) => {
                "use the format with the connector 'kafka', or another format for files".into()
            }
            Self::Json { .. } | Self::Shape { .. } | Self::Message { .. } | Self::Empty => {
                "correct the record; 'ignore-parse-errors' skips such records".into()
            }
            Self::Missing(_) => "add the field, or drop 'fail-on-missing-field'".into(),
            Self::TooFewCells { .. } => {
                "check 'csv.field-delimiter'; 'csv.ignore-parse-errors' reads missing values as NULL"
                    .into()
            }
            Self::MissingCells { .. } => "add the values, or drop 'csv.fail-on-missing-columns'".into(),
            Self::TooManyCells(_) => {
                "check 'csv.field-delimiter'; 'csv.ignore-trailing-unmappable' drops extra values"
                    .into()
            }
            Self::AfterQuote | Self::OpenQuote => {
                "double quotes inside of quoted values, or set 'csv.disable-quote-character'".into()
            }
            Self::OpenEscape => "check 'csv.escape-character'".into(),
            Self::Utf8 => "convert the input to UTF-8".into(),
            Self::Size { .. } => "declare the type that was written".into(),
            Self::NoBefore { database, .. } => format!(
                "if you are using {database} Postgres Connector, set the table's REPLICA IDENTITY to \
                 FULL level"
            ),
            Self::NullKey(_) => {
                "set 'map-null-key.mode' to DROP or LITERAL".into()
            }
            Self::Type { .. } | Self::Nested { .. } | Self::MapKey { .. } => {
                "use another type or another format".into()
            }
            Self::ColumnCount(_) => "declare one column, or use another format".into(),
            Self::Option { wanted, .. } => format!("use {wanted}"),
            Self::NoKey { .. } => "declare PRIMARY KEY (…) NOT ENFORCED on the table".into(),
            Self::Conflict(..) => "set only one of them".into(),
            Self::Metadata { .. } | Self::Layout { .. } => return None,
        })
    }
}

impl From<FormatError> for ConnectorError {
    fn from(error: FormatError) -> Self {
        let connector = Self::new(error.to_string());
        match error.hint() {
            Some(hint) => connector.hint(hint),
            None => connector,
        }
    }
}

/// As much of a value as a message should show.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
