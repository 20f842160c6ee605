//! Type names.

use super::cursor::{Parsed, Parser};
use crate::ast::{FieldDefinition, TimeZoneKind, TypeKind, TypeName};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// A type without nullability of its own, as CAST takes it; only here can it be an interval.
    /// The elements of `INT ARRAY` are NOT NULL here, as Flink has it.
    pub(super) fn data_type(&mut self) -> Parsed<TypeName> {
        let start = self.start();
        if self.eat(Keyword::INTERVAL) {
            let kind = TypeKind::Interval(self.interval_qualifier()?);
            return Ok(TypeName { kind, nullable: true, span: self.span_from(start) });
        }
        let mut data_type = self.simple_type()?;
        let mut wraps = 0;
        while let Some(wrap) = self.collection_suffix() {
            self.advance();
            self.wrapped(&mut wraps)?;
            let element = TypeName { nullable: false, ..data_type };
            let (kind, span) = (wrap(Box::new(element)), self.span_from(start));
            data_type = TypeName { kind, nullable: true, span };
        }
        Ok(data_type)
    }

    /// Any type, with an optional `[NOT] NULL`.
    pub(super) fn any_type(&mut self) -> Parsed<TypeName> {
        if !self.at(Keyword::INTERVAL) {
            return self.nullable_type();
        }
        let interval = self.data_type()?;
        let nullable = self.optional_nullability()?.unwrap_or(true);
        let span = self.span_from(interval.span.start);
        Ok(TypeName { nullable, span, ..interval })
    }

    /// A type with an optional `[NOT] NULL`, as columns and nested types take it. Behind an
    /// element type it may be followed by `ARRAY` or `MULTISET`: `INT NOT NULL ARRAY`.
    pub(super) fn nullable_type(&mut self) -> Parsed<TypeName> {
        let mut data_type = self.simple_type()?;
        let start = data_type.span.start;
        let mut wraps = 0;
        loop {
            let nullable = self.optional_nullability()?;
            data_type.nullable = nullable.unwrap_or(true);
            data_type.span = self.span_from(start);
            match self.collection_suffix() {
                Some(wrap) => {
                    self.advance();
                    self.wrapped(&mut wraps)?;
                    let kind = wrap(Box::new(data_type));
                    data_type = TypeName { kind, nullable: true, span: self.span_from(start) };
                }
                None => return Ok(data_type),
            }
        }
    }

    fn optional_nullability(&mut self) -> Parsed<Option<bool>> {
        if self.eat(Keyword::NULL) {
            return Ok(Some(true));
        }
        // NOT may also belong to NOT ENFORCED of a constraint.
        Ok(self.eat_all([Keyword::NOT, Keyword::NULL]).then_some(false))
    }

    /// What wraps the type before it, if `ARRAY` or `MULTISET` follows.
    fn collection_suffix(&mut self) -> Option<fn(Box<TypeName>) -> TypeKind> {
        if self.at(Keyword::ARRAY) {
            Some(TypeKind::Array)
        } else if self.at(Keyword::MULTISET) {
            Some(TypeKind::Multiset)
        } else {
            None
        }
    }

    fn simple_type(&mut self) -> Parsed<TypeName> {
        self.nested(|parser| {
            let start = parser.start();
            let kind = parser.type_kind()?;
            Ok(TypeName { kind, nullable: true, span: parser.span_from(start) })
        })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        let keyword = self.peek().keyword.filter(|keyword| keyword.is_reserved());
        let Some(keyword) = keyword else {
            return self.unreserved_type();
        };
        let kind = match keyword {
            Keyword::BOOLEAN => TypeKind::Boolean,
            Keyword::TINYINT => TypeKind::TinyInt,
            Keyword::SMALLINT => TypeKind::SmallInt,
            Keyword::INT | Keyword::INTEGER => TypeKind::Int,
            Keyword::BIGINT => TypeKind::BigInt,
            Keyword::FLOAT => TypeKind::Float,
            Keyword::STRING => TypeKind::String,
            Keyword::BYTES => TypeKind::Bytes,
            Keyword::DATE => TypeKind::Date,
            Keyword::VARIANT => TypeKind::Variant,
            Keyword::BITMAP => TypeKind::Bitmap,
            _ => return self.parameterized_type(keyword),
        };
        self.advance();
        Ok(kind)
    }

    fn parameterized_type(&mut self, keyword: Keyword) -> Parsed<TypeKind> {
        match keyword {
            Keyword::DOUBLE => {
                self.advance();
                self.eat(Keyword::PRECISION);
                Ok(TypeKind::Double)
            }
            Keyword::CHAR | Keyword::CHARACTER => {
                self.advance();
                let varying = self.eat(Keyword::VARYING);
                let length = self.optional_precision()?;
                Ok(if varying { TypeKind::VarChar(length) } else { TypeKind::Char(length) })
            }
            Keyword::VARCHAR => {
                self.advance();
                Ok(TypeKind::VarChar(self.optional_precision()?))
            }
            Keyword::BINARY => {
                self.advance();
                let varying = self.eat(Keyword::VARYING);
                let length = self.optional_precision()?;
                Ok(if varying { TypeKind::VarBinary(length) } else { TypeKind::Binary(length) })
            }
            Keyword::VARBINARY => {
                self.advance();
                Ok(TypeKind::VarBinary(self.optional_precision()?))
            }
            Keyword::DECIMAL | Keyword::DEC | Keyword::NUMERIC => {
                self.advance();
                self.decimal_parameters()
            }
            Keyword::TIME => {
                self.advance();
                let precision = self.optional_precision()?;
                Ok(TypeKind::Time(precision, self.optional_time_zone()?))
            }
            Keyword::TIMESTAMP => {
                self.advance();
                let precision = self.optional_precision()?;
                Ok(TypeKind::Timestamp(precision, self.optional_time_zone()?))
            }
            Keyword::TIMESTAMP_LTZ => {
                self.advance();
                Ok(TypeKind::Timestamp(self.optional_precision()?, TimeZoneKind::Local))
            }
            Keyword::ARRAY if self.ahead(1, TokenKind::Lt) => {
                self.advance();
                Ok(TypeKind::Array(Box::new(self.element_type()?)))
            }
            Keyword::MULTISET if self.ahead(1, TokenKind::Lt) => {
                self.advance();
                Ok(TypeKind::Multiset(Box::new(self.element_type()?)))
            }
            Keyword::ROW => {
                self.advance();
                self.row_type()
            }
            Keyword::STRUCTURED => {
                self.advance();
                self.structured_type()
            }
            Keyword::RAW => {
                self.advance();
                self.expect(TokenKind::LeftParen)?;
                let class = self.string()?;
                self.expect(TokenKind::Comma)?;
                let snapshot = self.string()?;
                self.expect(TokenKind::RightParen)?;
                Ok(TypeKind::Raw(class, snapshot))
            }
            Keyword::REAL => {
                let error = self.error_here(ParseErrorKind::NotSupported("REAL"));
                Err(error.with_hint("write FLOAT"))
            }
            _ => self.unreserved_type(),
        }
    }

    /// MAP, or the name of a user-defined type.
    fn unreserved_type(&mut self) -> Parsed<TypeKind> {
        if self.ahead(0, Keyword::MAP) && self.ahead(1, TokenKind::Lt) {
            self.advance();
            self.expect(TokenKind::Lt)?;
            let key = self.nullable_type()?;
            self.expect(TokenKind::Comma)?;
            let value = self.nullable_type()?;
            self.expect(TokenKind::Gt)?;
            return Ok(TypeKind::Map(Box::new(key), Box::new(value)));
        }
        self.object_name().map(TypeKind::Named)
    }

    /// `(n)`, if it is there.
    fn optional_precision(&mut self) -> Parsed<Option<u32>> {
        self.optional(TokenKind::LeftParen, |parser| {
            let precision = parser.unsigned_int()?;
            parser.expect(TokenKind::RightParen)?;
            Ok(precision)
        })
    }

    fn decimal_parameters(&mut self) -> Parsed<TypeKind> {
        if !self.eat(TokenKind::LeftParen) {
            return Ok(TypeKind::Decimal(None, None));
        }
        let precision = self.unsigned_int()?;
        let scale = self.optional(TokenKind::Comma, Self::unsigned_int)?;
        self.expect(TokenKind::RightParen)?;
        Ok(TypeKind::Decimal(Some(precision), scale))
    }

    fn optional_time_zone(&mut self) -> Parsed<TimeZoneKind> {
        if self.eat(Keyword::WITHOUT) {
            self.expect_all([Keyword::TIME, Keyword::ZONE])?;
            return Ok(TimeZoneKind::Without);
        }
        if self.eat(Keyword::WITH) {
            self.expect_all([Keyword::LOCAL, Keyword::TIME, Keyword::ZONE])?;
            return Ok(TimeZoneKind::Local);
        }
        Ok(TimeZoneKind::Without)
    }

    /// `<type>`
    fn element_type(&mut self) -> Parsed<TypeName> {
        self.expect(TokenKind::Lt)?;
        let element = self.nullable_type()?;
        self.expect(TokenKind::Gt)?;
        Ok(element)
    }

    /// `<field, …>` or `(field, …)`; both may be empty.
    fn row_type(&mut self) -> Parsed<TypeKind> {
        if self.eat(TokenKind::NotEq) {
            return Ok(TypeKind::Row(Vec::new()));
        }
        let close = if self.eat(TokenKind::Lt) {
            TokenKind::Gt
        } else {
            self.expect(TokenKind::LeftParen)?;
            TokenKind::RightParen
        };
        let fields = if self.at(close) { Vec::new() } else { self.comma_list(Self::field)? };
        self.expect(close)?;
        Ok(TypeKind::Row(fields))
    }

    /// `<'class', field, …>`
    fn structured_type(&mut self) -> Parsed<TypeKind> {
        self.expect(TokenKind::Lt)?;
        let class = self.string()?;
        let fields = self.optional(TokenKind::Comma, |parser| parser.comma_list(Self::field))?;
        self.expect(TokenKind::Gt)?;
        Ok(TypeKind::Structured(class, fields.unwrap_or_default()))
    }

    /// `name type ['comment']`
    fn field(&mut self) -> Parsed<FieldDefinition> {
        let start = self.start();
        let name = self.ident()?;
        let data_type = self.nullable_type()?;
        let comment = if self.at(TokenKind::String) { Some(self.plain_string()?) } else { None };
        Ok(FieldDefinition { name, data_type, comment, span: self.span_from(start) })
    }
}
