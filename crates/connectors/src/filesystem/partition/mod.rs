//! Partition directories: `k=1/s=a`.

mod path;
mod value;

pub(super) use path::{parse_directory, write_directory};
pub(super) use value::{parse_value, value_text};
