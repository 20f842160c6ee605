//! Catalogs, databases, functions, models and connections.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    AlterCatalog, AlterCatalogAction, AlterConnection, AlterDatabase, AlterModel,
    AlterObjectAction, CreateCatalog, CreateConnection, CreateDatabase, CreateModel,
    FunctionDefinition, FunctionLanguage, FunctionResource, ObjectName, ObjectScope, ResourceKind,
    StatementKind,
};
use crate::error::ParseErrorKind;
use crate::lexer::Keyword;

impl Parser<'_> {
    /// `[IF NOT EXISTS] name [COMMENT 'text'] [WITH (…)]` behind CREATE CATALOG
    pub(super) fn create_catalog(&mut self) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.ident()?;
        let comment = self.optional_comment()?;
        let options = self.optional_with()?;
        let catalog = CreateCatalog { if_not_exists, name, comment, options };
        Ok(StatementKind::CreateCatalog(Box::new(catalog)))
    }

    /// What stands behind ALTER CATALOG.
    pub(super) fn alter_catalog(&mut self) -> Parsed<StatementKind> {
        let name = self.ident()?;
        let action = if self.eat(Keyword::SET) {
            AlterCatalogAction::Set(self.properties()?)
        } else if self.eat(Keyword::RESET) {
            AlterCatalogAction::Reset(self.property_keys()?)
        } else {
            self.expect(Keyword::COMMENT)?;
            AlterCatalogAction::Comment(self.string()?)
        };
        Ok(StatementKind::AlterCatalog(Box::new(AlterCatalog { name, action })))
    }

    /// `[IF NOT EXISTS] name [COMMENT 'text'] [WITH (…)]` behind CREATE DATABASE
    pub(super) fn create_database(&mut self) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.object_name()?;
        let comment = self.optional_comment()?;
        let options = self.optional_with()?;
        let database = CreateDatabase { if_not_exists, name, comment, options };
        Ok(StatementKind::CreateDatabase(Box::new(database)))
    }

    /// What stands behind ALTER DATABASE.
    pub(super) fn alter_database(&mut self) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        self.expect(Keyword::SET)?;
        let options = self.properties()?;
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, options })))
    }

    /// What stands behind CREATE FUNCTION.
    pub(super) fn create_function(&mut self, scope: ObjectScope) -> Parsed<StatementKind> {
        let conditional = self.eat_if_not_exists();
        // A system function belongs to no catalog.
        let name = if scope == ObjectScope::TemporarySystem {
            let ident = self.ident()?;
            let span = ident.span;
            ObjectName { parts: vec![ident], span }
        } else {
            self.object_name()?
        };
        self.expect(Keyword::AS)?;
        let identifier = self.plain_string()?;
        let language_place = self.peek_ahead(1).span;
        let language = self.optional(Keyword::LANGUAGE, Self::function_language)?;
        let mut resources = Vec::new();
        if self.eat(Keyword::USING) {
            let refused = match language {
                Some(FunctionLanguage::Python) => Some("PYTHON"),
                Some(FunctionLanguage::Sql) => Some("SQL"),
                _ => None,
            };
            if let Some(language) = refused {
                return Err(self.error(ParseErrorKind::ResourceLanguage(language), language_place));
            }
            resources = self.comma_list(Self::function_resource)?;
        }
        let options = self.optional_with()?;
        Ok(StatementKind::CreateFunction(Box::new(FunctionDefinition {
            scope,
            conditional,
            name,
            identifier,
            language,
            resources,
            options,
        })))
    }

    /// `[TEMPORARY [SYSTEM]] FUNCTION [IF EXISTS] name AS 'identifier' [LANGUAGE …]` behind ALTER
    pub(super) fn alter_function(&mut self) -> Parsed<StatementKind> {
        let scope = if !self.eat(Keyword::TEMPORARY) {
            ObjectScope::Catalog
        } else if self.eat(Keyword::SYSTEM) {
            ObjectScope::TemporarySystem
        } else {
            ObjectScope::Temporary
        };
        self.expect(Keyword::FUNCTION)?;
        let conditional = self.eat_if_exists();
        let name = self.object_name()?;
        self.expect(Keyword::AS)?;
        let identifier = self.plain_string()?;
        let language = self.optional(Keyword::LANGUAGE, Self::function_language)?;
        Ok(StatementKind::AlterFunction(Box::new(FunctionDefinition {
            scope,
            conditional,
            name,
            identifier,
            language,
            resources: Vec::new(),
            options: Vec::new(),
        })))
    }

    fn function_language(&mut self) -> Parsed<FunctionLanguage> {
        if self.eat(Keyword::JAVA) {
            return Ok(FunctionLanguage::Java);
        }
        if self.eat(Keyword::SCALA) {
            return Ok(FunctionLanguage::Scala);
        }
        if self.eat(Keyword::PYTHON) {
            return Ok(FunctionLanguage::Python);
        }
        self.expect(Keyword::SQL)?;
        Ok(FunctionLanguage::Sql)
    }

    /// `{JAR|ARTIFACT} 'path'`
    fn function_resource(&mut self) -> Parsed<FunctionResource> {
        let kind = if self.eat(Keyword::ARTIFACT) {
            ResourceKind::Artifact
        } else {
            self.expect(Keyword::JAR)?;
            ResourceKind::Jar
        };
        Ok(FunctionResource { kind, path: self.plain_string()? })
    }

    /// What stands behind CREATE MODEL.
    pub(super) fn create_model(&mut self, temporary: bool) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.object_name()?;
        let columns = |parser: &mut Self| parser.paren_list(Self::column);
        let input = self.optional(Keyword::INPUT, columns)?.unwrap_or_default();
        let output = self.optional(Keyword::OUTPUT, columns)?.unwrap_or_default();
        let comment = self.optional_comment()?;
        let options = self.optional_with()?;
        let query = self.optional(Keyword::AS, Self::query)?;
        Ok(StatementKind::CreateModel(Box::new(CreateModel {
            temporary,
            if_not_exists,
            name,
            input,
            output,
            comment,
            options,
            query,
        })))
    }

    /// What stands behind ALTER MODEL.
    pub(super) fn alter_model(&mut self) -> Parsed<StatementKind> {
        let if_exists = self.eat_if_exists();
        let name = self.object_name()?;
        let action = self.alter_object_action()?;
        Ok(StatementKind::AlterModel(Box::new(AlterModel { if_exists, name, action })))
    }

    /// What stands behind CREATE CONNECTION.
    pub(super) fn create_connection(&mut self, scope: ObjectScope) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.object_name()?;
        let comment = self.optional_comment()?;
        self.expect(Keyword::WITH)?;
        let options = self.properties()?;
        let connection = CreateConnection { scope, if_not_exists, name, comment, options };
        Ok(StatementKind::CreateConnection(Box::new(connection)))
    }

    /// What stands behind ALTER CONNECTION.
    pub(super) fn alter_connection(&mut self) -> Parsed<StatementKind> {
        let if_exists = self.eat_if_exists();
        let name = self.object_name()?;
        let action = self.alter_object_action()?;
        Ok(StatementKind::AlterConnection(Box::new(AlterConnection { if_exists, name, action })))
    }

    fn alter_object_action(&mut self) -> Parsed<AlterObjectAction> {
        if self.eat(Keyword::RENAME) {
            self.expect(Keyword::TO)?;
            return self.object_name().map(AlterObjectAction::RenameTo);
        }
        if self.eat(Keyword::RESET) {
            return self.property_keys().map(AlterObjectAction::Reset);
        }
        self.expect(Keyword::SET)?;
        self.properties().map(AlterObjectAction::Set)
    }
}
