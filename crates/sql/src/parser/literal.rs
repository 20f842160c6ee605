//! Literals.

use super::cursor::{Expected, Parsed, Parser};
use crate::ast::{
    Expr, ExprKind, IntervalLiteral, IntervalQualifier, Literal, NumberKind, Span, TimeUnit,
    UnaryOp,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind, binary, escaped_string, quoted, unicode_string};

/// The character sets that may stand before a string: `_UTF16'…'`. All give the same characters.
const CHARACTER_SETS: [&str; 12] = [
    "ASCII",
    "US-ASCII",
    "LATIN1",
    "ISO-8859-1",
    "UTF8",
    "UTF-8",
    "UTF16",
    "UTF-16",
    "UTF-16LE",
    "UTF-16BE",
    "UTF32",
    "UTF-32",
];

impl Parser<'_> {
    /// A number without a sign.
    pub(super) fn number(&mut self) -> Parsed<Literal> {
        if self.at(TokenKind::Integer) || self.at(TokenKind::Decimal) {
            let span = self.advance().span;
            return Ok(exact_number(self.text(span)));
        }
        if self.at(TokenKind::Approximate) {
            let span = self.advance().span;
            return Ok(approximate_number(self.text(span)));
        }
        self.expect(Keyword::DECIMAL)?;
        let text = self.plain_string()?;
        let digits = text.value.trim();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && digits.bytes().filter(|&byte| byte == b'.').count() <= 1
            && digits.bytes().any(|byte| byte.is_ascii_digit());
        if is_number {
            Ok(exact_number(digits))
        } else {
            let kind = ParseErrorKind::Literal { literal: text.value, data_type: "DECIMAL" };
            Err(self.error(kind, text.span))
        }
    }

    /// Whether a character string literal starts here.
    pub(super) fn at_string(&mut self) -> bool {
        let found = is_string(self.peek().kind);
        if !found {
            self.note(Expected::Kind(TokenKind::String));
        }
        found
    }

    /// The value of a character string literal in whichever form, with its continuations on the
    /// following lines.
    pub(super) fn string_value(&mut self) -> Parsed<String> {
        let mut value = self.string_fragment()?;
        while let Some(span) = self.optional_continuation()? {
            value.push_str(&quoted(self.text(span), '\''));
        }
        Ok(value)
    }

    /// A string that goes on with the literal before it; it must stand on another line.
    fn optional_continuation(&mut self) -> Parsed<Option<Span>> {
        if self.peek().kind != TokenKind::String {
            return Ok(None);
        }
        let span = self.peek().span;
        let between = self.text(Span::new(self.last_end(), span.start));
        if !between.contains(['\n', '\r']) {
            let error = self.error(ParseErrorKind::ContinuedOnSameLine, span);
            return Err(error.with_hint("join strings with ||, double a quote inside a string"));
        }
        self.advance();
        Ok(Some(span))
    }

    fn string_fragment(&mut self) -> Parsed<String> {
        let token = self.advance();
        let literal = self.text(token.span);
        let text = quoted(literal, '\'');
        let decoded = match token.kind {
            TokenKind::UnicodeString => {
                let escape = self.unicode_escape()?;
                unicode_string(&text, escape)
            }
            TokenKind::EscapedString => escaped_string(&text),
            TokenKind::PrefixedString => {
                let name = literal[1..].split('\'').next().unwrap_or_default();
                if CHARACTER_SETS.iter().any(|set| set.eq_ignore_ascii_case(name)) {
                    Ok(text)
                } else {
                    Err(ParseErrorKind::CharacterSet(name.to_owned()))
                }
            }
            _ => Ok(text),
        };
        decoded.map_err(|kind| self.error(kind, token.span))
    }

    /// `UESCAPE 'c'`, or the backslash that holds without it.
    fn unicode_escape(&mut self) -> Parsed<char> {
        if !self.eat(Keyword::UESCAPE) {
            return Ok('\\');
        }
        let text = self.plain_string()?;
        let mut characters = text.value.chars();
        let kind = match (characters.next(), characters.next()) {
            (Some(escape), None) => {
                let is_bad = escape.is_ascii_hexdigit()
                    || escape.is_whitespace()
                    || matches!(escape, '+' | '"');
                if !is_bad {
                    return Ok(escape);
                }
                ParseErrorKind::EscapeCharacter(text.value)
            }
            _ => ParseErrorKind::EscapeLength(text.value),
        };
        Err(self.error(kind, text.span))
    }

    /// `X'0AFF'`
    fn binary_string(&mut self) -> Parsed<Literal> {
        let span = self.expect(TokenKind::BinaryString)?;
        let mut bytes = binary(self.text(span)).map_err(|kind| self.error(kind, span))?;
        while let Some(span) = self.optional_continuation()? {
            bytes.extend(binary(self.text(span)).map_err(|kind| self.error(kind, span))?);
        }
        Ok(Literal::Binary(bytes))
    }

    /// `{d 'text'}`, `{t 'text'}` or `{ts 'text'}`, the form of JDBC for literals of time.
    fn braced_literal(&mut self) -> Parsed<Option<Literal>> {
        let name = self.text(self.peek_ahead(1).span);
        let literal = match name.to_ascii_lowercase().as_str() {
            "d" => Literal::Date,
            "t" => Literal::Time,
            "ts" => Literal::Timestamp,
            _ => return Ok(None),
        };
        self.advance();
        self.advance();
        let text = self.plain_string()?.value;
        self.expect(TokenKind::RightBrace)?;
        Ok(Some(literal(text)))
    }

    /// Any literal; a number may have a sign.
    pub(super) fn literal(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let op = match self.peek().kind {
            TokenKind::Plus => Some(UnaryOp::Plus),
            TokenKind::Minus => Some(UnaryOp::Minus),
            _ => None,
        };
        if let Some(op) = op {
            self.advance();
            let number = self.start();
            let kind = ExprKind::Literal(self.number()?);
            let operand = Box::new(Expr { kind, span: self.span_from(number) });
            return Ok(Expr { kind: ExprKind::Unary { op, operand }, span: self.span_from(start) });
        }
        match self.optional_literal()? {
            Some(literal) => {
                Ok(Expr { kind: ExprKind::Literal(literal), span: self.span_from(start) })
            }
            None => Err(self.unexpected()),
        }
    }

    /// A literal without a sign, if one starts here.
    pub(super) fn optional_literal(&mut self) -> Parsed<Option<Literal>> {
        let token = *self.peek();
        let literal = match token.kind {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Approximate => self.number()?,
            TokenKind::BinaryString => self.binary_string()?,
            TokenKind::LeftBrace => return self.braced_literal(),
            kind if is_string(kind) => Literal::String(self.string_value()?),
            _ => match token.keyword {
                Some(keyword) => return self.keyword_literal(keyword),
                None => return Ok(None),
            },
        };
        Ok(Some(literal))
    }

    fn keyword_literal(&mut self, keyword: Keyword) -> Parsed<Option<Literal>> {
        let constant = match keyword {
            Keyword::TRUE => Literal::Boolean(true),
            Keyword::FALSE => Literal::Boolean(false),
            Keyword::UNKNOWN => Literal::Unknown,
            Keyword::NULL => Literal::Null,
            Keyword::DECIMAL if self.ahead(1, TokenKind::String) => {
                return self.number().map(Some);
            }
            Keyword::DATE | Keyword::TIME | Keyword::TIMESTAMP
                if self.ahead(1, TokenKind::String) =>
            {
                self.advance();
                let text = self.plain_string()?.value;
                return Ok(Some(match keyword {
                    Keyword::DATE => Literal::Date(text),
                    Keyword::TIME => Literal::Time(text),
                    _ => Literal::Timestamp(text),
                }));
            }
            Keyword::TIMESTAMP if self.ahead(1, Keyword::WITH) => {
                self.advance();
                self.expect_all([Keyword::WITH, Keyword::LOCAL, Keyword::TIME, Keyword::ZONE])?;
                return Ok(Some(Literal::TimestampLtz(self.plain_string()?.value)));
            }
            Keyword::INTERVAL if self.interval_text_ahead() => {
                self.advance();
                return Ok(Some(Literal::Interval(self.interval_text()?)));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(constant))
    }

    /// Whether `INTERVAL [sign] 'text'` stands here.
    fn interval_text_ahead(&self) -> bool {
        let sign = self.ahead(1, TokenKind::Minus) || self.ahead(1, TokenKind::Plus);
        self.ahead(1 + usize::from(sign), TokenKind::String)
    }

    /// `[sign] 'text' qualifier`, behind INTERVAL.
    fn interval_text(&mut self) -> Parsed<IntervalLiteral> {
        let negative = self.eat(TokenKind::Minus);
        if !negative {
            self.eat(TokenKind::Plus);
        }
        let text = self.plain_string()?.value;
        Ok(IntervalLiteral { negative, text, qualifier: self.interval_qualifier()? })
    }

    /// `DAY`, `DAY(3) TO SECOND(6)`, …
    pub(super) fn interval_qualifier(&mut self) -> Parsed<IntervalQualifier> {
        let mut qualifier = self.single_interval_qualifier()?;
        let last_units = end_units(qualifier.start);
        if last_units.is_empty() || !self.at(Keyword::TO) {
            return Ok(qualifier);
        }
        let next = self.peek_ahead(1).keyword.and_then(interval_unit);
        let Some(end) = next.filter(|unit| last_units.contains(unit)) else {
            return Ok(qualifier);
        };
        self.advance();
        self.advance();
        qualifier.end = Some(end);
        if end == TimeUnit::Second && self.eat(TokenKind::LeftParen) {
            qualifier.fraction_precision = Some(self.unsigned_int()?);
            self.expect(TokenKind::RightParen)?;
        }
        qualifier.span = self.span_from(qualifier.span.start);
        Ok(qualifier)
    }

    /// `DAY(3)`, `SECOND(2, 6)`
    pub(super) fn single_interval_qualifier(&mut self) -> Parsed<IntervalQualifier> {
        let place = self.start();
        let start = self.interval_unit()?;
        let (mut start_precision, mut fraction_precision) = (None, None);
        if self.eat(TokenKind::LeftParen) {
            start_precision = Some(self.unsigned_int()?);
            if start == TimeUnit::Second && self.eat(TokenKind::Comma) {
                fraction_precision = Some(self.unsigned_int()?);
            }
            self.expect(TokenKind::RightParen)?;
        }
        let span = self.span_from(place);
        Ok(IntervalQualifier { start, start_precision, end: None, fraction_precision, span })
    }

    /// Whether the token `distance` behind the current one is a unit of intervals.
    pub(super) fn interval_unit_ahead(&self, distance: usize) -> bool {
        self.peek_ahead(distance).keyword.and_then(interval_unit).is_some()
    }

    fn interval_unit(&mut self) -> Parsed<TimeUnit> {
        match self.peek().keyword.and_then(interval_unit) {
            Some(unit) => {
                self.advance();
                Ok(unit)
            }
            None => {
                for unit in ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
                {
                    self.note(Expected::Other(unit));
                }
                Err(self.unexpected())
            }
        }
    }

    /// A unit of EXTRACT, FLOOR, CEIL, TIMESTAMPADD and TIMESTAMPDIFF.
    pub(super) fn time_frame(&mut self) -> Parsed<TimeUnit> {
        let token = *self.peek();
        if token.kind != TokenKind::Word {
            self.note(Expected::Other("<TIME_UNIT>"));
            return Err(self.unexpected());
        }
        match token.keyword.and_then(time_frame) {
            Some(unit) => {
                self.advance();
                Ok(unit)
            }
            None => {
                let name = self.text(token.span).to_owned();
                let error = self.error(ParseErrorKind::TimeFrame(name), token.span);
                Err(error.with_hint("write the unit in the singular: SECOND, MINUTE, HOUR, DAY …"))
            }
        }
    }
}

fn is_string(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::String
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::PrefixedString
            | TokenKind::EscapedString
    )
}

fn exact_number(text: &str) -> Literal {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.is_empty() {
        let text = without_leading_zeros(whole).to_owned();
        return Literal::Number { text, kind: NumberKind::Integer };
    }
    // Every digit that is written counts for the precision.
    Literal::Number { text: format!("{whole}.{fraction}"), kind: NumberKind::Decimal }
}

fn approximate_number(text: &str) -> Literal {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", exponent.trim_start_matches('+')),
    };
    let (whole, digits) = (without_leading_zeros(whole), without_leading_zeros(digits));
    Literal::Number {
        text: format!("{whole}{point}{fraction}E{sign}{digits}"),
        kind: NumberKind::Approximate,
    }
}

fn without_leading_zeros(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    }
}

/// The units of interval literals; the plural is one too.
fn interval_unit(keyword: Keyword) -> Option<TimeUnit> {
    Some(match keyword {
        Keyword::SECOND | Keyword::SECONDS => TimeUnit::Second,
        Keyword::MINUTE | Keyword::MINUTES => TimeUnit::Minute,
        Keyword::HOUR | Keyword::HOURS => TimeUnit::Hour,
        Keyword::DAY | Keyword::DAYS => TimeUnit::Day,
        Keyword::WEEK | Keyword::WEEKS => TimeUnit::Week,
        Keyword::MONTH | Keyword::MONTHS => TimeUnit::Month,
        Keyword::QUARTER | Keyword::QUARTERS => TimeUnit::Quarter,
        Keyword::YEAR | Keyword::YEARS => TimeUnit::Year,
        _ => return None,
    })
}

/// The units that may stand behind TO.
fn end_units(start: TimeUnit) -> &'static [TimeUnit] {
    match start {
        TimeUnit::Year => &[TimeUnit::Month],
        TimeUnit::Day => &[TimeUnit::Hour, TimeUnit::Minute, TimeUnit::Second],
        TimeUnit::Hour => &[TimeUnit::Minute, TimeUnit::Second],
        TimeUnit::Minute => &[TimeUnit::Second],
        _ => &[],
    }
}

fn time_frame(keyword: Keyword) -> Option<TimeUnit> {
    Some(match keyword {
        Keyword::NANOSECOND => TimeUnit::Nanosecond,
        Keyword::MICROSECOND | Keyword::FRAC_SECOND => TimeUnit::Microsecond,
        Keyword::SQL_TSI_MICROSECOND | Keyword::SQL_TSI_FRAC_SECOND => TimeUnit::Microsecond,
        Keyword::MILLISECOND => TimeUnit::Millisecond,
        Keyword::SECOND | Keyword::SQL_TSI_SECOND => TimeUnit::Second,
        Keyword::MINUTE | Keyword::SQL_TSI_MINUTE => TimeUnit::Minute,
        Keyword::HOUR | Keyword::SQL_TSI_HOUR => TimeUnit::Hour,
        Keyword::DAY | Keyword::SQL_TSI_DAY => TimeUnit::Day,
        Keyword::WEEK | Keyword::SQL_TSI_WEEK => TimeUnit::Week,
        Keyword::MONTH | Keyword::SQL_TSI_MONTH => TimeUnit::Month,
        Keyword::QUARTER | Keyword::SQL_TSI_QUARTER => TimeUnit::Quarter,
        Keyword::YEAR | Keyword::SQL_TSI_YEAR => TimeUnit::Year,
        Keyword::DECADE => TimeUnit::Decade,
        Keyword::CENTURY => TimeUnit::Century,
        Keyword::MILLENNIUM => TimeUnit::Millennium,
        Keyword::DOW | Keyword::DAYOFWEEK => TimeUnit::Dow,
        Keyword::ISODOW => TimeUnit::IsoDow,
        Keyword::DOY | Keyword::DAYOFYEAR => TimeUnit::Doy,
        Keyword::ISOYEAR => TimeUnit::IsoYear,
        Keyword::EPOCH => TimeUnit::Epoch,
        _ => return None,
    })
}
