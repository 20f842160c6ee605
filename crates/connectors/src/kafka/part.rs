//! The two parts of a record, key and value: which columns each has, and its format.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecordHandler, ConnectorError, Decoder, Encoder, OptionDef, TableContext,
};
use flott_types::{Field, Schema};

use super::options::{KEY_FIELDS, KEY_FORMAT, KEY_PREFIX, TOPIC, VALUE_FORMAT, VALUE_INCLUDE};
use crate::common::FORMAT;
use crate::format::TableFormat;

/// The key or the value of the records.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) format: TableFormat,
    /// The table's columns that it has, by their position.
    pub(super) columns: Vec<usize>,
    /// The columns as the format sees them, without the prefix of keys.
    pub(super) schema: Schema,
    /// What the names of the format's options begin with.
    prefix: String,
}

impl Part {
    /// A decoder that gives the columns at `projection` of this part, and metadata of the format.
    pub(super) fn decoder(
        &self,
        projection: Vec<usize>,
        metadata: Vec<String>,
        bad_records: Arc<dyn BadRecordHandler>,
    ) -> Result<Box<dyn Decoder>, ConnectorError> {
        self.format.decoder(self.schema.clone(), projection, metadata, bad_records)
    }

    /// An encoder of this part's columns.
    pub(super) fn encoder(&self) -> Result<Box<dyn Encoder>, ConnectorError> {
        self.format.encoder(self.schema.clone())
    }

    /// Whether a NULL in its only column is a record without this part.
    pub(super) fn writes_null(&self) -> bool {
        self.format.def.name == "raw"
    }

    fn new(
        context: &TableContext,
        option: &OptionDef,
        name: &str,
        columns: Vec<usize>,
        key_prefix: &str,
    ) -> Result<Self, ConnectorError> {
        // `json.…` with 'format', `value.json.…` with 'value.format'.
        let prefix = match option.key.strip_suffix("format") {
            Some(of) => format!("{of}{name}."),
            None => format!("{name}."),
        };
        let mut format = TableFormat::named(context, name, &prefix)?;
        complete_subject(
            &mut format,
            context,
            if option.key == KEY_FORMAT.key { "key" } else { "value" },
        );
        if format.def.name == "upsert-json" {
            return Err(ConnectorError::new("the format 'upsert-json' is for files")
                .hint("use the connector 'upsert-kafka', with 'key.format' and 'value.format'"));
        }
        let fields = columns.iter().map(|column| {
            let field = &context.schema.fields[*column];
            let name = field.name.strip_prefix(key_prefix).unwrap_or(&field.name);
            Field::new(name, field.data_type.clone())
        });
        let schema = Schema::new(fields.collect());
        Ok(Self { format, columns, schema, prefix })
    }
}

/// The subject of a schema registry is called after the topic, as in Flink.
fn complete_subject(format: &mut TableFormat, context: &TableContext, part: &str) {
    let of_registry = matches!(format.def.name, "avro-confluent" | "debezium-avro-confluent");
    let named = ["subject", "schema-registry.subject"];
    if !of_registry || named.iter().any(|key| format.options.raw(key).is_some()) {
        return;
    }
    let topic = context.options.raw(TOPIC.key).and_then(|topics| topics.split(';').next());
    if let Some(topic) = topic {
        format.options.set("subject", format!("{}-{part}", topic.trim()));
    }
}

/// Reads the options of key and value. With `upsert`, the key is the primary key.
pub(super) fn parts(
    context: &TableContext,
    upsert: bool,
) -> Result<(Option<Part>, Part), ConnectorError> {
    let options = &context.options;
    let fields = if upsert { Some(context.primary_key.clone()) } else { key_fields(context)? };
    let key_prefix = options.raw(KEY_PREFIX.key).unwrap_or_default();
    let except = options
        .text(&VALUE_INCLUDE)
        .is_some_and(|include| include.trim().eq_ignore_ascii_case("EXCEPT_KEY"));
    if !key_prefix.is_empty() && !except {
        return Err(ConnectorError::new(
            "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it to \
             'EXCEPT_KEY' instead to avoid field overlaps.",
        ));
    }
    let key = match (options.raw(KEY_FORMAT.key), fields) {
        (Some(name), Some(columns)) => {
            for column in &columns {
                let name = &context.schema.fields[*column].name;
                if !name.starts_with(key_prefix) {
                    return Err(ConnectorError::new(format!(
                        "All fields in 'key.fields' must be prefixed with '{key_prefix}' when option \
                         'key.fields-prefix' is set but field '{name}' is not prefixed."
                    )));
                }
            }
            Some(Part::new(context, &KEY_FORMAT, name, columns, key_prefix)?)
        }
        (Some(_), None) => {
            return Err(ConnectorError::new(
                "A key format 'key.format' requires the declaration of one or more of key fields using \
                 'key.fields'.",
            ));
        }
        (None, _) if upsert => return Err(missing("key.format")),
        (None, Some(_)) => {
            return Err(ConnectorError::new(
                "The option 'key.fields' can only be declared if a key format is defined using \
                 'key.format'.",
            ));
        }
        (None, None) => None,
    };
    let in_key = |column: &usize| key.as_ref().is_some_and(|key| key.columns.contains(column));
    let columns = (0..context.schema.len()).filter(|column| !except || !in_key(column)).collect();
    let value = match (options.raw(VALUE_FORMAT.key), options.raw(FORMAT.key)) {
        (Some(name), None) => Part::new(context, &VALUE_FORMAT, name, columns, "")?,
        (None, Some(name)) if !upsert => Part::new(context, &FORMAT, name, columns, "")?,
        (Some(_), Some(_)) => {
            return Err(ConnectorError::new("'format' and 'value.format' are one option")
                .hint("remove one of them"));
        }
        _ => return Err(missing(if upsert { "value.format" } else { "format" })),
    };
    Ok((key, value))
}

/// What the names of all formats' options begin with.
pub(super) fn option_prefixes(key: &Option<Part>, value: &Part) -> Vec<String> {
    key.iter().chain([value]).map(|part| part.prefix.clone()).collect()
}

/// The positions of the columns in `key.fields`; `None` without the option.
fn key_fields(context: &TableContext) -> Result<Option<Vec<usize>>, ConnectorError> {
    let Some(list) = context.options.raw(KEY_FIELDS.key).filter(|list| !list.trim().is_empty())
    else {
        return Ok(None);
    };
    let position = |name: &str| {
        context.schema.index_of(name).ok_or_else(|| {
            let names: Vec<_> = context.schema.fields.iter().map(|field| &*field.name).collect();
            ConnectorError::new(format!(
                "Could not find the field '{name}' in the table schema for usage in the key format. A \
                 key field must be a regular, physical column. The following columns can be selected \
                 in the 'key.fields' option: {}",
                names.join(", ")
            ))
        })
    };
    list.split(';').map(|name| position(name.trim())).collect::<Result<_, _>>().map(Some)
}

fn missing(option: &str) -> ConnectorError {
    ConnectorError::new(format!("the option '{option}' is missing"))
        .hint(format!("add '{option}' = '…' to the WITH clause, 'json' for example"))
}
