//! Windows of OVER, orders and hints.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    Expr, FrameBound, FrameUnits, Hint, HintArg, NullsOrder, ObjectName, OrderItem, Text, Window,
    WindowFrame, WindowSpec,
};
use crate::lexer::{Keyword, TokenKind, quoted};

impl Parser<'_> {
    /// What stands behind OVER.
    pub(super) fn window(&mut self) -> Parsed<Window> {
        if self.at(TokenKind::LeftParen) {
            self.window_spec().map(|spec| Window::Spec(Box::new(spec)))
        } else {
            self.ident().map(Window::Named)
        }
    }

    /// `([base] [PARTITION BY …] [ORDER BY …] [frame])`
    pub(super) fn window_spec(&mut self) -> Parsed<WindowSpec> {
        let start = self.expect(TokenKind::LeftParen)?.start;
        let base = if self.at_ident() { Some(self.ident()?) } else { None };
        let partition_by = self.optional_partition_by()?;
        let order_by = if self.at(Keyword::ORDER) { self.order_by()? } else { Vec::new() };
        let frame = self.optional_frame()?;
        self.expect(TokenKind::RightParen)?;
        Ok(WindowSpec { base, partition_by, order_by, frame, span: self.span_from(start) })
    }

    /// `PARTITION BY e, …`, if it is there.
    pub(super) fn optional_partition_by(&mut self) -> Parsed<Vec<Expr>> {
        if self.eat(Keyword::PARTITION) {
            self.expect(Keyword::BY)?;
            self.comma_list(Self::expr)
        } else {
            Ok(Vec::new())
        }
    }

    fn optional_frame(&mut self) -> Parsed<Option<WindowFrame>> {
        let start = self.start();
        let units = if self.eat(Keyword::ROWS) {
            FrameUnits::Rows
        } else if self.eat(Keyword::RANGE) {
            FrameUnits::Range
        } else {
            return Ok(None);
        };
        let is_between = self.eat(Keyword::BETWEEN);
        let lower = self.frame_bound()?;
        let end = if is_between {
            self.expect(Keyword::AND)?;
            Some(self.frame_bound()?)
        } else {
            None
        };
        Ok(Some(WindowFrame { units, start: lower, end, span: self.span_from(start) }))
    }

    fn frame_bound(&mut self) -> Parsed<FrameBound> {
        if self.eat_all([Keyword::CURRENT, Keyword::ROW]) {
            return Ok(FrameBound::CurrentRow);
        }
        if self.eat(Keyword::UNBOUNDED) {
            if self.eat(Keyword::PRECEDING) {
                return Ok(FrameBound::UnboundedPreceding);
            }
            self.expect(Keyword::FOLLOWING)?;
            return Ok(FrameBound::UnboundedFollowing);
        }
        let distance = Box::new(self.expr()?);
        if self.eat(Keyword::PRECEDING) {
            return Ok(FrameBound::Preceding(distance));
        }
        self.expect(Keyword::FOLLOWING)?;
        Ok(FrameBound::Following(distance))
    }

    /// `ORDER BY item, …`
    pub(super) fn order_by(&mut self) -> Parsed<Vec<OrderItem>> {
        self.expect_all([Keyword::ORDER, Keyword::BY])?;
        self.comma_list(Self::order_item)
    }

    /// `e [ASC|DESC] [NULLS {FIRST|LAST}]`
    pub(super) fn order_item(&mut self) -> Parsed<OrderItem> {
        let start = self.start();
        let expr = self.expr()?;
        let descending = self.eat(Keyword::DESC);
        if !descending {
            self.eat(Keyword::ASC);
        }
        let nulls = if !self.eat(Keyword::NULLS) {
            None
        } else if self.eat(Keyword::FIRST) {
            Some(NullsOrder::First)
        } else {
            self.expect(Keyword::LAST)?;
            Some(NullsOrder::Last)
        };
        Ok(OrderItem { expr, descending, nulls, span: self.span_from(start) })
    }

    /// `/*+ hint, … */`, if it is there.
    pub(super) fn optional_hints(&mut self) -> Parsed<Vec<Hint>> {
        if !self.eat(TokenKind::HintStart) {
            return Ok(Vec::new());
        }
        let hints = self.comma_list(Self::hint)?;
        self.expect(TokenKind::HintEnd)?;
        Ok(hints)
    }

    /// `name [(argument, …)]`; the arguments are all of one kind.
    fn hint(&mut self) -> Parsed<Hint> {
        let start = self.start();
        let name = self.ident()?;
        let args = if !self.at(TokenKind::LeftParen) {
            Vec::new()
        } else if self.ahead(2, TokenKind::Eq) {
            self.paren_list(Self::hint_option)?
        } else if self.ident_ahead(1) {
            self.paren_list(|parser| {
                let name = parser.ident()?;
                let span = name.span;
                Ok(HintArg::Name(ObjectName { parts: vec![name], span }))
            })?
        } else {
            self.optional_paren_list(Self::hint_literal)?
        };
        Ok(Hint { name, args, span: self.span_from(start) })
    }

    /// `key = 'value'`, `'key' = 'value'`
    fn hint_option(&mut self) -> Parsed<HintArg> {
        let key = if self.at_ident() {
            let name = self.ident()?;
            Text { value: name.value, span: name.span }
        } else {
            self.string()?
        };
        self.expect(TokenKind::Eq)?;
        Ok(HintArg::KeyValue { key, value: self.string()? })
    }

    fn hint_literal(&mut self) -> Parsed<HintArg> {
        if self.at(TokenKind::String) {
            let span = self.advance().span;
            let value = quoted(self.text(span), '\'');
            return Ok(HintArg::Text(Text { value, span }));
        }
        let start = self.start();
        let sign = if self.eat(TokenKind::Minus) { "-" } else { "" };
        let number = self.number_text()?;
        let value = format!("{sign}{}", number.value);
        Ok(HintArg::Number(Text { value, span: self.span_from(start) }))
    }
}
