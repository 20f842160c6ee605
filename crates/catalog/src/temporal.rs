//! Temporal table functions.

use crate::ObjectPath;

/// A history of changes as a function of time: `LATERAL TABLE(Rates(o.order_time))` gives the rows that
/// held then, the latest of each key. Registered by a program, as in Flink; there is no SQL for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporalFunction {
    /// The table or view that holds the history.
    pub table: ObjectPath,
    /// Its time attribute: since when a row holds.
    pub time: String,
    /// The column by which a row replaces an earlier one.
    pub key: String,
}
