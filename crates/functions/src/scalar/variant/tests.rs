use flott_types::variant::View;

use super::parse::{Refused, parse_variant};
use super::variant_text;

fn encoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    parse_variant(&mut bytes, text, true).unwrap();
    bytes
}

#[test]
fn variants_print_as_in_flink() {
    for (text, printed) in [
        ("1", "1"),
        ("1.50", "1.5"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("100.0", "100"),
        ("1e2", "100.0"),
        ("1e-7", "1.0E-7"),
        ("0.00000001", "0.00000001"),
        ("9223372036854775808", "9223372036854775808"),
        ("-12345678901234567890123456789012345678", "-12345678901234567890123456789012345678"),
        ("123456789012345678901234567890123456789", "1.2345678901234568E38"),
        ("0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678"),
        ("0.123456789012345678901234567890123456789", "0.12345678901234568"),
        ("1e400", "Infinity"),
        ("\"a\\\"\\u0001/é\"", "\"a\\\"\\u0001/é\""),
        (" [ 1 , \"a\" , null , [ ] , true , false ] ", "[1,\"a\",null,[],true,false]"),
        (
            "{\"é\":1,\"b\":{\"y\":{},\"x\":2},\"a\":3}",
            "{\"a\":3,\"b\":{\"x\":2,\"y\":{}},\"é\":1}",
        ),
        ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"),
    ] {
        assert_eq!(variant_text(&encoded(text)), printed, "{text}");
    }
}

#[test]
fn integers_take_few_bytes() {
    for (text, length) in [("0", 2), ("-128", 2), ("128", 3), ("-40000", 5), ("5000000000", 9)] {
        assert_eq!(encoded(text).len(), length, "{text}");
        assert_eq!(View::new(&encoded(text)), Some(View::Integer(text.parse().unwrap())));
    }
}

#[test]
fn large_tables_have_wide_numbers() {
    let elements: Vec<String> = (0..70_000).map(|i| i.to_string()).collect();
    let array = encoded(&format!("[{}]", elements.join(",")));
    let Some(View::Array(view)) = View::new(&array) else { panic!("an array") };
    assert_eq!(view.len(), 70_000);
    assert_eq!(view.element(69_999).map(variant_text).as_deref(), Some("69999"));
    assert_eq!(view.element(70_000), None);

    let members: Vec<String> = (0..300).map(|i| format!("\"k{i}\":\"{i}\"")).collect();
    let object = encoded(&format!("{{{}}}", members.join(",")));
    let Some(View::Object(view)) = View::new(&object) else { panic!("an object") };
    assert_eq!(view.len(), 300);
    for i in 0..300 {
        let value = view.find(&format!("k{i}")).map(variant_text);
        assert_eq!(value, Some(format!("\"{i}\"")));
    }
    assert_eq!(view.find("k300"), None);
}

#[test]
fn duplicates_are_refused_unless_allowed() {
    let refused = parse_variant(&mut Vec::new(), "[{\"a\":1,\"a\":2}]", false);
    assert_eq!(refused, Err(Refused::Duplicate));
}

#[test]
fn bytes_that_are_no_variant_are_null() {
    let good = encoded("{\"a\":[1,2,\"x\"],\"b\":1.5}");
    for end in 0..good.len() {
        variant_text(&good[..end]);
        for byte in [0, 7, 8, 0xff] {
            let mut bad = good.clone();
            bad[end] = byte;
            variant_text(&bad);
        }
    }
    assert_eq!(variant_text(&[]), "null");
    assert_eq!(variant_text(&[99]), "null");
}
