//! When two answers are the same.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// How much two floating-point values may differ.
#[derive(Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Not at all.
    Exact,
    /// By one unit in the last place.
    LastDigit,
    /// By 1e-9 of the value.
    Relative,
}

/// Whether two rendered values of a type are equal; FLOAT and DOUBLE are compared as numbers.
pub fn same_value(ours: &Json, flinks: &Json, ty: &str, tolerance: Tolerance) -> bool {
    if ours == flinks {
        return true;
    }
    if !ty.contains("DOUBLE") && !ty.contains("FLOAT") {
        return false;
    }
    match (ours, flinks) {
        (Json::String(a), Json::String(b)) => same_number(a, b, ty.contains("FLOAT"), tolerance),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b, ty, tolerance))
        }
        _ => false,
    }
}

fn same_number(a: &str, b: &str, single: bool, tolerance: Tolerance) -> bool {
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else { return false };
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    if single && x as f32 == y as f32 && x.is_sign_negative() == y.is_sign_negative() {
        return true;
    }
    match tolerance {
        _ if x == y => x.is_sign_negative() == y.is_sign_negative(),
        Tolerance::Exact => false,
        Tolerance::LastDigit => x.next_up() == y || x.next_down() == y,
        Tolerance::Relative => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()),
    }
}

/// The rows that remain after a changelog, sorted by text. A row taken back more often than it
/// was given is an error.
pub fn fold(rows: &[(String, Vec<Json>)]) -> Result<Vec<Vec<Json>>, String> {
    let mut bag: BTreeMap<String, (i64, Vec<Json>)> = BTreeMap::new();
    for (kind, values) in rows {
        let entry = bag
            .entry(serde_json::to_string(values).unwrap())
            .or_insert_with(|| (0, values.clone()));
        entry.0 += if kind == "+I" || kind == "+U" { 1 } else { -1 };
    }
    let mut result = Vec::new();
    for (text, (count, values)) in bag {
        if count < 0 {
            return Err(format!("a row is taken back that was never given: {text}"));
        }
        result.extend(std::iter::repeat_n(values, count as usize));
    }
    Ok(result)
}
