//! INSERT, UPDATE, DELETE, TRUNCATE and statement sets.

use super::cursor::{Parsed, Parser};
use crate::ast::{ConflictStrategy, Delete, Ident, Insert, PartitionSpec, StatementKind, Update};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `INSERT {INTO|OVERWRITE} target … query [ON CONFLICT DO …]`
    pub(super) fn insert(&mut self) -> Parsed<Insert> {
        let start = self.expect(Keyword::INSERT)?.start;
        let overwrite = self.eat(Keyword::OVERWRITE);
        if !overwrite {
            self.expect(Keyword::INTO)?;
        }
        let target = self.object_name()?;
        let hints = self.optional_hints()?;
        let partition = self.optional(Keyword::PARTITION, |parser| parser.partition_spec(false))?;
        // Behind the parenthesis a name begins a list of columns, anything else a query.
        let columns = if self.at(TokenKind::LeftParen) && self.ident_ahead(1) {
            self.paren_list(Self::object_name)?
        } else {
            Vec::new()
        };
        let source = self.query()?;
        let on_conflict = self.optional(Keyword::ON, Self::conflict_strategy)?;
        let span = self.span_from(start);
        Ok(Insert { overwrite, target, hints, partition, columns, source, on_conflict, span })
    }

    /// `CONFLICT DO …` behind ON
    fn conflict_strategy(&mut self) -> Parsed<ConflictStrategy> {
        self.expect_all([Keyword::CONFLICT, Keyword::DO])?;
        if self.eat(Keyword::NOTHING) {
            return Ok(ConflictStrategy::Nothing);
        }
        if self.eat(Keyword::DEDUPLICATE) {
            return Ok(ConflictStrategy::Deduplicate);
        }
        self.expect(Keyword::ERROR)?;
        Ok(ConflictStrategy::Error)
    }

    /// `(column = value, …)`; the values may be absent if `dynamic`.
    pub(super) fn partition_spec(&mut self, dynamic: bool) -> Parsed<PartitionSpec> {
        let start = self.start();
        let entries = self.paren_list(|parser| {
            let column = parser.ident()?;
            if dynamic && !parser.at(TokenKind::Eq) {
                return Ok((column, None));
            }
            parser.expect(TokenKind::Eq)?;
            Ok((column, Some(parser.literal()?)))
        })?;
        Ok(PartitionSpec { entries, span: self.span_from(start) })
    }

    /// `UPDATE target [[AS] alias] SET column = e, … [WHERE e]`
    pub(super) fn update(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::UPDATE)?;
        let target = self.object_name()?;
        let alias = self.optional_target_alias()?;
        self.expect(Keyword::SET)?;
        let assignments = self.comma_list(|parser| {
            let column = parser.ident()?;
            parser.expect(TokenKind::Eq)?;
            Ok((column, parser.expr()?))
        })?;
        let where_clause = self.optional(Keyword::WHERE, Self::expr)?;
        let update = Update { target, alias, assignments, where_clause };
        Ok(StatementKind::Update(Box::new(update)))
    }

    /// `DELETE FROM target [[AS] alias] [WHERE e]`
    pub(super) fn delete(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::DELETE, Keyword::FROM])?;
        let target = self.object_name()?;
        let alias = self.optional_target_alias()?;
        let where_clause = self.optional(Keyword::WHERE, Self::expr)?;
        Ok(StatementKind::Delete(Box::new(Delete { target, alias, where_clause })))
    }

    fn optional_target_alias(&mut self) -> Parsed<Option<Ident>> {
        if self.eat(Keyword::AS) || self.at_ident() { self.ident().map(Some) } else { Ok(None) }
    }

    /// `TRUNCATE TABLE name`
    pub(super) fn truncate(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::TRUNCATE, Keyword::TABLE])?;
        self.object_name().map(StatementKind::TruncateTable)
    }

    /// `insert`, or `EXECUTE {PLAN 'path' | STATEMENT SET … | insert | query}`
    pub(super) fn execute(&mut self) -> Parsed<StatementKind> {
        if self.eat(Keyword::EXECUTE) && self.eat(Keyword::PLAN) {
            return self.string().map(StatementKind::ExecutePlan);
        }
        self.executable()
    }

    /// What can be run and explained: a statement set, an insert or a query.
    pub(super) fn executable(&mut self) -> Parsed<StatementKind> {
        if self.at(Keyword::STATEMENT) {
            return self.statement_set();
        }
        if self.at(Keyword::INSERT) {
            return self.insert().map(|insert| StatementKind::Insert(Box::new(insert)));
        }
        self.query().map(|query| StatementKind::Query(Box::new(query)))
    }

    /// `STATEMENT SET BEGIN insert; … END`
    pub(super) fn statement_set(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::STATEMENT, Keyword::SET, Keyword::BEGIN])?;
        let mut inserts = Vec::new();
        while inserts.is_empty() || self.at(Keyword::INSERT) {
            inserts.push(self.insert()?);
            self.expect(TokenKind::Semicolon)?;
        }
        self.expect(Keyword::END)?;
        Ok(StatementKind::StatementSet(inserts))
    }

    /// `BEGIN STATEMENT SET`
    pub(super) fn begin_statement_set(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::BEGIN, Keyword::STATEMENT, Keyword::SET])?;
        Ok(StatementKind::BeginStatementSet)
    }

    /// `END`
    pub(super) fn end_statement_set(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::END)?;
        Ok(StatementKind::EndStatementSet)
    }
}
