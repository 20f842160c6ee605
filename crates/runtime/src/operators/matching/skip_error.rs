//! Where a search cannot go on after a match.

/// Why AFTER MATCH SKIP TO a variable is impossible; the job fails, as it does in Flink.
#[derive(Debug, thiserror::Error)]
pub(super) enum SkipError {
    /// The match has no row of the variable.
    #[error(
        "Could not skip to {variable}. No such element in the found match\n\
         hint: skip to a variable that takes a row at least, or past the last row"
    )]
    NoRow {
        /// The variable.
        variable: String,
    },
    /// The match would be found again and again.
    #[error(
        "Could not skip to first element of a match: {variable} begins it\n\
         hint: skip to the next row, or to a variable behind the first row"
    )]
    FirstRow {
        /// The variable.
        variable: String,
    },
}
