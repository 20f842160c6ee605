//! Statements.

use super::table::with;
use super::{Maybe, comma, flag};
use crate::ast::{
    AnalyzeColumns, AnalyzeTable, CompilePlan, ConflictStrategy, Delete, Describe, DescribeKind,
    Explain, ExplainDetail, Insert, Show, ShowKind, ShowPattern, Statement, StatementKind, StopJob,
    Update,
};
use std::fmt::{self, Display, Formatter};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Display for StatementKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(query) => query.fmt(f),
            Self::Insert(insert) => insert.fmt(f),
            Self::Update(update) => update.fmt(f),
            Self::Delete(delete) => delete.fmt(f),
            Self::TruncateTable(name) => write!(f, "TRUNCATE TABLE {name}"),
            Self::StatementSet(inserts) => write!(f, "EXECUTE {}", StatementSet(inserts)),
            Self::BeginStatementSet => f.write_str("BEGIN STATEMENT SET"),
            Self::EndStatementSet => f.write_str("END"),
            Self::CreateTable(table) => table.fmt(f),
            Self::AlterTable(alter) => alter.fmt(f),
            Self::CreateView(view) => view.fmt(f),
            Self::AlterView(alter) => alter.fmt(f),
            Self::CreateMaterializedTable(table) => table.fmt(f),
            Self::AlterMaterializedTable(alter) => alter.fmt(f),
            Self::CreateFunction(function) => function.print(f, "CREATE", "IF NOT EXISTS "),
            Self::AlterFunction(function) => function.print(f, "ALTER", "IF EXISTS "),
            Self::CreateCatalog(catalog) => catalog.fmt(f),
            Self::AlterCatalog(alter) => alter.fmt(f),
            Self::CreateDatabase(database) => database.fmt(f),
            Self::AlterDatabase(alter) => alter.fmt(f),
            Self::CreateModel(model) => model.fmt(f),
            Self::AlterModel(alter) => alter.fmt(f),
            Self::CreateConnection(connection) => connection.fmt(f),
            Self::AlterConnection(alter) => alter.fmt(f),
            Self::Drop(object) => object.fmt(f),
            Self::UseCatalog(name) => write!(f, "USE CATALOG {name}"),
            Self::UseDatabase(name) => write!(f, "USE {name}"),
            Self::UseModules(names) => write!(f, "USE MODULES {}", comma(names)),
            Self::LoadModule(name, options) => {
                write!(f, "LOAD MODULE {name}")?;
                with(f, options)
            }
            Self::UnloadModule(name) => write!(f, "UNLOAD MODULE {name}"),
            Self::Show(show) => show.fmt(f),
            Self::Describe(describe) => describe.fmt(f),
            Self::Explain(explain) => explain.fmt(f),
            Self::Set(property) => write!(f, "SET{}", Maybe(" ", property.as_ref(), "")),
            Self::Reset(key) => write!(f, "RESET{}", Maybe(" ", key.as_ref(), "")),
            Self::AnalyzeTable(analyze) => analyze.fmt(f),
            Self::Call(call) => write!(f, "CALL {call}"),
            Self::CompilePlan(plan) => write!(f, "COMPILE PLAN {plan}"),
            Self::ExecutePlan(path) => write!(f, "EXECUTE PLAN {path}"),
            Self::CompileAndExecutePlan(plan) => write!(f, "COMPILE AND EXECUTE PLAN {plan}"),
            Self::AddJar(path) => write!(f, "ADD JAR {path}"),
            Self::RemoveJar(path) => write!(f, "REMOVE JAR {path}"),
            Self::StopJob(stop) => stop.fmt(f),
        }
    }
}

/// A statement set without the EXECUTE before it.
struct StatementSet<'a>(&'a [Insert]);

impl Display for StatementSet<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("STATEMENT SET BEGIN\n")?;
        self.0.iter().try_for_each(|insert| write!(f, "{insert}\n;\n"))?;
        f.write_str("END")
    }
}

/// A statement as a part of another.
struct Inner<'a>(&'a Statement);

impl Display for Inner<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            StatementKind::StatementSet(inserts) => StatementSet(inserts).fmt(f),
            kind => kind.fmt(f),
        }
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mode = if self.overwrite { "OVERWRITE" } else { "INTO" };
        write!(f, "INSERT {mode} {}", self.target)?;
        if !self.hints.is_empty() {
            write!(f, "\n/*+ {} */", comma(&self.hints))?;
        }
        Maybe(" ", self.partition.as_ref(), "").fmt(f)?;
        if !self.columns.is_empty() {
            write!(f, " ({})", comma(&self.columns))?;
        }
        write!(f, "\n{}", self.source)?;
        match self.on_conflict {
            Some(ConflictStrategy::Nothing) => f.write_str("\nON CONFLICT DO NOTHING"),
            Some(ConflictStrategy::Error) => f.write_str("\nON CONFLICT DO ERROR"),
            Some(ConflictStrategy::Deduplicate) => f.write_str("\nON CONFLICT DO DEDUPLICATE"),
            None => Ok(()),
        }
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "UPDATE {}{} SET ", self.target, Maybe(" AS ", self.alias.as_ref(), ""))?;
        for (at, (column, value)) in self.assignments.iter().enumerate() {
            write!(f, "{}{column} = {value}", flag(at > 0, ", "))?;
        }
        Maybe("\nWHERE ", self.where_clause.as_ref(), "").fmt(f)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "DELETE FROM {}{}", self.target, Maybe(" AS ", self.alias.as_ref(), ""))?;
        Maybe("\nWHERE ", self.where_clause.as_ref(), "").fmt(f)
    }
}

impl Display for Show {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SHOW {}", self.kind)?;
        Maybe(" FROM ", self.within.as_ref(), "").fmt(f)?;
        Maybe(" ", self.pattern.as_ref(), "").fmt(f)
    }
}

impl Display for ShowKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalogs => f.write_str("CATALOGS"),
            Self::CurrentCatalog => f.write_str("CURRENT CATALOG"),
            Self::CreateCatalog(name) => write!(f, "CREATE CATALOG {name}"),
            Self::Databases => f.write_str("DATABASES"),
            Self::CurrentDatabase => f.write_str("CURRENT DATABASE"),
            Self::Tables => f.write_str("TABLES"),
            Self::CreateTable(name) => write!(f, "CREATE TABLE {name}"),
            Self::Columns => f.write_str("COLUMNS"),
            Self::Partitions(name, partition) => {
                write!(f, "PARTITIONS {name}{}", Maybe(" ", partition.as_ref(), ""))
            }
            Self::Views => f.write_str("VIEWS"),
            Self::CreateView(name) => write!(f, "CREATE VIEW {name}"),
            Self::MaterializedTables => f.write_str("MATERIALIZED TABLES"),
            Self::CreateMaterializedTable { or_alter, name } => {
                write!(f, "CREATE {}MATERIALIZED TABLE {name}", flag(*or_alter, "OR ALTER "))
            }
            Self::Functions { user } => write!(f, "{}FUNCTIONS", flag(*user, "USER ")),
            Self::Procedures => f.write_str("PROCEDURES"),
            Self::Modules { full } => write!(f, "{}MODULES", flag(*full, "FULL ")),
            Self::Models => f.write_str("MODELS"),
            Self::CreateModel(name) => write!(f, "CREATE MODEL {name}"),
            Self::Connections => f.write_str("CONNECTIONS"),
            Self::CreateConnection(name) => write!(f, "CREATE CONNECTION {name}"),
            Self::Jars => f.write_str("JARS"),
            Self::Jobs => f.write_str("JOBS"),
            Self::Connectors => f.write_str("CONNECTORS"),
            Self::Formats => f.write_str("FORMATS"),
        }
    }
}

impl Display for ShowPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let keyword = if self.ignore_case { "ILIKE" } else { "LIKE" };
        write!(f, "{}{keyword} {}", flag(self.negated, "NOT "), self.pattern)
    }
}

impl Display for Describe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let extended = flag(self.extended, "EXTENDED ");
        match &self.kind {
            DescribeKind::Table(name) => write!(f, "DESCRIBE {extended}{name}"),
            DescribeKind::Catalog(name) => write!(f, "DESCRIBE CATALOG {extended}{name}"),
            DescribeKind::Database(name) => write!(f, "DESCRIBE DATABASE {extended}{name}"),
            DescribeKind::Function(name) => write!(f, "DESCRIBE FUNCTION {extended}{name}"),
            DescribeKind::Model(name) => write!(f, "DESCRIBE MODEL {extended}{name}"),
            DescribeKind::Connection(name) => write!(f, "DESCRIBE CONNECTION {extended}{name}"),
            DescribeKind::Job(id) => write!(f, "DESCRIBE JOB {id}"),
            DescribeKind::Connector(name) => write!(f, "DESCRIBE CONNECTOR {name}"),
            DescribeKind::Format(name) => write!(f, "DESCRIBE FORMAT {name}"),
        }
    }
}

impl Display for Explain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("EXPLAIN ")?;
        if !self.details.is_empty() {
            write!(f, "{} ", comma(&self.details))?;
        }
        Inner(&self.statement).fmt(f)
    }
}

impl Display for ExplainDetail {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EstimatedCost => "ESTIMATED_COST",
            Self::ChangelogMode => "CHANGELOG_MODE",
            Self::JsonExecutionPlan => "JSON_EXECUTION_PLAN",
            Self::PlanAdvice => "PLAN_ADVICE",
        })
    }
}

impl Display for AnalyzeTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let partition = Maybe(" ", self.partition.as_ref(), "");
        write!(f, "ANALYZE TABLE {}{partition} COMPUTE STATISTICS", self.name)?;
        match &self.columns {
            AnalyzeColumns::None => Ok(()),
            AnalyzeColumns::All => f.write_str(" FOR ALL COLUMNS"),
            AnalyzeColumns::List(columns) => write!(f, " FOR COLUMNS {}", comma(columns)),
        }
    }
}

impl Display for CompilePlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "{} {if_not_exists}FOR {}", self.path, Inner(&self.statement))
    }
}

impl Display for StopJob {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let savepoint = flag(self.with_savepoint, " WITH SAVEPOINT");
        write!(f, "STOP JOB {}{savepoint}{}", self.job, flag(self.with_drain, " WITH DRAIN"))
    }
}
