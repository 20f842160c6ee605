//! Scalar expressions over batches of 8192 rows, compiled once: rows a second.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array, StringArray, TimestampMillisecondArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flott_functions::{CastMode, EvalContext, Evaluator, Expr, SessionSettings};
use flott_types::{DataType, TypeRoot, Value};

const ROWS: usize = 8192;

/// The columns that the expressions read.
struct Rows {
    columns: Vec<ArrayRef>,
}

impl Rows {
    fn new() -> Self {
        let numbers = (0..ROWS as i64).map(|row| row * 7919 % 10_007);
        let text = |of: fn(usize) -> String| -> ArrayRef {
            Arc::new((0..ROWS).map(|row| Some(of(row))).collect::<StringArray>())
        };
        let decimals = Decimal128Array::from_iter_values(numbers.clone().map(i128::from));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(numbers.clone())),
            Arc::new(Int64Array::from_iter_values(numbers.clone().map(|n| n % 97 + 1))),
            Arc::new(decimals.with_precision_and_scale(10, 2).unwrap()),
            text(|row| (row * 31 % 100_000).to_string()),
            text(|row| {
                format!("2024-{:02}-{:02} {:02}:15:30.125", row % 12 + 1, row % 28 + 1, row % 24)
            }),
            Arc::new(TimestampMillisecondArray::from_iter_values(
                numbers.map(|n| 1_700_000_000_000 + n * 86_399_000),
            )),
            text(|row| {
                format!("https://www.nexmark.com/{}/item.htm?query=1&channel_id={row}", row % 7)
            }),
            text(|row| {
                format!(
                    "{{\"id\": {row}, \"user\": {{\"name\": \"u{row}\", \"tags\": [1, 2, 3]}}}}"
                )
            }),
        ];
        Self { columns }
    }
}

fn column(index: usize) -> Expr {
    let types = [
        DataType::bigint(),
        DataType::bigint(),
        DataType::decimal(10, 2),
        DataType::string(),
        DataType::string(),
        DataType::timestamp(3),
        DataType::string(),
        DataType::string(),
    ];
    Expr::column(index, types[index].clone())
}

fn int(number: i64) -> Expr {
    Expr::literal(Value::Int(number), TypeRoot::Int.not_null())
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::builtin(name, args).unwrap()
}

fn cast(input: Expr, to: DataType) -> Expr {
    Expr::Cast { input: Box::new(input), mode: CastMode::Strict, data_type: to }
}

fn json_value(path: &str) -> Expr {
    let null = || Expr::null(DataType::string());
    let function = flott_functions::scalar_function("JSON_VALUE").unwrap();
    let args = vec![column(7), Expr::string(path), null(), null()];
    Expr::call(function, args, vec!["NULL".into(), "NULL".into()], None).unwrap()
}

fn expressions() -> Vec<(&'static str, Expr)> {
    let decimal = || column(2);
    vec![
        ("BIGINT a + b * 3", call("+", vec![column(0), call("*", vec![column(1), int(3)])])),
        ("BIGINT a % b", call("%", vec![column(0), column(1)])),
        ("DECIMAL a + b", call("+", vec![decimal(), decimal()])),
        ("DECIMAL a * b", call("*", vec![decimal(), decimal()])),
        ("DECIMAL a / 3", call("/", vec![decimal(), int(3)])),
        (
            "a > 5000 AND b < 50",
            Expr::And(vec![
                call(">", vec![column(0), int(5000)]),
                call("<", vec![column(1), int(50)]),
            ]),
        ),
        ("CAST string AS BIGINT", cast(column(3), DataType::bigint())),
        ("CAST string AS DECIMAL", cast(column(3), DataType::decimal(10, 2))),
        ("CAST string AS TIMESTAMP", cast(column(4), DataType::timestamp(3))),
        ("CAST BIGINT AS STRING", cast(column(0), DataType::string())),
        ("DATE_FORMAT", call("DATE_FORMAT", vec![column(5), Expr::string("yyyy-MM-dd HH:mm")])),
        ("LIKE '%item%'", call("LIKE", vec![column(6), Expr::string("%item%")])),
        ("LIKE 'https%'", call("LIKE", vec![column(6), Expr::string("https%")])),
        (
            "REGEXP_EXTRACT",
            call(
                "REGEXP_EXTRACT",
                vec![column(6), Expr::string("(&|^)channel_id=([^&]*)"), int(2)],
            ),
        ),
        ("SPLIT_INDEX", call("SPLIT_INDEX", vec![column(6), Expr::string("/"), int(3)])),
        ("UPPER", call("UPPER", vec![column(6)])),
        ("SUBSTRING", call("SUBSTRING", vec![column(6), int(9), int(15)])),
        ("JSON_VALUE", json_value("$.user.name")),
    ]
}

fn evaluate(c: &mut Criterion) {
    let rows = Rows::new();
    let settings = SessionSettings::default();
    let context = EvalContext::new(ROWS, 0);
    let mut group = c.benchmark_group("expressions");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(20);
    for (title, expr) in expressions() {
        let evaluator = Evaluator::new(&expr, &settings).unwrap();
        group.bench_function(title, |b| {
            b.iter(|| black_box(evaluator.evaluate_column(&rows.columns, &context).unwrap()));
        });
    }
    group.finish();
}

fn filter(c: &mut Criterion) {
    let rows = Rows::new();
    let condition = call(">", vec![column(0), int(5000)]);
    let evaluator = Evaluator::new(&condition, &SessionSettings::default()).unwrap();
    let context = EvalContext::new(ROWS, 0);
    let mut group = c.benchmark_group("filter");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(20);
    group.bench_function("a > 5000, taken from three columns", |b| {
        b.iter(|| {
            let chosen = evaluator.evaluate_filter(&rows.columns, &context).unwrap();
            for column in &rows.columns[..3] {
                black_box(arrow::compute::filter(column, &chosen).unwrap());
            }
        });
    });
    group.finish();
}

criterion_group!(benches, evaluate, filter);
criterion_main!(benches);
