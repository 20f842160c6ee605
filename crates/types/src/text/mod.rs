//! Values as text, in the forms Flink's `CAST(… AS STRING)` gives and Java prints.

mod bitmap;
mod calendar;
mod java_digits;
mod json;
mod number;
mod render;
mod temporal;

pub use bitmap::write_bitmap;
pub use calendar::{Civil, civil_from_days, days_from_civil};
pub use json::{utf16_order, write_json_string};
pub use number::{write_decimal, write_double, write_double_digits, write_float};
pub use render::{value_to_string, write_value};
pub use temporal::{
    write_date, write_day_time_interval, write_time, write_timestamp, write_year_month_interval,
};
