//! The format `protobuf`: one message of Protocol Buffers a record, by a `.proto` file or a descriptor set.

mod decode;
mod descriptor;
mod encode;
mod plan;
mod read;
mod wire;

use flott_catalog::connector::{FormatDef, OptionDef, OptionKind};
use flott_types::ChangelogMode;

/// The format `protobuf`.
pub(crate) static PROTOBUF: FormatDef = FormatDef {
    name: "protobuf",
    help: "messages of Protocol Buffers, whose fields are the table's columns by name",
    options: &[
        CLASS_NAME,
        SCHEMA_FILE,
        SCHEMA_INCLUDES,
        IGNORE_PARSE_ERRORS,
        READ_DEFAULT_VALUES,
        NULL_STRING,
    ],
    decodes: ChangelogMode::INSERT_ONLY,
    encodes: ChangelogMode::INSERT_ONLY,
    metadata: &[],
    decoder: Some(decode::decoder),
    encoder: Some(encode::encoder),
};

const CLASS_NAME: OptionDef = OptionDef::new(
    "message-class-name",
    OptionKind::Text,
    "the message: by its full name, or by that of its Java class",
)
.required();
const SCHEMA_FILE: OptionDef = OptionDef::new(
    "schema-file",
    OptionKind::Text,
    "the .proto file with the message, or a set of descriptors that protoc made (not in Flink, which has Java \
     classes)",
)
.required();
const SCHEMA_INCLUDES: OptionDef = OptionDef::new(
    "schema-includes",
    OptionKind::Text,
    "folders, with semicolons, where a .proto file's imports are, beside its own folder (not in Flink)",
);
const IGNORE_PARSE_ERRORS: OptionDef =
    OptionDef::new("ignore-parse-errors", OptionKind::Bool, "skip records that are broken")
        .default("false");
const READ_DEFAULT_VALUES: OptionDef = OptionDef::new(
    "read-default-values",
    OptionKind::Bool,
    "read what is missing as its default instead of NULL; scalars of proto3 are always read so",
)
.default("false");
const NULL_STRING: OptionDef = OptionDef::new(
    "write-null-string-literal",
    OptionKind::Text,
    "the text that is written for NULL in arrays and maps, which cannot be left out there",
)
.default("");
