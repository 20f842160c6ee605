//! MATCH_RECOGNIZE.

use std::fmt::Write;

use flott_types::Schema;

use super::{column_names, names};
use crate::matching::Match;

/// The operator as one line; `fields` are its columns.
pub(super) fn text(pattern: &Match, below: &Schema, fields: &[String]) -> String {
    let columns = column_names(below);
    let mut text = String::from("Match(");
    if !pattern.partition.is_empty() {
        let _ = write!(text, "partitionBy=[{}], ", names(below, &pattern.partition));
    }
    let order = pattern.order.iter().map(|key| {
        let direction = if key.descending { "DESC" } else { "ASC" };
        format!("{} {direction}", columns[key.column])
    });
    let _ = write!(text, "orderBy=[{}]", order.collect::<Vec<_>>().join(", "));
    let measures = pattern.measures.iter().zip(&fields[pattern.partition.len()..]);
    let measures =
        measures.map(|(measure, name)| format!("{} AS {name}", pattern.display(measure, &columns)));
    let _ = write!(text, ", measures=[{}]", measures.collect::<Vec<_>>().join(", "));
    let _ = write!(text, ", after=[{}]", pattern.skip_text());
    let _ = write!(text, ", pattern=[{}]", pattern.pattern_text());
    if let Some(within) = pattern.within {
        let _ = write!(text, ", within=[{within} ms]");
    }
    let defined = pattern.variables.iter().filter_map(|variable| {
        let condition = pattern.display(variable.condition.as_ref()?, &columns);
        Some(format!("{} AS {condition}", variable.name))
    });
    let _ = write!(text, ", define=[{}])", defined.collect::<Vec<_>>().join(", "));
    text
}
