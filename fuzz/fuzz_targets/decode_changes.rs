//! No bytes make the decoders of change formats panic. The first byte says which one.

#![no_main]

#[path = "decode.rs"]
mod decode;

use libfuzzer_sys::fuzz_target;

const FORMATS: [&str; 6] =
    ["debezium-json", "canal-json", "maxwell-json", "ogg-json", "upsert-json", "raw"];

fuzz_target!(|bytes: &[u8]| {
    if let Some((first, message)) = bytes.split_first() {
        decode::decode(FORMATS[usize::from(*first) % FORMATS.len()], message);
    }
});
