//! CREATE TABLE and the parts of a table's definition.

use super::{Maybe, comma, flag};
use crate::ast::{
    ColumnDefinition, ColumnKind, ConstraintKind, CreateMode, CreateTable, Distribution,
    DistributionKind, Ident, LikeFeature, MergingStrategy, PartitionSpec, Property,
    TableConstraint, TableElement, TableLike, TableLikeOption, Text, WatermarkDefinition,
};
use std::fmt::{self, Display, Formatter};

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.mode {
            CreateMode::Create => "CREATE ",
            CreateMode::CreateOrReplace => "CREATE OR REPLACE ",
            CreateMode::Replace => "REPLACE ",
        })?;
        let temporary = flag(self.temporary, "TEMPORARY ");
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "{temporary}TABLE {if_not_exists}{}", self.name)?;
        lines(f, &self.elements)?;
        lines(f, &self.column_names)?;
        table_clauses(f, self.comment.as_ref(), self.distribution.as_ref(), &self.partitioned_by)?;
        with(f, &self.options)?;
        Maybe("\nLIKE ", self.like.as_ref(), "").fmt(f)?;
        Maybe("\nAS\n", self.query.as_ref(), "").fmt(f)
    }
}

/// A list in parentheses, one item a line, if there are any.
pub(super) fn lines<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    if items.is_empty() { Ok(()) } else { write!(f, " {}", Lines(items)) }
}

/// A list in parentheses, one item a line.
pub(super) struct Lines<'a, T>(pub(super) &'a [T]);

impl<T: Display> Display for Lines<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, item) in self.0.iter().enumerate() {
            write!(f, "{}\n  {item}", flag(at > 0, ","))?;
        }
        f.write_str("\n)")
    }
}

/// Comment, distribution and partitions, each on a line of its own.
pub(super) fn table_clauses(
    f: &mut Formatter<'_>,
    comment: Option<&Text>,
    distribution: Option<&Distribution>,
    partitioned_by: &[Ident],
) -> fmt::Result {
    Maybe("\nCOMMENT ", comment, "").fmt(f)?;
    Maybe("\nDISTRIBUTED ", distribution, "").fmt(f)?;
    if partitioned_by.is_empty() {
        return Ok(());
    }
    write!(f, "\nPARTITIONED BY ({})", comma(partitioned_by))
}

/// WITH and the options, on lines of their own, if there are any.
pub(super) fn with(f: &mut Formatter<'_>, options: &[Property]) -> fmt::Result {
    if options.is_empty() { Ok(()) } else { write!(f, "\nWITH {}", Lines(options)) }
}

impl Display for TableElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => column.fmt(f),
            Self::Constraint(constraint) => constraint.fmt(f),
            Self::Watermark(watermark) => watermark.fmt(f),
        }
    }
}

impl Display for ColumnDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, kind, comment, .. } = self;
        match kind {
            ColumnKind::Physical { data_type, constraint } => {
                write!(f, "{name} {data_type}")?;
                if let Some(constraint) = constraint {
                    f.write_str(" ")?;
                    constraint_parts(f, constraint, None)?;
                }
            }
            ColumnKind::Metadata { data_type, key, is_virtual } => {
                let key = Maybe(" FROM ", key.as_ref(), "");
                write!(f, "{name} {data_type} METADATA{key}{}", flag(*is_virtual, " VIRTUAL"))?;
            }
            ColumnKind::Computed(expr) => write!(f, "{name} AS {expr}")?,
        }
        Maybe(" COMMENT ", comment.as_ref(), "").fmt(f)
    }
}

impl Display for TableConstraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        constraint_parts(f, self, Some(&self.columns))
    }
}

fn constraint_parts(
    f: &mut Formatter<'_>,
    constraint: &TableConstraint,
    columns: Option<&[Ident]>,
) -> fmt::Result {
    Maybe("CONSTRAINT ", constraint.name.as_ref(), " ").fmt(f)?;
    f.write_str(match constraint.kind {
        ConstraintKind::PrimaryKey => "PRIMARY KEY",
        ConstraintKind::Unique => "UNIQUE",
    })?;
    if let Some(columns) = columns {
        write!(f, " ({})", comma(columns))?;
    }
    f.write_str(match constraint.enforced {
        Some(true) => " ENFORCED",
        Some(false) => " NOT ENFORCED",
        None => "",
    })
}

impl Display for WatermarkDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "WATERMARK FOR {} AS {}", self.column, self.expr)
    }
}

impl Display for Distribution {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let buckets = self.buckets.as_ref();
        if self.columns.is_empty() {
            return Maybe("INTO ", buckets, " BUCKETS").fmt(f);
        }
        let kind = match self.kind {
            Some(DistributionKind::Hash) => "HASH",
            Some(DistributionKind::Range) => "RANGE",
            None => "",
        };
        write!(f, "BY {kind}({}){}", comma(&self.columns), Maybe(" INTO ", buckets, " BUCKETS"))
    }
}

impl Display for TableLike {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)?;
        if self.options.is_empty() {
            return Ok(());
        }
        f.write_str(" (")?;
        self.options.iter().try_for_each(|option| write!(f, "\n  {option}"))?;
        f.write_str("\n)")
    }
}

impl Display for TableLikeOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let strategy = match self.strategy {
            MergingStrategy::Including => "INCLUDING",
            MergingStrategy::Excluding => "EXCLUDING",
            MergingStrategy::Overwriting => "OVERWRITING",
        };
        let feature = match self.feature {
            LikeFeature::All => "ALL",
            LikeFeature::Constraints => "CONSTRAINTS",
            LikeFeature::Distribution => "DISTRIBUTION",
            LikeFeature::Generated => "GENERATED",
            LikeFeature::Metadata => "METADATA",
            LikeFeature::Options => "OPTIONS",
            LikeFeature::Partitions => "PARTITIONS",
            LikeFeature::Watermarks => "WATERMARKS",
        };
        write!(f, "{strategy} {feature}")
    }
}

impl Display for PartitionSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PARTITION (")?;
        for (at, (column, value)) in self.entries.iter().enumerate() {
            write!(f, "{}{column}{}", flag(at > 0, ", "), Maybe(" = ", value.as_ref(), ""))?;
        }
        f.write_str(")")
    }
}
