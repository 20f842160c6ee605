//! What stands before a sink whose primary key is not the key of the query: which of several rows that share
//! a primary key is written.

mod conflicts;
mod kept;
mod latest;
#[cfg(test)]
mod tests;

pub use conflicts::ConflictChecker;
pub use latest::SinkUpsertMaterializer;
