//! CREATE and DROP: which object.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    CreateMode, CreateView, DropKind, DropObject, ObjectName, ObjectScope, StatementKind,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// What may stand between CREATE or DROP and the kind of object.
#[derive(Clone, Copy)]
pub(super) struct Modifiers {
    /// `OR REPLACE`
    pub(super) replace: bool,
    /// `TEMPORARY`
    pub(super) temporary: bool,
}

impl Parser<'_> {
    /// `CREATE [OR REPLACE] [TEMPORARY [SYSTEM]] kind …`
    pub(super) fn create(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::CREATE)?;
        let replace = self.eat_all([Keyword::OR, Keyword::REPLACE]);
        let modifiers = Modifiers { replace, temporary: self.eat(Keyword::TEMPORARY) };
        if self.eat(Keyword::TABLE) {
            let mode = if replace { CreateMode::CreateOrReplace } else { CreateMode::Create };
            return self.create_table(mode, modifiers.temporary);
        }
        if self.eat(Keyword::VIEW) {
            return self.create_view(modifiers.temporary);
        }
        if self.at(Keyword::MATERIALIZED) || self.follows([Keyword::OR, Keyword::ALTER]) {
            return self.create_materialized_table(modifiers);
        }
        if self.eat(Keyword::CATALOG) {
            return self.create_catalog();
        }
        if self.eat(Keyword::DATABASE) {
            return self.create_database();
        }
        if self.eat(Keyword::MODEL) {
            return self.create_model(modifiers.temporary);
        }
        let system = self.start();
        let is_system = self.eat(Keyword::SYSTEM);
        let object = if self.eat(Keyword::FUNCTION) {
            Keyword::FUNCTION
        } else {
            self.expect(Keyword::CONNECTION)?;
            Keyword::CONNECTION
        };
        let scope = match (modifiers.temporary, is_system) {
            (false, false) => ObjectScope::Catalog,
            (true, false) => ObjectScope::Temporary,
            (true, true) => ObjectScope::TemporarySystem,
            (false, true) => {
                let kind = ParseErrorKind::PermanentSystemObject(object.text());
                return Err(self.error(kind, self.span_from(system)));
            }
        };
        match object {
            Keyword::FUNCTION => self.create_function(scope),
            _ => self.create_connection(scope),
        }
    }

    /// `[IF NOT EXISTS] name [(column, …)] [COMMENT 'text'] AS query` behind VIEW
    fn create_view(&mut self, temporary: bool) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.object_name()?;
        let columns = if self.at(TokenKind::LeftParen) { self.paren_idents()? } else { Vec::new() };
        let comment = self.optional_comment()?;
        self.expect(Keyword::AS)?;
        let query = self.query()?;
        let view = CreateView { temporary, if_not_exists, name, columns, comment, query };
        Ok(StatementKind::CreateView(Box::new(view)))
    }

    /// `DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name …`
    pub(super) fn drop_object(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::DROP)?;
        let temporary = self.eat(Keyword::TEMPORARY);
        let (kind, (if_exists, name)) = if self.eat(Keyword::TABLE) {
            (DropKind::Table { temporary }, self.dropped_name()?)
        } else if self.eat(Keyword::VIEW) {
            (DropKind::View { temporary }, self.dropped_name()?)
        } else if self.at(Keyword::MATERIALIZED) {
            if temporary {
                let kind = ParseErrorKind::NotSupported("DROP TEMPORARY MATERIALIZED TABLE");
                return Err(self.error_here(kind));
            }
            self.expect_all([Keyword::MATERIALIZED, Keyword::TABLE])?;
            (DropKind::MaterializedTable, self.dropped_name()?)
        } else if self.eat(Keyword::CATALOG) {
            (DropKind::Catalog, self.dropped_name()?)
        } else if self.eat(Keyword::DATABASE) {
            let dropped = self.dropped_name()?;
            let cascade = self.eat(Keyword::CASCADE);
            if !cascade {
                self.eat(Keyword::RESTRICT);
            }
            (DropKind::Database { cascade }, dropped)
        } else if self.eat(Keyword::MODEL) {
            (DropKind::Model { temporary }, self.dropped_name()?)
        } else {
            self.dropped_scoped_object(temporary)?
        };
        Ok(StatementKind::Drop(DropObject { kind, if_exists, name }))
    }

    /// `[SYSTEM] {FUNCTION|CONNECTION} [IF EXISTS] name`
    fn dropped_scoped_object(&mut self, temporary: bool) -> Parsed<(DropKind, (bool, ObjectName))> {
        let scope = if self.eat(Keyword::SYSTEM) {
            // There are no others, so that Flink takes it without TEMPORARY too.
            ObjectScope::TemporarySystem
        } else if temporary {
            ObjectScope::Temporary
        } else {
            ObjectScope::Catalog
        };
        let kind = if self.eat(Keyword::FUNCTION) {
            DropKind::Function(scope)
        } else {
            self.expect(Keyword::CONNECTION)?;
            DropKind::Connection(scope)
        };
        Ok((kind, self.dropped_name()?))
    }

    /// `[IF EXISTS] name`
    fn dropped_name(&mut self) -> Parsed<(bool, ObjectName)> {
        Ok((self.eat_if_exists(), self.object_name()?))
    }
}
