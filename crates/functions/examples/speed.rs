use arrow::array::*;
use flott_functions::*;
use flott_types::*;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
fn time(name: &str, rows: usize, mut f: impl FnMut()) {
    for _ in 0..50 {
        f();
    }
    let mut best = f64::MAX;
    for _ in 0..5 {
        let t = Instant::now();
        let n = 300;
        for _ in 0..n {
            f();
        }
        best = best.min(t.elapsed().as_secs_f64() / n as f64);
    }
    println!("{name:40} {:8.1} M rows/s", rows as f64 / best / 1e6);
}
fn run(name: &str, e: Expr, cols: &[ArrayRef], rows: usize) {
    let s = SessionSettings::default();
    let ev = Evaluator::new(&e, &s).unwrap();
    let ctx = EvalContext::new(rows, 0);
    time(name, rows, || {
        black_box(ev.evaluate(black_box(cols), &ctx).unwrap());
    });
}
fn main() {
    let n = 8192;
    let a: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..n as i64).map(|i| i * 7919 % 1000)));
    let b: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..n as i64).map(|i| i * 104729 % 1000)));
    let d1: ArrayRef = Arc::new(
        Decimal128Array::from_iter_values((0..n as i128).map(|i| i * 7919 % 100000))
            .with_precision_and_scale(10, 2)
            .unwrap(),
    );
    let f1: ArrayRef =
        Arc::new(Float64Array::from_iter_values((0..n).map(|i| (i * 7919 % 1000) as f64 + 0.25)));
    let strs: Vec<String> = (0..n).map(|i| format!("{}", i * 7919 % 100000)).collect();
    let s1: ArrayRef = Arc::new(StringArray::from(strs.clone()));
    let ts: ArrayRef = Arc::new(TimestampMillisecondArray::from_iter_values(
        (0..n as i64).map(|i| 1_700_000_000_000 + i * 1013),
    ));
    let tstr: Vec<String> = (0..n)
        .map(|i| {
            format!("2024-05-{:02} 07:{:02}:{:02}.{:03}", i % 28 + 1, i % 60, i % 59, i % 1000)
        })
        .collect();
    let t1: ArrayRef = Arc::new(StringArray::from(tstr));
    let cols = vec![a.clone(), b.clone(), d1, f1, s1, ts, t1];
    let bi = || DataType::bigint();
    let ca = || Expr::column(0, bi());
    let cb = || Expr::column(1, bi());
    let cd = || Expr::column(2, DataType::decimal(10, 2));
    let cf = || Expr::column(3, DataType::double());
    let cs = || Expr::column(4, DataType::string());
    let ct = || Expr::column(5, DataType::timestamp(3));
    let cts = || Expr::column(6, DataType::string());
    let lit = |v: i64| Expr::literal(Value::Int(v), bi().not_null());
    let call = |n: &str, args: Vec<Expr>| Expr::builtin(n, args).unwrap();
    let cast = |e: Expr, t: DataType| Expr::Cast {
        input: Box::new(e),
        mode: CastMode::Strict,
        data_type: t,
    };
    // plain loops
    {
        let (x, y) = (
            a.as_primitive::<arrow::datatypes::Int64Type>().values().clone(),
            b.as_primitive::<arrow::datatypes::Int64Type>().values().clone(),
        );
        time("plain loop a + b * 2", n, || {
            let v: Vec<i64> =
                x.iter().zip(y.iter()).map(|(a, b)| a.wrapping_add(b.wrapping_mul(2))).collect();
            black_box(v);
        });
        time("plain loop a > 500 bitmap", n, || {
            let v = arrow::buffer::BooleanBuffer::collect_bool(n, |i| x[i] > 500);
            black_box(v);
        });
    }
    run("a + b * 2", call("+", vec![ca(), call("*", vec![cb(), lit(2)])]), &cols, n);
    run("a > 500", call(">", vec![ca(), lit(500)]), &cols, n);
    run("a = b", call("=", vec![ca(), cb()]), &cols, n);
    run(
        "a > 500 AND b < 300",
        Expr::And(vec![call(">", vec![ca(), lit(500)]), call("<", vec![cb(), lit(300)])]),
        &cols,
        n,
    );
    run(
        "f > 2.5",
        call(">", vec![cf(), Expr::literal(Value::Double(2.5), DataType::double())]),
        &cols,
        n,
    );
    run("f * f + f", call("+", vec![call("*", vec![cf(), cf()]), cf()]), &cols, n);
    run("a / 7", call("/", vec![ca(), lit(7)]), &cols, n);
    run("a / b (zeros checked)", call("/", vec![ca(), call("+", vec![cb(), lit(1)])]), &cols, n);
    run("s = '500'", call("=", vec![cs(), Expr::string("500")]), &cols, n);
    run(
        "s IN (5)",
        call(
            "IN",
            vec![
                cs(),
                Expr::string("500"),
                Expr::string("501"),
                Expr::string("502"),
                Expr::string("503"),
                Expr::string("77"),
            ],
        ),
        &cols,
        n,
    );
    for k in [4, 8, 12, 20] {
        run(
            &format!("a IN ({k})"),
            call("IN", [ca()].into_iter().chain((0..k).map(|i| lit(i * 37))).collect()),
            &cols,
            n,
        );
    }
    run("d + d", call("+", vec![cd(), cd()]), &cols, n);
    run("d * d", call("*", vec![cd(), cd()]), &cols, n);
    run(
        "d / d",
        call(
            "/",
            vec![
                cd(),
                call(
                    "+",
                    vec![
                        cd(),
                        Expr::literal(Value::Decimal(100), DataType::decimal(10, 2).not_null()),
                    ],
                ),
            ],
        ),
        &cols,
        n,
    );
    run(
        "d > 100.00",
        call(
            ">",
            vec![cd(), Expr::literal(Value::Decimal(10000), DataType::decimal(10, 2).not_null())],
        ),
        &cols,
        n,
    );
    run("a BETWEEN 100 AND 500", call("BETWEEN", vec![ca(), lit(100), lit(500)]), &cols, n);
    run("CAST(s AS BIGINT)", cast(cs(), bi()), &cols, n);
    run("CAST(s AS DOUBLE)", cast(cs(), DataType::double()), &cols, n);
    run("CAST(s AS DECIMAL(10,2))", cast(cs(), DataType::decimal(10, 2)), &cols, n);
    run("CAST(a AS STRING)", cast(ca(), DataType::string()), &cols, n);
    run("CAST(f AS STRING)", cast(cf(), DataType::string()), &cols, n);
    run("CAST(d AS STRING)", cast(cd(), DataType::string()), &cols, n);
    run("CAST(a AS INT)", cast(ca(), DataType::int()), &cols, n);
    run("CAST(a AS DECIMAL(19,2))", cast(ca(), DataType::decimal(19, 2)), &cols, n);
    run("CAST(d AS DECIMAL(10,1))", cast(cd(), DataType::decimal(10, 1)), &cols, n);
    run("CAST(d AS DOUBLE)", cast(cd(), DataType::double()), &cols, n);
    run("CAST(f AS DECIMAL(10,2))", cast(cf(), DataType::decimal(10, 2)), &cols, n);
    run("CAST(ts AS STRING)", cast(ct(), DataType::string()), &cols, n);
    run("CAST(str AS TIMESTAMP(3))", cast(cts(), DataType::timestamp(3)), &cols, n);
    run("CAST(ts AS DATE)", cast(ct(), TypeRoot::Date.nullable()), &cols, n);
    run("CAST(ts3 AS TIMESTAMP(6))", cast(ct(), DataType::timestamp(6)), &cols, n);
    let s = SessionSettings {
        zone: jiff::tz::TimeZone::get("America/New_York").unwrap(),
        ..Default::default()
    };
    for (name, e) in [
        ("ts -> ltz NY", cast(ct(), DataType::timestamp_ltz(3))),
        ("ltz -> ts NY", cast(Expr::column(5, DataType::timestamp_ltz(3)), DataType::timestamp(3))),
        ("ltz -> string NY", cast(Expr::column(5, DataType::timestamp_ltz(3)), DataType::string())),
    ] {
        let ev = Evaluator::new(&e, &s).unwrap();
        let ctx = EvalContext::new(n, 0);
        time(name, n, || {
            black_box(ev.evaluate(&cols, &ctx).unwrap());
        });
    }
    run(
        "ts + INTERVAL '1' DAY",
        call(
            "+",
            vec![
                ct(),
                Expr::literal(Value::Millis(86400000), TypeRoot::IntervalDayTime.not_null()),
            ],
        ),
        &cols,
        n,
    );
    run(
        "ROUND(f, 1)",
        call("ROUND", vec![cf(), Expr::literal(Value::Int(1), DataType::int().not_null())]),
        &cols,
        n,
    );
    run(
        "CASE WHEN a > 500 THEN b ELSE 0",
        Expr::Case {
            branches: vec![(call(">", vec![ca(), lit(500)]), cb())],
            otherwise: Box::new(lit(0)),
            data_type: bi(),
        },
        &cols,
        n,
    );
}
