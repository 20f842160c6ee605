//! `datagen`: rows made up from random numbers and sequences.
//!
//! A table is a function of the row's number: row `n` holds the `n`-th value of every sequence and the
//! random values that belong to `n` under the table's seed. Parallel tasks take every `k`-th row, as
//! Flink's do, and a task goes on after a restart with the row that comes next.

mod column;
mod fields;
mod nested;
mod numbers;
mod random;
pub(crate) mod reader;
mod rows;
pub(crate) mod split;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::{
    Boundedness, ConnectorDef, ConnectorError, OptionDef, OptionKind, ReaderContext, ScanColumn,
    ScanRequest, SourceReader, SplitEnumerator, TableContext, TableSource,
};
use flott_types::{ChangelogBatch, Schema};
use jiff::tz::TimeZone;

use crate::common::{COMMON, SCAN_PARALLELISM, concat, invalid, parallelism, validate};
use column::{Column, Now, mismatch};
use fields::Fields;
use random::{Stream, fresh_seed};
use reader::PacedReader;
use rows::Rows;
use split::NumberedEnumerator;

/// A batch has fewer rows when they are so large that it would exceed this.
const BATCH_BYTES: u64 = 32 << 20;

const ROWS_PER_SECOND: OptionDef = OptionDef::new(
    "rows-per-second",
    OptionKind::Int,
    "how many rows come in each second, from all tasks together",
)
.default("10000");
const NUMBER_OF_ROWS: OptionDef = OptionDef::new(
    "number-of-rows",
    OptionKind::Int,
    "how many rows come in all; without it, rows come until a sequence ends, or for ever",
);
const SEED: OptionDef = OptionDef::new(
    "seed",
    OptionKind::Int,
    "makes random values the same in each run (not in Flink)",
);

const OWN: &[OptionDef] = &[
    ROWS_PER_SECOND,
    NUMBER_OF_ROWS,
    SEED,
    SCAN_PARALLELISM,
    OptionDef::new(
        "fields.#.kind",
        OptionKind::Enum(&["random", "sequence"]),
        "how the column's values are made",
    )
    .default("random"),
    OptionDef::new(
        "fields.#.min",
        OptionKind::Text,
        "least random value; the type's least number when absent, above 0 for FLOAT, DOUBLE, DECIMAL",
    ),
    OptionDef::new(
        "fields.#.max",
        OptionKind::Text,
        "greatest random value; the type's greatest number when absent",
    ),
    OptionDef::new(
        "fields.#.max-past",
        OptionKind::Duration,
        "how far before the present a random timestamp may lie",
    )
    .default("0 ms"),
    OptionDef::new(
        "fields.#.length",
        OptionKind::Int,
        "length of a random text or byte string (100) or collection (3)",
    ),
    OptionDef::new(
        "fields.#.var-len",
        OptionKind::Bool,
        "whether random texts and byte strings are of any length up to 'length'",
    )
    .default("false"),
    OptionDef::new("fields.#.null-rate", OptionKind::Double, "share of NULLs, 0 to 1").default("0"),
    OptionDef::new("fields.#.start", OptionKind::Int, "first value of a sequence"),
    OptionDef::new("fields.#.end", OptionKind::Int, "last value of a sequence"),
];
static OPTIONS: [OptionDef; COMMON.len() + OWN.len()] = concat(&[COMMON, OWN]);

/// The connector `datagen`.
pub(crate) static DATAGEN: ConnectorDef = ConnectorDef {
    name: "datagen",
    help: "generates random rows and sequences",
    options: &OPTIONS,
    uses_format: false,
    source: Some(source),
    sink: None,
};

fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    validate(context, &DATAGEN)?;
    let options = &context.options;
    let rate = options.int(&ROWS_PER_SECOND)?.unwrap_or_default();
    if rate <= 0 {
        return Err(invalid(ROWS_PER_SECOND.key, &rate.to_string(), "a number from 1"));
    }
    let seed = options.int(&SEED)?.map_or_else(fresh_seed, |seed| seed as u64);
    let mut fields = Fields::new(options);
    let mut columns = Vec::with_capacity(context.schema.len());
    for field in &context.schema.fields {
        columns.push(fields.column(
            &field.name,
            &field.data_type,
            Stream::new(seed, &field.name),
        )?);
    }
    fields.finish()?;
    let number_of_rows = options.int(&NUMBER_OF_ROWS)?.map(|rows| rows.max(0) as u64);
    Ok(Arc::new(DatagenSource {
        rows: number_of_rows.into_iter().chain(fields.shortest_sequence()).min(),
        columns: columns.into(),
        schema: context.schema.clone(),
        zone: context.zone.clone(),
        rate: rate as f64,
        parallelism: parallelism(options, &SCAN_PARALLELISM)?,
    }))
}

struct DatagenSource {
    columns: Arc<[Column]>,
    schema: Schema,
    zone: TimeZone,
    rows: Option<u64>,
    rate: f64,
    parallelism: Option<usize>,
}

impl TableSource for DatagenSource {
    fn boundedness(&self) -> Boundedness {
        if self.rows.is_some() { Boundedness::Bounded } else { Boundedness::Unbounded }
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn enumerator(
        &self,
        request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let rows = self.rows.into_iter().chain(request.limit).min();
        Ok(Box::new(NumberedEnumerator::new(rows, state)?))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let wanted = request
            .columns
            .iter()
            .map(|column| match column {
                ScanColumn::Physical(position) => Ok(*position),
                ScanColumn::Metadata(key) => Err(ConnectorError::new(format!(
                    "the connector 'datagen' has no metadata column '{key}'"
                ))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let fields = wanted.iter().map(|column| self.schema.fields[*column].clone()).collect();
        let schema = Schema::new(fields).to_arrow();
        let (columns, zone) = (self.columns.clone(), self.zone.clone());
        let row_bytes = wanted.iter().map(|column| columns[*column].value_bytes()).sum::<u64>();
        let max_rows = context.max_rows.min((BATCH_BYTES / row_bytes.max(1)) as usize);
        let make = move |rows: Rows| {
            let now = Now::read(&zone);
            let columns = wanted
                .iter()
                .map(|column| columns[*column].fill(rows, &now))
                .collect::<Result<Vec<_>, _>>()?;
            let options = RecordBatchOptions::new().with_row_count(Some(rows.count));
            RecordBatch::try_new_with_options(schema.clone(), columns, &options)
                .map(ChangelogBatch::inserts)
                .map_err(mismatch)
        };
        Ok(Box::new(PacedReader::new(Box::new(make), Some(self.rate), max_rows)))
    }
}
