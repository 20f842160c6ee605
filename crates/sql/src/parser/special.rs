//! Functions whose arguments have a syntax of their own.

use super::cursor::{Parsed, Parser};
use super::primary::built_in;
use crate::ast::{Expr, ExprKind, FunctionCall, Literal, RoundDirection, TrimSide};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// The call of the function `keyword`, if it is one with a syntax of its own.
    pub(super) fn special_function(&mut self, keyword: Keyword) -> Parsed<Option<ExprKind>> {
        let kind = match keyword {
            Keyword::EXTRACT => self.extract()?,
            Keyword::SUBSTRING => self.substring()?,
            Keyword::POSITION => self.position()?,
            Keyword::OVERLAY => self.overlay()?,
            Keyword::TRIM => self.trim()?,
            Keyword::FLOOR => self.round_to(RoundDirection::Floor)?,
            Keyword::CEIL | Keyword::CEILING => self.round_to(RoundDirection::Ceil)?,
            Keyword::TIMESTAMPADD => self.timestamp_add()?,
            Keyword::TIMESTAMPDIFF => self.timestamp_diff()?,
            Keyword::DESCRIPTOR => {
                self.advance();
                ExprKind::Descriptor(self.paren_idents()?)
            }
            _ => return self.json_function(keyword),
        };
        Ok(Some(kind))
    }

    /// `EXTRACT(unit FROM e)`
    fn extract(&mut self) -> Parsed<ExprKind> {
        self.open_call()?;
        let unit = self.time_frame()?;
        self.expect(Keyword::FROM)?;
        let operand = self.last_argument()?;
        Ok(ExprKind::Extract { unit, operand })
    }

    /// `SUBSTRING(e FROM start [FOR length])` or `SUBSTRING(e, start [, length])`
    fn substring(&mut self) -> Parsed<ExprKind> {
        let start = self.start();
        self.open_call()?;
        let mut args = vec![self.expr()?];
        let keywords = self.eat(Keyword::FROM);
        if !keywords {
            self.expect(TokenKind::Comma)?;
        }
        args.push(self.expr()?);
        let has_length = if keywords { self.eat(Keyword::FOR) } else { self.eat(TokenKind::Comma) };
        if has_length {
            args.push(self.expr()?);
        }
        self.finish_call(Keyword::SUBSTRING, args, start)
    }

    /// `POSITION(a IN b [FROM start])`
    fn position(&mut self) -> Parsed<ExprKind> {
        let start = self.start();
        self.open_call()?;
        let mut args = vec![self.operand()?];
        self.expect(Keyword::IN)?;
        args.push(self.expr()?);
        args.extend(self.optional(Keyword::FROM, Self::expr)?);
        self.finish_call(Keyword::POSITION, args, start)
    }

    /// `OVERLAY(e PLACING new FROM start [FOR length])`
    fn overlay(&mut self) -> Parsed<ExprKind> {
        let start = self.start();
        self.open_call()?;
        let mut args = vec![self.expr()?];
        self.expect(Keyword::PLACING)?;
        args.push(self.expr()?);
        self.expect(Keyword::FROM)?;
        args.push(self.expr()?);
        args.extend(self.optional(Keyword::FOR, Self::expr)?);
        self.finish_call(Keyword::OVERLAY, args, start)
    }

    /// `TRIM([BOTH|LEADING|TRAILING] [characters] FROM e)` or `TRIM(e)`
    fn trim(&mut self) -> Parsed<ExprKind> {
        self.open_call()?;
        let side = if self.eat(Keyword::BOTH) {
            Some(TrimSide::Both)
        } else if self.eat(Keyword::LEADING) {
            Some(TrimSide::Leading)
        } else if self.eat(Keyword::TRAILING) {
            Some(TrimSide::Trailing)
        } else {
            None
        };
        let blank_place = self.span_from(self.start());
        let blank = || {
            let kind = ExprKind::Literal(Literal::String(" ".to_owned()));
            Box::new(Expr { kind, span: blank_place })
        };
        let (characters, operand) = if side.is_some() && self.eat(Keyword::FROM) {
            (blank(), self.last_argument()?)
        } else {
            let first = Box::new(self.expr()?);
            if side.is_some() || self.at(Keyword::FROM) {
                self.expect(Keyword::FROM)?;
                (first, self.last_argument()?)
            } else {
                self.expect(TokenKind::RightParen)?;
                (blank(), first)
            }
        };
        Ok(ExprKind::Trim { side: side.unwrap_or(TrimSide::Both), characters, operand })
    }

    /// `FLOOR(e [TO unit])`, `CEIL(e [TO unit])`
    fn round_to(&mut self, direction: RoundDirection) -> Parsed<ExprKind> {
        let start = self.start();
        let keyword = match direction {
            RoundDirection::Floor => Keyword::FLOOR,
            RoundDirection::Ceil => Keyword::CEIL,
        };
        self.open_call()?;
        let operand = self.expr()?;
        if !self.eat(Keyword::TO) {
            return self.finish_call(keyword, vec![operand], start);
        }
        let unit = self.time_frame()?;
        self.expect(TokenKind::RightParen)?;
        Ok(ExprKind::RoundTo { direction, operand: Box::new(operand), unit })
    }

    /// `TIMESTAMPADD(unit, count, e)`
    fn timestamp_add(&mut self) -> Parsed<ExprKind> {
        self.open_call()?;
        let unit = self.time_frame()?;
        self.expect(TokenKind::Comma)?;
        let count = Box::new(self.expr()?);
        self.expect(TokenKind::Comma)?;
        let operand = self.last_argument()?;
        Ok(ExprKind::TimestampAdd { unit, count, operand })
    }

    /// `TIMESTAMPDIFF(unit, start, end)`
    fn timestamp_diff(&mut self) -> Parsed<ExprKind> {
        self.open_call()?;
        let unit = self.time_frame()?;
        self.expect(TokenKind::Comma)?;
        let start = Box::new(self.expr()?);
        self.expect(TokenKind::Comma)?;
        let end = self.last_argument()?;
        Ok(ExprKind::TimestampDiff { unit, start, end })
    }

    /// The function's name and `(`.
    pub(super) fn open_call(&mut self) -> Parsed<()> {
        self.advance();
        self.expect(TokenKind::LeftParen).map(drop)
    }

    /// `e)`
    fn last_argument(&mut self) -> Parsed<Box<Expr>> {
        let argument = Box::new(self.expr()?);
        self.expect(TokenKind::RightParen)?;
        Ok(argument)
    }

    /// `)`, and the whole as an ordinary call of `keyword`.
    fn finish_call(&mut self, keyword: Keyword, args: Vec<Expr>, start: usize) -> Parsed<ExprKind> {
        self.expect(TokenKind::RightParen)?;
        let span = self.span_from(start);
        let call = FunctionCall::new(built_in(keyword, span), args, span);
        Ok(ExprKind::Function(Box::new(call)))
    }
}
