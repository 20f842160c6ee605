//! Conditions of filters from their text.
//!
//! ```text
//! or       = and { '||' and }
//! and      = operand { '&&' operand }
//! operand  = '!' operand | '(' or ')' | relation
//! relation = value operator value | [ '!' ] path
//! ```

use super::chars::Chars;
use super::compile::{Refusal, compile_nested, unescape};
use super::condition::{Condition, Operator};
use super::operand::Operand;
use super::token::Path;
use crate::scalar::json::text::{Decimal, Node};
use crate::scalar::pattern::Regexp;

/// How deep parentheses and negations may lie within each other.
const MAX_DEPTH: usize = 200;

/// Compiles what stands in the parentheses of a filter, those included. `depth` says how many paths it
/// lies in.
pub(super) fn compile_filter(text: &str, depth: usize) -> Result<Condition, Refusal> {
    let mut reader = Reader { chars: Chars::trimmed(text), depth, nested: 0 };
    let condition = reader.read_or()?;
    reader.chars.skip_blanks();
    if reader.chars.in_bounds() { Err(Refusal::Invalid) } else { Ok(condition) }
}

struct Reader<'p> {
    chars: Chars<'p>,
    depth: usize,
    nested: usize,
}

impl Reader<'_> {
    fn read_or(&mut self) -> Result<Condition, Refusal> {
        self.read_chain("||", Self::read_and, Condition::Any)
    }

    fn read_and(&mut self) -> Result<Condition, Refusal> {
        self.read_chain("&&", Self::read_operand, Condition::All)
    }

    fn read_chain(
        &mut self,
        connective: &str,
        read: fn(&mut Self) -> Result<Condition, Refusal>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition, Refusal> {
        let mut conditions = vec![read(self)?];
        while self.eat(connective) {
            conditions.push(read(self)?);
        }
        Ok(match conditions.pop() {
            Some(only) if conditions.is_empty() => only,
            last => {
                conditions.extend(last);
                join(conditions)
            }
        })
    }

    fn read_operand(&mut self) -> Result<Condition, Refusal> {
        self.nested += 1;
        if self.nested > MAX_DEPTH {
            return Err(Refusal::Fatal);
        }
        self.chars.skip_blanks();
        let start = self.chars.position();
        let condition = if self.chars.is(b'!') {
            self.chars.advance(1);
            self.chars.skip_blanks();
            match self.chars.current()? {
                b'$' | b'@' => {
                    self.chars.go(start);
                    self.read_relation()?
                }
                _ => Condition::Not(Box::new(self.read_operand()?)),
            }
        } else if self.chars.is(b'(') {
            self.chars.advance(1);
            let condition = self.read_or()?;
            self.chars.skip_blanks();
            if self.chars.current()? != b')' {
                return Err(Refusal::Invalid);
            }
            self.chars.advance(1);
            condition
        } else {
            self.read_relation()?
        };
        self.nested -= 1;
        Ok(condition)
    }

    fn read_relation(&mut self) -> Result<Condition, Refusal> {
        let (left, wanted) = self.read_value()?;
        let behind = self.chars.position();
        match self.read_operator_and_right() {
            Ok((operator, right)) => Ok(Condition::Relation(left, operator, right)),
            Err(Refusal::Fatal) => Err(Refusal::Fatal),
            Err(Refusal::Invalid) => {
                self.chars.go(behind);
                match left {
                    Operand::Path(path) => Ok(Condition::Exists { path, wanted }),
                    _ => Err(Refusal::Invalid),
                }
            }
        }
    }

    fn read_operator_and_right(&mut self) -> Result<(Operator, Operand), Refusal> {
        self.chars.skip_blanks();
        let start = self.chars.position();
        let is_sign = is_operator_sign(self.chars.current()?);
        while self.chars.in_bounds() {
            let byte = self.chars.current()?;
            let goes_on = if is_sign { is_operator_sign(byte) } else { byte != b' ' };
            if !goes_on {
                break;
            }
            self.chars.advance(1);
        }
        let text = self.chars.slice(start, self.chars.position())?;
        let operator = Operator::parse(text).ok_or(Refusal::Invalid)?;
        Ok((operator, self.read_value()?.0))
    }

    /// An operand, and whether a path is meant to lead to something, which `!` before it denies.
    fn read_value(&mut self) -> Result<(Operand, bool), Refusal> {
        self.chars.skip_blanks();
        if self.chars.current()? == b'!' {
            self.chars.advance(1);
            self.chars.skip_blanks();
            return match self.chars.current()? {
                b'$' | b'@' => Ok((Operand::Path(self.read_path()?), false)),
                _ => Err(Refusal::Invalid),
            };
        }
        let operand = match self.chars.current()? {
            b'$' | b'@' => Operand::Path(self.read_path()?),
            quote @ (b'\'' | b'"') => self.read_string(quote)?,
            b't' => self.read_word("true", Operand::Boolean(true))?,
            b'f' => self.read_word("false", Operand::Boolean(false))?,
            b'n' => self.read_word("null", Operand::Null)?,
            b'{' => self.read_json((b'{', b'}'))?,
            b'[' => self.read_json((b'[', b']'))?,
            b'/' => self.read_pattern()?,
            _ => self.read_number()?,
        };
        Ok((operand, true))
    }

    fn read_path(&mut self) -> Result<Path, Refusal> {
        let start = self.chars.position();
        self.chars.advance(1);
        while self.chars.in_bounds() {
            if self.chars.is(b'[') {
                let open = self.chars.position();
                let close = self.chars.closing(open, (b'[', b']'), false)?;
                self.chars.go(close.ok_or(Refusal::Invalid)? + 1);
            }
            let byte = self.chars.current()?;
            let closes = byte == b')' && !self.closes_call(start)?;
            if !self.chars.in_bounds() || is_operator_sign(byte) || byte == b' ' || closes {
                break;
            }
            self.chars.advance(1);
        }
        compile_nested(self.chars.slice(start, self.chars.position())?, self.depth + 1)
    }

    /// Whether the `)` at hand is that of a function without arguments in a path that starts at a place.
    fn closes_call(&self, start: usize) -> Result<bool, Refusal> {
        match self.chars.significant_before(self.chars.position()) {
            Some((open, b'(')) => {
                for at in start + 1..open {
                    if self.chars.at(at)? == b'.' {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn read_string(&mut self, quote: u8) -> Result<Operand, Refusal> {
        let start = self.chars.position();
        let close = self.chars.find_unescaped(start, quote).ok_or(Refusal::Invalid)?;
        self.chars.go(close + 1);
        Ok(Operand::Text(unescape(self.chars.slice(start + 1, close)?)?))
    }

    fn read_word(&mut self, word: &str, operand: Operand) -> Result<Operand, Refusal> {
        if self.eat(word) { Ok(operand) } else { Err(Refusal::Invalid) }
    }

    fn read_number(&mut self) -> Result<Operand, Refusal> {
        let start = self.chars.position();
        while self.chars.in_bounds()
            && matches!(self.chars.current()?, b'0'..=b'9' | b'-' | b'.' | b'e' | b'E')
        {
            self.chars.advance(1);
        }
        let number = Decimal::parse(self.chars.slice(start, self.chars.position())?);
        number.map(Operand::Number).ok_or(Refusal::Fatal)
    }

    fn read_json(&mut self, brackets: (u8, u8)) -> Result<Operand, Refusal> {
        let start = self.chars.position();
        let close = self.chars.closing(start, brackets, false)?.ok_or(Refusal::Invalid)?;
        self.chars.go(close + 1);
        let text = with_double_quotes(self.chars.slice(start, close + 1)?);
        match Node::parse(&text) {
            Ok(_) => Ok(Operand::Json(text)),
            Err(_) => Err(Refusal::Fatal),
        }
    }

    /// `/pattern/flags`
    fn read_pattern(&mut self) -> Result<Operand, Refusal> {
        let start = self.chars.position();
        let close = self.chars.find_unescaped(start, b'/').ok_or(Refusal::Invalid)?;
        let mut end = close + 1;
        while self.chars.has(end) && b"dixmsuU".contains(&self.chars.at(end)?) {
            end += 1;
        }
        self.chars.go(end);
        let pattern = self.chars.slice(start + 1, close)?;
        let pattern = match self.chars.slice(close + 1, end)? {
            "" => pattern.to_string(),
            flags => format!("(?{flags}){pattern}"),
        };
        let pattern = Regexp::whole(&pattern).map_err(|_| Refusal::Fatal)?;
        Ok(Operand::Pattern(Box::new(pattern)))
    }

    /// Moves over a text behind blanks, if it is there; the blanks are gone then only.
    fn eat(&mut self, text: &str) -> bool {
        let start = self.chars.position();
        self.chars.skip_blanks();
        let end = self.chars.position() + text.len();
        let found = end <= self.chars.end()
            && self.chars.slice(self.chars.position(), end).is_ok_and(|found| found == text);
        self.chars.go(if found { end } else { start });
        found
    }
}

fn is_operator_sign(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'=' | b'~' | b'!')
}

/// A JSON text whose strings may stand in single quotes, with double ones.
fn with_double_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within = None;
    let mut escaped = false;
    for c in text.chars() {
        match within {
            Some(_) if escaped => {
                escaped = false;
                if c == '\'' {
                    out.pop();
                }
                out.push(c);
            }
            Some('\'') if c == '"' => out.push_str("\\\""),
            Some(quote) if c == quote => {
                within = None;
                out.push('"');
            }
            Some(_) => {
                escaped = c == '\\';
                out.push(c);
            }
            None if matches!(c, '\'' | '"') => {
                within = Some(c);
                out.push('"');
            }
            None => out.push(c),
        }
    }
    out
}
