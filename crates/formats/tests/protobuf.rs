//! The format `protobuf` beside what Flink 2.3's own writes and reads, and beside another implementation.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{Collect, Decoding, batch, hex, records, row, unhex};
use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;
use prost_reflect::{DescriptorPool, DynamicMessage};

type Columns = Vec<(&'static str, DataType)>;

fn file(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options<'a>(file: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let name = if file.ends_with("old.proto") { "test.old.All" } else { "test.All" };
    [("schema-file", file), ("message-class-name", name)].iter().chain(more).copied().collect()
}

fn float() -> DataType {
    TypeRoot::Float.nullable()
}

fn inner() -> DataType {
    row(&[("x", DataType::int()), ("s", DataType::string())])
}

fn scalars() -> Columns {
    vec![
        ("a", DataType::int()),
        ("b", DataType::bigint()),
        ("c", DataType::int()),
        ("d", DataType::int()),
        ("e", DataType::int()),
        ("f", DataType::bigint()),
        ("g", float()),
        ("h", DataType::double()),
        ("i", DataType::boolean()),
        ("j", DataType::string()),
        ("k", DataType::bytes()),
        ("l", DataType::string()),
    ]
}

fn collections() -> Columns {
    vec![
        ("a", DataType::int()),
        ("m", DataType::array(DataType::int())),
        ("n", DataType::array(DataType::string())),
        ("o", DataType::map(DataType::string(), DataType::int())),
        ("q", inner()),
        ("r", DataType::array(inner())),
        ("s", DataType::int()),
        ("u1", DataType::int()),
        ("u2", DataType::string()),
    ]
}

#[track_caller]
fn writes(columns: &Columns, more: &[(&str, &str)], row: Vec<Value>, bytes: &str) {
    let file = file("all.proto");
    let rows = batch(columns, &[row]);
    let record = records("protobuf", columns, &options(&file, more), &rows, b"").unwrap();
    assert_eq!(hex(&record.bytes), bytes);
}

#[test]
fn rows_are_written_as_flink_writes_them() {
    let text = Value::string;
    writes(
        &scalars(),
        &[],
        vec![
            Value::Int(-1),
            Value::Int(-2),
            Value::Int(-1),
            Value::Int(-3),
            Value::Int(-4),
            Value::Int(-5),
            Value::Float(1.5),
            Value::Double(-0.0),
            Value::Boolean(true),
            text("x"),
            Value::Bytes(vec![1, 2].into()),
            text("GREEN"),
        ],
        "08ffffffffffffffffff0110feffffffffffffffff0118ffffffff0f20052dfcffffff31fbffffffffffffff3d\
         0000c03f41000000000000008048015201785a0201026005",
    );
    let zeros = vec![
        Value::Int(0),
        Value::Int(0),
        Value::Int(0),
        Value::Int(0),
        Value::Int(0),
        Value::Int(0),
        Value::Float(0.0),
        Value::Double(0.0),
        Value::Boolean(false),
        text(""),
        Value::Bytes(vec![].into()),
        text("RED"),
    ];
    writes(&scalars(), &[], zeros, "");
    writes(&scalars(), &[], vec![Value::Null; 12], "");
    for (ty, value, bytes) in [
        (DataType::string(), text("PINK"), ""),
        (DataType::int(), Value::Int(7), "6007"),
        (DataType::int(), Value::Int(6), ""),
        (DataType::bigint(), Value::Int(7), "6007"),
        (TypeRoot::TinyInt.nullable(), Value::Int(7), "6007"),
    ] {
        writes(&vec![("l", ty)], &[], vec![value], bytes);
    }
    let nil = [("write-null-string-literal", "nil")];
    let strings = || DataType::array(DataType::string());
    writes(
        &vec![("m", DataType::array(DataType::int())), ("n", strings()), ("v", strings())],
        &nil,
        vec![
            Value::Array(vec![Value::Int(1), Value::Null, Value::Int(300)]),
            Value::Array(vec![text("x"), Value::Null]),
            Value::Array(vec![text("BLUE"), Value::Null, text("?")]),
        ],
        "6a040100ac0272017872036e696cb20103070000",
    );
    let map = |key, value| DataType::map(key, value);
    writes(
        &vec![
            ("o", map(DataType::string(), DataType::int())),
            ("p", map(DataType::int(), inner())),
            ("w", map(DataType::string(), DataType::string())),
        ],
        &nil,
        vec![
            Value::Map(vec![(text("x"), Value::Null)]),
            Value::Map(vec![
                (Value::Int(0), Value::Row(vec![Value::Int(1), Value::Null])),
                (Value::Int(2), Value::Null),
            ]),
            Value::Map(vec![(text("x"), Value::Null)]),
        ],
        "7a050a0178100082010608001202080182010408021200ba01080a017812036e696c",
    );
    writes(
        &vec![("q", inner()), ("r", DataType::array(row(&[("s", DataType::string())])))],
        &[],
        vec![
            Value::Row(vec![Value::Null, Value::Null]),
            Value::Array(vec![Value::Row(vec![text("x")]), Value::Null]),
        ],
        "8a0100920103120178920100",
    );
    let (s, u1, u2) = (("s", DataType::int()), ("u1", DataType::int()), ("u2", DataType::string()));
    writes(
        &vec![s, u1.clone(), u2.clone()],
        &[],
        vec![Value::Int(0), Value::Int(0), text("x")],
        "980100aa010178",
    );
    writes(&vec![u2.clone(), u1.clone()], &[], vec![text("x"), Value::Int(0)], "a00100");
    writes(&vec![u2, u1], &[], vec![text("x"), Value::Null], "aa010178");
    writes(&vec![("m", DataType::array(DataType::int()))], &[], vec![Value::Array(Vec::new())], "");
}

#[test]
fn messages_are_read_as_flink_reads_them() {
    let file = file("all.proto");
    let decode = |columns: &Columns, more: &[(&str, &str)], bytes: &str| {
        Decoding::new("protobuf", columns, &options(&file, more)).message(unhex(bytes))
    };
    let zeros = "0, 0, 0, 0, 0, 0.0, 0.0, FALSE, , , RED]";
    assert_eq!(decode(&scalars(), &[], "").unwrap(), [format!("+I[0, {zeros}")]);
    assert_eq!(decode(&scalars(), &[], "0801").unwrap(), [format!("+I[1, {zeros}")]);
    for (bytes, without, with) in [
        ("", "NULL, NULL, NULL, NULL, NULL, 0, 0, ", "[], [], {}, (0, ), [], 0, 0, "),
        ("8a0100", "NULL, NULL, NULL, (0, ), NULL, 0, 0, ", "[], [], {}, (0, ), [], 0, 0, "),
        (
            "6a0201026803",
            "[1, 2, 3], NULL, NULL, NULL, NULL, 0, 0, ",
            "[1, 2, 3], [], {}, (0, ), [], 0, 0, ",
        ),
        ("aa010178a00105", "NULL, NULL, NULL, NULL, NULL, 0, 5, ", "[], [], {}, (0, ), [], 0, 5, "),
        (
            "a00105aa010178",
            "NULL, NULL, NULL, NULL, NULL, 0, 0, x",
            "[], [], {}, (0, ), [], 0, 0, x",
        ),
        (
            "7a050a016b10037a050a016b1004",
            "NULL, NULL, {k=4}, NULL, NULL, 0, 0, ",
            "[], [], {k=4}, (0, ), [], 0, 0, ",
        ),
        (
            "8a010208018a0103120178",
            "NULL, NULL, NULL, (1, x), NULL, 0, 0, ",
            "[], [], {}, (1, x), [], 0, 0, ",
        ),
        ("920100", "NULL, NULL, NULL, NULL, [(0, )], 0, 0, ", "[], [], {}, (0, ), [(0, )], 0, 0, "),
        ("7a00", "NULL, NULL, {=0}, NULL, NULL, 0, 0, ", "[], [], {=0}, (0, ), [], 0, 0, "),
    ] {
        let defaults = [("read-default-values", "true")];
        assert_eq!(decode(&collections(), &[], bytes).unwrap(), [format!("+I[0, {without}]")]);
        assert_eq!(decode(&collections(), &defaults, bytes).unwrap(), [format!("+I[0, {with}]")]);
    }
    let colors = vec![("l", DataType::string()), ("v", DataType::array(DataType::string()))];
    assert_eq!(decode(&colors, &[], "6005").unwrap(), ["+I[GREEN, NULL]"]);
    assert_eq!(decode(&colors, &[], "6006").unwrap(), ["+I[UNRECOGNIZED, NULL]"]);
    assert_eq!(decode(&colors, &[], "b201020506").unwrap(), ["+I[RED, [GREEN, UNRECOGNIZED]]"]);
    assert_eq!(decode(&vec![("l", DataType::int())], &[], "6005").unwrap(), ["+I[5]"]);
    let text = vec![("j", DataType::string())];
    for (bytes, value) in
        [("5202c3a4", "ä"), ("0b0c", ""), ("0a0161", ""), ("4801", ""), ("080152017a", "z")]
    {
        assert_eq!(decode(&text, &[], bytes).unwrap(), [format!("+I[{value}]")], "{bytes}");
    }
    for (bytes, message) in [
        ("5201ff", "not valid UTF-8"),
        ("5205", "ends too early"),
        ("ff", "a number does not end"),
        ("0b", "does not end"),
        ("0b14", "a group ends that was not begun"),
        ("0c", "a group ends that was not begun"),
        ("52", "a number does not end"),
        ("00", "no sound number"),
        ("0f", "unknown kind of value"),
    ] {
        let error = decode(&text, &[], bytes).unwrap_err().to_string();
        assert!(error.contains(message), "{bytes}: {error}");
        let ignored = decode(&text, &[("ignore-parse-errors", "true")], bytes);
        assert!(ignored.unwrap().is_empty());
    }
    let bad = Arc::new(Collect::default());
    let decoding = Decoding::new("protobuf", &collections(), &options(&file, &[]));
    let mut decoder = decoding.decoder(bad.clone()).unwrap();
    for bytes in ["6a02010272", "", "92010208", "0801"] {
        decoder.decode_message(&unhex(bytes), &String::new).unwrap();
    }
    let rows = decoding.take(&mut *decoder).unwrap();
    let rest = "NULL, NULL, NULL, NULL, NULL, 0, 0, ]";
    assert_eq!(rows, [format!("+I[0, {rest}"), format!("+I[1, {rest}")]);
    assert_eq!(bad.0.lock().unwrap().len(), 2);
}

#[test]
fn proto2_has_defaults_and_required_fields() {
    let file = file("old.proto");
    let columns = vec![
        ("a", DataType::int()),
        ("b", DataType::string()),
        ("c", DataType::array(DataType::int())),
        ("d", row(&[("x", DataType::int())])),
        ("e", DataType::string()),
        ("f", DataType::int()),
        ("g", DataType::array(DataType::string())),
        ("h", DataType::map(DataType::string(), DataType::int())),
    ];
    for (bytes, without, with) in [
        ("3001", "NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL", "42, dd, [], (9), RED, 1, [], {}"),
        (
            "30012803",
            "NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL",
            "42, dd, [], (9), RED, 1, [], {}",
        ),
        (
            "30012200",
            "NULL, NULL, NULL, (NULL), NULL, 1, NULL, NULL",
            "42, dd, [], (9), RED, 1, [], {}",
        ),
        (
            "30011201ff",
            "NULL, \u{fffd}, NULL, NULL, NULL, 1, NULL, NULL",
            "42, \u{fffd}, [], (9), RED, 1, [], {}",
        ),
        (
            "300138033805",
            "NULL, NULL, NULL, NULL, NULL, 1, [GREEN], NULL",
            "42, dd, [], (9), RED, 1, [GREEN], {}",
        ),
        (
            "30011a0101",
            "NULL, NULL, [1], NULL, NULL, 1, NULL, NULL",
            "42, dd, [1], (9), RED, 1, [], {}",
        ),
        (
            "30014200",
            "NULL, NULL, NULL, NULL, NULL, 1, NULL, {=0}",
            "42, dd, [], (9), RED, 1, [], {=0}",
        ),
    ] {
        let decode = |more: &[(&str, &str)]| {
            Decoding::new("protobuf", &columns, &options(&file, more))
                .message(unhex(bytes))
                .unwrap()
        };
        assert_eq!(decode(&[]), [format!("+I[{without}]")]);
        assert_eq!(decode(&[("read-default-values", "true")]), [format!("+I[{with}]")]);
    }
    // What must be there must be there, whether or not somebody reads it.
    for wanted in [vec![5], vec![0]] {
        let decoding = Decoding::new("protobuf", &columns, &options(&file, &[])).project(&wanted);
        let error = decoding.message("").unwrap_err().to_string();
        assert!(error.contains("the required field 'f' is missing"), "{error}");
    }
    let write = |columns: &Columns, row: Vec<Value>| {
        let rows = batch(columns, &[row]);
        records("protobuf", columns, &options(&file, &[]), &rows, b"").map(|out| hex(&out.bytes))
    };
    let some = vec![
        ("a", DataType::int()),
        ("b", DataType::string()),
        ("f", DataType::int()),
        ("c", DataType::array(DataType::int())),
    ];
    let list = Value::Array(vec![Value::Int(1), Value::Int(2)]);
    let row = vec![Value::Int(0), Value::string(""), Value::Int(1), list];
    assert_eq!(write(&some, row).unwrap(), "08001200180118023001");
    let row = vec![Value::Int(0), Value::Null, Value::Null, Value::Null];
    assert!(write(&some, row).unwrap_err().message.contains("required field 'f'"));
    let one = vec![("a", DataType::int())];
    assert!(write(&one, vec![Value::Int(1)]).unwrap_err().message.contains("required field 'f'"));
}

#[test]
fn tables_and_messages_must_agree() {
    let file = file("all.proto");
    let refused = |columns: &[(&str, DataType)], pairs: &[(&str, &str)]| {
        Decoding::new("protobuf", columns, pairs).message("").unwrap_err().to_string()
    };
    for (name, ty, message) in [
        ("zz", DataType::int(), "column 'zz' does not exist in the protobuf message 'test.All'"),
        ("a", DataType::bigint(), "is not compatible with BIGINT"),
        ("q", DataType::int(), "column 'q'"),
        ("q", row(&[("x", DataType::string())]), "column 'q.x'"),
        ("m", DataType::int(), "a repeated field is no INT"),
        ("o", DataType::array(DataType::int()), "a map is no ARRAY<INT>"),
        ("j", DataType::timestamp(3), "column 'j'"),
    ] {
        let error = refused(&[(name, ty)], &options(&file, &[]));
        assert!(error.contains(message), "{error}");
    }
    let a = [("a", DataType::int())];
    let with_name = |name| {
        Decoding::new("protobuf", &a, &[("schema-file", &file), ("message-class-name", name)])
            .message("")
    };
    for name in ["test.All", "All", "com.test.All", "com.test.AllProto$All"] {
        assert_eq!(with_name(name).unwrap(), ["+I[0]"], "{name}");
    }
    let error = with_name("test.None").unwrap_err().to_string();
    assert!(error.contains("takes one of test.All, test.Inner"), "{error}");
    for (pairs, message) in [
        (&[("message-class-name", "x"), ("schema-file", "none.proto")][..], "none.proto"),
        (&[("message-class-name", "x"), ("schema-file", "none.desc")], "none.desc"),
    ] {
        let error = refused(&a, pairs);
        assert!(error.contains(message), "{error}");
    }
    // A set of descriptors does as well.
    let set = pool().encode_to_vec();
    let folder = std::env::temp_dir().join(format!("flott-protobuf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("all.desc");
    std::fs::write(&path, set).unwrap();
    let pairs = [("schema-file", path.to_str().unwrap()), ("message-class-name", "test.All")];
    assert_eq!(Decoding::new("protobuf", &a, &pairs).message(unhex("0805")).unwrap(), ["+I[5]"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

fn pool() -> DescriptorPool {
    let mut compiler = protox::Compiler::new([file("")]).unwrap();
    compiler.include_imports(true).open_file(file("all.proto")).unwrap();
    compiler.descriptor_pool()
}

fn all() -> Columns {
    let mut columns = scalars();
    // Those that tell apart what is missing and what is zero cannot be written as they were read.
    let apart = ["s", "u1", "u2"];
    columns.extend(collections().into_iter().skip(1).filter(|(name, _)| !apart.contains(name)));
    columns
}

fn value(ty: &DataType) -> BoxedStrategy<Value> {
    let some = match &ty.root {
        TypeRoot::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        TypeRoot::Int => any::<i32>().prop_map(|v| Value::Int(v.into())).boxed(),
        TypeRoot::BigInt => any::<i64>().prop_map(Value::Int).boxed(),
        // The other implementation takes -0.0 for the default, and Java, as we do, does not.
        TypeRoot::Float => any::<f32>().prop_map(|v| Value::Float(v + 0.0)).boxed(),
        TypeRoot::Double => any::<f64>().prop_map(|v| Value::Double(v + 0.0)).boxed(),
        TypeRoot::Varchar(_) => any::<String>().prop_map(Value::string).boxed(),
        TypeRoot::Varbinary(_) => prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|bytes| Value::Bytes(bytes.into()))
            .boxed(),
        TypeRoot::Array(element) => {
            prop::collection::vec(value(element), 0..4).prop_map(Value::Array).boxed()
        }
        // The other implementation leaves zeros out of entries, and Java, as we do, does not.
        TypeRoot::Map(..) => (1..=i64::from(i32::MAX))
            .prop_map(|v| Value::Map(vec![(Value::string("k"), Value::Int(v))]))
            .boxed(),
        TypeRoot::Row(fields) => fields
            .iter()
            .map(|field| value(&field.data_type))
            .collect::<Vec<_>>()
            .prop_map(Value::Row)
            .boxed(),
        other => panic!("{other}"),
    };
    prop_oneof![1 => Just(Value::Null), 4 => some].boxed()
}

fn rows() -> impl Strategy<Value = Vec<Value>> {
    all()
        .iter()
        .map(|(name, ty)| match *name {
            "l" => prop_oneof![Just(Value::string("RED")), Just(Value::string("BLUE"))].boxed(),
            _ => value(ty),
        })
        .collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn another_implementation_writes_the_same(row in rows()) {
        let file = file("all.proto");
        let pairs = options(&file, &[]);
        let written = records("protobuf", &all(), &pairs, &batch(&all(), &[row]), b"").unwrap();
        let of = pool().get_message_by_name("test.All").unwrap();
        let message = DynamicMessage::decode(of, &written.bytes[..]).unwrap();
        let again = prost_reflect::prost::Message::encode_to_vec(&message);
        prop_assert_eq!(hex(&written.bytes), hex(&again));
        let decoding = Decoding::new("protobuf", &all(), &pairs);
        let rows = decoding.message(&written.bytes).unwrap();
        // What was read writes the same again.
        prop_assert_eq!(rows.len(), 1);
        let mut decoder = decoding.decoder(Arc::new(Collect::default())).unwrap();
        decoder.decode_message(&written.bytes, &String::new).unwrap();
        let read = decoder.take().unwrap().unwrap();
        let twice = records("protobuf", &all(), &pairs, &read, b"").unwrap();
        prop_assert_eq!(hex(&twice.bytes), hex(&written.bytes));
        let part = decoding.project(&[14, 0, 3]).message(&written.bytes).unwrap();
        prop_assert_eq!(part.len(), 1);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..100),
            prop::collection::vec(prop_oneof![Just(0x6au8), Just(0x7a), Just(0x8a), Just(1), 0u8..8], 0..60),
        ],
        defaults in any::<bool>(),
    ) {
        let file = file("all.proto");
        let defaults = [("read-default-values", if defaults { "true" } else { "false" })];
        let decoding = Decoding::new("protobuf", &all(), &options(&file, &defaults));
        let ours = decoding.message(&bytes).is_ok();
        let of = pool().get_message_by_name("test.All").unwrap();
        // Where the other one reads a message, so do we.
        prop_assert!(ours || DynamicMessage::decode(of, &bytes[..]).is_err());
    }
}
