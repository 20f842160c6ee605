//! Paths from their text.

use super::chars::Chars;
use super::filter::compile_filter;
use super::function::{Function, Parameter};
use super::token::{InvalidPath, Path, Token};

/// How deep paths, filters and function calls may lie within each other.
const MAX_DEPTH: usize = 100;

/// Why a part of a path cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is something else; a reader of filters may try that.
    Invalid,
    /// The whole is not a path.
    Fatal,
}

impl From<Refusal> for InvalidPath {
    fn from(_: Refusal) -> Self {
        InvalidPath
    }
}

impl Path {
    /// Compiles a path. One that starts with neither `$` nor `@` starts with `$.`, silently.
    pub fn compile(text: &str) -> Result<Self, InvalidPath> {
        Ok(compile_nested(text, 0)?)
    }
}

/// Compiles a path that may lie within others.
pub(super) fn compile_nested(text: &str, depth: usize) -> Result<Path, Refusal> {
    if depth > MAX_DEPTH {
        return Err(Refusal::Fatal);
    }
    let rooted;
    let text = match text.as_bytes().first() {
        None => return Err(Refusal::Invalid),
        Some(b'$' | b'@') => text,
        Some(_) => {
            rooted = format!("$.{text}");
            &rooted
        }
    };
    let chars = Chars::trimmed(text);
    if chars.last() == Some(b'.') {
        return Err(Refusal::Invalid);
    }
    let tokens = Reader { chars, tokens: Vec::new(), depth }.read_path()?;
    let path = Path { from_document: text.starts_with('$'), tokens };
    Ok(function_first(path))
}

/// `$..a.f()` is `$.f($..a)`: the function gets all that was found at once.
fn function_first(mut path: Path) -> Path {
    let scans = matches!(path.tokens.first(), Some(Token::Scan));
    if !scans || !path.is_function() {
        return path;
    }
    let first = path.tokens.iter().position(|token| matches!(token, Token::Function(_)));
    let Some(Token::Function(function)) = first.map(|at| path.tokens.remove(at)) else {
        return path;
    };
    path.tokens.truncate(first.unwrap_or_default());
    let function = function.with_parameters(vec![Parameter::Path(path)]);
    Path { from_document: true, tokens: vec![Token::Function(function)] }
}

struct Reader<'p> {
    chars: Chars<'p>,
    tokens: Vec<Token>,
    depth: usize,
}

impl Reader<'_> {
    fn read_path(mut self) -> Result<Vec<Token>, Refusal> {
        while matches!(self.chars.current(), Ok(b' ' | b'\t' | b'\r' | b'\n')) {
            self.chars.advance(1);
        }
        if !matches!(self.chars.current()?, b'$' | b'@') {
            return Err(Refusal::Invalid);
        }
        if self.chars.at_tail() {
            return Ok(self.tokens);
        }
        self.chars.advance(1);
        if !matches!(self.chars.current()?, b'.' | b'[') {
            return Err(Refusal::Invalid);
        }
        loop {
            let ends = self.read_token()?;
            if ends && self.chars.at_tail() {
                return Ok(self.tokens);
            }
        }
    }

    /// Reads a part; false if it is one that another must follow.
    fn read_token(&mut self) -> Result<bool, Refusal> {
        match self.chars.current()? {
            b'.' => return self.read_dots().map(|()| false),
            b'[' => {
                let token = match self.read_names()? {
                    Some(token) => Some(token),
                    None => match self.read_indexes()? {
                        Some(token) => Some(token),
                        None => match self.read_bracketed_wildcard()? {
                            Some(token) => Some(token),
                            None => self.read_filter()?,
                        },
                    },
                };
                self.tokens.push(token.ok_or(Refusal::Invalid)?);
            }
            b'*' => {
                self.chars.advance(1);
                self.tokens.push(Token::Wildcard);
            }
            _ => self.read_name_or_function()?,
        }
        Ok(true)
    }

    /// `.` or `..`
    fn read_dots(&mut self) -> Result<(), Refusal> {
        let next = self.chars.position() + 1;
        if self.chars.has(next) && self.chars.at(next)? == b'.' {
            self.tokens.push(Token::Scan);
            self.chars.advance(2);
        } else if self.chars.has(next) {
            self.chars.advance(1);
        } else {
            return Err(Refusal::Invalid);
        }
        match self.chars.current()? {
            b'.' => Err(Refusal::Invalid),
            _ => Ok(()),
        }
    }

    /// `a` or `f(…)`, up to the next `.` or `[`
    fn read_name_or_function(&mut self) -> Result<(), Refusal> {
        let start = self.chars.position();
        if self.chars.is(b' ') {
            return Err(Refusal::Invalid);
        }
        let mut end = start;
        while self.chars.has(end) && !matches!(self.chars.at(end)?, b' ' | b'.' | b'[' | b'(') {
            end += 1;
        }
        let stop = if self.chars.has(end) { Some(self.chars.at(end)?) } else { None };
        let name = self.chars.slice(start, end)?;
        match stop {
            Some(b' ') => return Err(Refusal::Invalid),
            Some(b'(') => {
                let parameters = self.read_arguments(end)?;
                self.tokens.push(Token::Function(Function::new(name, parameters)));
            }
            _ => {
                self.chars.go(end);
                self.tokens.push(Token::Names(vec![name.to_string()]));
            }
        }
        Ok(())
    }

    /// The arguments of a function that opens at a place. Without any, the closing parenthesis is left
    /// to be read, as the library does: what follows it becomes a name that starts with `)`.
    fn read_arguments(&mut self, open: usize) -> Result<Vec<Parameter>, Refusal> {
        let mut depth = 1;
        for at in open + 1..self.chars.end() {
            match self.chars.at(at)? {
                b')' => depth -= 1,
                b'(' => depth += 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        if depth != 0 {
            return Err(Refusal::Invalid);
        }
        self.chars.go(open + 1);
        if self.chars.is(b')') { Ok(Vec::new()) } else { self.read_parameters() }
    }

    /// The parameters of a call up to its closing parenthesis, which is read: paths that start with `$` or
    /// `@`, and JSON values that start with a digit, `-`, `"` or `{`. Anything else is passed over.
    fn read_parameters(&mut self) -> Result<Vec<Parameter>, Refusal> {
        let (mut parens, mut brackets, mut braces, mut quotes) = (1i32, 0u32, 0u32, 0u32);
        let mut parameters = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        let mut is_path = None;
        let mut prior = 0;
        while self.chars.in_bounds() {
            let byte = self.chars.current()?;
            self.chars.advance(1);
            if is_path.is_none() {
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' => continue,
                    b'{' | b'0'..=b'9' | b'"' | b'-' => is_path = Some(false),
                    b'$' | b'@' => is_path = Some(true),
                    _ => {}
                }
            }
            match byte {
                b'"' if prior != b'\\' && quotes > 0 => quotes -= 1,
                b'"' => quotes += 1,
                b'(' => parens += 1,
                b'{' => braces += 1,
                b'[' => brackets += 1,
                b'}' => braces = braces.checked_sub(1).ok_or(Refusal::Invalid)?,
                b']' => brackets = brackets.checked_sub(1).ok_or(Refusal::Invalid)?,
                b')' => {
                    parens -= 1;
                    if parens < 0 || prior == b'(' {
                        text.push(byte);
                    }
                }
                _ => {}
            }
            let outside = quotes == 0 && braces == 0 && brackets == 0;
            let closes = parens == 0 && byte == b')';
            let mut ends = false;
            if matches!(byte, b')' | b',') && outside && (closes || parens == 1) {
                ends = parens == 0;
                if let Some(is_path) = is_path.take() {
                    let text = std::mem::take(&mut text);
                    let text = String::from_utf8(text).map_err(|_| Refusal::Fatal)?;
                    parameters.push(match is_path {
                        true => Parameter::Path(compile_nested(&text, self.depth + 1)?),
                        false => Parameter::Json(text),
                    });
                }
            }
            if ends {
                break;
            }
            if is_path.is_some() && !(byte == b',' && braces == 0 && brackets == 0 && parens == 1) {
                text.push(byte);
            }
            prior = byte;
        }
        match (parens, brackets, braces) {
            (0, 0, 0) => Ok(parameters),
            _ => Err(Refusal::Invalid),
        }
    }

    /// `['a']` or `["a", "b"]`
    fn read_names(&mut self) -> Result<Option<Token>, Refusal> {
        let chars = &self.chars;
        let quote = match chars.significant_after(chars.position()) {
            Some((_, quote @ (b'\'' | b'"'))) => quote,
            _ => return Ok(None),
        };
        let mut names = Vec::new();
        let (mut start, mut end) = (0, 0);
        let (mut within, mut escaped, mut after_comma) = (false, false, false);
        for at in chars.position() + 1..chars.end() {
            match chars.at(at)? {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b']' if !within && after_comma => return Err(Refusal::Invalid),
                b']' if !within => break,
                byte if byte == quote && within => {
                    if !matches!(chars.significant_after(at), Some((_, b']' | b','))) {
                        return Err(Refusal::Invalid);
                    }
                    end = at;
                    names.push(unescape(chars.slice(start, end)?)?);
                    within = false;
                }
                byte if byte == quote => {
                    start = at + 1;
                    within = true;
                    after_comma = false;
                }
                b',' if !within && after_comma => return Err(Refusal::Invalid),
                b',' if !within => after_comma = true,
                _ => {}
            }
        }
        if within || names.is_empty() {
            return Err(Refusal::Invalid);
        }
        let close = chars.significant_is(end, b']').ok_or(Refusal::Invalid)?;
        self.chars.go(close + 1);
        Ok(Some(Token::Names(names)))
    }

    /// `[0]`, `[0, 1]`, `[1:2]`
    fn read_indexes(&mut self) -> Result<Option<Token>, Refusal> {
        let chars = &self.chars;
        let open = chars.position();
        if !matches!(chars.significant_after(open), Some((_, b'0'..=b'9' | b'-' | b':'))) {
            return Ok(None);
        }
        let Some(close) = chars.find(open + 1, b']') else { return Ok(None) };
        let text = chars.slice(open + 1, close)?.trim_matches(' ');
        if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b',' | b'-' | b':' | b' ')) {
            return Ok(None);
        }
        let token = if text.contains(':') { slice(text)? } else { indexes(text)? };
        self.chars.go(close + 1);
        Ok(Some(token))
    }

    /// `[*]`
    fn read_bracketed_wildcard(&mut self) -> Result<Option<Token>, Refusal> {
        let Some(star) = self.chars.significant_is(self.chars.position(), b'*') else {
            return Ok(None);
        };
        let close = self.chars.significant_is(star, b']').ok_or(Refusal::Invalid)?;
        self.chars.go(close + 1);
        Ok(Some(Token::Wildcard))
    }

    /// `[?(…)]`
    fn read_filter(&mut self) -> Result<Option<Token>, Refusal> {
        let open = self.chars.position();
        let Some(parenthesis) = self
            .chars
            .significant_is(open, b'?')
            .and_then(|mark| self.chars.significant_is(mark, b'('))
        else {
            return Ok(None);
        };
        let Some(closing) = self.chars.closing(parenthesis, (b'(', b')'), true)? else {
            return Ok(None);
        };
        let Some(close) = self.chars.significant_is(closing, b']') else { return Ok(None) };
        let condition = compile_filter(self.chars.slice(parenthesis, closing + 1)?, self.depth)?;
        self.chars.go(close + 1);
        Ok(Some(Token::Filter(condition)))
    }
}

fn indexes(text: &str) -> Result<Token, Refusal> {
    let indexes: Result<Vec<i32>, _> =
        text.split(',').map(|index| index.trim_matches(' ').parse()).collect();
    Ok(Token::Indexes(indexes.map_err(|_| Refusal::Invalid)?))
}

fn slice(text: &str) -> Result<Token, Refusal> {
    let mut ends = text.split(':').map(|end| match end {
        "" => Ok(None),
        end => end.parse().map(Some).map_err(|_| Refusal::Invalid),
    });
    let from = ends.next().transpose()?.flatten();
    let to = ends.next().transpose()?.flatten();
    match (from, to) {
        (None, None) => Err(Refusal::Invalid),
        _ => Ok(Token::Slice(from, to)),
    }
}

/// Replaces the escape sequences of a quoted name or string; an unknown one is the character itself.
pub(super) fn unescape(text: &str) -> Result<String, Refusal> {
    if !text.contains('\\') {
        return Ok(text.to_string());
    }
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let mut buffer = [0; 2];
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut buffer));
            continue;
        }
        match chars.next() {
            None => units.push(u16::from(b'\\')),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                if digits.len() < 4 {
                    break;
                }
                units.push(u16::from_str_radix(&digits, 16).map_err(|_| Refusal::Fatal)?);
            }
            Some(escaped) => {
                let c = match escaped {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                };
                units.extend_from_slice(c.encode_utf16(&mut buffer));
            }
        }
    }
    Ok(char::decode_utf16(units).map(|c| c.unwrap_or('?')).collect())
}
