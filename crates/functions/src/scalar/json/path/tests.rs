//! What Flink cannot be asked, since its build of the library breaks there; for all else see
//! `tests/rules/json.rs`.

use super::{InvalidPath, Missing, Path, Stop};
use crate::scalar::json::text::Node;

const DOCUMENT: &str = r#"{
    "a": [{"b": 1, "c": "x", "d": [1, 2]}, {"b": 5, "c": "y", "d": []}, 7, null],
    "k": {"b": 9, "z": {"b": 2}},
    "s": "str"
}"#;

fn read(path: &str, missing: Missing) -> Result<String, Stop> {
    let document = Node::parse(DOCUMENT).unwrap();
    let path = Path::compile(path).unwrap();
    let mut out = String::new();
    path.read(&document, missing)?.write(&mut out);
    Ok(out)
}

#[test]
fn filters_test_existence() {
    for (path, found) in [
        ("$.a[?(@.b)].b", "[1,5]"),
        ("$.a[?(!@.b)]", "[7,null]"),
        ("$.a[?(@.d[0])].b", "[1]"),
        ("$.a[?(@.zz || @.c == 'y')].b", "[5]"),
        ("$.a[?(@.b && @.b > 1)].c", "[\"y\"]"),
        ("$.a[?($.k.zz)]", "[]"),
        ("$..[?(@.b)].b", "[1,5,9,2]"),
        ("$.k[?(@.b)].z", "[{\"b\":2}]"),
    ] {
        assert_eq!(read(path, Missing::Fails).as_deref(), Ok(found), "{path}");
        assert_eq!(read(path, Missing::Ignored).as_deref(), Ok(found), "lax {path}");
    }
}

#[test]
fn filters_know_lists() {
    for (path, found) in [
        ("$.a[?(@.c in ['x', 'z'])].b", "[1]"),
        ("$.a[?(@.b in [\"5\", 6])].b", "[5]"),
        ("$.a[?(@.b nin [1])]", "[{\"b\":5,\"c\":\"y\",\"d\":[]},7,null]"),
        ("$.a[?(@.d == [1, 2.0])].b", "[1]"),
        ("$.k[?(@.z == {'b': 2})].b", "[9]"),
        ("$.a[?(@.d contains 2)].b", "[1]"),
        ("$.a[?(@.c contains 'x')].b", "[1]"),
        ("$.a[?(@.d size 0)].b", "[5]"),
        ("$.a[?(@.c size 1)].b", "[1,5]"),
        ("$.a[?(@.d empty true)].b", "[5]"),
        ("$.a[?(@.d empty false)].b", "[1]"),
        ("$.a[?(@.d subsetof [1, 2, 3])].b", "[1,5]"),
        ("$.a[?(@.d anyof [2, 9])].b", "[1]"),
        ("$.a[?(@.d noneof [2, 9])].b", "[5]"),
        ("$.a[?(@.d all [1])].b", "[1]"),
        ("$.a[?(@.d =~ /[12]/)].b", "[1]"),
    ] {
        assert_eq!(read(path, Missing::Fails).as_deref(), Ok(found), "{path}");
    }
}

#[test]
fn deep_nesting_is_refused_or_read() {
    let parentheses = format!("$[?({}1==1{})]", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(Path::compile(&parentheses).map(drop), Err(InvalidPath));
    let filters = (0..200).fold("1".to_string(), |inner, _| format!("@[?({inner} == 1)]"));
    assert_eq!(Path::compile(&format!("$[?({filters} == 1)]")).map(drop), Err(InvalidPath));
    let long = format!("${}", ".a".repeat(10_000));
    assert!(Path::compile(&long).is_ok());

    let nested = "[".repeat(1000) + &"]".repeat(1000);
    let document = Node::parse(&nested).unwrap();
    let scan = Path::compile("$..[0]").unwrap();
    let Ok(Node::Array(found)) = scan.read(&document, Missing::Fails) else { panic!("an array") };
    assert_eq!(found.len(), 999);
}
