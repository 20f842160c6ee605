//! Files of formats that read and write them as a whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use flott_catalog::connector::{
    ConnectorError, FileFormatContext, FileFormatDef, FilePart, FileRows,
};
use flott_types::text::value_to_string;
use flott_types::{ChangelogBatch, DataType, Value, arrow_type};
use jiff::tz::TimeZone;

use super::{options, schema};

/// A table of files.
pub struct Files<'a> {
    pub format: &'static str,
    pub columns: &'a [(&'a str, DataType)],
    pub pairs: &'a [(&'a str, &'a str)],
}

/// The part of a file to read.
#[derive(Clone, Copy, Default)]
pub struct Part {
    pub range: Option<(u64, u64)>,
    pub position: Option<u64>,
    pub max_rows: Option<usize>,
}

impl Files<'_> {
    fn def(&self) -> &'static FileFormatDef {
        let all = flott_formats::of_files();
        all.into_iter().find(|def| def.name == self.format).expect("a format")
    }

    fn context(&self) -> FileFormatContext {
        let options = options(self.pairs);
        options.validate("format", self.def().options).expect("valid options");
        FileFormatContext {
            schema: schema(self.columns),
            projection: (0..self.columns.len()).collect(),
            options,
            zone: TimeZone::UTC,
        }
    }

    /// The bytes of a file with these rows.
    pub fn write(&self, batches: &[ChangelogBatch]) -> Result<Vec<u8>, ConnectorError> {
        let writer = self.def().writer.expect("a writer")(&self.context())?;
        let mut file = tempfile::tempfile().expect("a file");
        let mut encoder = writer.create(Box::new(file.try_clone().expect("a file")))?;
        batches.iter().try_for_each(|batch| encoder.write(batch))?;
        let size = encoder.finish()?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).expect("a file");
        file.read_to_end(&mut bytes).expect("a file");
        assert_eq!(bytes.len() as u64, size);
        Ok(bytes)
    }

    pub fn open(&self, file: File, part: Part) -> Result<Box<dyn FileRows>, ConnectorError> {
        let reader = self.def().reader.expect("a reader")(&self.context())?;
        let size = file.metadata().expect("a file").len();
        let Part { range, position, max_rows } = part;
        let max_rows = max_rows.unwrap_or(ChangelogBatch::MAX_ROWS);
        reader.open(FilePart { file, size, range, position, max_rows })
    }

    /// The rows of a file, as text.
    pub fn read(&self, file: File) -> Result<Vec<String>, ConnectorError> {
        self.rows(&mut *self.open(file, Part::default())?)
    }

    pub fn read_path(&self, path: impl AsRef<Path>) -> Result<Vec<String>, ConnectorError> {
        self.read(File::open(path).expect("a file"))
    }

    pub fn read_bytes(&self, bytes: &[u8]) -> Result<Vec<String>, ConnectorError> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("a file");
        self.read(file)
    }

    pub fn rows(&self, rows: &mut dyn FileRows) -> Result<Vec<String>, ConnectorError> {
        let mut texts = Vec::new();
        while let Some(batch) = rows.next()? {
            texts.extend(self.texts(&batch));
        }
        Ok(texts)
    }

    pub fn texts(&self, batch: &ChangelogBatch) -> Vec<String> {
        for (column, (name, ty)) in batch.rows.columns().iter().zip(self.columns) {
            assert_eq!(column.data_type(), &arrow_type(ty), "the layout of {name} {ty}");
        }
        let cell = |row: usize, at: usize| {
            let ty = &self.columns[at].1;
            let value = Value::from_array(batch.column(at), row, ty);
            value_to_string(&value, ty, &TimeZone::UTC)
        };
        (0..batch.len())
            .map(|row| {
                let cells: Vec<_> = (0..self.columns.len()).map(|at| cell(row, at)).collect();
                cells.join(", ")
            })
            .collect()
    }
}
