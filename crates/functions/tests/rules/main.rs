//! Rules of casts, arithmetic, comparison and JSON, in tables and against models.

#![allow(clippy::unwrap_used, clippy::expect_used)] // Tests may end so.

mod arithmetic;
mod calendar;
mod casts;
mod coercion;
mod comparison;
mod decimal;
mod json;
mod lazy;
mod nested;
mod strings;

use flott_functions::{CastMode, EvalContext, Evaluator, Expr, SessionSettings};
use flott_types::{DataType, Value};

/// The value of an expression without columns, as text; the error's text if it fails.
pub fn value(expr: Expr) -> Result<String, String> {
    value_in(expr, &SessionSettings::default())
}

/// The value under settings.
pub fn value_in(expr: Expr, settings: &SessionSettings) -> Result<String, String> {
    let text = cast(expr, &DataType::string());
    let evaluator = Evaluator::new(&text, settings).map_err(|error| error.to_string())?;
    let value = evaluator.evaluate_constant(0).map_err(|error| error.to_string())?;
    Ok(value.as_str().map_or("NULL".into(), str::to_string))
}

/// The same expression over columns that hold its literals in their first and last row and NULL in
/// between: nothing is constant.
pub fn value_of_columns(expr: Expr) -> Result<String, String> {
    let mut columns = Vec::new();
    let expr = cast(expr, &DataType::string()).transform(&mut |node| match node {
        Expr::Literal { value, data_type } => {
            let rows = [value.clone(), Value::Null, value];
            columns.push(Value::to_array(&rows, &data_type).expect("a literal of its type"));
            Expr::column(columns.len() - 1, data_type)
        }
        other => other,
    });
    let evaluator =
        Evaluator::new(&expr, &SessionSettings::default()).map_err(|e| e.to_string())?;
    let array = evaluator.evaluate(&columns, &EvalContext::new(3, 0)).map_err(|e| e.to_string())?;
    let value = |row| Value::from_array(&array, row, &DataType::string());
    assert_eq!(value(0), value(2), "{expr}");
    Ok(value(0).as_str().map_or("NULL".into(), str::to_string))
}

/// `CAST(expr AS to)`.
pub fn cast(expr: Expr, to: &DataType) -> Expr {
    let nullable = expr.data_type().nullable;
    if expr.data_type().same_root(to) {
        return expr;
    }
    Expr::Cast {
        input: Box::new(expr),
        mode: CastMode::Strict,
        data_type: to.clone().with_nullable(nullable),
    }
}

/// A text as a value of a type: `CAST('…' AS type)`.
pub fn literal(text: &str, ty: &DataType) -> Expr {
    cast(Expr::literal(Value::string(text), DataType::string().not_null()), ty)
}

/// A call of a built-in.
pub fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::builtin(name, args).unwrap_or_else(|error| panic!("{name}: {error}"))
}
