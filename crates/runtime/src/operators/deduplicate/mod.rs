//! Deduplication: the first or the last row of each key.

mod keep_first;
mod keep_first_by_time;
mod keep_last;
#[cfg(test)]
mod tests;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{Deduplicate, Keep};
use flott_state::Ttl;
use flott_types::{DataType, Schema};

use super::window::instants;
use crate::Result;
use crate::operator::Operator;
use keep_first::KeepFirst;
use keep_first_by_time::KeepFirstByTime;
use keep_last::KeepLast;
pub(super) use keep_last::read_last;

/// Keys looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;

/// The operator of a deduplication over insert-only rows of `input`; what it gives has their
/// columns, `schema`.
pub fn deduplicate(
    spec: &Deduplicate,
    input: &Schema,
    schema: SchemaRef,
) -> Result<Box<dyn Operator>> {
    Ok(match (spec.keep, spec.rowtime) {
        (Keep::First, None) => Box::new(KeepFirst::new(spec, input)),
        (Keep::First, Some(time)) => Box::new(KeepFirstByTime::new(spec, time, input, schema)),
        (Keep::Last, _) => Box::new(KeepLast::new(spec, input, schema)),
    })
}

/// The types of a key's columns.
fn key_types(spec: &Deduplicate, input: &Schema) -> Vec<DataType> {
    spec.key.iter().map(|column| input.fields[*column].data_type.clone()).collect()
}

fn ttl(spec: &Deduplicate) -> Option<Ttl> {
    Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX))
}

/// The times of rows in milliseconds. A row without a time counts as of 1970-01-01 00:00, as in Flink.
pub(super) fn row_times(column: &ArrayRef) -> Result<Vec<i64>> {
    let (times, nulls) = instants(column)?;
    Ok(match nulls {
        None => times.to_vec(),
        Some(nulls) => {
            times.iter().zip(&nulls).map(|(time, valid)| if valid { *time } else { 0 }).collect()
        }
    })
}
