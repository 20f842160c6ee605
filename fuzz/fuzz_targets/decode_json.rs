//! No bytes make the json decoder panic.

#![no_main]

#[path = "decode.rs"]
mod decode;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| decode::decode("json", bytes));
