//! Texts of values as Java's parsers read them and its printers write them.

mod base64;
mod decimal;
mod number;
mod temporal;
pub(crate) mod words;
mod write;

pub(crate) use base64::{decode_base64, write_base64};
pub(crate) use decimal::parse_decimal;
pub(crate) use number::{parse_double, parse_float, parse_integer, trim};
pub(crate) use temporal::{
    DateTime, TimestampStyle, parse_lenient_date, parse_local_time, parse_loose_timestamp,
    parse_sql_time, parse_strict_date, parse_timestamp,
};
pub(crate) use write::{
    write_date, write_decimal, write_double, write_float, write_nanos_of_day, write_scientific,
};
