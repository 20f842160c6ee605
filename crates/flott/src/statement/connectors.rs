//! SHOW CONNECTORS, SHOW FORMATS and DESCRIBE of one of them, from the definitions that also check
//! the options of tables. Flink has no such statements.

use std::sync::Arc;

use flott_catalog::CatalogReader;
use flott_catalog::connector::{OptionDef, Registry};
use flott_sql::ast::ShowPattern;

use super::show::fits;
use super::texts;
use crate::{Table, TableEnvironment};

impl TableEnvironment {
    pub(super) fn registry(&self) -> Arc<Registry> {
        self.catalogs.registry()
    }
}

pub(super) fn connectors(registry: Arc<Registry>, pattern: Option<&ShowPattern>) -> Table {
    let all = registry.connectors().iter().map(|def| (def.name, def.roles(), def.help));
    overview("connector name", all, pattern)
}

pub(super) fn formats(registry: Arc<Registry>, pattern: Option<&ShowPattern>) -> Table {
    let of_records = registry.formats().iter().map(|def| (def.name, def.roles(), def.help));
    let of_files = registry.file_formats().iter().map(|def| (def.name, def.roles(), def.help));
    overview("format name", of_records.chain(of_files), pattern)
}

fn overview<'a>(
    column: &str,
    all: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
    pattern: Option<&ShowPattern>,
) -> Table {
    let mut rows: Vec<_> = all.filter(|(name, ..)| fits(name, pattern)).collect();
    rows.sort_unstable();
    let cell = |text: &str| Some(text.to_string());
    let rows =
        rows.into_iter().map(|(name, roles, help)| vec![cell(name), cell(roles), cell(help)]);
    texts(&[column, "tables are", "description"], rows.collect())
}

/// Options under their full keys.
pub(super) fn options(prefix: &str, options: &[OptionDef]) -> Table {
    let yes_no = |yes: bool| Some(if yes { "YES" } else { "NO" }.to_string());
    let rows = options.iter().map(|option| {
        vec![
            Some(format!("{prefix}{}", option.key)),
            Some(option.kind.to_string()),
            option.default.map(str::to_string),
            yes_no(option.required),
            Some(option.help.to_string()),
        ]
    });
    texts(&["option", "type", "default", "required", "description"], rows.collect())
}
