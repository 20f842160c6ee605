//! Values for machines: what `--format jsonl` prints, and what the conformance corpora are written in.

use flott_types::text::value_to_string;
use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;
use serde_json::Value as Json;

/// A value as JSON: NULL is null, scalars are texts as `CAST(… AS STRING)` gives them, bytes are
/// `x'0aff'`, arrays and rows are arrays, maps and multisets are arrays of `[key, value]` sorted by
/// their text.
pub fn json_value(value: &Value, ty: &DataType, zone: &TimeZone) -> Json {
    match (value, &ty.root) {
        (Value::Null, _) => Json::Null,
        (Value::Array(items), TypeRoot::Array(element)) => {
            Json::Array(items.iter().map(|item| json_value(item, element, zone)).collect())
        }
        (Value::Row(items), root) => {
            let fields = root.row_fields().unwrap_or_default();
            let typed = items.iter().zip(fields);
            Json::Array(typed.map(|(v, field)| json_value(v, &field.data_type, zone)).collect())
        }
        (Value::Map(entries), TypeRoot::Map(key, item)) => json_entries(entries, key, item, zone),
        (Value::Map(entries), TypeRoot::Multiset(element)) => {
            json_entries(entries, element, &DataType::int(), zone)
        }
        (Value::Bytes(bytes), TypeRoot::Binary(_) | TypeRoot::Varbinary(_) | TypeRoot::Raw(_)) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Json::String(format!("x'{digits}'"))
        }
        _ => Json::String(value_to_string(value, ty, zone)),
    }
}

fn json_entries(
    entries: &[(Value, Value)],
    key: &DataType,
    item: &DataType,
    zone: &TimeZone,
) -> Json {
    let mut pairs: Vec<Json> = entries
        .iter()
        .map(|(k, v)| Json::Array(vec![json_value(k, key, zone), json_value(v, item, zone)]))
        .collect();
    pairs.sort_by_cached_key(Json::to_string);
    Json::Array(pairs)
}

/// A value as people read it: NULL as `NULL`, all else as `CAST(… AS STRING)` gives it.
pub fn value_text(value: &Value, ty: &DataType, zone: &TimeZone) -> String {
    match (value, &ty.root) {
        (Value::Bytes(_), _) => match json_value(value, ty, zone) {
            Json::String(text) => text,
            other => other.to_string(),
        },
        _ => value_to_string(value, ty, zone),
    }
}
