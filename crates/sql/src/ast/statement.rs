//! Statements.

use super::*;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands, without the semicolon.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// `[EXECUTE] query`
    Query(Box<Query>),
    /// `[EXECUTE] INSERT …`
    Insert(Box<Insert>),
    /// `UPDATE …`
    Update(Box<Update>),
    /// `DELETE FROM …`
    Delete(Box<Delete>),
    /// `TRUNCATE TABLE …`
    TruncateTable(ObjectName),
    /// `[EXECUTE] STATEMENT SET BEGIN insert; … END`
    StatementSet(Vec<Insert>),
    /// `BEGIN STATEMENT SET`
    BeginStatementSet,
    /// `END`
    EndStatementSet,

    /// `CREATE TABLE …`, `REPLACE TABLE …`
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE …`
    AlterTable(Box<AlterTable>),
    /// `CREATE VIEW …`
    CreateView(Box<CreateView>),
    /// `ALTER VIEW …`
    AlterView(Box<AlterView>),
    /// `CREATE MATERIALIZED TABLE …`
    CreateMaterializedTable(Box<CreateMaterializedTable>),
    /// `ALTER MATERIALIZED TABLE …`
    AlterMaterializedTable(Box<AlterMaterializedTable>),
    /// `CREATE FUNCTION …`
    CreateFunction(Box<FunctionDefinition>),
    /// `ALTER FUNCTION …`
    AlterFunction(Box<FunctionDefinition>),
    /// `CREATE CATALOG …`
    CreateCatalog(Box<CreateCatalog>),
    /// `ALTER CATALOG …`
    AlterCatalog(Box<AlterCatalog>),
    /// `CREATE DATABASE …`
    CreateDatabase(Box<CreateDatabase>),
    /// `ALTER DATABASE …`
    AlterDatabase(Box<AlterDatabase>),
    /// `CREATE MODEL …`
    CreateModel(Box<CreateModel>),
    /// `ALTER MODEL …`
    AlterModel(Box<AlterModel>),
    /// `CREATE CONNECTION …`
    CreateConnection(Box<CreateConnection>),
    /// `ALTER CONNECTION …`
    AlterConnection(Box<AlterConnection>),
    /// `DROP …`
    Drop(DropObject),

    /// `USE CATALOG name`
    UseCatalog(Ident),
    /// `USE [catalog.]database`
    UseDatabase(ObjectName),
    /// `USE MODULES name, …`
    UseModules(Vec<Ident>),
    /// `LOAD MODULE name [WITH (…)]`
    LoadModule(Ident, Vec<Property>),
    /// `UNLOAD MODULE name`
    UnloadModule(Ident),
    /// `SHOW …`
    Show(Box<Show>),
    /// `DESCRIBE …`
    Describe(Describe),
    /// `EXPLAIN …`
    Explain(Box<Explain>),
    /// `SET`, `SET 'key' = 'value'`
    Set(Option<Property>),
    /// `RESET`, `RESET 'key'`
    Reset(Option<Text>),
    /// `ANALYZE TABLE …`
    AnalyzeTable(Box<AnalyzeTable>),
    /// `CALL procedure(…)`
    Call(Box<FunctionCall>),

    /// `COMPILE PLAN 'path' [IF NOT EXISTS] FOR …`
    CompilePlan(Box<CompilePlan>),
    /// `EXECUTE PLAN 'path'`
    ExecutePlan(Text),
    /// `COMPILE AND EXECUTE PLAN 'path' FOR …`
    CompileAndExecutePlan(Box<CompilePlan>),
    /// `ADD JAR 'path'`
    AddJar(Text),
    /// `REMOVE JAR 'path'`
    RemoveJar(Text),
    /// `STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]`
    StopJob(StopJob),
}

/// `[EXECUTE] INSERT {INTO|OVERWRITE} target … source`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insert {
    /// `OVERWRITE`
    pub overwrite: bool,
    /// The table written to.
    pub target: ObjectName,
    /// Hints behind its name.
    pub hints: Vec<Hint>,
    /// `PARTITION (column = value, …)`
    pub partition: Option<PartitionSpec>,
    /// The columns written; empty if absent. Nested names parse.
    pub columns: Vec<ObjectName>,
    /// What is written.
    pub source: Query,
    /// `ON CONFLICT DO …`
    pub on_conflict: Option<ConflictStrategy>,
    /// Where it stands.
    pub span: Span,
}

/// What ON CONFLICT does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConflictStrategy {
    /// `DO NOTHING`
    Nothing,
    /// `DO ERROR`
    Error,
    /// `DO DEDUPLICATE`
    Deduplicate,
}

/// `UPDATE target [[AS] alias] SET column = e, … [WHERE e]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// The table.
    pub target: ObjectName,
    /// The name it has in the expressions.
    pub alias: Option<Ident>,
    /// The columns and their values.
    pub assignments: Vec<(Ident, Expr)>,
    /// `WHERE …`
    pub where_clause: Option<Expr>,
}

/// `DELETE FROM target [[AS] alias] [WHERE e]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delete {
    /// The table.
    pub target: ObjectName,
    /// The name it has in the condition.
    pub alias: Option<Ident>,
    /// `WHERE …`
    pub where_clause: Option<Expr>,
}

/// `SHOW …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Show {
    /// What is shown.
    pub kind: ShowKind,
    /// `{FROM|IN} name`
    pub within: Option<ObjectName>,
    /// `[NOT] {LIKE|ILIKE} 'pattern'`
    pub pattern: Option<ShowPattern>,
}

/// What SHOW shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShowKind {
    /// `CATALOGS`
    Catalogs,
    /// `CURRENT CATALOG`
    CurrentCatalog,
    /// `CREATE CATALOG name`
    CreateCatalog(Ident),
    /// `DATABASES`
    Databases,
    /// `CURRENT DATABASE`
    CurrentDatabase,
    /// `TABLES`
    Tables,
    /// `CREATE TABLE name`
    CreateTable(ObjectName),
    /// `COLUMNS`; the table is in `within`.
    Columns,
    /// `PARTITIONS name [PARTITION (…)]`
    Partitions(ObjectName, Option<PartitionSpec>),
    /// `VIEWS`
    Views,
    /// `CREATE VIEW name`
    CreateView(ObjectName),
    /// `MATERIALIZED TABLES`
    MaterializedTables,
    /// `CREATE [OR ALTER] MATERIALIZED TABLE name`
    CreateMaterializedTable {
        /// `OR ALTER`
        or_alter: bool,
        /// The table's name.
        name: ObjectName,
    },
    /// `[USER] FUNCTIONS`
    Functions {
        /// `USER`
        user: bool,
    },
    /// `PROCEDURES`
    Procedures,
    /// `[FULL] MODULES`
    Modules {
        /// `FULL`
        full: bool,
    },
    /// `MODELS`
    Models,
    /// `CREATE MODEL name`
    CreateModel(ObjectName),
    /// `CONNECTIONS`
    Connections,
    /// `CREATE CONNECTION name`
    CreateConnection(ObjectName),
    /// `JARS`
    Jars,
    /// `JOBS`
    Jobs,
    /// `CONNECTORS`; not in Flink
    Connectors,
    /// `FORMATS`; not in Flink
    Formats,
}

/// `[NOT] {LIKE|ILIKE} 'pattern'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShowPattern {
    /// `NOT`
    pub negated: bool,
    /// `ILIKE`
    pub ignore_case: bool,
    /// The pattern.
    pub pattern: Text,
}

/// `{DESCRIBE|DESC} …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Describe {
    /// What is described.
    pub kind: DescribeKind,
    /// `EXTENDED`
    pub extended: bool,
}

/// What DESCRIBE describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DescribeKind {
    /// A table or view.
    Table(ObjectName),
    /// `CATALOG name`
    Catalog(Ident),
    /// `DATABASE name`
    Database(ObjectName),
    /// `FUNCTION name`
    Function(ObjectName),
    /// `MODEL name`
    Model(ObjectName),
    /// `CONNECTION name`
    Connection(ObjectName),
    /// `JOB 'id'`
    Job(Text),
    /// `CONNECTOR 'name'`; not in Flink
    Connector(Text),
    /// `FORMAT 'name'`; not in Flink
    Format(Text),
}

/// `EXPLAIN [PLAN FOR | detail, …] statement`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Explain {
    /// What is shown besides the plan; empty if absent.
    pub details: Vec<ExplainDetail>,
    /// What is explained: a query, an insert, a statement set, or a CREATE TABLE … AS.
    pub statement: Statement,
}

/// What EXPLAIN shows besides the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExplainDetail {
    /// `ESTIMATED_COST`
    EstimatedCost,
    /// `CHANGELOG_MODE`
    ChangelogMode,
    /// `JSON_EXECUTION_PLAN`
    JsonExecutionPlan,
    /// `PLAN_ADVICE`
    PlanAdvice,
}

/// `ANALYZE TABLE name [PARTITION (…)] COMPUTE STATISTICS [FOR …]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnalyzeTable {
    /// The table.
    pub name: ObjectName,
    /// `PARTITION (…)`
    pub partition: Option<PartitionSpec>,
    /// `FOR …`
    pub columns: AnalyzeColumns,
}

/// Which columns ANALYZE TABLE looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnalyzeColumns {
    /// None: the row count only.
    None,
    /// `FOR ALL COLUMNS`
    All,
    /// `FOR COLUMNS column, …`
    List(Vec<Ident>),
}

/// `COMPILE PLAN 'path' [IF NOT EXISTS] FOR statement`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompilePlan {
    /// The plan's file.
    pub path: Text,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// What is compiled: an insert or a statement set.
    pub statement: Statement,
}

/// `STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StopJob {
    /// The job's id.
    pub job: Text,
    /// `WITH SAVEPOINT`
    pub with_savepoint: bool,
    /// `WITH DRAIN`
    pub with_drain: bool,
}
