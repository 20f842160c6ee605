//! What Flink answers, and the laws of accumulators, for all functions.

use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;

use super::testing::{Rows, accumulator, arg, call, to_values};
use super::{Accumulator, AggregateSpec};
use crate::Arg;

/// A call of `name` over one column, in one group.
fn one_column(name: &str, ty: &DataType, values: &[Value]) -> (String, Value) {
    let spec = call(name, vec![arg(ty.clone())], &[], false);
    let rows = Rows {
        groups: vec![0; values.len()],
        signs: vec![1; values.len()],
        args: values.iter().map(|value| vec![value.clone()]).collect(),
    };
    let mut accumulator = accumulator(&spec, 1);
    rows.with_input(&spec, |input| accumulator.update(input)).unwrap();
    let result = to_values(&accumulator.values(&[0]).unwrap(), &spec.returns).remove(0);
    (spec.returns.summary(), result)
}

#[test]
fn results_are_flinks() {
    use Value::{Decimal, Double, Float, Int, Null};
    let (tiny, small) = (TypeRoot::TinyInt.nullable(), TypeRoot::SmallInt.nullable());
    let (int, big) = (DataType::int(), DataType::bigint());
    let (float, double) = (TypeRoot::Float.nullable(), DataType::double());
    let decimal = DataType::decimal;
    let nines = 10i128.pow(38) - 1;
    let max = i64::from(i32::MAX);
    let cases: Vec<(&str, DataType, Vec<Value>, &str, Value)> = vec![
        ("SUM", tiny.clone(), vec![Int(100), Int(27), Int(1), Null], "TINYINT", Int(-128)),
        ("SUM", int.clone(), vec![Int(max), Int(1)], "INT", Int(i32::MIN.into())),
        ("SUM", int.clone(), vec![], "INT", Null),
        ("$SUM0", int.clone(), vec![], "INT", Int(0)),
        ("SUM", float.clone(), vec![Float(1.5), Float(2.25)], "FLOAT", Float(3.75)),
        ("SUM", decimal(5, 2), vec![Decimal(10025), Decimal(-1)], "DECIMAL(38, 2)", Decimal(10024)),
        ("SUM", decimal(38, 0), vec![Decimal(nines), Decimal(nines)], "DECIMAL(38, 0)", Null),
        (
            "SUM",
            decimal(38, 0),
            vec![Decimal(nines), Decimal(nines), Decimal(5)],
            "DECIMAL(38, 0)",
            Decimal(5),
        ),
        ("AVG", tiny.clone(), vec![Int(100), Int(27), Int(-3)], "TINYINT", Int(41)),
        ("AVG", int.clone(), vec![Int(-1), Int(-2)], "INT", Int(-1)),
        (
            "AVG",
            big.clone(),
            vec![Int(1000), Int(i64::MAX)],
            "BIGINT",
            Int(-4_611_686_018_427_387_404),
        ),
        (
            "AVG",
            decimal(2, 1),
            vec![Decimal(10), Decimal(20), Decimal(20)],
            "DECIMAL(38, 6)",
            Decimal(1_666_667),
        ),
        ("AVG", decimal(38, 0), vec![Decimal(nines)], "DECIMAL(38, 6)", Null),
        ("STDDEV_SAMP", tiny.clone(), vec![Int(100), Int(-100)], "TINYINT", Int(-115)),
        ("VAR_POP", tiny, vec![Int(100), Int(-100)], "TINYINT", Int(16)),
        ("VAR_POP", small, vec![Int(30000), Int(-30000)], "SMALLINT", Int(-5888)),
        ("VAR_SAMP", int.clone(), vec![Int(max), Int(1), Int(2)], "INT", Int(max)),
        ("STDDEV_SAMP", int.clone(), vec![Int(max), Int(1), Int(2)], "INT", Int(1_239_850_260)),
        ("VAR_SAMP", int.clone(), vec![Int(1)], "INT", Null),
        ("STDDEV_POP", int.clone(), vec![Int(1)], "INT", Int(0)),
        (
            "STDDEV",
            decimal(3, 2),
            vec![Decimal(125), Decimal(350), Decimal(975)],
            "DECIMAL(38, 6)",
            Decimal(4_404_070),
        ),
        ("MIN", double, vec![Double(1.0), Double(f64::NAN)], "DOUBLE", Double(1.0)),
        ("FIRST_VALUE", int.clone(), vec![Null, Int(3), Int(4)], "INT", Int(3)),
        ("LAST_VALUE", int.clone(), vec![Int(3), Null], "INT", Int(3)),
        (
            "MAX",
            DataType::string(),
            vec![Value::string("b"), Value::string("中"), Value::string("abc")],
            "STRING",
            Value::string("中"),
        ),
        (
            "LISTAGG",
            DataType::string(),
            vec![Value::string("x"), Null, Value::string("")],
            "STRING",
            Value::string("x,"),
        ),
        (
            "JSON_ARRAYAGG",
            int.clone(),
            vec![Int(1), Null],
            "VARCHAR(2000) NOT NULL",
            Value::string("[1]"),
        ),
        ("JSON_ARRAYAGG", int.clone(), vec![], "VARCHAR(2000) NOT NULL", Value::string("[]")),
        (
            "ARRAY_AGG",
            int.clone(),
            vec![Int(1), Null],
            "ARRAY<INT>",
            Value::Array(vec![Int(1), Null]),
        ),
        ("ARRAY_AGG", int.clone(), vec![], "ARRAY<INT>", Null),
        (
            "COLLECT",
            int.clone(),
            vec![Int(1), Int(2), Null, Int(1)],
            "MULTISET<INT> NOT NULL",
            Value::Map(vec![(Int(1), Int(2)), (Int(2), Int(1))]),
        ),
        ("COLLECT", int, vec![], "MULTISET<INT> NOT NULL", Value::Map(vec![])),
        (
            "APPROX_COUNT_DISTINCT",
            big,
            vec![Int(1), Int(2), Int(2), Null],
            "BIGINT NOT NULL",
            Int(2),
        ),
    ];
    for (name, ty, values, returns, expected) in cases {
        let result = one_column(name, &ty, &values);
        assert_eq!(result, (returns.to_string(), expected), "{name} of {values:?}");
    }
}

#[test]
fn arguments_that_flink_refuses_are_refused() {
    for (name, ty) in [
        ("SUM", DataType::boolean()),
        ("AVG", DataType::string()),
        ("MIN", DataType::array(DataType::int())),
        ("MAX", TypeRoot::IntervalDayTime.nullable()),
        ("MIN", DataType::bytes()),
        ("LISTAGG", DataType::int()),
        ("JSON_ARRAYAGG", TypeRoot::Date.nullable()),
        ("SUM", DataType::null()),
        ("PERCENTILE", DataType::int()),
    ] {
        let function = crate::aggregate_function(name).unwrap();
        let args = crate::CallArgs {
            name: name.into(),
            args: vec![arg(ty.clone())],
            symbols: Vec::new(),
            returning: None,
        };
        assert!((function.resolve)(&args, false).is_err(), "{name}({ty})");
    }
}

#[test]
fn a_key_of_an_object_comes_once() {
    let spec =
        call("JSON_OBJECTAGG", vec![arg(DataType::string()), arg(DataType::int())], &[], true);
    let row = |name: &str, sign| (vec![Value::string(name), Value::Int(1)], sign);
    let feed = |rows: Vec<(Vec<Value>, i8)>| {
        let (args, signs): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let rows = Rows { groups: vec![0; args.len()], signs, args };
        let mut accumulator = accumulator(&spec, 1);
        rows.with_input(&spec, |input| accumulator.update(input))?;
        Ok::<_, crate::EvalError>(to_values(&accumulator.values(&[0])?, &spec.returns).remove(0))
    };
    let sorted = Value::string("{\"a\":1,\"b\":1}");
    assert_eq!(feed(vec![row("b", 1), row("a", 1)]), Ok(sorted));
    assert!(feed(vec![row("b", 1), row("b", 1)]).is_err());
    let again = Value::string("{\"b\":1}");
    assert_eq!(feed(vec![row("b", 1), row("b", -1), row("b", 1)]), Ok(again));
}

#[test]
fn a_sub_query_gives_one_row() {
    assert_eq!(one_column("SINGLE_VALUE", &DataType::int(), &[Value::Int(4)]).1, Value::Int(4));
    let spec = call("SINGLE_VALUE", vec![arg(DataType::int())], &[], false);
    let rows = Rows {
        groups: vec![0, 0],
        signs: vec![1, 1],
        args: vec![vec![Value::Int(1)], vec![Value::Int(1)]],
    };
    let mut accumulator = accumulator(&spec, 1);
    assert!(rows.with_input(&spec, |input| accumulator.update(input)).is_err());
}

/// The calls that the laws are checked for.
fn calls(retracts: bool) -> Vec<AggregateSpec> {
    let types = [
        DataType::int(),
        DataType::bigint(),
        DataType::decimal(10, 2),
        DataType::string(),
        DataType::boolean(),
        DataType::timestamp(9),
        DataType::array(DataType::int()),
    ];
    let mut specs = Vec::new();
    for ty in types {
        let names: &[&str] = match ty.root {
            TypeRoot::Int | TypeRoot::BigInt | TypeRoot::Decimal { .. } => &[
                "COUNT",
                "SUM",
                "$SUM0",
                "AVG",
                "MIN",
                "MAX",
                "FIRST_VALUE",
                "LAST_VALUE",
                "COLLECT",
                "ARRAY_AGG",
                "JSON_ARRAYAGG",
            ],
            TypeRoot::Varchar(_) => &[
                "COUNT",
                "MIN",
                "MAX",
                "FIRST_VALUE",
                "LAST_VALUE",
                "COLLECT",
                "ARRAY_AGG",
                "LISTAGG",
            ],
            TypeRoot::Array(_) => &["COUNT", "FIRST_VALUE", "LAST_VALUE", "COLLECT", "ARRAY_AGG"],
            _ => &["COUNT", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "COLLECT", "ARRAY_AGG"],
        };
        for name in names {
            specs.push(call(name, vec![arg(ty.clone())], &[], retracts));
        }
    }
    let half = Arg { literal: None, ..arg(DataType::double().not_null()) };
    specs.push(call("PERCENTILE", vec![arg(DataType::int()), half], &[], retracts));
    specs.push(call("ARRAY_AGG", vec![arg(DataType::int())], &["IGNORE NULLS"], retracts));
    specs.push(call("JSON_ARRAYAGG", vec![arg(DataType::int())], &["NULL"], retracts));
    for name in ["BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG"] {
        specs.push(call(name, vec![arg(DataType::int())], &[], retracts));
    }
    specs
}

/// A value of a type out of few.
fn value(ty: &DataType, number: u8) -> Value {
    if number == 0 && ty.nullable {
        return Value::Null;
    }
    match &ty.root {
        TypeRoot::Varchar(_) => Value::string("x".repeat(usize::from(number % 4))),
        TypeRoot::Boolean => Value::Boolean(number.is_multiple_of(2)),
        TypeRoot::Decimal { .. } => Value::Decimal(i128::from(number) * 7 - 9),
        TypeRoot::Double => Value::Double(0.5),
        TypeRoot::Timestamp(_) => Value::Timestamp(i128::from(number) * 1_000_000_007),
        TypeRoot::Array(_) => Value::Array(vec![Value::Int(number.into()), Value::Null]),
        _ => Value::Int(i64::from(number) - 2),
    }
}

/// Rows for a call; rows that are taken back were added before.
fn rows(spec: &AggregateSpec, choices: &[(u8, u8, u8)]) -> Rows {
    let mut rows = Rows::default();
    let mut live: Vec<(u32, Vec<Value>)> = Vec::new();
    for (group, number, action) in choices {
        let back = spec.retracts && action % 3 == 0 && !live.is_empty();
        let (group, args, sign) = if back {
            let (group, args) = live.remove(usize::from(*number) % live.len());
            (group, args, -1)
        } else {
            let args: Vec<_> =
                spec.args.args.iter().map(|arg| value(&arg.data_type, *number % 6)).collect();
            let sign = i8::from(action % 7 != 1);
            if sign == 1 {
                live.push((u32::from(*group % 3), args.clone()));
            }
            (u32::from(*group % 3), args, sign)
        };
        rows.groups.push(group);
        rows.signs.push(sign);
        rows.args.push(args);
    }
    rows
}

fn snapshot(accumulator: &dyn Accumulator, spec: &AggregateSpec) -> Vec<Value> {
    to_values(&accumulator.values(&[0, 1, 2]).unwrap(), &spec.returns)
}

fn sorted(mut value: Value) -> Value {
    if let Value::Map(entries) = &mut value {
        entries.sort_by_key(|entry| format!("{entry:?}"));
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn accumulators_keep_their_laws(
        choices in prop::collection::vec(any::<(u8, u8, u8)>(), 0..40),
        cut in any::<prop::sample::Index>(),
        retracts in any::<bool>(),
    ) {
        for spec in calls(retracts) {
            let rows = rows(&spec, &choices);
            let name = &spec.args.name;
            let count = rows.groups.len();
            let mut one_by_one = accumulator(&spec, 3);
            let (mut pairs, mut changes) = (Vec::new(), Vec::new());
            for row in 0..count {
                let group = rows.groups[row];
                let before = to_values(&one_by_one.values(&[group]).unwrap(), &spec.returns).remove(0);
                let single = rows.slice(row..row + 1);
                single.with_input(&spec, |input| one_by_one.update(input)).unwrap();
                let after = to_values(&one_by_one.values(&[group]).unwrap(), &spec.returns).remove(0);
                changes.push(before != after);
                pairs.extend([before, after]);
            }
            // A batch is its rows.
            let mut batch = accumulator(&spec, 3);
            let mut changed = vec![false; count];
            let both =
                rows.with_input(&spec, |input| batch.update_with_changes(input, &mut changed)).unwrap();
            prop_assert_eq!(&to_values(&both, &spec.returns), &pairs, "{}", name);
            prop_assert_eq!(&changed, &changes, "{}", name);
            let end = snapshot(&*one_by_one, &spec);
            prop_assert_eq!(&snapshot(&*batch, &spec), &end, "{}", name);
            // Taking back is never having added.
            if spec.retracts {
                let mut kept = rows.clone();
                for row in (0..count).filter(|row| rows.signs[*row] == -1) {
                    let same = |at: &usize| {
                        kept.signs[*at] == 1
                            && kept.groups[*at] == rows.groups[row]
                            && kept.args[*at] == rows.args[row]
                    };
                    let first = (0..row).find(same).unwrap();
                    kept.signs[first] = 0;
                    kept.signs[row] = 0;
                }
                let mut fresh = accumulator(&spec, 3);
                kept.with_input(&spec, |input| fresh.update(input)).unwrap();
                let left = snapshot(&*fresh, &spec).into_iter().map(sorted).collect::<Vec<_>>();
                let right = end.iter().cloned().map(sorted).collect::<Vec<_>>();
                prop_assert_eq!(left, right, "{}", name);
            }
            // States of the two halves are the state of the whole, unless a half takes back what
            // the other added.
            let cut = cut.index(count + 1);
            let mut first = accumulator(&spec, 3);
            rows.slice(0..cut).with_input(&spec, |input| first.update(input)).unwrap();
            let mut restored = accumulator(&spec, 3);
            restored.merge_state(&[0, 1, 2], &first.state(&[0, 1, 2]).unwrap()).unwrap();
            prop_assert_eq!(snapshot(&*restored, &spec), snapshot(&*first, &spec), "{}", name);
            rows.slice(cut..count).with_input(&spec, |input| restored.update(input)).unwrap();
            prop_assert_eq!(snapshot(&*restored, &spec), end.clone(), "{}", name);
            if !spec.retracts {
                let mut second = accumulator(&spec, 3);
                rows.slice(cut..count).with_input(&spec, |input| second.update(input)).unwrap();
                first.merge(&[0, 1, 2], &*second, &[0, 1, 2]).unwrap();
                prop_assert_eq!(snapshot(&*first, &spec), end, "{}", name);
            }
            // Reset groups are as new.
            restored.reset(&[0, 1, 2]);
            let new = accumulator(&spec, 3);
            prop_assert_eq!(snapshot(&*restored, &spec), snapshot(&*new, &spec), "{}", name);
        }
    }
}
