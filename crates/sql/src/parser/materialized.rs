//! Materialized tables.

use super::create::Modifiers;
use super::cursor::{Parsed, Parser};
use super::table::TableSchema;
use crate::ast::{
    AlterMaterializedTable, AlterMaterializedTableAction as Action, CreateMaterializedTable,
    ExprKind, IntervalLiteral, Literal, RefreshMode, StartFrom, StartMode, StatementKind,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `[OR ALTER] MATERIALIZED TABLE …` behind CREATE
    pub(super) fn create_materialized_table(
        &mut self,
        modifiers: Modifiers,
    ) -> Parsed<StatementKind> {
        let or_alter = self.eat_all([Keyword::OR, Keyword::ALTER]);
        if modifiers.temporary {
            let kind = ParseErrorKind::NotSupported("CREATE TEMPORARY MATERIALIZED TABLE");
            return Err(self.error_here(kind));
        }
        if modifiers.replace {
            let kind = ParseErrorKind::NotSupported("REPLACE MATERIALIZED TABLE");
            return Err(self.error_here(kind).with_hint("write CREATE OR ALTER"));
        }
        self.expect_all([Keyword::MATERIALIZED, Keyword::TABLE])?;
        let name = self.object_name()?;
        let TableSchema { elements, column_names } = self.optional_table_schema()?;
        let comment = self.optional_comment()?;
        let distribution = self.optional(Keyword::DISTRIBUTED, Self::distribution)?;
        let partitioned_by = self.optional_partitioned_by()?;
        let options = self.optional_with()?;
        let start_mode = self.optional(Keyword::START_MODE, Self::start_mode)?;
        let freshness = self.optional(Keyword::FRESHNESS, Self::freshness)?;
        let refresh_mode = self.optional(Keyword::REFRESH_MODE, Self::refresh_mode)?;
        self.expect(Keyword::AS)?;
        let query = self.query()?;
        Ok(StatementKind::CreateMaterializedTable(Box::new(CreateMaterializedTable {
            or_alter,
            name,
            elements,
            column_names,
            comment,
            distribution,
            partitioned_by,
            options,
            start_mode,
            freshness,
            refresh_mode,
            query,
        })))
    }

    /// `= INTERVAL …` behind FRESHNESS
    fn freshness(&mut self) -> Parsed<IntervalLiteral> {
        self.expect(TokenKind::Eq)?;
        self.interval_or(ParseErrorKind::Freshness)
    }

    /// An interval literal, or the error `otherwise`.
    fn interval_or(&mut self, otherwise: ParseErrorKind) -> Parsed<IntervalLiteral> {
        let expr = self.expr()?;
        match expr.kind {
            ExprKind::Literal(Literal::Interval(interval)) => Ok(interval),
            _ => Err(self.error(otherwise, expr.span)),
        }
    }

    /// `= {FULL|CONTINUOUS}` behind REFRESH_MODE
    fn refresh_mode(&mut self) -> Parsed<RefreshMode> {
        self.expect(TokenKind::Eq)?;
        if self.eat(Keyword::FULL) {
            return Ok(RefreshMode::Full);
        }
        self.expect(Keyword::CONTINUOUS)?;
        Ok(RefreshMode::Continuous)
    }

    /// `= [RESUME_OR_]FROM_…` behind START_MODE
    fn start_mode(&mut self) -> Parsed<StartMode> {
        self.expect(TokenKind::Eq)?;
        let start = self.start();
        let (resume, from) = if self.eat(Keyword::FROM_BEGINNING) {
            (false, StartFrom::Beginning)
        } else if self.eat(Keyword::RESUME_OR_FROM_BEGINNING) {
            (true, StartFrom::Beginning)
        } else if self.eat(Keyword::FROM_NOW) {
            (false, self.start_from_now()?)
        } else if self.eat(Keyword::RESUME_OR_FROM_NOW) {
            (true, self.start_from_now()?)
        } else if self.eat(Keyword::FROM_TIMESTAMP) {
            (false, self.start_from_timestamp()?)
        } else {
            self.expect(Keyword::RESUME_OR_FROM_TIMESTAMP)?;
            (true, self.start_from_timestamp()?)
        };
        Ok(StartMode { resume, from, span: self.span_from(start) })
    }

    /// `[(interval)]`
    fn start_from_now(&mut self) -> Parsed<StartFrom> {
        let ago = self.optional(TokenKind::LeftParen, |parser| {
            let interval = parser.interval_or(ParseErrorKind::StartModeInterval)?;
            parser.expect(TokenKind::RightParen)?;
            Ok(interval)
        })?;
        Ok(StartFrom::Now(ago))
    }

    /// `(timestamp)`
    fn start_from_timestamp(&mut self) -> Parsed<StartFrom> {
        self.expect(TokenKind::LeftParen)?;
        if !self.at(Keyword::TIMESTAMP) {
            return Err(self.unexpected());
        }
        let Some(timestamp) = self.optional_literal()? else {
            return Err(self.unexpected());
        };
        self.expect(TokenKind::RightParen)?;
        Ok(StartFrom::Timestamp(timestamp))
    }

    /// What stands behind `ALTER MATERIALIZED TABLE`.
    pub(super) fn alter_materialized_table(&mut self) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let action = self.alter_materialized_table_action()?;
        let alter = AlterMaterializedTable { name, action };
        Ok(StatementKind::AlterMaterializedTable(Box::new(alter)))
    }

    fn alter_materialized_table_action(&mut self) -> Parsed<Action> {
        if self.eat(Keyword::SUSPEND) {
            return Ok(Action::Suspend);
        }
        if self.eat(Keyword::RESUME) {
            return self.optional_with().map(Action::Resume);
        }
        if self.eat(Keyword::REFRESH) {
            let partition =
                self.optional(Keyword::PARTITION, |parser| parser.partition_spec(false))?;
            return Ok(Action::Refresh(partition));
        }
        if self.eat(Keyword::SET) {
            if self.eat(Keyword::FRESHNESS) {
                return self.freshness().map(Action::SetFreshness);
            }
            if self.eat(Keyword::REFRESH_MODE) {
                return self.refresh_mode().map(Action::SetRefreshMode);
            }
            return self.properties().map(Action::Set);
        }
        if self.eat(Keyword::RESET) {
            return self.property_keys().map(Action::Reset);
        }
        if self.eat(Keyword::ADD) {
            if self.eat(Keyword::DISTRIBUTION) {
                return self.distribution().map(Action::AddDistribution);
            }
            return self.schema_components().map(Action::Add);
        }
        if self.eat(Keyword::MODIFY) {
            if self.eat(Keyword::DISTRIBUTION) {
                return self.distribution().map(Action::ModifyDistribution);
            }
            return self.schema_components().map(Action::Modify);
        }
        if self.eat(Keyword::DROP) {
            return self.drop_from_materialized_table();
        }
        self.expect(Keyword::AS)?;
        self.query().map(|query| Action::As(Box::new(query)))
    }

    fn drop_from_materialized_table(&mut self) -> Parsed<Action> {
        if self.eat(Keyword::PRIMARY) {
            self.expect(Keyword::KEY)?;
            return Ok(Action::DropPrimaryKey);
        }
        if self.eat(Keyword::CONSTRAINT) {
            return self.ident().map(Action::DropConstraint);
        }
        if self.eat(Keyword::WATERMARK) {
            return Ok(Action::DropWatermark);
        }
        if self.eat(Keyword::DISTRIBUTION) {
            return Ok(Action::DropDistribution);
        }
        self.dropped_columns().map(Action::DropColumns)
    }
}
