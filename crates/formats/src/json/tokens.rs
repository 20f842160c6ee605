//! JSON text token by token, as a streaming parser sees it.

use super::lexer::{Lexer, Number, RawString, SyntaxError};
use super::scalar::Scalar;

/// A piece of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    StartObject,
    EndObject,
    StartArray,
    EndArray,
    Key(RawString<'a>),
    Text(RawString<'a>),
    Number(Number<'a>),
    True,
    False,
    Null,
    /// Nothing is left.
    End,
}

/// The tokens of a document.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    pub(super) lexer: Lexer<'a>,
    /// Where the current token starts.
    pub(super) start: usize,
    pub(super) current: Token<'a>,
    /// For each open container whether it is an object.
    open: Vec<bool>,
    after: After,
}

/// What the current token leaves to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Start,
    Key,
    Value,
}

impl<'a> Tokens<'a> {
    /// Starts at the first token.
    pub(super) fn new(lexer: Lexer<'a>) -> Result<Self, SyntaxError> {
        let mut tokens = Self {
            lexer,
            start: lexer.at,
            current: Token::End,
            open: Vec::new(),
            after: After::Value,
        };
        tokens.advance()?;
        Ok(tokens)
    }

    /// Goes to the next token.
    pub(super) fn advance(&mut self) -> Result<(), SyntaxError> {
        let next = self.lexer.peek();
        self.start = self.lexer.at;
        self.current = match (self.open.last(), self.after) {
            (None, _) if next == 0 => Token::End,
            (Some(true), After::Start | After::Value) if self.lexer.eat(b'}') => {
                self.close(Token::EndObject)
            }
            (Some(false), After::Start | After::Value) if self.lexer.eat(b']') => {
                self.close(Token::EndArray)
            }
            (Some(_), After::Value) if !self.lexer.eat(b',') => {
                return self.lexer.error("a comma or a closing bracket is missing");
            }
            (Some(true), After::Start | After::Value) => {
                self.lexer.peek();
                self.start = self.lexer.at;
                let key = self.lexer.string()?;
                self.lexer.colon()?;
                self.after = After::Key;
                Token::Key(key)
            }
            _ => self.value()?,
        };
        Ok(())
    }

    /// Goes past the rest of the container that the current token opened, whose text it returns.
    pub(super) fn skip_container(&mut self) -> Result<&'a [u8], SyntaxError> {
        self.lexer.at = self.start;
        let text = self.lexer.skip_value()?;
        self.current = self.close(Token::End);
        Ok(text)
    }

    /// The token as a scalar; brackets stand for their own text. `None` at the end.
    pub(super) fn scalar(&self) -> Option<Scalar<'a>> {
        Some(match self.current {
            Token::Key(text) | Token::Text(text) => Scalar::Text(text),
            Token::Number(number) => Scalar::Number(number),
            Token::True => Scalar::Word(b"true"),
            Token::False => Scalar::Word(b"false"),
            Token::Null => Scalar::Word(b"null"),
            Token::StartObject => Scalar::Word(b"{"),
            Token::EndObject => Scalar::Word(b"}"),
            Token::StartArray => Scalar::Word(b"["),
            Token::EndArray => Scalar::Word(b"]"),
            Token::End => return None,
        })
    }

    /// The first byte of the current token; 0 at the end.
    pub(super) fn first_byte(&self) -> u8 {
        self.lexer.bytes.get(self.start).copied().unwrap_or(0)
    }

    fn value(&mut self) -> Result<Token<'a>, SyntaxError> {
        let first = self.lexer.peek();
        self.start = self.lexer.at;
        self.after = After::Value;
        Ok(match first {
            b'{' | b'[' => {
                self.lexer.at += 1;
                self.after = After::Start;
                self.open.push(first == b'{');
                if first == b'{' { Token::StartObject } else { Token::StartArray }
            }
            b'n' => self.lexer.word(b"null").map(|()| Token::Null)?,
            _ => match Scalar::read(&mut self.lexer, first)? {
                Scalar::Text(text) => Token::Text(text),
                Scalar::Number(number) => Token::Number(number),
                Scalar::Word(b"true") => Token::True,
                Scalar::Word(_) => Token::False,
            },
        })
    }

    fn close(&mut self, token: Token<'a>) -> Token<'a> {
        self.open.pop();
        self.after = After::Value;
        token
    }
}
