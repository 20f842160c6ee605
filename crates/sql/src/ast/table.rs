//! CREATE TABLE and ALTER TABLE, and the parts that other statements share with them.

use super::{Expr, Ident, ObjectName, Query, Span, Text, TypeName};

/// `CREATE [OR REPLACE] [TEMPORARY] TABLE …`, `REPLACE TABLE … AS`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateTable {
    /// Whether an existing table is replaced.
    pub mode: CreateMode,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The table's name.
    pub name: ObjectName,
    /// Columns, constraints and watermark in the order written.
    pub elements: Vec<TableElement>,
    /// The bare column names of `CREATE TABLE t (a, b) AS …`; empty if absent.
    pub column_names: Vec<Ident>,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `DISTRIBUTED …`
    pub distribution: Option<Distribution>,
    /// `PARTITIONED BY (column, …)`; empty if absent.
    pub partitioned_by: Vec<Ident>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
    /// `LIKE source [(option …)]`
    pub like: Option<TableLike>,
    /// `AS query`
    pub query: Option<Query>,
}

/// Whether CREATE may replace what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateMode {
    /// `CREATE`
    Create,
    /// `CREATE OR REPLACE`
    CreateOrReplace,
    /// `REPLACE`; the table must exist.
    Replace,
}

/// An element between the parentheses of CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableElement {
    /// A column.
    Column(ColumnDefinition),
    /// A key.
    Constraint(TableConstraint),
    /// `WATERMARK FOR …`
    Watermark(WatermarkDefinition),
}

/// A column of CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnDefinition {
    /// The column's name; nested names occur in ALTER TABLE only.
    pub name: ObjectName,
    /// What it holds.
    pub kind: ColumnKind,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// `name type [constraint]`
    Physical {
        /// The type.
        data_type: TypeName,
        /// A key of this column alone.
        constraint: Option<TableConstraint>,
    },
    /// `name type METADATA [FROM 'key'] [VIRTUAL]`
    Metadata {
        /// The type.
        data_type: TypeName,
        /// The metadata key where it is not the column's name.
        key: Option<Text>,
        /// Whether the column is read only.
        is_virtual: bool,
    },
    /// `name AS expr`
    Computed(Expr),
}

/// `[CONSTRAINT name] {PRIMARY KEY | UNIQUE} (column, …) [[NOT] ENFORCED]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableConstraint {
    /// The constraint's name.
    pub name: Option<Ident>,
    /// Which.
    pub kind: ConstraintKind,
    /// The columns; of a column's own constraint that column.
    pub columns: Vec<Ident>,
    /// `ENFORCED` or `NOT ENFORCED`, if said.
    pub enforced: Option<bool>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// `PRIMARY KEY`
    PrimaryKey,
    /// `UNIQUE`
    Unique,
}

/// `WATERMARK FOR column AS expr`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatermarkDefinition {
    /// The time column; nested names parse.
    pub column: ObjectName,
    /// The watermark of a row.
    pub expr: Expr,
    /// Where it stands.
    pub span: Span,
}

/// `DISTRIBUTED BY [HASH|RANGE] (column, …) [INTO n BUCKETS]`, `DISTRIBUTED INTO n BUCKETS`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distribution {
    /// How, if said.
    pub kind: Option<DistributionKind>,
    /// By what; empty if absent.
    pub columns: Vec<Ident>,
    /// `INTO n BUCKETS`
    pub buckets: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// How rows are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DistributionKind {
    /// `HASH`
    Hash,
    /// `RANGE`
    Range,
}

/// `'key' = 'value'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Property {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Text,
}

/// `LIKE source [(option …)]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableLike {
    /// The table copied from.
    pub source: ObjectName,
    /// What is copied; empty if absent.
    pub options: Vec<TableLikeOption>,
    /// Where it stands.
    pub span: Span,
}

/// `{INCLUDING|EXCLUDING|OVERWRITING} feature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableLikeOption {
    /// What is done with it.
    pub strategy: MergingStrategy,
    /// With what.
    pub feature: LikeFeature,
    /// Where it stands.
    pub span: Span,
}

/// How LIKE merges a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergingStrategy {
    /// `INCLUDING`: take both, clashes fail.
    Including,
    /// `EXCLUDING`: take the new table's only.
    Excluding,
    /// `OVERWRITING`: take both, the new table's win.
    Overwriting,
}

/// What LIKE can merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LikeFeature {
    /// `ALL`
    All,
    /// `CONSTRAINTS`
    Constraints,
    /// `DISTRIBUTION`
    Distribution,
    /// `GENERATED`: computed columns.
    Generated,
    /// `METADATA`: metadata columns.
    Metadata,
    /// `OPTIONS`
    Options,
    /// `PARTITIONS`
    Partitions,
    /// `WATERMARKS`
    Watermarks,
}

/// `ALTER TABLE [IF EXISTS] name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterTable {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The table's name.
    pub name: ObjectName,
    /// What is changed.
    pub action: AlterTableAction,
}

/// What ALTER TABLE changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterTableAction {
    /// `ADD component`, `ADD (component, …)`
    Add(Vec<SchemaComponent>),
    /// `ADD [IF NOT EXISTS] PARTITION (…) [WITH (…)] …`
    AddPartitions {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The partitions and their options.
        partitions: Vec<(PartitionSpec, Vec<Property>)>,
    },
    /// `ADD DISTRIBUTION …`
    AddDistribution(Distribution),
    /// `MODIFY component`, `MODIFY (component, …)`
    Modify(Vec<SchemaComponent>),
    /// `MODIFY DISTRIBUTION …`
    ModifyDistribution(Distribution),
    /// `DROP column`, `DROP (column, …)`
    DropColumns(Vec<ObjectName>),
    /// `DROP PRIMARY KEY`
    DropPrimaryKey,
    /// `DROP CONSTRAINT name`
    DropConstraint(Ident),
    /// `DROP WATERMARK`
    DropWatermark,
    /// `DROP DISTRIBUTION`
    DropDistribution,
    /// `DROP [IF EXISTS] PARTITION (…), …`
    DropPartitions {
        /// `IF EXISTS`
        if_exists: bool,
        /// The partitions.
        partitions: Vec<PartitionSpec>,
    },
    /// `RENAME column TO column`
    RenameColumn(ObjectName, ObjectName),
    /// `RENAME TO name`
    RenameTo(ObjectName),
    /// `SET ('key' = 'value', …)`
    Set(Vec<Property>),
    /// `RESET ('key', …)`
    Reset(Vec<Text>),
}

/// What ADD and MODIFY take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SchemaComponent {
    /// A column and its place.
    Column {
        /// The column.
        definition: ColumnDefinition,
        /// `FIRST` or `AFTER column`, if said.
        position: Option<ColumnPosition>,
    },
    /// A key.
    Constraint(TableConstraint),
    /// A watermark.
    Watermark(WatermarkDefinition),
}

/// Where a column goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnPosition {
    /// `FIRST`
    First,
    /// `AFTER column`
    After(ObjectName),
}

/// `PARTITION (column = value, …)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionSpec {
    /// The columns and their values; the value is absent for a dynamic partition.
    pub entries: Vec<(Ident, Option<Expr>)>,
    /// Where it stands.
    pub span: Span,
}
