//! Which directories and files a scan's conditions leave out.

use flott_catalog::connector::{ConnectorError, ScanColumn, SplitFilter, TableContext};
use flott_types::{DataType, Value};

use super::columns::FileMetadata;
use super::listing::FoundFile;
use super::partition::parse_value;

/// The conditions of a scan on partition columns and on metadata of files.
#[derive(Debug, Clone, Default)]
pub(super) struct Pruning {
    /// Those that a partition's directory decides.
    of_partitions: Vec<Condition>,
    /// Those that need the file.
    of_files: Vec<Condition>,
}

#[derive(Debug, Clone)]
struct Condition {
    filter: SplitFilter,
    columns: Vec<Column>,
}

#[derive(Debug, Clone)]
enum Column {
    /// The partition column at this position of the directories.
    Partition(usize, DataType),
    File(FileMetadata),
}

impl Pruning {
    pub(super) fn new(
        context: &TableContext,
        filters: &[SplitFilter],
    ) -> Result<Self, ConnectorError> {
        let mut pruning = Self::default();
        for filter in filters {
            let columns = filter.columns.iter().map(|column| Column::of(context, column));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let by_directory = columns.iter().all(|it| matches!(it, Column::Partition(..)));
            let condition = Condition { filter: filter.clone(), columns };
            if by_directory {
                pruning.of_partitions.push(condition);
            } else {
                pruning.of_files.push(condition);
            }
        }
        Ok(pruning)
    }

    /// Whether nothing is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.of_partitions.is_empty() && self.of_files.is_empty()
    }

    /// Whether files of a partition with these values are looked for.
    pub(super) fn keeps_partition(
        &self,
        partition: &[Option<String>],
    ) -> Result<bool, ConnectorError> {
        all(&self.of_partitions, partition, None)
    }

    /// Whether a file is read.
    pub(super) fn keeps_file(&self, file: &FoundFile) -> Result<bool, ConnectorError> {
        all(&self.of_files, &file.partition, Some(file))
    }
}

impl Column {
    fn of(context: &TableContext, column: &ScanColumn) -> Result<Self, ConnectorError> {
        match column {
            ScanColumn::Physical(at) => {
                let key = context.partition_keys.iter().position(|key| key == at);
                let data_type = context.schema.fields[*at].data_type.clone();
                key.map(|key| Self::Partition(key, data_type)).ok_or_else(|| {
                    ConnectorError::new("a condition on a column that is not of partitions")
                })
            }
            ScanColumn::Metadata(key) => Ok(Self::File(FileMetadata::of(key)?)),
        }
    }
}

fn all(
    conditions: &[Condition],
    partition: &[Option<String>],
    file: Option<&FoundFile>,
) -> Result<bool, ConnectorError> {
    for condition in conditions {
        let values = condition.columns.iter().map(|column| match (column, file) {
            (Column::Partition(at, data_type), _) => match partition.get(*at) {
                Some(Some(text)) => parse_value(text, data_type),
                _ => Ok(Value::Null),
            },
            (Column::File(metadata), Some(file)) => Ok(metadata.value(file)),
            (Column::File(_), None) => Ok(Value::Null),
        });
        if !condition.filter.keeps(&values.collect::<Result<Vec<_>, _>>()?)? {
            return Ok(false);
        }
    }
    Ok(true)
}
