//! Identifiers, names and plain strings.

use super::cursor::{Expected, Parsed, Parser};
use crate::ast::{Ident, Literal, ObjectName, Property, Text};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind, quoted};

/// The longest identifier that Flink takes, in characters.
const MAX_IDENT_LENGTH: usize = 256;

impl Parser<'_> {
    /// An unreserved word or a name in back-quotes.
    pub(super) fn ident(&mut self) -> Parsed<Ident> {
        if self.at_ident() { self.advance_ident() } else { Err(self.unexpected()) }
    }

    /// Whether an identifier starts here.
    pub(super) fn at_ident(&mut self) -> bool {
        let found = self.ident_ahead(0);
        if !found {
            self.note(Expected::Kind(TokenKind::Word));
        }
        found
    }

    /// Whether the token `distance` behind the current one is an identifier.
    pub(super) fn ident_ahead(&self, distance: usize) -> bool {
        let token = self.peek_ahead(distance);
        match token.kind {
            TokenKind::Word => !token.keyword.is_some_and(Keyword::is_reserved),
            kind => kind == TokenKind::QuotedIdent,
        }
    }

    /// The current token, whatever word it is, as an identifier.
    pub(super) fn advance_ident(&mut self) -> Parsed<Ident> {
        let token = self.advance();
        let text = self.text(token.span);
        let is_quoted = token.kind == TokenKind::QuotedIdent;
        let value = if is_quoted { quoted(text, '`') } else { text.to_owned() };
        if value.chars().count() > MAX_IDENT_LENGTH {
            return Err(self.error(ParseErrorKind::LongIdentifier(value), token.span));
        }
        Ok(Ident { value, quoted: is_quoted, span: token.span })
    }

    /// `a.b.c`
    pub(super) fn object_name(&mut self) -> Parsed<ObjectName> {
        let start = self.start();
        let mut parts = vec![self.ident()?];
        while self.at(TokenKind::Dot) && self.ident_ahead(1) {
            self.advance();
            parts.push(self.advance_ident()?);
        }
        Ok(ObjectName { parts, span: self.span_from(start) })
    }

    /// `(a, b, …)`
    pub(super) fn paren_idents(&mut self) -> Parsed<Vec<Ident>> {
        self.paren_list(Self::ident)
    }

    /// Any character string literal.
    pub(super) fn string(&mut self) -> Parsed<Text> {
        if !self.at_string() {
            return Err(self.unexpected());
        }
        let start = self.start();
        let value = self.string_value()?;
        Ok(Text { value, span: self.span_from(start) })
    }

    /// `'text'` and no other form of a string.
    pub(super) fn plain_string(&mut self) -> Parsed<Text> {
        let span = self.expect(TokenKind::String)?;
        Ok(Text { value: quoted(self.text(span), '\''), span })
    }

    /// `COMMENT 'text'`, if it is there.
    pub(super) fn optional_comment(&mut self) -> Parsed<Option<Text>> {
        self.optional(Keyword::COMMENT, Self::string)
    }

    /// `('key' = 'value', …)`
    pub(super) fn properties(&mut self) -> Parsed<Vec<Property>> {
        self.optional_paren_list(Self::property)
    }

    /// `WITH ('key' = 'value', …)`, if it is there.
    pub(super) fn optional_with(&mut self) -> Parsed<Vec<Property>> {
        Ok(self.optional(Keyword::WITH, Self::properties)?.unwrap_or_default())
    }

    /// `'key' = 'value'`
    pub(super) fn property(&mut self) -> Parsed<Property> {
        let key = self.string()?;
        self.expect(TokenKind::Eq)?;
        Ok(Property { key, value: self.string()? })
    }

    /// `('key', …)`
    pub(super) fn property_keys(&mut self) -> Parsed<Vec<Text>> {
        self.optional_paren_list(Self::string)
    }

    /// A number without a sign, as written.
    pub(super) fn number_text(&mut self) -> Parsed<Text> {
        let start = self.start();
        match self.number()? {
            Literal::Number { text, .. } => Ok(Text { value: text, span: self.span_from(start) }),
            _ => Err(self.unexpected()),
        }
    }

    /// An unsigned integer that fits 31 bits.
    pub(super) fn unsigned_int(&mut self) -> Parsed<u32> {
        let span = self.expect(TokenKind::Integer)?;
        let text = self.text(span);
        match text.parse::<i32>() {
            Ok(value) => Ok(value.unsigned_abs()),
            Err(_) => {
                let literal = text.to_owned();
                Err(self.error(ParseErrorKind::Literal { literal, data_type: "INTEGER" }, span))
            }
        }
    }

    /// `IF EXISTS`, if it is there.
    pub(super) fn eat_if_exists(&mut self) -> bool {
        self.eat_all([Keyword::IF, Keyword::EXISTS])
    }

    /// `IF NOT EXISTS`, if it is there.
    pub(super) fn eat_if_not_exists(&mut self) -> bool {
        self.eat_all([Keyword::IF, Keyword::NOT, Keyword::EXISTS])
    }
}
