//! Catalogs, databases, views, functions, models and materialized tables.

use super::{
    ColumnDefinition, Distribution, Ident, IntervalLiteral, Literal, ObjectName, PartitionSpec,
    Property, Query, SchemaComponent, Span, TableElement, Text,
};

/// `CREATE [TEMPORARY] VIEW …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateView {
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The view's name.
    pub name: ObjectName,
    /// Names of the columns; empty if absent.
    pub columns: Vec<Ident>,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// The query.
    pub query: Query,
}

/// `ALTER VIEW name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterView {
    /// The view's name.
    pub name: ObjectName,
    /// What is changed.
    pub action: AlterViewAction,
}

/// What ALTER VIEW changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterViewAction {
    /// `RENAME TO name`
    RenameTo(ObjectName),
    /// `AS query`
    As(Box<Query>),
}

/// `CREATE [TEMPORARY [SYSTEM]] FUNCTION …`, `ALTER [TEMPORARY [SYSTEM]] FUNCTION …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionDefinition {
    /// How far the function is seen.
    pub scope: ObjectScope,
    /// `IF NOT EXISTS` of CREATE, `IF EXISTS` of ALTER.
    pub conditional: bool,
    /// The function's name.
    pub name: ObjectName,
    /// `AS 'identifier'`
    pub identifier: Text,
    /// `LANGUAGE …`, if said.
    pub language: Option<FunctionLanguage>,
    /// `USING {JAR|ARTIFACT} 'path', …`; empty if absent.
    pub resources: Vec<FunctionResource>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
}

/// How far a function or connection is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectScope {
    /// In its catalog, for good.
    Catalog,
    /// `TEMPORARY`
    Temporary,
    /// `TEMPORARY SYSTEM`
    TemporarySystem,
}

/// The language of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionLanguage {
    /// `JAVA`
    Java,
    /// `SCALA`
    Scala,
    /// `PYTHON`
    Python,
    /// `SQL`
    Sql,
}

/// `JAR 'path'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionResource {
    /// JAR or ARTIFACT.
    pub kind: ResourceKind,
    /// Where it is.
    pub path: Text,
}

/// The kinds of resources of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// `JAR`
    Jar,
    /// `ARTIFACT`
    Artifact,
}

/// `CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'text'] WITH (…)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateCatalog {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The catalog's name.
    pub name: Ident,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
}

/// `ALTER CATALOG name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterCatalog {
    /// The catalog's name.
    pub name: Ident,
    /// What is changed.
    pub action: AlterCatalogAction,
}

/// What ALTER CATALOG changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterCatalogAction {
    /// `SET ('key' = 'value', …)`
    Set(Vec<Property>),
    /// `RESET ('key', …)`
    Reset(Vec<Text>),
    /// `COMMENT 'text'`
    Comment(Text),
}

/// `CREATE DATABASE [IF NOT EXISTS] name [COMMENT 'text'] [WITH (…)]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateDatabase {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The database's name.
    pub name: ObjectName,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
}

/// `ALTER DATABASE name SET (…)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterDatabase {
    /// The database's name.
    pub name: ObjectName,
    /// `SET ('key' = 'value', …)`
    pub options: Vec<Property>,
}

/// `CREATE [TEMPORARY] MODEL …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateModel {
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The model's name.
    pub name: ObjectName,
    /// `INPUT (column, …)`; empty if absent.
    pub input: Vec<ColumnDefinition>,
    /// `OUTPUT (column, …)`; empty if absent.
    pub output: Vec<ColumnDefinition>,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
    /// `AS query`
    pub query: Option<Query>,
}

/// `ALTER MODEL [IF EXISTS] name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterModel {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The model's name.
    pub name: ObjectName,
    /// What is changed.
    pub action: AlterObjectAction,
}

/// What ALTER MODEL and ALTER CONNECTION change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterObjectAction {
    /// `SET ('key' = 'value', …)`
    Set(Vec<Property>),
    /// `RESET ('key', …)`
    Reset(Vec<Text>),
    /// `RENAME TO name`
    RenameTo(ObjectName),
}

/// `CREATE [TEMPORARY [SYSTEM]] CONNECTION …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateConnection {
    /// How far the connection is seen.
    pub scope: ObjectScope,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The connection's name.
    pub name: ObjectName,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `WITH ('key' = 'value', …)`
    pub options: Vec<Property>,
}

/// `ALTER CONNECTION [IF EXISTS] name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterConnection {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The connection's name.
    pub name: ObjectName,
    /// What is changed.
    pub action: AlterObjectAction,
}

/// `CREATE [OR ALTER] MATERIALIZED TABLE …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateMaterializedTable {
    /// `OR ALTER`
    pub or_alter: bool,
    /// The table's name.
    pub name: ObjectName,
    /// Columns, constraints and watermark in the order written.
    pub elements: Vec<TableElement>,
    /// Bare column names; empty if absent.
    pub column_names: Vec<Ident>,
    /// `COMMENT 'text'`
    pub comment: Option<Text>,
    /// `DISTRIBUTED …`
    pub distribution: Option<Distribution>,
    /// `PARTITIONED BY (column, …)`; empty if absent.
    pub partitioned_by: Vec<Ident>,
    /// `WITH ('key' = 'value', …)`; empty if absent.
    pub options: Vec<Property>,
    /// `START_MODE = …`
    pub start_mode: Option<StartMode>,
    /// `FRESHNESS = INTERVAL …`
    pub freshness: Option<IntervalLiteral>,
    /// `REFRESH_MODE = …`
    pub refresh_mode: Option<RefreshMode>,
    /// The query.
    pub query: Query,
}

/// How a materialized table is kept up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefreshMode {
    /// `CONTINUOUS`
    Continuous,
    /// `FULL`
    Full,
}

/// Where the job of a materialized table starts to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StartMode {
    /// Whether it goes on where it stopped, if it ran before: `RESUME_OR_…`.
    pub resume: bool,
    /// Where it starts otherwise.
    pub from: StartFrom,
    /// Where it stands.
    pub span: Span,
}

/// The places to start to read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StartFrom {
    /// `FROM_BEGINNING`
    Beginning,
    /// `FROM_NOW [(interval)]`: now, or so long ago.
    Now(Option<IntervalLiteral>),
    /// `FROM_TIMESTAMP (timestamp)`
    Timestamp(Literal),
}

/// `ALTER MATERIALIZED TABLE name action`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterMaterializedTable {
    /// The table's name.
    pub name: ObjectName,
    /// What is changed.
    pub action: AlterMaterializedTableAction,
}

/// What ALTER MATERIALIZED TABLE changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlterMaterializedTableAction {
    /// `ADD component`, `ADD (component, …)`
    Add(Vec<SchemaComponent>),
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
    /// `SUSPEND`
    Suspend,
    /// `RESUME [WITH (…)]`
    Resume(Vec<Property>),
    /// `REFRESH [PARTITION (…)]`
    Refresh(Option<PartitionSpec>),
    /// `SET ('key' = 'value', …)`
    Set(Vec<Property>),
    /// `SET FRESHNESS = INTERVAL …`
    SetFreshness(IntervalLiteral),
    /// `SET REFRESH_MODE = …`
    SetRefreshMode(RefreshMode),
    /// `RESET ('key', …)`
    Reset(Vec<Text>),
    /// `AS query`
    As(Box<Query>),
}

/// `DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name [RESTRICT|CASCADE]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DropObject {
    /// What is dropped.
    pub kind: DropKind,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// Its name.
    pub name: ObjectName,
}

/// What can be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropKind {
    /// `CATALOG`
    Catalog,
    /// `DATABASE … [RESTRICT|CASCADE]`
    Database {
        /// Whether what it holds is dropped too.
        cascade: bool,
    },
    /// `[TEMPORARY] TABLE`
    Table {
        /// `TEMPORARY`
        temporary: bool,
    },
    /// `[TEMPORARY] VIEW`
    View {
        /// `TEMPORARY`
        temporary: bool,
    },
    /// `MATERIALIZED TABLE`
    MaterializedTable,
    /// `[TEMPORARY [SYSTEM]] FUNCTION`
    Function(ObjectScope),
    /// `[TEMPORARY [SYSTEM]] CONNECTION`
    Connection(ObjectScope),
    /// `[TEMPORARY] MODEL`
    Model {
        /// `TEMPORARY`
        temporary: bool,
    },
}
