//! The thread that runs a scan's query while the job works on what came before.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_catalog::connector::ConnectorError;
use flott_types::Value;

use super::connection::DatabaseError;
use super::scan::Scan;
use super::split::TableSplit;
use super::text;

/// Batches that wait for the job at most.
const WAITING: usize = 2;

/// Rows, and the split's position behind them.
pub(super) struct Fetched {
    pub(super) rows: RecordBatch,
    pub(super) split: TableSplit,
}

/// What the thread says; the channel ends with the split.
pub(super) type Message = Result<Fetched, ConnectorError>;

/// Starts to read the rest of a split in batches of so many rows.
pub(super) fn start(
    scan: &Arc<Scan>,
    split: TableSplit,
    block: usize,
) -> Result<Receiver<Message>, ConnectorError> {
    let (sender, receiver) = sync_channel(WAITING);
    let scan = scan.clone();
    let name = format!("jdbc-{}", split.id());
    let started = std::thread::Builder::new().name(name).spawn(move || {
        if let Err(error) = run(&scan, split, block, &sender) {
            // Nobody listens any more when the job has ended.
            let _ = sender.send(Err(scan.table.failed(error)));
        }
    });
    started.map_err(|error| ConnectorError::new(format!("no thread for the query: {error}")))?;
    Ok(receiver)
}

fn run(
    scan: &Scan,
    mut split: TableSplit,
    block: usize,
    sender: &SyncSender<Message>,
) -> Result<(), DatabaseError> {
    let mut session = scan.table.open()?;
    let (query, mut skip) = scan.query(&session.names, &split);
    let columns = scan.result_columns();
    let schema = scan.schema().to_arrow();
    session.connection.query(&query, &columns, block, &mut |mut values| {
        let count = values.first().map_or(0, Vec::len);
        let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(count);
        skip -= skipped as u64;
        if skipped == count {
            return Ok(true);
        }
        values.iter_mut().for_each(|column| drop(column.drain(..skipped)));
        let count = count - skipped;
        split.rows += count as u64;
        if !scan.key.is_empty() {
            let part = |at: &usize| text::write(&values[*at][count - 1], &columns[*at].data_type);
            split.key = Some(scan.key.iter().map(part).collect());
        }
        let rows = batch(scan, &schema, &values, count)?;
        Ok(sender.send(Ok(Fetched { rows, split: split.clone() })).is_ok())
    })
}

/// The columns wanted as a batch.
fn batch(
    scan: &Scan,
    schema: &SchemaRef,
    values: &[Vec<Value>],
    count: usize,
) -> Result<RecordBatch, DatabaseError> {
    let failed = |error: String| DatabaseError::rejected(error);
    let columns = scan.columns[..scan.wanted]
        .iter()
        .zip(values)
        .map(|(at, values)| Value::to_array(values, &scan.table.columns[*at].data_type))
        .collect::<Result<_, _>>()
        .map_err(|error| failed(error.to_string()))?;
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|error| failed(error.to_string()))
}
