//! The format `parquet`: columnar files, as Flink reads and writes them.
//!
//! Columns are found by their names. What a file holds is read as the table's type where every value
//! can be: a number of another width, a decimal of a smaller scale, a timestamp of another unit. A file
//! without a column gives NULL for it, as in Flink.

mod clock;
mod columns;
mod convert;
mod damage;
mod int96;
mod levels;
mod options;
mod read;
mod rows;
mod schema;
mod source;
mod timestamps;
mod write;

use flott_catalog::connector::FileFormatDef;

/// The format `parquet`.
pub(crate) static PARQUET: FileFormatDef = FileFormatDef {
    name: "parquet",
    help: "Apache Parquet files, columns by name",
    options: options::OPTIONS,
    reader: Some(read::reader),
    writer: Some(write::writer),
};
