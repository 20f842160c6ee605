//! SELECT and its clauses.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    Expr, ExprKind, GroupBy, GroupingElement, GroupingElementKind, Ident, NamedWindow, Select,
    SelectItem,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `SELECT … [FROM …] [WHERE …] [GROUP BY …] [HAVING …] [WINDOW …] [QUALIFY …]`
    pub(super) fn select(&mut self) -> Parsed<Select> {
        let start = self.expect(Keyword::SELECT)?.start;
        let hints = self.optional_hints()?;
        let quantifier = self.optional_set_quantifier();
        let items = self.comma_list(Self::select_item)?;
        let mut select = Select {
            hints,
            quantifier,
            items,
            from: None,
            where_clause: None,
            group_by: None,
            having: None,
            windows: Vec::new(),
            qualify: None,
            span: self.span_from(start),
        };
        // Without FROM there are no rows that the other clauses could speak of.
        if self.eat(Keyword::FROM) {
            select.from = Some(self.from()?);
            select.where_clause = self.optional(Keyword::WHERE, Self::expr)?;
            select.group_by = self.optional_group_by()?;
            select.having = self.optional(Keyword::HAVING, Self::expr)?;
            select.windows = self
                .optional(Keyword::WINDOW, |parser| parser.comma_list(Self::named_window))?
                .unwrap_or_default();
            select.qualify = self.optional(Keyword::QUALIFY, Self::expr)?;
        }
        select.span = self.span_from(start);
        Ok(select)
    }

    /// `*`, `t.*` or `e [[AS] alias]`
    fn select_item(&mut self) -> Parsed<SelectItem> {
        let start = self.start();
        let expr = if self.at(TokenKind::Star) {
            let span = self.advance().span;
            Expr { kind: ExprKind::Star, span }
        } else {
            self.expr()?
        };
        let alias = self.optional_alias()?;
        Ok(SelectItem { expr, alias, span: self.span_from(start) })
    }

    /// `[AS] name`, if it is there.
    fn optional_alias(&mut self) -> Parsed<Option<Ident>> {
        let named = self.eat(Keyword::AS);
        if self.ahead(0, TokenKind::String) {
            let error = self.error_here(ParseErrorKind::CharacterAlias);
            return Err(error.with_hint("quote the alias with `back-quotes`"));
        }
        if named || self.at_ident() { self.ident().map(Some) } else { Ok(None) }
    }

    fn optional_group_by(&mut self) -> Parsed<Option<GroupBy>> {
        let start = self.start();
        if !self.eat_all([Keyword::GROUP, Keyword::BY]) {
            return Ok(None);
        }
        let quantifier = self.optional_set_quantifier();
        let elements = self.comma_list(Self::grouping_element)?;
        Ok(Some(GroupBy { quantifier, elements, span: self.span_from(start) }))
    }

    fn grouping_element(&mut self) -> Parsed<GroupingElement> {
        self.nested(|parser| {
            let start = parser.start();
            let kind = if parser.eat_all([Keyword::GROUPING, Keyword::SETS]) {
                GroupingElementKind::GroupingSets(parser.paren_list(Self::grouping_element)?)
            } else if parser.eat(Keyword::CUBE) {
                GroupingElementKind::Cube(parser.paren_list(Self::grouping_set)?)
            } else if parser.eat(Keyword::ROLLUP) {
                GroupingElementKind::Rollup(parser.paren_list(Self::grouping_set)?)
            } else if parser.at(TokenKind::LeftParen) && parser.ahead(1, TokenKind::RightParen) {
                parser.advance();
                parser.advance();
                GroupingElementKind::Set(Vec::new())
            } else {
                return parser.grouping_set();
            };
            Ok(GroupingElement { kind, span: parser.span_from(start) })
        })
    }

    /// An expression, or `(a, b)`, which `ROW(a, b)` is the same as
    fn grouping_set(&mut self) -> Parsed<GroupingElement> {
        let expr = self.expr()?;
        let span = expr.span;
        let kind = match expr.kind {
            ExprKind::Row { fields } => GroupingElementKind::Set(fields),
            _ => GroupingElementKind::Expr(expr),
        };
        Ok(GroupingElement { kind, span })
    }

    /// `w AS (…)`
    fn named_window(&mut self) -> Parsed<NamedWindow> {
        let start = self.start();
        let name = self.ident()?;
        self.expect(Keyword::AS)?;
        let spec = self.window_spec()?;
        Ok(NamedWindow { name, spec, span: self.span_from(start) })
    }
}
