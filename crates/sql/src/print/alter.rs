//! ALTER TABLE, ALTER VIEW and ALTER MATERIALIZED TABLE.

use super::table::Lines;
use super::{Joined, Maybe, flag};
use crate::ast::{
    AlterMaterializedTable, AlterMaterializedTableAction, AlterTable, AlterTableAction, AlterView,
    AlterViewAction, ColumnPosition, PartitionSpec, Property, SchemaComponent,
};
use std::fmt::{self, Display, Formatter};

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER TABLE {}{}", flag(self.if_exists, "IF EXISTS "), self.name)?;
        match &self.action {
            AlterTableAction::Add(components) => write!(f, " ADD {}", Lines(components)),
            AlterTableAction::AddPartitions { if_not_exists, partitions } => {
                write!(f, "\nADD{}", flag(*if_not_exists, " IF NOT EXISTS"))?;
                partitions.iter().try_for_each(|partition| added_partition(f, partition))
            }
            AlterTableAction::AddDistribution(distribution) => {
                write!(f, " ADD DISTRIBUTION {distribution}")
            }
            AlterTableAction::Modify(components) => write!(f, " MODIFY {}", Lines(components)),
            AlterTableAction::ModifyDistribution(distribution) => {
                write!(f, " MODIFY DISTRIBUTION {distribution}")
            }
            AlterTableAction::DropColumns(columns) => write!(f, " DROP {}", Lines(columns)),
            AlterTableAction::DropPrimaryKey => f.write_str(" DROP PRIMARY KEY"),
            AlterTableAction::DropConstraint(name) => write!(f, " DROP CONSTRAINT {name}"),
            AlterTableAction::DropWatermark => f.write_str(" DROP WATERMARK"),
            AlterTableAction::DropDistribution => f.write_str(" DROP DISTRIBUTION"),
            AlterTableAction::DropPartitions { if_exists, partitions } => {
                let if_exists = flag(*if_exists, " IF EXISTS");
                write!(f, "\nDROP{if_exists}\n{}", Joined(partitions, ",\n"))
            }
            AlterTableAction::RenameColumn(old, new) => write!(f, " RENAME {old} TO {new}"),
            AlterTableAction::RenameTo(name) => write!(f, " RENAME TO {name}"),
            AlterTableAction::Set(options) => write!(f, " SET {}", Lines(options)),
            AlterTableAction::Reset(keys) => write!(f, " RESET {}", Lines(keys)),
        }
    }
}

fn added_partition(
    f: &mut Formatter<'_>,
    (partition, options): &(PartitionSpec, Vec<Property>),
) -> fmt::Result {
    write!(f, "\n{partition}")?;
    if options.is_empty() { Ok(()) } else { write!(f, " WITH ({})", super::comma(options)) }
}

impl Display for SchemaComponent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { definition, position } => {
                write!(f, "{definition}{}", Maybe(" ", position.as_ref(), ""))
            }
            Self::Constraint(constraint) => constraint.fmt(f),
            Self::Watermark(watermark) => watermark.fmt(f),
        }
    }
}

impl Display for ColumnPosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("FIRST"),
            Self::After(column) => write!(f, "AFTER {column}"),
        }
    }
}

impl Display for AlterView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER VIEW {}", self.name)?;
        match &self.action {
            AlterViewAction::RenameTo(name) => write!(f, " RENAME TO {name}"),
            AlterViewAction::As(query) => write!(f, "\nAS\n{query}"),
        }
    }
}

impl Display for AlterMaterializedTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use AlterMaterializedTableAction as Action;
        write!(f, "ALTER MATERIALIZED TABLE {}", self.name)?;
        match &self.action {
            Action::Add(components) => write!(f, " ADD {}", Lines(components)),
            Action::AddDistribution(distribution) => {
                write!(f, " ADD DISTRIBUTION {distribution}")
            }
            Action::Modify(components) => write!(f, " MODIFY {}", Lines(components)),
            Action::ModifyDistribution(distribution) => {
                write!(f, " MODIFY DISTRIBUTION {distribution}")
            }
            Action::DropColumns(columns) => write!(f, " DROP {}", Lines(columns)),
            Action::DropPrimaryKey => f.write_str(" DROP PRIMARY KEY"),
            Action::DropConstraint(name) => write!(f, " DROP CONSTRAINT {name}"),
            Action::DropWatermark => f.write_str(" DROP WATERMARK"),
            Action::DropDistribution => f.write_str(" DROP DISTRIBUTION"),
            Action::Suspend => f.write_str(" SUSPEND"),
            Action::Resume(options) => {
                f.write_str(" RESUME")?;
                super::table::with(f, options)
            }
            Action::Refresh(partition) => {
                write!(f, " REFRESH{}", Maybe(" ", partition.as_ref(), ""))
            }
            Action::Set(options) => write!(f, " SET {}", Lines(options)),
            Action::SetFreshness(freshness) => write!(f, " SET FRESHNESS = {freshness}"),
            Action::SetRefreshMode(mode) => write!(f, " SET REFRESH_MODE = {mode}"),
            Action::Reset(keys) => write!(f, " RESET {}", Lines(keys)),
            Action::As(query) => write!(f, "\nAS\n{query}"),
        }
    }
}
