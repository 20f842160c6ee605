//! The queries, one file each below `queries/`.

use std::path::Path;

use crate::BenchError;

const QUERIES: &[(&str, &str)] = &[
    ("q0", include_str!("../queries/q0.sql")),
    ("q1", include_str!("../queries/q1.sql")),
    ("q2", include_str!("../queries/q2.sql")),
    ("agg", include_str!("../queries/agg.sql")),
];

/// The queries of these names, or all.
pub fn named(names: &[String]) -> Result<Vec<(&'static str, &'static str)>, BenchError> {
    if names.is_empty() {
        return Ok(QUERIES.to_vec());
    }
    let find = |name: &String| {
        QUERIES.iter().find(|(known, _)| known == name).copied().ok_or_else(|| {
            let known: Vec<&str> = QUERIES.iter().map(|(known, _)| *known).collect();
            BenchError::NoQuery(name.clone(), known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// The tables over files below `data`.
pub fn tables(data: &Path, format: &str) -> String {
    include_str!("../queries/tables.sql")
        .replace("${DATA}", &data.display().to_string())
        .replace("${FORMAT}", format)
}
