//! Options and checks that connectors share.

use flott_catalog::connector::{
    ConnectorDef, ConnectorError, OptionDef, OptionKind, Options, TableContext,
};
use flott_types::{ChangelogMode, RowKind};

/// Names the connector of a table.
pub(crate) const CONNECTOR: OptionDef =
    OptionDef::new("connector", OptionKind::Text, "the connector of the table").required();

/// Names the format of a table's records.
pub(crate) const FORMAT: OptionDef =
    OptionDef::new("format", OptionKind::Text, "the format of the records").required();

/// How many tasks read the table.
pub(crate) const SCAN_PARALLELISM: OptionDef = OptionDef::new(
    "scan.parallelism",
    OptionKind::Int,
    "number of tasks that read the table; the job's parallelism when absent",
);

/// How many tasks write the table.
pub(crate) const SINK_PARALLELISM: OptionDef = OptionDef::new(
    "sink.parallelism",
    OptionKind::Int,
    "number of tasks that write the table; that of the query's last step when absent",
);

/// What Flink accepts on every table. Watermark options are read by the planner.
pub(crate) const COMMON: &[OptionDef] = &[
    CONNECTOR,
    OptionDef::new("property-version", OptionKind::Int, "version of the options").default("1"),
    OptionDef::new(
        "scan.watermark.emit.strategy",
        OptionKind::Enum(&["on-periodic", "on-event"]),
        "when watermarks are given out: in intervals or after each row",
    )
    .default("on-periodic"),
    OptionDef::new(
        "scan.watermark.alignment.group",
        OptionKind::Text,
        "sources of one group wait for each other",
    ),
    OptionDef::new(
        "scan.watermark.alignment.max-drift",
        OptionKind::Duration,
        "how far a source of the group may run ahead of the slowest",
    ),
    OptionDef::new(
        "scan.watermark.alignment.update-interval",
        OptionKind::Duration,
        "how often the sources of a group compare their watermarks",
    )
    .default("1 s"),
    OptionDef::new(
        "scan.watermark.idle-timeout",
        OptionKind::Duration,
        "a source without rows for so long does not hold watermarks back",
    ),
    OptionDef::new(
        "attribute-domain",
        OptionKind::Text,
        "columns, separated by commas, whose values come from a domain that does not grow: state \
         kept for each of their values is bounded",
    ),
];

/// What changes a table holds or takes.
pub(crate) const CHANGELOG_MODE: OptionDef = OptionDef::new(
    "changelog-mode",
    OptionKind::Enum(&["insert-only", "upsert", "all"]),
    "what a record does to the table: 'upsert' replaces the row of its primary key; what the format \
     or the query says when absent",
);

/// The changelog that a table's options ask for, if they do.
pub(crate) fn changelog_mode(
    context: &TableContext,
) -> Result<Option<ChangelogMode>, ConnectorError> {
    let Some(mode) = context.options.text(&CHANGELOG_MODE) else { return Ok(None) };
    match mode.to_ascii_lowercase().as_str() {
        "insert-only" => Ok(Some(ChangelogMode::INSERT_ONLY)),
        "all" => Ok(Some(ChangelogMode::ALL)),
        _ if context.primary_key.is_empty() => Err(ConnectorError::new(
            "'changelog-mode' = 'upsert' finds rows by their key, but the table has no PRIMARY KEY",
        )
        .hint("declare PRIMARY KEY (…) NOT ENFORCED on the table")),
        _ => Ok(Some(ChangelogMode::UPSERT)),
    }
}

/// The changelog of a table whose format can do `format`, if its options ask for one.
pub(crate) fn changelog_mode_with(
    context: &TableContext,
    format: ChangelogMode,
) -> Result<ChangelogMode, ConnectorError> {
    let upserts = ChangelogMode::INSERT_ONLY.with(RowKind::UpdateAfter);
    match changelog_mode(context)? {
        None => Ok(format),
        // Records without a kind set the row of their key and cannot delete it.
        Some(ChangelogMode::UPSERT) if format.is_insert_only() => Ok(upserts),
        Some(mode) if mode.is_subset(format) => Ok(mode),
        Some(_) => Err(invalid(
            CHANGELOG_MODE.key,
            context.options.text(&CHANGELOG_MODE).unwrap_or_default(),
            "'all' only with a format for changes such as debezium-json",
        )),
    }
}

/// The positions of the columns that records have: partition columns are in the path alone.
pub(crate) fn record_columns(context: &TableContext) -> Vec<usize> {
    (0..context.schema.len()).filter(|at| !context.partition_keys.contains(at)).collect()
}

/// Several lists of options as one.
pub(crate) const fn concat<const N: usize>(lists: &[&[OptionDef]]) -> [OptionDef; N] {
    let mut all = [CONNECTOR; N];
    let mut filled = 0;
    let mut list = 0;
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[filled] = lists[list][i];
            filled += 1;
            i += 1;
        }
        list += 1;
    }
    all
}

/// Checks a table's options against those of its connector. Options of the table's format are left
/// to the format.
pub(crate) fn validate(context: &TableContext, def: &ConnectorDef) -> Result<(), ConnectorError> {
    let owner = format!("connector '{}'", def.name);
    let prefix = match context.options.raw(FORMAT.key) {
        Some(format) if def.uses_format => format!("{format}."),
        _ => return context.options.validate(&owner, def.options),
    };
    let own = context.options.iter().filter(|(key, _)| !key.starts_with(&prefix));
    Options::new(own.map(|(key, value)| (key.into(), value.into()))).validate(&owner, def.options)
}

/// A parallelism option; it must be positive.
pub(crate) fn parallelism(
    options: &Options,
    def: &OptionDef,
) -> Result<Option<usize>, ConnectorError> {
    match options.int(def)? {
        None => Ok(None),
        Some(tasks) => match usize::try_from(tasks) {
            Ok(tasks) if tasks > 0 => Ok(Some(tasks)),
            _ => Err(invalid(def.key, &tasks.to_string(), "a number from 1")),
        },
    }
}

/// The error for a value that the option `key` does not take.
pub(crate) fn invalid(key: &str, value: &str, wanted: &str) -> ConnectorError {
    ConnectorError::new(format!("invalid value '{value}' for option '{key}'"))
        .hint(format!("'{key}' takes {wanted}"))
}
