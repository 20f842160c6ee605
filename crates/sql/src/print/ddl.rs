//! Views, materialized tables, functions, catalogs, databases, models and connections.

use super::query::Columns;
use super::table::{Lines, lines, table_clauses, with};
use super::{Maybe, comma, flag};
use crate::ast::{
    AlterCatalog, AlterCatalogAction, AlterConnection, AlterDatabase, AlterModel,
    AlterObjectAction, CreateCatalog, CreateConnection, CreateDatabase, CreateMaterializedTable,
    CreateModel, CreateView, DropKind, DropObject, FunctionDefinition, FunctionLanguage,
    FunctionResource, ObjectScope, RefreshMode, ResourceKind, StartFrom, StartMode,
};
use std::fmt::{self, Display, Formatter};

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let temporary = flag(self.temporary, "TEMPORARY ");
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE {temporary}VIEW {if_not_exists}{}", self.name)?;
        Columns(&self.columns).fmt(f)?;
        Maybe("\nCOMMENT ", self.comment.as_ref(), "").fmt(f)?;
        write!(f, "\nAS\n{}", self.query)
    }
}

impl Display for CreateMaterializedTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let or_alter = flag(self.or_alter, "OR ALTER ");
        write!(f, "CREATE {or_alter}MATERIALIZED TABLE {}", self.name)?;
        lines(f, &self.elements)?;
        lines(f, &self.column_names)?;
        table_clauses(f, self.comment.as_ref(), self.distribution.as_ref(), &self.partitioned_by)?;
        with(f, &self.options)?;
        Maybe("\nSTART_MODE = ", self.start_mode.as_ref(), "").fmt(f)?;
        Maybe("\nFRESHNESS = ", self.freshness.as_ref(), "").fmt(f)?;
        Maybe("\nREFRESH_MODE = ", self.refresh_mode.as_ref(), "").fmt(f)?;
        write!(f, "\nAS\n{}", self.query)
    }
}

impl Display for RefreshMode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Continuous => "CONTINUOUS",
            Self::Full => "FULL",
        })
    }
}

impl Display for StartMode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(flag(self.resume, "RESUME_OR_"))?;
        match &self.from {
            StartFrom::Beginning => f.write_str("FROM_BEGINNING"),
            StartFrom::Now(ago) => write!(f, "FROM_NOW{}", Maybe("(", ago.as_ref(), ")")),
            StartFrom::Timestamp(timestamp) => write!(f, "FROM_TIMESTAMP({timestamp})"),
        }
    }
}

impl Display for ObjectScope {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Catalog => "",
            Self::Temporary => "TEMPORARY ",
            Self::TemporarySystem => "TEMPORARY SYSTEM ",
        })
    }
}

impl FunctionDefinition {
    /// The definition behind `verb`; `condition` is what makes it conditional.
    pub(super) fn print(
        &self,
        f: &mut Formatter<'_>,
        verb: &str,
        condition: &'static str,
    ) -> fmt::Result {
        let condition = flag(self.conditional, condition);
        write!(f, "{verb} {}FUNCTION {condition}{}", self.scope, self.name)?;
        write!(f, " AS {}", self.identifier)?;
        if let Some(language) = self.language {
            f.write_str(match language {
                FunctionLanguage::Java => " LANGUAGE JAVA",
                FunctionLanguage::Scala => " LANGUAGE SCALA",
                FunctionLanguage::Python => " LANGUAGE PYTHON",
                FunctionLanguage::Sql => " LANGUAGE SQL",
            })?;
        }
        if !self.resources.is_empty() {
            write!(f, " USING {}", comma(&self.resources))?;
        }
        with(f, &self.options)
    }
}

impl Display for FunctionResource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ResourceKind::Jar => "JAR",
            ResourceKind::Artifact => "ARTIFACT",
        };
        write!(f, "{kind} {}", self.path)
    }
}

impl Display for CreateCatalog {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE CATALOG {if_not_exists}{}", self.name)?;
        Maybe("\nCOMMENT ", self.comment.as_ref(), "").fmt(f)?;
        with(f, &self.options)
    }
}

impl Display for AlterCatalog {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER CATALOG {}", self.name)?;
        match &self.action {
            AlterCatalogAction::Set(options) => write!(f, " SET {}", Lines(options)),
            AlterCatalogAction::Reset(keys) => write!(f, " RESET {}", Lines(keys)),
            AlterCatalogAction::Comment(comment) => write!(f, " COMMENT {comment}"),
        }
    }
}

impl Display for CreateDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE DATABASE {if_not_exists}{}", self.name)?;
        Maybe("\nCOMMENT ", self.comment.as_ref(), "").fmt(f)?;
        with(f, &self.options)
    }
}

impl Display for AlterDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER DATABASE {} SET {}", self.name, Lines(&self.options))
    }
}

impl Display for CreateModel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let temporary = flag(self.temporary, "TEMPORARY ");
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE {temporary}MODEL {if_not_exists}{}", self.name)?;
        if !self.input.is_empty() {
            write!(f, " INPUT {}", Lines(&self.input))?;
        }
        if !self.output.is_empty() {
            write!(f, " OUTPUT {}", Lines(&self.output))?;
        }
        Maybe("\nCOMMENT ", self.comment.as_ref(), "").fmt(f)?;
        with(f, &self.options)?;
        Maybe("\nAS\n", self.query.as_ref(), "").fmt(f)
    }
}

impl Display for AlterModel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_exists = flag(self.if_exists, "IF EXISTS ");
        write!(f, "ALTER MODEL {if_exists}{} {}", self.name, self.action)
    }
}

impl Display for CreateConnection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = flag(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE {}CONNECTION {if_not_exists}{}", self.scope, self.name)?;
        Maybe("\nCOMMENT ", self.comment.as_ref(), "").fmt(f)?;
        write!(f, "\nWITH {}", Lines(&self.options))
    }
}

impl Display for AlterConnection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_exists = flag(self.if_exists, "IF EXISTS ");
        write!(f, "ALTER CONNECTION {if_exists}{} {}", self.name, self.action)
    }
}

impl Display for AlterObjectAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(options) => write!(f, "SET {}", Lines(options)),
            Self::Reset(keys) => write!(f, "RESET {}", Lines(keys)),
            Self::RenameTo(name) => write!(f, "RENAME TO {name}"),
        }
    }
}

impl Display for DropObject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("DROP ")?;
        match self.kind {
            DropKind::Catalog => f.write_str("CATALOG ")?,
            DropKind::Database { .. } => f.write_str("DATABASE ")?,
            DropKind::Table { temporary } => write!(f, "{}TABLE ", flag(temporary, "TEMPORARY "))?,
            DropKind::View { temporary } => write!(f, "{}VIEW ", flag(temporary, "TEMPORARY "))?,
            DropKind::MaterializedTable => f.write_str("MATERIALIZED TABLE ")?,
            DropKind::Function(scope) => write!(f, "{scope}FUNCTION ")?,
            DropKind::Connection(scope) => write!(f, "{scope}CONNECTION ")?,
            DropKind::Model { temporary } => write!(f, "{}MODEL ", flag(temporary, "TEMPORARY "))?,
        }
        write!(f, "{}{}", flag(self.if_exists, "IF EXISTS "), self.name)?;
        match self.kind {
            DropKind::Database { cascade: true } => f.write_str(" CASCADE"),
            DropKind::Database { cascade: false } => f.write_str(" RESTRICT"),
            _ => Ok(()),
        }
    }
}
