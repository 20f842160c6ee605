//! `{fn NAME(…)}`, the form of JDBC for calls.
//!
//! The names are JDBC's, in capitals. Those that Flink has a function for become calls of it; the others, and
//! Flink's own, become calls of functions that there are not, as in Flink.

use super::cursor::{Parsed, Parser};
use super::primary::built_in;
use crate::ast::{
    BinaryOp, Expr, ExprKind, FunctionCall, Ident, Literal, ObjectName, TimeZoneKind, TrimSide,
    TypeKind, TypeName,
};
use crate::lexer::{Keyword, TokenKind};

/// Functions of JDBC, and what they are called in SQL.
const CALLS: [(&str, &str); 34] = [
    ("ABS", "ABS"),
    ("ACOS", "ACOS"),
    ("ASIN", "ASIN"),
    ("ATAN", "ATAN"),
    ("ATAN2", "ATAN2"),
    ("CEILING", "CEIL"),
    ("COS", "COS"),
    ("COT", "COT"),
    ("DAYOFMONTH", "DAYOFMONTH"),
    ("DAYOFWEEK", "DAYOFWEEK"),
    ("DAYOFYEAR", "DAYOFYEAR"),
    ("DEGREES", "DEGREES"),
    ("EXP", "EXP"),
    ("FLOOR", "FLOOR"),
    ("HOUR", "HOUR"),
    ("IFNULL", "COALESCE"),
    ("LCASE", "LOWER"),
    ("LENGTH", "CHAR_LENGTH"),
    ("LOG", "LN"),
    ("LOG10", "LOG10"),
    ("MINUTE", "MINUTE"),
    ("MOD", "MOD"),
    ("MONTH", "MONTH"),
    ("PI", "PI"),
    ("POWER", "POWER"),
    ("QUARTER", "QUARTER"),
    ("RADIANS", "RADIANS"),
    ("SECOND", "SECOND"),
    ("SIGN", "SIGN"),
    ("SIN", "SIN"),
    ("SQRT", "SQRT"),
    ("TAN", "TAN"),
    ("UCASE", "UPPER"),
    ("WEEK", "WEEK"),
];

impl Parser<'_> {
    /// `{fn NAME(…)}`
    pub(super) fn braced_call(&mut self) -> Parsed<ExprKind> {
        if !self.text(self.peek_ahead(1).span).eq_ignore_ascii_case("fn") {
            return Err(self.unexpected());
        }
        self.advance();
        self.advance();
        let kind = self.jdbc_call()?;
        self.expect(TokenKind::RightBrace)?;
        Ok(kind)
    }

    fn jdbc_call(&mut self) -> Parsed<ExprKind> {
        let name = self.text(self.peek().span);
        match name {
            "TIMESTAMPADD" | "TIMESTAMPDIFF" => return Ok(self.primary()?.kind),
            "CONVERT" => return self.convert(),
            _ => {}
        }
        let start = self.start();
        if matches!(name, "EXTRACT" | "POSITION" | "TRIM") {
            return Err(self.unexpected().with_hint("leave out the braces and fn"));
        }
        let known = CALLS.iter().find(|(jdbc, _)| *jdbc == name).map(|(_, sql)| *sql);
        let span = self.advance().span;
        let named =
            |value: String, quoted| ObjectName { parts: vec![Ident { value, quoted, span }], span };
        if known.is_none() && !["CONCAT", "INSERT", "LOCATE", "LTRIM", "RTRIM"].contains(&name) {
            let call = self.call(named(format!("{{fn {name}}}"), true))?;
            return Ok(ExprKind::Function(Box::new(call)));
        }
        let args = self.optional_paren_list(Self::expr)?;
        let place = self.span_from(start);
        let call = |name, args| ExprKind::Function(Box::new(FunctionCall::new(name, args, place)));
        if let Some(sql) = known {
            return Ok(call(named(sql.to_owned(), false), args));
        }
        let trim = |side, operand| {
            let blank = ExprKind::Literal(Literal::String(" ".to_owned()));
            let characters = Box::new(Expr { kind: blank, span: place });
            ExprKind::Trim { side, characters, operand: Box::new(operand) }
        };
        Ok(match (name, <[Expr; 2]>::try_from(args)) {
            ("CONCAT", Ok([left, right])) => {
                let (left, right) = (Box::new(left), Box::new(right));
                ExprKind::Binary { left, op: BinaryOp::Concat, right }
            }
            ("LOCATE", Ok([part, text])) => {
                call(built_in(Keyword::POSITION, span), vec![part, text])
            }
            (_, args) => {
                let args = args.map_or_else(|args| args, Vec::from);
                match (name, args.len()) {
                    ("LOCATE", 3) => call(built_in(Keyword::POSITION, span), args),
                    ("INSERT", 4) => {
                        let mut args = args;
                        // The new text stands second in OVERLAY.
                        args[1..].rotate_right(1);
                        call(built_in(Keyword::OVERLAY, span), args)
                    }
                    ("LTRIM" | "RTRIM", 1..) => {
                        let side =
                            if name == "LTRIM" { TrimSide::Leading } else { TrimSide::Trailing };
                        match args.into_iter().next() {
                            Some(text) => trim(side, text),
                            None => call(named(format!("{{fn {name}}}"), true), Vec::new()),
                        }
                    }
                    _ => call(named(format!("{{fn {name}}}"), true), args),
                }
            }
        })
    }

    /// `CONVERT(value, SQL_type)`; the type may stand without its prefix, but never has parameters.
    fn convert(&mut self) -> Parsed<ExprKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let operand = Box::new(self.expr()?);
        self.expect(TokenKind::Comma)?;
        let span = self.peek().span;
        let name = self.text(span).to_ascii_uppercase();
        let kind = match name.strip_prefix("SQL_").unwrap_or(&name) {
            "BIGINT" => TypeKind::BigInt,
            "BINARY" => TypeKind::Binary(None),
            "BOOLEAN" => TypeKind::Boolean,
            "CHAR" => TypeKind::Char(None),
            "DATE" => TypeKind::Date,
            "DECIMAL" | "NUMERIC" => TypeKind::Decimal(None, None),
            "DOUBLE" => TypeKind::Double,
            "FLOAT" => TypeKind::Float,
            "INTEGER" => TypeKind::Int,
            "SMALLINT" => TypeKind::SmallInt,
            "TIME" => TypeKind::Time(None, TimeZoneKind::Without),
            "TIMESTAMP" => TypeKind::Timestamp(None, TimeZoneKind::Without),
            "TINYINT" => TypeKind::TinyInt,
            "VARBINARY" => TypeKind::Bytes,
            "VARCHAR" => TypeKind::String,
            _ => {
                return Err(self.unexpected().with_hint(
                    "a type of JDBC such as SQL_INTEGER stands here; use CAST for others",
                ));
            }
        };
        self.advance();
        self.expect(TokenKind::RightParen)?;
        let target = Box::new(TypeName { kind, nullable: true, span });
        Ok(ExprKind::Cast { operand, target, is_try: false })
    }
}
