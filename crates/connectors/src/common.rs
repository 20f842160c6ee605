//! Options and checks that connectors share.

use flott_catalog::connector::{
    ConnectorDef, ConnectorError, OptionDef, OptionKind, Options, TableContext,
};

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
