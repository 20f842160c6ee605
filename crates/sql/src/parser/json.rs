//! The JSON functions.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    Expr, ExprKind, JsonEntry, JsonExistsOnError, JsonFunction, JsonOnNull, JsonQueryBehavior,
    JsonValueBehavior, JsonWrapper, TypeName,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// The call of the function `keyword`, if it is a JSON function with clauses.
    pub(super) fn json_function(&mut self, keyword: Keyword) -> Parsed<Option<ExprKind>> {
        let part = match keyword {
            Keyword::JSON_EXISTS => Self::json_exists,
            Keyword::JSON_VALUE => Self::json_value,
            Keyword::JSON_QUERY => Self::json_query,
            Keyword::JSON_OBJECT => Self::json_object,
            Keyword::JSON_ARRAY => Self::json_array,
            Keyword::JSON_OBJECTAGG => Self::json_object_agg,
            Keyword::JSON_ARRAYAGG => Self::json_array_agg,
            _ => return Ok(None),
        };
        self.open_call()?;
        let mut function = part(self)?;
        self.expect(TokenKind::RightParen)?;
        if let JsonFunction::ArrayAgg { order_by, .. } = &mut function
            && self.eat_all([Keyword::WITHIN, Keyword::GROUP])
        {
            self.expect(TokenKind::LeftParen)?;
            *order_by = self.order_by()?;
            self.expect(TokenKind::RightParen)?;
        }
        Ok(Some(ExprKind::Json(Box::new(function))))
    }

    fn json_exists(&mut self) -> Parsed<JsonFunction> {
        let (input, path) = self.json_input_and_path()?;
        let on_error = if self.eat(Keyword::TRUE) {
            Some(JsonExistsOnError::True)
        } else if self.eat(Keyword::FALSE) {
            Some(JsonExistsOnError::False)
        } else if self.eat(Keyword::UNKNOWN) {
            Some(JsonExistsOnError::Unknown)
        } else if self.eat(Keyword::ERROR) {
            Some(JsonExistsOnError::Error)
        } else {
            None
        };
        if on_error.is_some() {
            self.expect_all([Keyword::ON, Keyword::ERROR])?;
        }
        Ok(JsonFunction::Exists { input, path, on_error })
    }

    fn json_value(&mut self) -> Parsed<JsonFunction> {
        let (input, path) = self.json_input_and_path()?;
        let returning = self.optional_returning()?;
        let (mut on_empty, mut on_error) = (None, None);
        while !self.at(TokenKind::RightParen) {
            let behavior = if self.eat(Keyword::NULL) {
                JsonValueBehavior::Null
            } else if self.eat(Keyword::ERROR) {
                JsonValueBehavior::Error
            } else {
                self.expect(Keyword::DEFAULT)?;
                JsonValueBehavior::Default(Box::new(self.expr()?))
            };
            let place = if self.on_empty()? { &mut on_empty } else { &mut on_error };
            *place = Some(behavior);
        }
        Ok(JsonFunction::Value { input, path, returning, on_empty, on_error })
    }

    fn json_query(&mut self) -> Parsed<JsonFunction> {
        let (input, path) = self.json_input_and_path()?;
        let returning = self.optional_returning()?;
        let wrapper = self.json_wrapper()?;
        let (mut on_empty, mut on_error) = (JsonQueryBehavior::Null, JsonQueryBehavior::Null);
        while !self.at(TokenKind::RightParen) {
            let behavior = if self.eat(Keyword::NULL) {
                JsonQueryBehavior::Null
            } else if self.eat(Keyword::ERROR) {
                JsonQueryBehavior::Error
            } else {
                self.expect(Keyword::EMPTY)?;
                if self.eat(Keyword::ARRAY) {
                    JsonQueryBehavior::EmptyArray
                } else {
                    self.expect(Keyword::OBJECT)?;
                    JsonQueryBehavior::EmptyObject
                }
            };
            let place = if self.on_empty()? { &mut on_empty } else { &mut on_error };
            *place = behavior;
        }
        Ok(JsonFunction::Query { input, path, returning, wrapper, on_empty, on_error })
    }

    fn json_object(&mut self) -> Parsed<JsonFunction> {
        let is_empty = self.at(TokenKind::RightParen) || self.at_on_null();
        let entries = if is_empty { Vec::new() } else { self.comma_list(Self::json_entry)? };
        let on_null = self.optional_on_null()?.unwrap_or(JsonOnNull::Null);
        Ok(JsonFunction::Object { entries, on_null })
    }

    fn json_array(&mut self) -> Parsed<JsonFunction> {
        let is_empty = self.at(TokenKind::RightParen) || self.at_on_null();
        let elements = if is_empty { Vec::new() } else { self.comma_list(Self::json_element)? };
        let on_null = self.optional_on_null()?.unwrap_or(JsonOnNull::Absent);
        Ok(JsonFunction::Array { elements, on_null })
    }

    fn json_object_agg(&mut self) -> Parsed<JsonFunction> {
        let entry = self.json_entry()?;
        let on_null = self.optional_on_null()?.unwrap_or(JsonOnNull::Null);
        Ok(JsonFunction::ObjectAgg { entry, on_null })
    }

    fn json_array_agg(&mut self) -> Parsed<JsonFunction> {
        let element = self.json_element()?;
        let order_by = if self.at(Keyword::ORDER) { self.order_by()? } else { Vec::new() };
        let on_null = self.optional_on_null()?.unwrap_or(JsonOnNull::Absent);
        Ok(JsonFunction::ArrayAgg { element, order_by, on_null })
    }

    /// `input, path`
    fn json_input_and_path(&mut self) -> Parsed<(Expr, Expr)> {
        let input = self.json_element()?;
        self.expect(TokenKind::Comma)?;
        let path = self.expr()?;
        if self.at(Keyword::PASSING) {
            let error = self.error_here(ParseErrorKind::NotSupported("PASSING"));
            return Err(error.with_hint("write the values into the path; Flink ignores PASSING"));
        }
        Ok((input, path))
    }

    /// `[KEY] key VALUE value` or `key : value`
    fn json_entry(&mut self) -> Parsed<JsonEntry> {
        let names_key = self.ahead(0, Keyword::KEY)
            && !self.ahead(1, Keyword::VALUE)
            && !self.ahead(1, TokenKind::Colon);
        if names_key {
            self.advance();
        }
        let key = self.expr()?;
        if !self.eat(TokenKind::Colon) {
            self.expect(Keyword::VALUE)?;
        }
        Ok(JsonEntry { key, value: self.json_element()? })
    }

    /// An expression; FORMAT JSON behind it is refused, as Flink's validator does.
    fn json_element(&mut self) -> Parsed<Expr> {
        let element = self.expr()?;
        if self.at(Keyword::FORMAT) {
            return Err(self.error_here(ParseErrorKind::NotSupported("FORMAT JSON")));
        }
        Ok(element)
    }

    /// `RETURNING type`, if it is there.
    fn optional_returning(&mut self) -> Parsed<Option<TypeName>> {
        self.optional(Keyword::RETURNING, Self::data_type)
    }

    /// The wrapper clause of JSON_QUERY.
    fn json_wrapper(&mut self) -> Parsed<JsonWrapper> {
        let wrapper = if self.eat(Keyword::WITHOUT) {
            JsonWrapper::Without
        } else if self.eat(Keyword::WITH) {
            if self.eat(Keyword::CONDITIONAL) {
                JsonWrapper::Conditional
            } else {
                self.eat(Keyword::UNCONDITIONAL);
                JsonWrapper::Unconditional
            }
        } else {
            return Ok(JsonWrapper::Without);
        };
        self.eat(Keyword::ARRAY);
        self.expect(Keyword::WRAPPER)?;
        Ok(wrapper)
    }

    /// `ON EMPTY` (true) or `ON ERROR` (false)
    fn on_empty(&mut self) -> Parsed<bool> {
        self.expect(Keyword::ON)?;
        if self.eat(Keyword::EMPTY) {
            return Ok(true);
        }
        self.expect(Keyword::ERROR)?;
        Ok(false)
    }

    fn at_on_null(&self) -> bool {
        self.follows([Keyword::NULL, Keyword::ON, Keyword::NULL])
            || self.follows([Keyword::ABSENT, Keyword::ON, Keyword::NULL])
    }

    /// `{NULL|ABSENT} ON NULL`, if it is there.
    fn optional_on_null(&mut self) -> Parsed<Option<JsonOnNull>> {
        let on_null = if self.eat(Keyword::NULL) {
            JsonOnNull::Null
        } else if self.eat(Keyword::ABSENT) {
            JsonOnNull::Absent
        } else {
            return Ok(None);
        };
        self.expect_all([Keyword::ON, Keyword::NULL])?;
        Ok(Some(on_null))
    }
}
