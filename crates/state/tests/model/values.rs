//! Random SQL values.

use std::sync::Arc;

use arrow::array::ArrayRef;
use flott_types::{DataType, RowField, TypeRoot, Value};
use proptest::prelude::*;

/// A column of each type that state may hold, nested ones included.
pub fn some_types() -> Vec<DataType> {
    let row = DataType::row(vec![
        RowField::new("a", DataType::string()),
        RowField::new("b", DataType::array(DataType::int())),
        RowField::new("c", TypeRoot::SmallInt.nullable()),
    ]);
    vec![
        DataType::boolean(),
        TypeRoot::TinyInt.nullable(),
        TypeRoot::SmallInt.nullable(),
        DataType::int(),
        DataType::bigint(),
        TypeRoot::Float.nullable(),
        DataType::double(),
        DataType::decimal(20, 4),
        DataType::string(),
        DataType::bytes(),
        TypeRoot::Date.nullable(),
        TypeRoot::Time(3).nullable(),
        DataType::timestamp(3),
        DataType::timestamp_ltz(6),
        DataType::timestamp(9),
        TypeRoot::IntervalYearMonth.nullable(),
        TypeRoot::IntervalDayTime.nullable(),
        DataType::array(DataType::string()),
        DataType::map(DataType::string(), DataType::double()),
        TypeRoot::Multiset(Arc::new(DataType::int())).nullable(),
        row.clone(),
        DataType::array(row),
        DataType::null(),
        DataType::row(vec![]),
    ]
}

/// Values of a type, few enough distinct ones that equals meet.
pub fn value(ty: &DataType) -> BoxedStrategy<Value> {
    let some: BoxedStrategy<Value> = match ty.root.clone() {
        TypeRoot::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        TypeRoot::TinyInt => ints(i8::MIN.into(), i8::MAX.into()),
        TypeRoot::SmallInt => ints(i16::MIN.into(), i16::MAX.into()),
        TypeRoot::Int => ints(i32::MIN.into(), i32::MAX.into()),
        TypeRoot::BigInt => ints(i64::MIN, i64::MAX),
        TypeRoot::Float => prop::sample::select(vec![0.0, -0.0, 1.5, f32::NAN, f32::INFINITY])
            .prop_map(Value::Float)
            .boxed(),
        TypeRoot::Double => prop::sample::select(vec![0.0, -0.0, -2.5, f64::NAN, 1e300])
            .prop_map(Value::Double)
            .boxed(),
        TypeRoot::Decimal { .. } => (-3i128..3).prop_map(|v| Value::Decimal(v << 60)).boxed(),
        TypeRoot::Varchar(_) => prop::sample::select(vec!["", "a", "ab", "ä\0", "a long string"])
            .prop_map(Value::string)
            .boxed(),
        TypeRoot::Varbinary(_) => {
            prop::collection::vec(0u8..2, 0..3).prop_map(|bytes| Value::Bytes(bytes.into())).boxed()
        }
        TypeRoot::Date => (-3..3).prop_map(Value::Date).boxed(),
        TypeRoot::Time(_) => (0..5).prop_map(Value::Time).boxed(),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
            let step = if p <= 3 { 1_000_000 } else { 1_000 };
            (-3i128..3).prop_map(move |v| Value::Timestamp(v * step)).boxed()
        }
        TypeRoot::IntervalYearMonth => (-3..3).prop_map(Value::Months).boxed(),
        TypeRoot::IntervalDayTime => (-3i64..3).prop_map(Value::Millis).boxed(),
        TypeRoot::Array(element) => {
            prop::collection::vec(value(&element), 0..3).prop_map(Value::Array).boxed()
        }
        TypeRoot::Map(key, item) => {
            prop::collection::vec((value(&key), value(&item)), 0..3).prop_map(Value::Map).boxed()
        }
        TypeRoot::Multiset(element) => {
            prop::collection::vec((value(&element), (1i64..4).prop_map(Value::Int)), 0..3)
                .prop_map(Value::Map)
                .boxed()
        }
        TypeRoot::Row(fields) => {
            let items: Vec<_> = fields.iter().map(|field| value(&field.data_type)).collect();
            items.prop_map(Value::Row).boxed()
        }
        _ => Just(Value::Null).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 6 => some].boxed()
}

fn ints(least: i64, most: i64) -> BoxedStrategy<Value> {
    prop_oneof![4 => -3i64..4, 1 => Just(least), 1 => Just(most)].prop_map(Value::Int).boxed()
}

/// Rows of columns of these types, of a random number.
pub fn rows(types: &[DataType], most: usize) -> BoxedStrategy<Vec<Vec<Value>>> {
    let row: Vec<_> = types.iter().map(value).collect();
    prop::collection::vec(row, 0..=most).boxed()
}

/// The columns of rows.
pub fn columns(types: &[DataType], rows: &[Vec<Value>]) -> Vec<ArrayRef> {
    let column = |(index, ty): (usize, &DataType)| {
        let values: Vec<_> = rows.iter().map(|row| row[index].clone()).collect();
        Value::to_array(&values, ty).unwrap()
    };
    types.iter().enumerate().map(column).collect()
}

/// The rows of columns.
pub fn rows_of(types: &[DataType], columns: &[ArrayRef], rows: usize) -> Vec<Vec<Value>> {
    let row = |row| {
        columns.iter().zip(types).map(|(c, ty)| Value::from_array(c, row, ty)).collect::<Vec<_>>()
    };
    (0..rows).map(row).collect()
}

/// A text that is equal for equal keys and different for different ones: NaN equals itself, and
/// `-0.0` differs from `0.0`.
pub fn identity(row: &[Value]) -> String {
    format!("{row:?}")
}
