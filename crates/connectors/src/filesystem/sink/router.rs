//! Rows to the directories of their partitions.

use arrow::array::UInt32Array;
use arrow::row::{RowConverter, SortField};
use flott_catalog::connector::ConnectorError;
use flott_types::{ChangelogBatch, Value, arrow_type};
use hashbrown::HashMap;

use super::super::partition::{value_text, write_directory};
use super::{PartitionColumn, Table};

/// Sorts the rows of batches by partition. Directories are numbered in the order of their first row.
pub(super) struct Router {
    converter: RowConverter,
    known: HashMap<Box<[u8]>, usize, foldhash::fast::RandomState>,
    /// Which rows of the batch at hand go to which directory.
    rows: Vec<Vec<u32>>,
}

impl Router {
    pub(super) fn new(table: &Table) -> Result<Self, ConnectorError> {
        let keys = table.partition_columns.iter();
        let fields = keys.map(|column| SortField::new(arrow_type(&column.data_type))).collect();
        Ok(Self {
            converter: RowConverter::new(fields).map_err(misfit)?,
            known: HashMap::default(),
            rows: Vec::new(),
        })
    }

    /// Forgets the directories, whose numbers start again at 0.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.rows.clear();
    }

    /// Calls `write` for each directory that gets rows of the batch, with its number, and its name
    /// when it is met for the first time.
    pub(super) fn route(
        &mut self,
        table: &Table,
        batch: &ChangelogBatch,
        mut write: impl FnMut(usize, Option<String>, ChangelogBatch) -> Result<(), ConnectorError>,
    ) -> Result<(), ConnectorError> {
        let columns: Vec<_> = table
            .partition_columns
            .iter()
            .map(|column| batch.column(column.position).clone())
            .collect();
        let keys = self.converter.convert_columns(&columns).map_err(misfit)?;
        let mut new = Vec::new();
        let mut last = None;
        for (row, key) in keys.iter().enumerate() {
            let directory = match last {
                Some((bytes, directory)) if bytes == key.data() => directory,
                _ => match self.known.get(key.data()) {
                    Some(directory) => *directory,
                    None => {
                        let directory = self.known.len();
                        self.known.insert(key.data().into(), directory);
                        self.rows.push(Vec::new());
                        new.push(directory_name(table, batch, row)?);
                        directory
                    }
                },
            };
            last = Some((key.data(), directory));
            self.rows[directory].push(row as u32);
        }
        let first_new = self.known.len() - new.len();
        let mut names = new.into_iter();
        for (directory, rows) in self.rows.iter_mut().enumerate() {
            if rows.is_empty() {
                continue;
            }
            let name = if directory < first_new { None } else { names.next() };
            if rows.len() == batch.len() {
                rows.clear();
                write(directory, name, batch.clone())?;
            } else {
                let picked = UInt32Array::from(std::mem::take(rows));
                write(directory, name, batch.take(&picked).map_err(misfit)?)?;
            }
        }
        Ok(())
    }
}

fn directory_name(
    table: &Table,
    batch: &ChangelogBatch,
    row: usize,
) -> Result<String, ConnectorError> {
    let mut name = String::new();
    for PartitionColumn { position, name: column, data_type } in &table.partition_columns {
        let value = Value::from_array(batch.column(*position), row, data_type);
        let text = value_text(&value, data_type)?.filter(|text| !text.is_empty());
        write_directory(&mut name, column, text.as_deref().unwrap_or(&table.default_name));
    }
    Ok(name)
}

fn misfit(error: arrow::error::ArrowError) -> ConnectorError {
    ConnectorError::new(format!("rows cannot be sorted by partition: {error}"))
}
