//! Connectors and formats as entries of a registry.

use std::path::PathBuf;
use std::sync::Arc;

use flott_types::{ChangelogMode, DataType, Schema};
use jiff::tz::TimeZone;

use crate::CatalogDef;

use super::{
    ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FileFormatDef, OptionDef,
    Options, ScanColumn, TableSink, TableSource,
};

/// A connector: its options and what it can make of a table.
pub struct ConnectorDef {
    /// The identifier, as in `'connector' = 'filesystem'`.
    pub name: &'static str,
    /// One line for `SHOW CONNECTORS` and the reference page.
    pub help: &'static str,
    /// Its options, those of formats aside.
    pub options: &'static [OptionDef],
    /// Whether it takes `format` and the format's prefixed options.
    pub uses_format: bool,
    /// Makes a source of a table; `None` when the connector cannot be read.
    pub source: Option<SourceFactory>,
    /// Makes a sink of a table; `None` when the connector cannot be written.
    pub sink: Option<SinkFactory>,
}

impl ConnectorDef {
    /// What tables of the connector are good for.
    pub fn roles(&self) -> &'static str {
        roles(self.source.is_some(), self.sink.is_some())
    }
}

impl FormatDef {
    /// What tables of the format are good for.
    pub fn roles(&self) -> &'static str {
        roles(self.decoder.is_some(), self.encoder.is_some())
    }
}

pub(super) fn roles(reads: bool, writes: bool) -> &'static str {
    match (reads, writes) {
        (true, true) => "source, sink",
        (true, false) => "source",
        (false, true) => "sink",
        (false, false) => "",
    }
}

/// Makes a source of a table.
pub type SourceFactory = fn(&TableContext) -> Result<Arc<dyn TableSource>, ConnectorError>;
/// Makes a sink of a table.
pub type SinkFactory = fn(&TableContext) -> Result<Arc<dyn TableSink>, ConnectorError>;

/// A format: its options and its codec.
pub struct FormatDef {
    /// The identifier, as in `'format' = 'json'`; also the prefix of its options.
    pub name: &'static str,
    /// One line for the reference page.
    pub help: &'static str,
    /// Its options, without the prefix.
    pub options: &'static [OptionDef],
    /// The kinds of rows that decoding gives.
    pub decodes: ChangelogMode,
    /// The kinds of rows that encoding takes.
    pub encodes: ChangelogMode,
    /// The metadata columns that the format adds to those of its connector.
    pub metadata: &'static [FormatMetadata],
    /// Checks options and types, then makes a decoder; `None` when the format cannot be read.
    pub decoder: Option<DecoderFactory>,
    /// Checks options and types, then makes an encoder; `None` when the format cannot be written.
    pub encoder: Option<EncoderFactory>,
}

/// The key and type of a metadata column that a format adds.
pub type FormatMetadata = (&'static str, fn() -> DataType);
/// Makes a decoder.
pub type DecoderFactory = fn(&DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError>;
/// Makes an encoder.
pub type EncoderFactory = fn(&EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError>;

/// A metadata column that a table's connector or format offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataColumn {
    /// The key, as in `METADATA FROM 'file.path'`.
    pub key: String,
    /// The type before any cast to the declared one.
    pub data_type: DataType,
    /// Whether a sink takes it.
    pub writable: bool,
}

/// A table as its connector sees it.
#[derive(Clone)]
pub struct TableContext {
    /// `catalog.database.table`, for messages.
    pub identifier: String,
    /// The physical columns in order.
    pub schema: Schema,
    /// The columns that a sink is given, in order: physical ones, and metadata that is not virtual in the
    /// types that [`TableSink::metadata`] names.
    pub persisted: Vec<ScanColumn>,
    /// Positions of the primary key's columns in `schema`; empty without a key.
    pub primary_key: Vec<usize>,
    /// Positions of the partition columns in `schema`.
    pub partition_keys: Vec<usize>,
    /// All options, `connector` included.
    pub options: Options,
    /// The session's time zone.
    pub zone: TimeZone,
    /// Whether the job runs in batch mode: a source that could run for ever must end.
    pub batch: bool,
    /// Relative paths are relative to it.
    pub working_directory: PathBuf,
    /// All formats.
    pub registry: Arc<Registry>,
}

/// All connectors and formats of a program.
#[derive(Default)]
pub struct Registry {
    connectors: Vec<&'static ConnectorDef>,
    formats: Vec<&'static FormatDef>,
    file_formats: Vec<&'static FileFormatDef>,
    catalogs: Vec<&'static CatalogDef>,
}

impl Registry {
    /// A registry of these connectors and formats.
    pub fn new(connectors: Vec<&'static ConnectorDef>, formats: Vec<&'static FormatDef>) -> Self {
        Self { connectors, formats, file_formats: Vec::new(), catalogs: Vec::new() }
    }

    /// The same registry with formats of whole files.
    pub fn with_file_formats(self, file_formats: Vec<&'static FileFormatDef>) -> Self {
        Self { file_formats, ..self }
    }

    /// The same registry with these types of catalogs.
    pub fn with_catalogs(self, catalogs: Vec<&'static CatalogDef>) -> Self {
        Self { catalogs, ..self }
    }

    /// The types of catalogs in the order of their registration.
    pub fn catalogs(&self) -> &[&'static CatalogDef] {
        &self.catalogs
    }

    /// The connectors in the order of their registration.
    pub fn connectors(&self) -> &[&'static ConnectorDef] {
        &self.connectors
    }

    /// The formats in the order of their registration.
    pub fn formats(&self) -> &[&'static FormatDef] {
        &self.formats
    }

    /// The formats of whole files in the order of their registration.
    pub fn file_formats(&self) -> &[&'static FileFormatDef] {
        &self.file_formats
    }

    /// The connector of this name; the error lists all names.
    pub fn connector(&self, name: &str) -> Result<&'static ConnectorDef, ConnectorError> {
        self.connectors
            .iter()
            .find(|def| def.name == name)
            .copied()
            .ok_or_else(|| not_found("connector", name, self.connectors.iter().map(|def| def.name)))
    }

    /// The format of this name; the error lists all names.
    pub fn format(&self, name: &str) -> Result<&'static FormatDef, ConnectorError> {
        self.formats.iter().find(|def| def.name == name).copied().ok_or_else(|| {
            match self.file_format(name) {
                Some(_) => {
                    ConnectorError::new(format!("the format '{name}' is one of whole files"))
                        .hint("use it with 'connector' = 'filesystem', or use another format")
                }
                None => not_found("format", name, self.formats.iter().map(|def| def.name)),
            }
        })
    }

    /// The format of files of this name.
    pub fn file_format(&self, name: &str) -> Option<&'static FileFormatDef> {
        self.file_formats.iter().find(|def| def.name == name).copied()
    }
}

fn not_found<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> ConnectorError {
    let mut names: Vec<_> = known.collect();
    names.sort_unstable();
    ConnectorError::new(format!("could not find any {what} '{name}'"))
        .hint(format!("available: {}", names.join(", ")))
}
