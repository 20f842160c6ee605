//! Calls on constants and on columns give the same; sets agree with a naive model.

use std::sync::Arc;

use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;

use crate::{EvalContext, Evaluator, Expr, SessionSettings, scalar_function};

fn int(value: i64) -> Value {
    Value::Int(value)
}

fn ints(values: &[Option<i64>]) -> Value {
    Value::Array(values.iter().map(|value| value.map_or(Value::Null, Value::Int)).collect())
}

fn int_array() -> DataType {
    DataType::array(DataType::int())
}

/// Evaluates a call on one row twice: over constants, and over columns that hold the same.
fn call(name: &str, args: &[(Value, DataType)]) -> Result<Value, String> {
    let function = scalar_function(name).ok_or("no such function")?;
    let constants: Vec<Expr> =
        args.iter().map(|(value, ty)| Expr::literal(value.clone(), ty.clone())).collect();
    let columns: Vec<Expr> =
        args.iter().enumerate().map(|(i, (_, ty))| Expr::column(i, ty.clone())).collect();
    let arrays: Vec<_> = args
        .iter()
        .map(|(value, ty)| Value::to_array(std::slice::from_ref(value), ty).unwrap())
        .collect();
    let mut results = [constants, columns].into_iter().map(|args| {
        let expr = Expr::call(function, args, vec![], None).map_err(|e| e.to_string())?;
        let evaluator =
            Evaluator::new(&expr, &SessionSettings::default()).map_err(|e| e.to_string())?;
        let array = evaluator
            .evaluate(&arrays, &EvalContext::new(1, 0))
            .map_err(|error| error.to_string())?;
        Ok(Value::from_array(&array, 0, &expr.data_type()))
    });
    let (first, second): (Result<Value, String>, _) =
        (results.next().unwrap(), results.next().unwrap());
    assert_eq!(first, second, "{name} of constants and of columns");
    first
}

fn of_array(name: &str, array: &[Option<i64>]) -> Value {
    call(name, &[(ints(array), int_array())]).unwrap()
}

#[test]
fn slices_count_from_both_ends() {
    let array = ints(&[Some(1), Some(2), Some(3), Some(4)]);
    for (start, end, expected) in [
        (2, 3, vec![2, 3]),
        (0, 2, vec![1, 2]),
        (-2, -1, vec![3, 4]),
        (-9, 2, vec![1, 2]),
        (3, 2, vec![]),
        (5, 9, vec![]),
        (1, 0, vec![1]),
        (i64::from(i32::MIN), i64::from(i32::MAX), vec![1, 2, 3, 4]),
    ] {
        let args = [
            (array.clone(), int_array()),
            (int(start), DataType::int()),
            (int(end), DataType::int()),
        ];
        let expected = Value::Array(expected.into_iter().map(int).collect());
        assert_eq!(call("ARRAY_SLICE", &args), Ok(expected), "{start} {end}");
    }
}

#[test]
fn nulls_are_elements() {
    let with_null = [Some(1), None, Some(2), None];
    let null = (Value::Null, DataType::int());
    let array = (ints(&with_null), int_array());
    let of = |name: &str| call(name, &[array.clone(), null.clone()]).unwrap();
    assert_eq!(of("ARRAY_CONTAINS"), Value::Boolean(true));
    assert_eq!(of("ARRAY_POSITION"), Value::Null);
    assert_eq!(of("ARRAY_REMOVE"), ints(&[Some(1), Some(2)]));
    assert_eq!(of("ARRAY_PREPEND"), ints(&[None, Some(1), None, Some(2), None]));
    assert_eq!(of_array("ARRAY_DISTINCT", &with_null), ints(&[Some(1), None, Some(2)]));
    assert_eq!(of_array("ARRAY_SORT", &with_null), ints(&[None, None, Some(1), Some(2)]));
    assert_eq!(of_array("ARRAY_MAX", &with_null), int(2));
    assert_eq!(of_array("ARRAY_MIN", &[]), Value::Null);
    assert_eq!(call("ARRAY_REVERSE", &[(Value::Null, int_array())]), Ok(Value::Null));
}

#[test]
fn floating_point_elements_follow_the_equals_sign() {
    let doubles = DataType::array(DataType::double());
    let of = |values: &[f64]| Value::Array(values.iter().map(|v| Value::Double(*v)).collect());
    let distinct = call("ARRAY_DISTINCT", &[(of(&[0.0, -0.0, 1.0, 1.0]), doubles.clone())]);
    assert_eq!(distinct, Ok(of(&[0.0, 1.0])));
    let nans = call("CARDINALITY", &[(of(&[f64::NAN, f64::NAN]), doubles.clone())]);
    assert_eq!(nans, Ok(int(2)));
    let sorted = call("ARRAY_MAX", &[(of(&[1.0, f64::NAN, 2.0]), doubles)]);
    assert_eq!(sorted, Ok(Value::Double(2.0)));
}

#[test]
fn the_last_entry_of_a_key_counts() {
    let arg = |value: i64| (int(value), DataType::int());
    let map = call("MAP", &[arg(1), arg(10), arg(2), arg(20), arg(1), arg(11)]).unwrap();
    // At the place of the first.
    assert_eq!(map, Value::Map(vec![(int(1), int(11)), (int(2), int(20))]));
    let ty = DataType::map(DataType::int(), DataType::int());
    let item = |key| call("ITEM", &[(map.clone(), ty.clone()), (key, DataType::int())]);
    assert_eq!(item(int(1)), Ok(int(11)));
    assert_eq!(item(int(3)), Ok(Value::Null));
    let union = call("MAP_UNION", &[(map.clone(), ty.clone()), (map.clone(), ty.clone())]);
    assert_eq!(union, Ok(map));
}

#[test]
fn lengths_and_places_are_checked() {
    let array = (ints(&[Some(1), Some(2)]), int_array());
    assert!(call("ELEMENT", std::slice::from_ref(&array)).is_err());
    let longer = (ints(&[Some(1)]), int_array());
    assert!(call("MAP_FROM_ARRAYS", &[array.clone(), longer]).is_err());
    let function = scalar_function("ITEM").unwrap();
    let args = |place: i64| {
        vec![
            Expr::literal(array.0.clone(), int_array()),
            Expr::literal(int(place), DataType::int()),
        ]
    };
    assert!(Expr::call(function, args(0), vec![], None).is_err());
    assert!(Expr::call(function, args(3), vec![], None).is_ok());
}

#[test]
fn objects_are_made_and_updated() {
    let text = |text: &str| (Value::string(text), TypeRoot::Char(text.len() as u32).not_null());
    let function = scalar_function("OBJECT_OF").unwrap();
    let literal = |(value, ty): (Value, DataType)| Expr::literal(value, ty);
    let one = || Expr::literal(int(1), DataType::int().not_null());
    let object = |class: &str| {
        let args = vec![literal(text(class)), literal(text("x")), one()];
        Expr::call(function, args, vec![], None)
    };
    assert!(object("1bad").is_err());
    let object = object("a.B").unwrap();
    let update = scalar_function("OBJECT_UPDATE").unwrap();
    let changed = |name: &str| {
        let args = vec![object.clone(), literal(text(name)), literal(text("new"))];
        Expr::call(update, args, vec![], None)
    };
    assert!(changed("y").is_err());
    let changed = changed("x").unwrap();
    assert_eq!(changed.data_type().to_string(), "STRUCTURED<'a.B', `x` CHAR(3) NOT NULL>");
    let value = Evaluator::new(&changed, &SessionSettings::default())
        .unwrap()
        .evaluate_constant(0)
        .unwrap();
    assert_eq!(value, Value::Row(vec![Value::String(Arc::from("new"))]));
}

proptest! {
    #[test]
    fn sets_agree_with_a_naive_model(
        left in prop::collection::vec(prop::option::of(0..6i64), 0..12),
        right in prop::collection::vec(prop::option::of(0..6i64), 0..12),
    ) {
        let unique = |values: &mut dyn Iterator<Item = Option<i64>>| {
            let mut seen: Vec<Option<i64>> = Vec::new();
            values.for_each(|value| if !seen.contains(&value) { seen.push(value) });
            ints(&seen)
        };
        let of = |name: &str| {
            call(name, &[(ints(&left), int_array()), (ints(&right), int_array())]).unwrap()
        };
        let both = left.iter().chain(&right).copied();
        prop_assert_eq!(of("ARRAY_UNION"), unique(&mut both.clone()));
        prop_assert_eq!(of("ARRAY_CONCAT"), ints(&both.collect::<Vec<_>>()));
        let mut only_left = left.iter().copied().filter(|v| !right.contains(v));
        prop_assert_eq!(of("ARRAY_EXCEPT"), unique(&mut only_left));
        let mut in_both = left.iter().copied().filter(|v| right.contains(v));
        prop_assert_eq!(of("ARRAY_INTERSECT"), unique(&mut in_both));
        prop_assert_eq!(of_array("ARRAY_DISTINCT", &left), unique(&mut left.iter().copied()));
    }
}
