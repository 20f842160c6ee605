//! No bytes make the avro decoder panic, in either encoding.

#![no_main]

#[path = "decode.rs"]
mod decode;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [encoding, rest @ ..] = bytes {
        let encoding = if encoding % 2 == 0 { "binary" } else { "json" };
        decode::decode_messages("avro", &[("encoding", encoding)], rest);
    }
});
