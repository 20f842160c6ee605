//! MATCH_RECOGNIZE.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    AfterMatch, Expr, MatchRecognize, Measure, MeasureSemantics, Pattern, PatternDefinition,
    PatternKind, PatternQuantifier, PatternSubset, RowsPerMatch, SkipTo,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `MATCH_RECOGNIZE (…)`
    pub(super) fn match_recognize(&mut self) -> Parsed<MatchRecognize> {
        let start = self.expect(Keyword::MATCH_RECOGNIZE)?.start;
        self.expect(TokenKind::LeftParen)?;
        let partition_by = self.optional_partition_by()?;
        let order_by = if self.at(Keyword::ORDER) { self.order_by()? } else { Vec::new() };
        let measures = self
            .optional(Keyword::MEASURES, |parser| parser.comma_list(Self::measure))?
            .unwrap_or_default();
        let rows_per_match = self.optional_rows_per_match()?;
        let after_match = self.optional_after_match()?;
        self.expect(Keyword::PATTERN)?;
        self.expect(TokenKind::LeftParen)?;
        let anchored_at_start = self.eat(TokenKind::Caret);
        let pattern = self.alternation()?;
        let anchored_at_end = self.at_dollar();
        if anchored_at_end {
            self.advance();
        }
        self.expect(TokenKind::RightParen)?;
        let within = self.optional(Keyword::WITHIN, Self::within)?;
        let subsets = self
            .optional(Keyword::SUBSET, |parser| parser.comma_list(Self::pattern_subset))?
            .unwrap_or_default();
        self.expect(Keyword::DEFINE)?;
        let definitions = self.comma_list(Self::pattern_definition)?;
        self.expect(TokenKind::RightParen)?;
        Ok(MatchRecognize {
            partition_by,
            order_by,
            measures,
            rows_per_match,
            after_match,
            pattern,
            anchored_at_start,
            anchored_at_end,
            within,
            subsets,
            definitions,
            span: self.span_from(start),
        })
    }

    /// `[FINAL|RUNNING] e AS name`
    fn measure(&mut self) -> Parsed<Measure> {
        let start = self.start();
        // FINAL is not reserved: it may be the name of a column or function.
        let is_final = self.ahead(0, Keyword::FINAL)
            && ![TokenKind::Dot, TokenKind::LeftParen, TokenKind::LeftBracket]
                .into_iter()
                .any(|kind| self.ahead(1, kind))
            && !self.ahead(1, Keyword::AS);
        let semantics = if is_final {
            self.advance();
            Some(MeasureSemantics::Final)
        } else if self.eat(Keyword::RUNNING) {
            Some(MeasureSemantics::Running)
        } else {
            None
        };
        let expr = self.expr()?;
        self.expect(Keyword::AS)?;
        let name = self.ident()?;
        Ok(Measure { semantics, expr, name, span: self.span_from(start) })
    }

    fn optional_rows_per_match(&mut self) -> Parsed<Option<RowsPerMatch>> {
        let rows = if self.eat(Keyword::ONE) {
            self.expect(Keyword::ROW)?;
            RowsPerMatch::One
        } else if self.eat(Keyword::ALL) {
            self.expect(Keyword::ROWS)?;
            RowsPerMatch::All
        } else {
            return Ok(None);
        };
        self.expect_all([Keyword::PER, Keyword::MATCH])?;
        Ok(Some(rows))
    }

    fn optional_after_match(&mut self) -> Parsed<Option<AfterMatch>> {
        let start = self.start();
        if !self.eat(Keyword::AFTER) {
            return Ok(None);
        }
        self.expect_all([Keyword::MATCH, Keyword::SKIP])?;
        let skip = if self.eat(Keyword::PAST) {
            self.expect_all([Keyword::LAST, Keyword::ROW])?;
            SkipTo::PastLastRow
        } else {
            self.expect(Keyword::TO)?;
            if self.eat(Keyword::NEXT) {
                self.expect(Keyword::ROW)?;
                SkipTo::NextRow
            } else if self.ahead(0, Keyword::FIRST) && !self.ahead(1, Keyword::PATTERN) {
                self.advance();
                SkipTo::First(self.ident()?)
            } else {
                if self.ahead(0, Keyword::LAST) && !self.ahead(1, Keyword::PATTERN) {
                    self.advance();
                }
                SkipTo::Last(self.ident()?)
            }
        };
        Ok(Some(AfterMatch { skip, span: self.span_from(start) }))
    }

    /// `p | q | …`
    fn alternation(&mut self) -> Parsed<Pattern> {
        self.nested(|parser| {
            let start = parser.start();
            let first = parser.concatenation()?;
            let mut branches = vec![first];
            while parser.eat(TokenKind::Bar) {
                branches.push(parser.concatenation()?);
            }
            let span = parser.span_from(start);
            Ok(one_or(branches, |branches| Pattern {
                kind: PatternKind::Alternation(branches),
                span,
            }))
        })
    }

    /// `p q …`
    fn concatenation(&mut self) -> Parsed<Pattern> {
        let start = self.start();
        let mut parts = vec![self.quantified_pattern()?];
        while !self.at_dollar()
            && (self.at(TokenKind::LeftParen)
                || self.at(TokenKind::LeftBrace)
                || self.at(Keyword::PERMUTE)
                || self.at_ident())
        {
            parts.push(self.quantified_pattern()?);
        }
        let span = self.span_from(start);
        Ok(one_or(parts, |parts| Pattern { kind: PatternKind::Concatenation(parts), span }))
    }

    fn at_dollar(&self) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Word && self.text(token.span) == "$"
    }

    fn quantified_pattern(&mut self) -> Parsed<Pattern> {
        let start = self.start();
        let pattern = self.simple_pattern()?;
        match self.optional_pattern_quantifier()? {
            Some(quantifier) => {
                let kind = PatternKind::Quantified(Box::new(pattern), quantifier);
                Ok(Pattern { kind, span: self.span_from(start) })
            }
            None => Ok(pattern),
        }
    }

    fn simple_pattern(&mut self) -> Parsed<Pattern> {
        let start = self.start();
        let kind = if self.eat(TokenKind::LeftParen) {
            let pattern = self.alternation()?;
            self.expect(TokenKind::RightParen)?;
            PatternKind::Group(Box::new(pattern))
        } else if self.eat(TokenKind::LeftBrace) {
            self.expect(TokenKind::Minus)?;
            let pattern = self.alternation()?;
            self.expect(TokenKind::Minus)?;
            self.expect(TokenKind::RightBrace)?;
            PatternKind::Exclusion(Box::new(pattern))
        } else if self.eat(Keyword::PERMUTE) {
            PatternKind::Permute(self.paren_list(Self::alternation)?)
        } else {
            PatternKind::Variable(self.ident()?)
        };
        Ok(Pattern { kind, span: self.span_from(start) })
    }

    fn optional_pattern_quantifier(&mut self) -> Parsed<Option<PatternQuantifier>> {
        let start = self.start();
        let (min, max) = if self.eat(TokenKind::Star) {
            (Some(0), None)
        } else if self.eat(TokenKind::Plus) {
            (Some(1), None)
        } else if self.eat(TokenKind::Question) {
            (Some(0), Some(1))
        } else if self.at(TokenKind::LeftBrace) && !self.ahead(1, TokenKind::Minus) {
            self.advance();
            self.braced_quantifier()?
        } else {
            return Ok(None);
        };
        let reluctant = self.eat(TokenKind::Question);
        Ok(Some(PatternQuantifier { min, max, reluctant, span: self.span_from(start) }))
    }

    /// `n}`, `n,}`, `n,m}` or `,m}`
    fn braced_quantifier(&mut self) -> Parsed<(Option<u32>, Option<u32>)> {
        let min = if self.at(TokenKind::Comma) { None } else { Some(self.unsigned_int()?) };
        let bounds = if self.eat(TokenKind::Comma) {
            let has_max = min.is_none() || self.at(TokenKind::Integer);
            (min, if has_max { Some(self.unsigned_int()?) } else { None })
        } else {
            (min, min)
        };
        self.expect(TokenKind::RightBrace)?;
        Ok(bounds)
    }

    /// An interval behind WITHIN
    fn within(&mut self) -> Parsed<Expr> {
        if self.at(Keyword::INTERVAL) { self.primary() } else { Err(self.unexpected()) }
    }

    /// `s = (a, b)`
    fn pattern_subset(&mut self) -> Parsed<PatternSubset> {
        let start = self.start();
        let name = self.ident()?;
        self.expect(TokenKind::Eq)?;
        let variables = self.paren_idents()?;
        Ok(PatternSubset { name, variables, span: self.span_from(start) })
    }

    /// `v AS condition`
    fn pattern_definition(&mut self) -> Parsed<PatternDefinition> {
        let start = self.start();
        let name = self.ident()?;
        self.expect(Keyword::AS)?;
        let condition = self.expr()?;
        Ok(PatternDefinition { name, condition, span: self.span_from(start) })
    }
}

/// The only pattern, or what `combine` makes of several.
fn one_or(mut patterns: Vec<Pattern>, combine: impl FnOnce(Vec<Pattern>) -> Pattern) -> Pattern {
    match patterns.pop() {
        Some(only) if patterns.is_empty() => only,
        last => {
            patterns.extend(last);
            combine(patterns)
        }
    }
}
