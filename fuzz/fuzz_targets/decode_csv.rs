//! No bytes make the csv decoder panic.

#![no_main]

#[path = "decode.rs"]
mod decode;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| decode::decode("csv", bytes));
