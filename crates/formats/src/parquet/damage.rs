//! Files that are not what they should be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flott_catalog::connector::ConnectorError;
use parquet::errors::ParquetError;

/// The error for a file that cannot be read as Parquet.
pub(super) fn damaged(error: impl std::fmt::Display) -> ConnectorError {
    let text = error.to_string();
    let what = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    ConnectorError::new(format!("this is not a Parquet file, or it is damaged: {what}"))
        .hint("take the file out of the table's directory, or write it anew")
}

/// The error that the reader of a file gave.
pub(super) fn failed(error: ParquetError) -> ConnectorError {
    match error {
        ParquetError::NYI(what) => ConnectorError::new(format!("cannot read the file: {what}")),
        ParquetError::General(what) if what.starts_with("Disabled feature") => {
            let codec = what.rsplit(' ').next().unwrap_or_default();
            ConnectorError::new(format!("files compressed with {codec} cannot be read"))
                .hint("write them with SNAPPY, GZIP, LZ4 or ZSTD")
        }
        error => damaged(error),
    }
}

/// Runs what reads a file. Where the library below panics on bytes that make no sense, that is an error
/// like others.
pub(super) fn guarded<T>(
    read: impl FnOnce() -> Result<T, ConnectorError>,
) -> Result<T, ConnectorError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(damaged("its parts contradict each other")))
}
