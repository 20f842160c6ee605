//! The queries, one file each below `queries/`.

use std::path::Path;

use crate::BenchError;

const QUERIES: &[(&str, &str)] = &[
    ("q0", include_str!("../queries/q0.sql")),
    ("q1", include_str!("../queries/q1.sql")),
    ("q2", include_str!("../queries/q2.sql")),
    ("q3", include_str!("../queries/q3.sql")),
    ("q4", include_str!("../queries/q4.sql")),
    ("q5", include_str!("../queries/q5.sql")),
    ("q6", include_str!("../queries/q6.sql")),
    ("q7", include_str!("../queries/q7.sql")),
    ("q7w", include_str!("../queries/q7w.sql")),
    ("q8", include_str!("../queries/q8.sql")),
    ("q9", include_str!("../queries/q9.sql")),
    ("q10", include_str!("../queries/q10.sql")),
    ("q11", include_str!("../queries/q11.sql")),
    ("q12", include_str!("../queries/q12.sql")),
    ("q13", include_str!("../queries/q13.sql")),
    ("q14", include_str!("../queries/q14.sql")),
    ("q15", include_str!("../queries/q15.sql")),
    ("q16", include_str!("../queries/q16.sql")),
    ("q17", include_str!("../queries/q17.sql")),
    ("q18", include_str!("../queries/q18.sql")),
    ("q19", include_str!("../queries/q19.sql")),
    ("q20", include_str!("../queries/q20.sql")),
    ("q21", include_str!("../queries/q21.sql")),
    ("q22", include_str!("../queries/q22.sql")),
    ("agg", include_str!("../queries/agg.sql")),
];

/// Where the tables come from.
pub enum Tables<'a> {
    /// From files below a folder.
    Files {
        /// The folder.
        data: &'a Path,
        /// `json` or `csv`.
        format: &'a str,
    },
    /// From the connector `nexmark`.
    Generated {
        /// How many events there are.
        events: u64,
    },
    /// From topics that `generate --kafka` has filled.
    Kafka {
        /// Its address.
        server: &'a str,
    },
}

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

/// The script of a query over tables; what it writes goes below `out`.
pub fn script(tables: &Tables, query: &str, out: &Path) -> String {
    let tables = match tables {
        Tables::Files { data, format } => include_str!("../queries/tables.sql")
            .replace("${DATA}", &data.display().to_string())
            .replace("${FORMAT}", format),
        Tables::Generated { events } => include_str!("../queries/tables-generated.sql")
            .replace("${EVENTS}", &events.to_string()),
        Tables::Kafka { server } => {
            include_str!("../queries/tables-kafka.sql").replace("${SERVER}", server)
        }
    };
    tables + &query.replace("${OUT}", &out.display().to_string())
}
