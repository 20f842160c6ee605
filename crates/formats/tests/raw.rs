//! `raw` by Flink's rules.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Decoding, batch, encode};
use flott_types::{DataType, TypeRoot, Value};

#[test]
fn every_line_is_a_value() {
    let decoding = Decoding::new("raw", &[("line", DataType::string())], &[]);
    assert_eq!(decoding.stream("x\r\n\ny\n").unwrap(), ["+I[x]", "+I[]", "+I[y]"]);
    assert_eq!(decoding.message("a\nb").unwrap(), ["+I[a\nb]"]);
    assert_eq!(decoding.message(b"a\xffb").unwrap(), ["+I[a\u{fffd}b]"]);
    assert_eq!(decoding.project(&[]).stream("x\ny").unwrap(), ["+I[]", "+I[]"]);
}

#[test]
fn numbers_are_binary() {
    let little = [("endianness", "little-endian")];
    for (ty, pairs, bytes, text) in [
        (DataType::boolean(), &[][..], &[2u8][..], "TRUE"),
        (TypeRoot::TinyInt.nullable(), &[], &[0xFF], "-1"),
        (TypeRoot::SmallInt.nullable(), &[], &[1, 0], "256"),
        (DataType::int(), &[], &[0, 0, 1, 0], "256"),
        (DataType::int(), &little, &[0, 1, 0, 0], "256"),
        (DataType::bigint(), &[], &[0, 0, 0, 0, 0, 0, 0, 7], "7"),
        (TypeRoot::Float.nullable(), &[], &[0x3F, 0x80, 0, 0], "1.0"),
        (DataType::double(), &[], &[0x3F, 0xF0, 0, 0, 0, 0, 0, 0], "1.0"),
    ] {
        let columns = [("v", ty.clone())];
        let decoding = Decoding::new("raw", &columns, pairs);
        assert_eq!(decoding.message(bytes).unwrap(), [format!("+I[{text}]")], "{ty}");
        let mut decoder =
            decoding.decoder(std::sync::Arc::new(common::Collect::default())).unwrap();
        decoder.decode_message(bytes, &String::new).unwrap();
        let batch = decoder.take().unwrap().unwrap();
        if bytes.is_ascii() && ty != DataType::boolean() {
            let text = encode("raw", &columns, pairs, &batch, b"").unwrap();
            assert_eq!(text.as_bytes(), bytes, "{ty}");
        }
    }
    let error = Decoding::new("raw", &[("v", DataType::int())], &[]).message("abc").unwrap_err();
    assert_eq!(error.message, "size of data for INT is 3 bytes, not 4");
}

#[test]
fn one_column_of_a_simple_type_is_wanted() {
    let text = ("a", DataType::string());
    let error = Decoding::new("raw", &[text.clone(), ("b", DataType::string())], &[])
        .stream("")
        .unwrap_err();
    assert!(error.message.contains("[a: STRING, b: STRING]"), "{error}");
    let date = ("d", TypeRoot::Date.nullable());
    assert!(Decoding::new("raw", &[date], &[]).stream("").is_err());
    assert!(Decoding::new("raw", &[text], &[("charset", "klingon")]).stream("").is_err());
}

#[test]
fn text_is_written_in_its_charset() {
    let columns = [("v", DataType::string())];
    let rows =
        batch(&columns, &[vec![Value::string("a")], vec![Value::Null], vec![Value::string("b")]]);
    assert_eq!(encode("raw", &columns, &[], &rows, b"\n").unwrap(), "a\n\nb\n");
}
