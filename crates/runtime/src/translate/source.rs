//! Scans: what is read, and how watermarks are taken from it.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{TimestampMicrosecondType, TimestampMillisecondType};
use flott_catalog::connector::ScanRequest;
use flott_functions::{EvalContext, Evaluator, Expr, RecordTimes, SessionSettings};
use flott_plan::logical::Scan;
use flott_types::{ChangelogBatch, TimestampUnit, TypeRoot, timestamp_unit};

use super::Surroundings;
use crate::graph::{SourceSpec, WatermarkFn, WatermarkStrategy};
use crate::{Result, RuntimeError, TaskInfo};

pub(super) fn source(scan: &Scan, around: &Surroundings) -> Result<SourceSpec> {
    let watermark = scan.watermark.clone().map(|expr| {
        let settings = around.settings.clone();
        WatermarkStrategy {
            values: Arc::new(move |task| watermark_fn(&expr, &settings, task)),
            idle_timeout: Duration::from_millis(scan.idle_timeout.unwrap_or(0)),
        }
    });
    Ok(SourceSpec {
        source: scan.source.clone(),
        request: ScanRequest {
            columns: scan.columns.clone(),
            limit: scan.limit,
            filters: scan.filters.clone(),
            predicates: scan.predicates.clone(),
        },
        watermark,
        bad_records: (around.bad_records)(scan)?,
    })
}

/// The function that gives the watermark after each row of a batch, in milliseconds.
fn watermark_fn(expr: &Expr, settings: &SessionSettings, task: &TaskInfo) -> Result<WatermarkFn> {
    let evaluator = Evaluator::new(expr, settings)?;
    let unit = match evaluator.data_type().root {
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => timestamp_unit(p),
        _ => return Err(RuntimeError::internal("Source", "a watermark that is no timestamp")),
    };
    let clock = Arc::clone(&task.clock);
    Ok(Box::new(move |batch: &ChangelogBatch| {
        let clock = Arc::clone(&clock);
        let times = RecordTimes::new(batch.len(), move || clock.now());
        let context = EvalContext::of_records(&times);
        let values =
            evaluator.evaluate(batch.rows.columns(), &context).map_err(RuntimeError::operator)?;
        Ok(match unit {
            TimestampUnit::Millis => {
                values.as_primitive::<TimestampMillisecondType>().reinterpret_cast()
            }
            TimestampUnit::Micros => {
                let micros = values.as_primitive::<TimestampMicrosecondType>();
                Int64Array::from_iter(micros.iter().map(|v| v.map(|v| v.div_euclid(1_000))))
            }
            TimestampUnit::Nanos => {
                return Err(RuntimeError::internal(
                    "Source",
                    "a watermark of more than microsecond precision",
                ));
            }
        })
    }))
}
