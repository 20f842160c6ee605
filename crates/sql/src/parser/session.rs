//! Statements on the session, its jobs and its plans.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    AnalyzeColumns, AnalyzeTable, CompilePlan, Explain, ExplainDetail, Property, Span, Statement,
    StatementKind, StopJob, Text,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `USE {CATALOG name | MODULES name, … | [catalog.]database}`
    pub(super) fn use_object(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::USE)?;
        if self.eat(Keyword::CATALOG) {
            return self.ident().map(StatementKind::UseCatalog);
        }
        if self.eat(Keyword::MODULES) {
            return self.comma_list(Self::ident).map(StatementKind::UseModules);
        }
        self.object_name().map(StatementKind::UseDatabase)
    }

    /// `LOAD MODULE name [WITH (…)]`
    pub(super) fn load_module(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::LOAD, Keyword::MODULE])?;
        Ok(StatementKind::LoadModule(self.ident()?, self.optional_with()?))
    }

    /// `UNLOAD MODULE name`
    pub(super) fn unload_module(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::UNLOAD, Keyword::MODULE])?;
        self.ident().map(StatementKind::UnloadModule)
    }

    /// `SET`, `SET 'key' = 'value'` or `SET key = value`
    pub(super) fn set(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::SET)?;
        if self.at_end() {
            return Ok(StatementKind::Set(None));
        }
        if self.at_string() {
            return self.property().map(|property| StatementKind::Set(Some(property)));
        }
        let key = self.bare_text(true)?;
        self.expect(TokenKind::Eq)?;
        let value = if self.at_string() { self.string()? } else { self.bare_text(false)? };
        Ok(StatementKind::Set(Some(Property { key, value })))
    }

    /// `RESET`, `RESET 'key'` or `RESET key`
    pub(super) fn reset(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::RESET)?;
        if self.at_end() {
            return Ok(StatementKind::Reset(None));
        }
        let key = if self.at_string() { self.string()? } else { self.bare_text(false)? };
        Ok(StatementKind::Reset(Some(key)))
    }

    /// Text without quotes, up to a blank or semicolon; up to an equals sign too if `is_key`.
    /// What would be a comment elsewhere, as in `hdfs://host`, belongs to it.
    fn bare_text(&mut self, is_key: bool) -> Parsed<Text> {
        let start = self.start();
        let ends = |sign: char| sign.is_whitespace() || sign == ';' || (is_key && sign == '=');
        let value = self.rest().split(ends).next().unwrap_or_default().to_owned();
        if value.is_empty() || value.contains(['\'', '`']) {
            return Err(self.unexpected());
        }
        let span = Span::new(start, start + value.len());
        while self.start() < span.end && !self.at(TokenKind::End) {
            self.advance();
        }
        Ok(Text { value, span })
    }

    fn at_end(&mut self) -> bool {
        self.at(TokenKind::End) || self.at(TokenKind::Semicolon)
    }

    /// `EXPLAIN [PLAN FOR | detail, …] statement`
    pub(super) fn explain(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::EXPLAIN)?;
        let mut details = Vec::new();
        if !self.eat_all([Keyword::PLAN, Keyword::FOR]) {
            while let Some(detail) = self.optional_explain_detail() {
                if details.contains(&detail) {
                    return Err(self.error_here(ParseErrorKind::DuplicateDetail));
                }
                details.push(detail);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        let start = self.start();
        let kind = self.explained()?;
        let statement = Statement { kind, span: self.span_from(start) };
        Ok(StatementKind::Explain(Box::new(Explain { details, statement })))
    }

    fn optional_explain_detail(&mut self) -> Option<ExplainDetail> {
        const DETAILS: [(Keyword, ExplainDetail); 4] = [
            (Keyword::ESTIMATED_COST, ExplainDetail::EstimatedCost),
            (Keyword::CHANGELOG_MODE, ExplainDetail::ChangelogMode),
            (Keyword::JSON_EXECUTION_PLAN, ExplainDetail::JsonExecutionPlan),
            (Keyword::PLAN_ADVICE, ExplainDetail::PlanAdvice),
        ];
        DETAILS.into_iter().find(|&(keyword, _)| self.eat(keyword)).map(|(_, detail)| detail)
    }

    fn explained(&mut self) -> Parsed<StatementKind> {
        let span = self.peek().span;
        let kind = if self.at(Keyword::CREATE) {
            self.create()?
        } else if self.at(Keyword::REPLACE) {
            self.replace_table()?
        } else {
            self.eat(Keyword::EXECUTE);
            return self.executable();
        };
        match &kind {
            StatementKind::CreateTable(table) if table.query.is_some() => Ok(kind),
            _ => Err(self.error(ParseErrorKind::ExplainCreate, span)),
        }
    }

    /// `ANALYZE TABLE name [PARTITION (…)] COMPUTE STATISTICS [FOR …]`
    pub(super) fn analyze_table(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::ANALYZE, Keyword::TABLE])?;
        let name = self.object_name()?;
        let partition = self.optional(Keyword::PARTITION, |parser| parser.partition_spec(true))?;
        self.expect_all([Keyword::COMPUTE, Keyword::STATISTICS])?;
        let columns = if !self.eat(Keyword::FOR) {
            AnalyzeColumns::None
        } else if self.eat(Keyword::ALL) {
            self.expect(Keyword::COLUMNS)?;
            AnalyzeColumns::All
        } else {
            self.expect(Keyword::COLUMNS)?;
            AnalyzeColumns::List(self.comma_list(Self::ident)?)
        };
        let analyze = AnalyzeTable { name, partition, columns };
        Ok(StatementKind::AnalyzeTable(Box::new(analyze)))
    }

    /// `CALL procedure(…)`
    pub(super) fn call_procedure(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::CALL)?;
        let name = self.object_name()?;
        self.plain_call(name).map(|call| StatementKind::Call(Box::new(call)))
    }

    /// `COMPILE [AND EXECUTE] PLAN 'path' [IF NOT EXISTS] FOR {insert | STATEMENT SET …}`
    pub(super) fn compile_plan(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::COMPILE)?;
        let execute = self.eat(Keyword::AND);
        if execute {
            self.expect(Keyword::EXECUTE)?;
        }
        self.expect(Keyword::PLAN)?;
        let path = self.string()?;
        let if_not_exists = !execute && self.eat_if_not_exists();
        self.expect(Keyword::FOR)?;
        let start = self.start();
        if !self.at(Keyword::STATEMENT) && !self.at(Keyword::INSERT) {
            return Err(self.unexpected());
        }
        let kind = self.executable()?;
        let statement = Statement { kind, span: self.span_from(start) };
        let plan = Box::new(CompilePlan { path, if_not_exists, statement });
        Ok(if execute {
            StatementKind::CompileAndExecutePlan(plan)
        } else {
            StatementKind::CompilePlan(plan)
        })
    }

    /// `ADD JAR 'path'`
    pub(super) fn add_jar(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::ADD, Keyword::JAR])?;
        self.plain_string().map(StatementKind::AddJar)
    }

    /// `REMOVE JAR 'path'`
    pub(super) fn remove_jar(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::REMOVE, Keyword::JAR])?;
        self.plain_string().map(StatementKind::RemoveJar)
    }

    /// `STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]`
    pub(super) fn stop_job(&mut self) -> Parsed<StatementKind> {
        self.expect_all([Keyword::STOP, Keyword::JOB])?;
        let job = self.plain_string()?;
        let with_savepoint = self.eat_all([Keyword::WITH, Keyword::SAVEPOINT]);
        let place = self.peek().span;
        let with_drain = self.optional(Keyword::WITH, |parser| parser.expect(Keyword::DRAIN))?;
        if with_drain.is_some() && !with_savepoint {
            return Err(self.error(ParseErrorKind::DrainWithoutSavepoint, place));
        }
        let with_drain = with_drain.is_some();
        Ok(StatementKind::StopJob(StopJob { job, with_savepoint, with_drain }))
    }
}
