//! How the files of a table are read and written: record by record, or each as a whole.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use flott_catalog::connector::{
    ConnectorError, FileFormatContext, FileFormatDef, FileFormatReader, FileFormatWriter, FilePart,
    FileRows, FormatMetadata, Options, TableContext,
};
use flott_disk::DiskFile;
use flott_types::{ChangelogBatch, ChangelogMode, Schema};
use jiff::tz::TimeZone;

use super::failure::failure;
use crate::bad_records::BadRecordPolicy;
use crate::common::{FORMAT, invalid};
use crate::format::TableFormat;

/// The format of a table's files.
#[derive(Clone)]
pub(super) enum FileFormat {
    /// One record behind the other.
    Records(TableFormat),
    /// A file is more than its records.
    Whole(WholeFormat),
}

/// A format of whole files with the options that a table gives it, checked.
#[derive(Clone)]
pub(super) struct WholeFormat {
    def: &'static FileFormatDef,
    options: Options,
    zone: TimeZone,
}

impl FileFormat {
    /// The format that the table names.
    pub(super) fn of(context: &TableContext) -> Result<Self, ConnectorError> {
        let name = context.options.raw(FORMAT.key).unwrap_or_default();
        let Some(def) = context.registry.file_format(name) else {
            return TableFormat::of(context).map(Self::Records);
        };
        let prefix = format!("{name}.");
        let options = context.options.with_prefix_removed(&prefix);
        options
            .validate(&format!("format '{name}'"), def.options)
            .map_err(|error| error.at(format!("options '{prefix}*'")))?;
        if BadRecordPolicy::of(&context.options)? != BadRecordPolicy::Fail {
            let given = context.options.raw("on-error").unwrap_or_default();
            return Err(invalid(
                "on-error",
                given,
                &format!("'fail' alone where files are '{name}': what is wrong is the file"),
            ));
        }
        Ok(Self::Whole(WholeFormat { def, options, zone: context.zone.clone() }))
    }

    /// The kinds of rows that reading gives.
    pub(super) fn decodes(&self) -> ChangelogMode {
        match self {
            Self::Records(format) => format.def.decodes,
            Self::Whole(_) => ChangelogMode::INSERT_ONLY,
        }
    }

    /// The kinds of rows that can be written.
    pub(super) fn encodes(&self) -> ChangelogMode {
        match self {
            Self::Records(format) => format.def.encodes,
            Self::Whole(_) => ChangelogMode::INSERT_ONLY,
        }
    }

    /// The format's own metadata columns.
    pub(super) fn metadata(&self) -> &'static [FormatMetadata] {
        match self {
            Self::Records(format) => format.def.metadata,
            Self::Whole(_) => &[],
        }
    }

    /// Whether the files are read as they are, whatever their extension says of compression.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// Whether reading can begin within a file.
    pub(super) fn is_divisible(&self) -> bool {
        let Self::Records(format) = self else { return true };
        match format.def.name {
            // Every line feed must end a record.
            "csv" => {
                let unquoted = format.options.raw("disable-quote-character");
                unquoted.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
                    && format.options.raw("escape-character").is_none()
            }
            name => matches!(name, "json" | "raw") || name.ends_with("-json"),
        }
    }
}

impl WholeFormat {
    /// What reads columns of files that have those of `schema`.
    pub(super) fn reader(
        &self,
        schema: Schema,
        projection: Vec<usize>,
    ) -> Result<Box<dyn FileFormatReader>, ConnectorError> {
        let Some(make) = self.def.reader else { return Err(self.one_way("read")) };
        make(&self.context(schema, projection))
    }

    /// What writes files with the columns of `schema`.
    pub(super) fn writer(
        &self,
        schema: Schema,
    ) -> Result<Box<dyn FileFormatWriter>, ConnectorError> {
        let Some(make) = self.def.writer else { return Err(self.one_way("written")) };
        let all = (0..schema.len()).collect();
        make(&self.context(schema, all))
    }

    fn context(&self, schema: Schema, projection: Vec<usize>) -> FileFormatContext {
        let (options, zone) = (self.options.clone(), self.zone.clone());
        FileFormatContext { schema, projection, options, zone }
    }

    fn one_way(&self, what: &str) -> ConnectorError {
        ConnectorError::new(format!("files of the format '{}' cannot be {what}", self.def.name))
    }
}

/// Begins to read a part of a file; errors name it.
pub(super) fn open_rows(
    reader: &dyn FileFormatReader,
    path: &str,
    range: Option<(u64, u64)>,
    position: Option<u64>,
    max_rows: usize,
) -> Result<Box<dyn FileRows>, ConnectorError> {
    let told = |error| failure("read", path, &error);
    let file = File::open(path).map_err(told)?;
    let metadata = file.metadata().map_err(told)?;
    if !metadata.is_file() {
        return Err(ConnectorError::new("is not a regular file, which this format needs").at(path));
    }
    let part = FilePart { file, size: metadata.len(), range, position, max_rows };
    reader.open(part).map_err(|error| in_file(error, path))
}

/// An error with the file in which it came up.
pub(super) fn in_file(error: ConnectorError, path: &str) -> ConnectorError {
    if error.place.is_none() { error.at(path) } else { error }
}

/// Reads files and writes their rows into one, which is durable afterwards.
pub(super) fn merge(
    format: &WholeFormat,
    schema: &Schema,
    sources: &[PathBuf],
    target: &Path,
) -> Result<(), ConnectorError> {
    let place = target.display().to_string();
    let told = |error| failure("write", &place, &error);
    let reader = format.reader(schema.clone(), (0..schema.len()).collect())?;
    let writer = format.writer(schema.clone())?;
    let file: Box<dyn Write + Send> = Box::new(DiskFile::create(target).map_err(told)?);
    let mut merged = writer.create(file).map_err(|error| in_file(error, &place))?;
    for source in sources {
        let path = source.display().to_string();
        let mut rows = open_rows(&*reader, &path, None, None, ChangelogBatch::MAX_ROWS)?;
        while let Some(batch) = rows.next().map_err(|error| in_file(error, &path))? {
            merged.write(&batch).map_err(|error| in_file(error, &place))?;
        }
    }
    merged.finish().map_err(|error| in_file(error, &place))?;
    DiskFile::append(target).and_then(|file| file.sync()).map_err(told)
}
