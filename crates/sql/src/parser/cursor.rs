//! Walking over the tokens, and what to say when one does not fit.

use crate::ast::{Position, Span};
use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::{Keyword, Token, TokenKind, tokenize};

/// The result of reading a part. The error is boxed as it passes through every level.
pub(super) type Parsed<T> = Result<T, Box<ParseError>>;

/// How deeply parts may be nested in each other.
///
/// A parser of this kind, and whoever walks over its tree, uses the stack for each level; the
/// limit keeps that below what the smallest usual stack (2 MB) has room for.
const MAX_DEPTH: usize = 128;

/// How high a tree may be. What follows each other without parentheses (operators but for AND and
/// OR, joins, set operations) makes the tree as much higher as nesting does.
const MAX_HEIGHT: usize = 500;

/// A parser over the tokens of one text.
pub(super) struct Parser<'s> {
    source: &'s str,
    base: usize,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// How high the tree of the part at hand is so far.
    height: usize,
    /// What was looked for in vain at the current token.
    expected: Vec<Expected>,
    /// Whether AND ends the expression at hand: it is the lower bound of a BETWEEN.
    pub(super) and_ends: bool,
}

/// Something that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Keyword(Keyword),
    Kind(TokenKind),
    Other(&'static str),
}

/// What a token can be compared with.
pub(super) trait Terminal: Copy {
    fn is(self, token: &Token) -> bool;
    fn expected(self) -> Expected;
}

impl Terminal for Keyword {
    fn is(self, token: &Token) -> bool {
        token.keyword == Some(self)
    }

    fn expected(self) -> Expected {
        Expected::Keyword(self)
    }
}

impl Terminal for TokenKind {
    fn is(self, token: &Token) -> bool {
        token.kind == self
    }

    fn expected(self) -> Expected {
        Expected::Kind(self)
    }
}

impl<'s> Parser<'s> {
    /// A parser of `source`, whose first byte has the offset `base` in all spans.
    pub(super) fn new(source: &'s str, base: usize) -> Self {
        Self {
            source,
            base,
            tokens: tokenize(source, base),
            at: 0,
            depth: 0,
            height: 0,
            expected: Vec::new(),
            and_ends: false,
        }
    }

    /// Whether the current token is `terminal`; remembered as expected if not.
    pub(super) fn at(&mut self, terminal: impl Terminal) -> bool {
        let found = terminal.is(self.peek());
        if !found {
            self.note(terminal.expected());
        }
        found
    }

    /// Steps over the current token if it is `terminal`.
    pub(super) fn eat(&mut self, terminal: impl Terminal) -> bool {
        let found = self.at(terminal);
        if found {
            self.advance();
        }
        found
    }

    /// Steps over `terminals` if they all follow, else stays.
    pub(super) fn eat_all<const N: usize>(&mut self, terminals: [Keyword; N]) -> bool {
        let found = self.follows(terminals);
        if found {
            self.at += N;
            self.expected.clear();
        } else {
            self.note(terminals[0].expected());
        }
        found
    }

    /// Whether the current and the next tokens are `keywords`; nothing is remembered as expected.
    pub(super) fn follows<const N: usize>(&self, keywords: [Keyword; N]) -> bool {
        keywords.iter().enumerate().all(|(ahead, keyword)| self.ahead(ahead, *keyword))
    }

    /// Whether the token `distance` behind the current one is `terminal`.
    pub(super) fn ahead(&self, distance: usize, terminal: impl Terminal) -> bool {
        terminal.is(self.peek_ahead(distance))
    }

    /// Steps over the current token, which must be `terminal`.
    pub(super) fn expect(&mut self, terminal: impl Terminal) -> Parsed<Span> {
        if self.at(terminal) { Ok(self.advance().span) } else { Err(self.unexpected()) }
    }

    /// Steps over the current and the next tokens, which must be `keywords`.
    pub(super) fn expect_all<const N: usize>(&mut self, keywords: [Keyword; N]) -> Parsed<()> {
        keywords.into_iter().try_for_each(|keyword| self.expect(keyword).map(drop))
    }

    /// The current token.
    pub(super) fn peek(&self) -> &Token {
        self.peek_ahead(0)
    }

    /// The token `distance` behind the current one, or the end.
    pub(super) fn peek_ahead(&self, distance: usize) -> &Token {
        // The list always ends with the end.
        &self.tokens[(self.at + distance).min(self.tokens.len() - 1)]
    }

    /// Steps over the current token and gives it.
    pub(super) fn advance(&mut self) -> Token {
        let token = *self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        self.expected.clear();
        token
    }

    /// Remembers that `expected` could have stood here.
    pub(super) fn note(&mut self, expected: Expected) {
        if !self.expected.contains(&expected) {
            self.expected.push(expected);
        }
    }

    /// The offset where the current token starts.
    pub(super) fn start(&self) -> usize {
        self.peek().span.start
    }

    /// The span from `start` to the end of the token stepped over last.
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.last_end().max(start))
    }

    /// The offset behind the token stepped over last.
    pub(super) fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(self.base, |last| self.tokens[last].span.end)
    }

    /// The text of a span.
    pub(super) fn text(&self, span: Span) -> &'s str {
        self.source.get(span.start - self.base..span.end - self.base).unwrap_or_default()
    }

    /// The text from the current token on.
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.start() - self.base..).unwrap_or_default()
    }

    /// Reads a part that may be nested in one of its own kind.
    pub(super) fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = self.apart(part);
        self.depth -= 1;
        result
    }

    /// Reads a part whose height does not add to that of its siblings.
    pub(super) fn apart<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let siblings = std::mem::take(&mut self.height);
        let result = part(self);
        self.height = siblings.max(self.height + 1);
        result
    }

    /// Notes that all read so far became the operand of a further operator.
    pub(super) fn chained(&mut self) -> Parsed<()> {
        self.height += 1;
        if self.height > MAX_HEIGHT { Err(self.too_deep()) } else { Ok(()) }
    }

    /// Counts a further operator of a chain whose operators are printed nested in each other.
    pub(super) fn wrapped(&mut self, count: &mut usize) -> Parsed<()> {
        *count += 1;
        if *count > MAX_DEPTH / 2 { Err(self.too_deep()) } else { self.chained() }
    }

    /// `part, part, …`
    pub(super) fn comma_list<T>(
        &mut self,
        mut part: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut parts = vec![part(self)?];
        while self.eat(TokenKind::Comma) {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    /// `(part, part, …)`
    pub(super) fn paren_list<T>(
        &mut self,
        part: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.expect(TokenKind::LeftParen)?;
        let parts = self.comma_list(part)?;
        self.expect(TokenKind::RightParen)?;
        Ok(parts)
    }

    /// `(part, part, …)` or `()`
    pub(super) fn optional_paren_list<T>(
        &mut self,
        part: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.expect(TokenKind::LeftParen)?;
        if self.eat(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let parts = self.comma_list(part)?;
        self.expect(TokenKind::RightParen)?;
        Ok(parts)
    }

    /// `part`, if `introduction` stands before it.
    pub(super) fn optional<T>(
        &mut self,
        introduction: impl Terminal,
        part: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        if self.eat(introduction) { part(self).map(Some) } else { Ok(None) }
    }

    /// The error `kind` at `span`.
    pub(super) fn error(&self, kind: ParseErrorKind, span: Span) -> Box<ParseError> {
        let position = Position::of(self.source, span.start.saturating_sub(self.base));
        Box::new(ParseError { kind, span, position, expected: Vec::new(), hint: None })
    }

    /// The error `kind` at the current token.
    pub(super) fn error_here(&self, kind: ParseErrorKind) -> Box<ParseError> {
        self.error(kind, self.peek().span)
    }

    fn too_deep(&self) -> Box<ParseError> {
        self.error_here(ParseErrorKind::TooDeep)
            .with_hint("split it into views or common table expressions, or use IN for long lists")
    }

    /// The error that the current token does not fit.
    pub(super) fn unexpected(&self) -> Box<ParseError> {
        super::diagnosis::unexpected(self, self.peek(), &self.expected)
    }
}

impl ParseError {
    /// The same error with advice.
    pub(super) fn with_hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }
}
