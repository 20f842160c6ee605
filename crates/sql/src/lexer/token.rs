//! The kinds of tokens.

use super::Keyword;
use crate::ast::Span;
use logos::Logos;

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Which keyword, for a word that is one.
    pub(crate) keyword: Option<Keyword>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"(--|//)[^\r\n]*", allow_greedy = true))]
#[logos(skip r"/\*(\*+|([^*+]|\*+[^*/])([^*]|\*+[^*/])*\*+)/")]
pub(crate) enum TokenKind {
    /// A keyword or an unquoted identifier, of the letters that Calcite takes.
    #[regex(
        r"(?x)
        [$_A-Za-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{1FFF}\u{3040}-\u{318F}
         \u{3300}-\u{337F}\u{3400}-\u{3D2D}\u{4E00}-\u{9FFF}\u{F900}-\u{FAFF}]
        [$_A-Za-z0-9\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{1FFF}\u{3040}-\u{318F}
         \u{3300}-\u{337F}\u{3400}-\u{3D2D}\u{4E00}-\u{9FFF}\u{F900}-\u{FAFF}]*"
    )]
    Word,
    #[regex(r"`([^`]|``)+`")]
    QuotedIdent,
    #[regex(r"[0-9]+")]
    Integer,
    #[regex(r"[0-9]+\.[0-9]*|\.[0-9]+")]
    Decimal,
    #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")]
    Approximate,
    #[regex(r"'([^']|'')*'")]
    String,
    #[regex(r"[uU]&'([^']|'')*'")]
    UnicodeString,
    #[regex(r"[nN]'([^']|'')*'")]
    NationalString,
    #[regex(r"_[-A-Za-z0-9_:.]+'([^']|'')*'")]
    PrefixedString,
    #[regex(r"[eE]'([^'\\]|\\.|'')*'")]
    EscapedString,
    #[regex(r"[xX]'([^']|'')*'")]
    BinaryString,
    #[token("'")]
    #[token("`")]
    OpenString,
    #[token("/*")]
    OpenComment,
    #[token("/*+")]
    HintStart,
    #[token("*/")]
    HintEnd,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Eq,
    #[token("<>")]
    NotEq,
    #[token("!=")]
    BangEq,
    #[token("<")]
    Lt,
    #[token("<=")]
    LtEq,
    #[token(">")]
    Gt,
    #[token(">=")]
    GtEq,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("||")]
    Concat,
    #[token("|")]
    Bar,
    #[token("^")]
    Caret,
    #[token("?")]
    Question,
    #[token("=>")]
    Arrow,
    #[token("\"")]
    DoubleQuote,
    /// No token.
    Unknown,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// How the kind is called in a list of what was expected.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Word | Self::QuotedIdent => "<IDENTIFIER>",
            Self::Integer => "<UNSIGNED_INTEGER_LITERAL>",
            Self::Decimal => "<DECIMAL_NUMERIC_LITERAL>",
            Self::Approximate => "<APPROX_NUMERIC_LITERAL>",
            Self::String => "<QUOTED_STRING>",
            Self::UnicodeString => "<UNICODE_STRING_LITERAL>",
            Self::NationalString | Self::PrefixedString => "<PREFIXED_STRING_LITERAL>",
            Self::EscapedString => "<C_STYLE_ESCAPED_STRING_LITERAL>",
            Self::BinaryString => "<BINARY_STRING_LITERAL>",
            Self::OpenString => "\"'\"",
            Self::OpenComment => "\"/*\"",
            Self::HintStart => "\"/*+\"",
            Self::HintEnd => "\"*/\"",
            Self::LeftParen => "\"(\"",
            Self::RightParen => "\")\"",
            Self::LeftBracket => "\"[\"",
            Self::RightBracket => "\"]\"",
            Self::LeftBrace => "\"{\"",
            Self::RightBrace => "\"}\"",
            Self::Comma => "\",\"",
            Self::Semicolon => "\";\"",
            Self::Colon => "\":\"",
            Self::Dot => "\".\"",
            Self::Eq => "\"=\"",
            Self::NotEq => "\"<>\"",
            Self::BangEq => "\"!=\"",
            Self::Lt => "\"<\"",
            Self::LtEq => "\"<=\"",
            Self::Gt => "\">\"",
            Self::GtEq => "\">=\"",
            Self::Plus => "\"+\"",
            Self::Minus => "\"-\"",
            Self::Star => "\"*\"",
            Self::Slash => "\"/\"",
            Self::Percent => "\"%\"",
            Self::Concat => "\"||\"",
            Self::Bar => "\"|\"",
            Self::Caret => "\"^\"",
            Self::Question => "\"?\"",
            Self::Arrow => "\"=>\"",
            Self::DoubleQuote => "\"\\\"\"",
            Self::Unknown => "<UNKNOWN>",
            Self::End => "<EOF>",
        }
    }
}
