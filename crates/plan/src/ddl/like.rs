//! CREATE TABLE … LIKE: what is taken over from the other table.

use flott_catalog::{Column, ColumnKind, Table};
use flott_sql::ast::{LikeFeature, MergingStrategy, TableLike};

use crate::{PlanError, Result};

/// How each feature of the base table merges.
struct Strategies<'l>(&'l TableLike);

impl Strategies<'_> {
    /// What the LIKE clause says of a feature: its own option, else that of ALL, else Flink's
    /// default, which is to include everything and to overwrite options.
    fn of(&self, feature: LikeFeature) -> MergingStrategy {
        let find = |wanted| self.0.options.iter().find(|option| option.feature == wanted);
        match (find(feature), find(LikeFeature::All)) {
            (Some(option), _) => option.strategy,
            (None, Some(all)) => all.strategy,
            (None, None) if feature == LikeFeature::Options => MergingStrategy::Overwriting,
            (None, None) => MergingStrategy::Including,
        }
    }
}

/// The new table: `own` as written, laid over what it takes from `base`.
pub(super) fn merge(base: &Table, own: Table, like: &TableLike) -> Result<Table> {
    let strategies = Strategies(like);
    let mut table = Table {
        columns: inherited_columns(base, &strategies),
        watermark: None,
        primary_key: None,
        partition_keys: Vec::new(),
        distribution: None,
        comment: own.comment.clone(),
        options: Default::default(),
    };
    for column in own.columns {
        add_column(&mut table.columns, column, &strategies)?;
    }
    table.watermark = match (strategies.of(LikeFeature::Watermarks), &base.watermark, own.watermark)
    {
        (MergingStrategy::Including, Some(base), Some(_)) => {
            return Err(PlanError::new(format!(
                "There already exists a watermark spec for column '{}' in the base table. You \
                 might want to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS.",
                base.column
            )));
        }
        (MergingStrategy::Excluding, _, own) | (_, _, own @ Some(_)) => own,
        (_, base, None) => base.clone(),
    };
    table.primary_key =
        match (strategies.of(LikeFeature::Constraints), &base.primary_key, own.primary_key) {
            (MergingStrategy::Excluding, _, own) | (_, None, own) => own,
            (_, Some(_), Some(_)) => {
                return Err(PlanError::new(
                    "The base table already has a primary key. You might want to specify EXCLUDING \
                     CONSTRAINTS.",
                ));
            }
            (_, base, None) => base.clone(),
        };
    table.partition_keys = match strategies.of(LikeFeature::Partitions) {
        MergingStrategy::Excluding => own.partition_keys,
        _ if base.partition_keys.is_empty() => own.partition_keys,
        _ if own.partition_keys.is_empty() => base.partition_keys.clone(),
        _ => {
            return Err(PlanError::new(
                "The base table already has partitions defined. You might want to specify \
                 EXCLUDING PARTITIONS.",
            ));
        }
    };
    table.distribution = match strategies.of(LikeFeature::Distribution) {
        MergingStrategy::Excluding => own.distribution,
        _ => own.distribution.or_else(|| base.distribution.clone()),
    };
    let strategy = strategies.of(LikeFeature::Options);
    if strategy != MergingStrategy::Excluding {
        table.options = base.options.clone();
    }
    for (key, value) in own.options.iter() {
        if strategy == MergingStrategy::Including && base.options.raw(key).is_some() {
            return Err(PlanError::new(format!(
                "There already exists an option ['{key}' -> '{}'] in the base table. You might \
                 want to specify EXCLUDING OPTIONS or OVERWRITING OPTIONS.",
                base.options.raw(key).unwrap_or_default()
            )));
        }
        table.options.set(key, value);
    }
    Ok(table)
}

fn inherited_columns(base: &Table, strategies: &Strategies) -> Vec<Column> {
    let excluded = |feature| strategies.of(feature) == MergingStrategy::Excluding;
    base.columns
        .iter()
        .filter(|column| match column.kind {
            ColumnKind::Physical => true,
            ColumnKind::Computed(_) => !excluded(LikeFeature::Generated),
            ColumnKind::Metadata { .. } => !excluded(LikeFeature::Metadata),
        })
        .cloned()
        .collect()
}

fn add_column(columns: &mut Vec<Column>, column: Column, strategies: &Strategies) -> Result<()> {
    let Some(position) = columns.iter().position(|other| other.name == column.name) else {
        columns.push(column);
        return Ok(());
    };
    let overwrites = |feature| strategies.of(feature) == MergingStrategy::Overwriting;
    let may_replace = match (&columns[position].kind, &column.kind) {
        (ColumnKind::Computed(_), ColumnKind::Computed(_)) => overwrites(LikeFeature::Generated),
        (ColumnKind::Metadata { .. }, ColumnKind::Metadata { .. }) => {
            overwrites(LikeFeature::Metadata)
        }
        _ => false,
    };
    if may_replace {
        columns[position] = column;
        return Ok(());
    }
    Err(PlanError::new(format!(
        "A column named '{}' already exists in the base table.",
        column.name
    )))
}
