//! Tables that are read.

use std::sync::Arc;

use flott_catalog::connector::{
    Boundedness, ConnectorError, LookupSource, Predicate, PredicateSupport, ReaderContext,
    ScanRequest, SourceReader, SplitEnumerator, TableContext, TableSource,
};

use super::lookup::TableLookup;
use super::options::{
    FETCH_SIZE, FILTER_POLICY, LOOKUP_RETRIES, PARTITION_COLUMN, PARTITION_LOWER, PARTITION_NUMBER,
    PARTITION_UPPER,
};
use super::predicate;
use super::reader::{TableEnumerator, TableReader};
use super::scan::Scan;
use super::split::{TableSplit, ranges};
use super::table::{Table, TableRef, retries};
use crate::common::{SCAN_PARALLELISM, invalid, parallelism};

/// Checks the options of a table and makes a source of it.
pub(super) fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    let table = Table::of(context)?;
    let options = &context.options;
    let policy = options.text(&FILTER_POLICY).unwrap_or_default();
    let fetch = options.int(&FETCH_SIZE)?.unwrap_or_default();
    let fetch = usize::try_from(fetch)
        .map_err(|_| invalid(FETCH_SIZE.key, &fetch.to_string(), "a number from 0"))?;
    Ok(Arc::new(JdbcSource {
        partition: Partition::of(&table)?,
        filters: !policy.trim().eq_ignore_ascii_case("never"),
        parallelism: parallelism(options, &SCAN_PARALLELISM)?,
        retries: retries(context, &LOOKUP_RETRIES)?,
        fetch: Some(fetch).filter(|rows| *rows > 0),
        table: Arc::new(table),
    }))
}

struct JdbcSource {
    table: TableRef,
    partition: Option<Partition>,
    /// Whether the database evaluates conditions.
    filters: bool,
    parallelism: Option<usize>,
    retries: u32,
    fetch: Option<usize>,
}

/// `scan.partition.*`
struct Partition {
    column: usize,
    lower: i64,
    upper: i64,
    number: u64,
}

impl Partition {
    fn of(table: &Table) -> Result<Option<Self>, ConnectorError> {
        let options = &table.context.options;
        let keys = [&PARTITION_COLUMN, &PARTITION_NUMBER, &PARTITION_LOWER, &PARTITION_UPPER];
        let column = options.raw(PARTITION_COLUMN.key);
        let number = options.int(&PARTITION_NUMBER)?;
        let (lower, upper) = (options.int(&PARTITION_LOWER)?, options.int(&PARTITION_UPPER)?);
        let (Some(column), Some(number), Some(lower), Some(upper)) = (column, number, lower, upper)
        else {
            if keys.iter().all(|key| options.raw(key.key).is_none()) {
                return Ok(None);
            }
            let names: Vec<&str> = keys.iter().map(|key| key.key).collect();
            return Err(ConnectorError::new(format!(
                "Either all or none of the following options should be provided:\n{}",
                names.join("\n")
            )));
        };
        if lower > upper {
            return Err(ConnectorError::new(format!(
                "'{}'='{lower}' must not be larger than '{}'='{upper}'.",
                PARTITION_LOWER.key, PARTITION_UPPER.key
            )));
        }
        let Some(at) = table.columns.iter().position(|known| *known.name == *column) else {
            return Err(invalid(PARTITION_COLUMN.key, column, "the name of a column of the table"));
        };
        let root = &table.columns[at].data_type.root;
        if !root.is_exact_numeric() && !root.is_approximate() {
            return Err(invalid(PARTITION_COLUMN.key, column, "a column of numbers"));
        }
        match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(Some(Self { column: at, lower, upper, number })),
            _ => Err(invalid(PARTITION_NUMBER.key, &number.to_string(), "a number from 1")),
        }
    }
}

impl TableSource for JdbcSource {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn predicate_support(&self, predicate: &Predicate) -> PredicateSupport {
        if self.filters {
            predicate::support(&self.table, predicate)
        } else {
            PredicateSupport::None
        }
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn lookup(&self) -> Option<Arc<dyn LookupSource>> {
        Some(Arc::new(TableLookup { table: self.table.clone(), retries: self.retries }))
    }

    fn enumerator(
        &self,
        _: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        if state.is_some_and(|state| state.first() == Some(&1)) {
            return Ok(Box::new(TableEnumerator { splits: None }));
        }
        let of_range = |range| TableSplit { range: Some(range), ..TableSplit::default() };
        let splits = match &self.partition {
            None => vec![TableSplit::default()],
            Some(p) => ranges(p.lower, p.upper, p.number).into_iter().map(of_range).collect(),
        };
        Ok(Box::new(TableEnumerator { splits: Some(splits) }))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let column = self.partition.as_ref().map(|partition| partition.column);
        let scan = Scan::new(&self.table, request, column)?;
        let block = self.fetch.unwrap_or(context.max_rows).min(context.max_rows);
        Ok(Box::new(TableReader::new(scan, block)))
    }
}
