//! JSON functions against what Flink 2.3.0's own classes answered.
//!
//! `tests/data/json.jsonl` has one call a line, written by hand or at random, with the answer of Flink's
//! `SqlJsonUtils` or `BinaryVariant`. Calls:
//!
//! - `["value", json, path]`: JSON_VALUE … DEFAULT '<EMPTY>' ON EMPTY ERROR ON ERROR
//! - `["query", json, path, wrapper]`: JSON_QUERY … EMPTY OBJECT ON EMPTY ERROR ON ERROR
//! - `["array", json, path, wrapper]`: JSON_QUERY … RETURNING ARRAY<STRING> NULL ON EMPTY ERROR ON ERROR
//! - `["exists", json, path]`: JSON_EXISTS … ERROR ON ERROR
//! - `["isjson", json]`: IS JSON, IS JSON OBJECT, IS JSON ARRAY, IS JSON SCALAR
//! - `["json", json]`: the text that JSON(…) stands for
//! - `["variant", json, duplicates]`: the text of PARSE_JSON(…)
//!
//! `JSON_CASES=FILE` runs another file of this form.

use std::sync::Arc;

use flott_functions::{Evaluator, Expr, SessionSettings, scalar_function};
use flott_types::{DataType, Value};
use serde_json::Value as Json;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/json.jsonl");

#[test]
fn json_functions_answer_as_flinks_classes_do() {
    let file = std::env::var("JSON_CASES").unwrap_or_else(|_| CASES.into());
    let mut differences = Vec::new();
    let mut cases = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let call: Vec<&str> =
            case["call"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let ours = answer(&call);
        let same = match (&ours, case.get("answer")) {
            (Ok(ours), Some(theirs)) => ours == theirs,
            (ours, _) => ours.is_err() && case.get("error").is_some(),
        };
        if !same {
            differences.push(format!("{line}\n  Flott: {ours:?}"));
        }
        cases += 1;
    }
    assert!(
        differences.is_empty(),
        "{} of {cases}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn answer(call: &[&str]) -> Result<Json, String> {
    let text = |text: &str| Expr::string(text);
    let wrapper = |name: &str| match name {
        "CONDITIONAL_ARRAY" => "CONDITIONAL",
        "UNCONDITIONAL_ARRAY" => "UNCONDITIONAL",
        _ => "WITHOUT",
    };
    match *call {
        ["value", json, path] => {
            let nothing = Expr::null(DataType::string());
            let args = vec![text(json), text(path), text("<EMPTY>"), nothing];
            evaluate(function("JSON_VALUE", args, &["DEFAULT", "ERROR"], None)?)
        }
        ["query", json, path, name] => {
            let symbols = [wrapper(name), "EMPTY OBJECT", "ERROR"];
            evaluate(function("JSON_QUERY", vec![text(json), text(path)], &symbols, None)?)
        }
        ["array", json, path, name] => {
            let symbols = [wrapper(name), "NULL", "ERROR"];
            let returning = DataType::array(DataType::string());
            let args = vec![text(json), text(path)];
            evaluate(function("JSON_QUERY", args, &symbols, Some(returning))?)
        }
        ["exists", json, path] => {
            evaluate(function("JSON_EXISTS", vec![text(json), text(path)], &["ERROR"], None)?)
        }
        ["isjson", json] => {
            let mut answers = Vec::new();
            for kind in ["VALUE", "OBJECT", "ARRAY", "SCALAR"] {
                let test = function(&format!("IS JSON {kind}"), vec![text(json)], &[], None)?;
                answers.push(evaluate(test)?.as_str().unwrap_or_default().to_string());
            }
            Ok(answers.join(" ").into())
        }
        ["json", json] => {
            let inner = function("JSON", vec![text(json)], &[], None)?;
            let array = evaluate(function("JSON_ARRAY", vec![inner], &["ABSENT"], None)?)?;
            let text = array.as_str().unwrap_or_default();
            let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            Ok(text.filter(|text| !text.is_empty()).into())
        }
        ["variant", json, duplicates] => {
            let args = vec![text(json), Expr::boolean(duplicates == "true")];
            let variant = function("PARSE_JSON", args, &[], None)?;
            evaluate(function("JSON_STRING", vec![variant], &[], None)?)
        }
        _ => Err(format!("unknown call {call:?}")),
    }
}

fn function(
    name: &str,
    args: Vec<Expr>,
    symbols: &[&str],
    returning: Option<DataType>,
) -> Result<Expr, String> {
    let function = scalar_function(name).ok_or("no such function")?;
    let symbols = symbols.iter().map(|symbol| Arc::from(*symbol)).collect();
    Expr::call(function, args, symbols, returning).map_err(|error| error.to_string())
}

fn evaluate(expr: Expr) -> Result<Json, String> {
    let evaluator =
        Evaluator::new(&expr, &SessionSettings::default()).map_err(|error| error.to_string())?;
    Ok(json(&evaluator.evaluate_constant(0).map_err(|error| error.to_string())?))
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => value.to_string().into(),
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => items.iter().map(json).collect(),
        other => format!("{other:?}").into(),
    }
}
