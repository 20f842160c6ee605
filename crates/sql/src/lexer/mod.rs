//! Text to tokens.

mod decode;
mod keyword;
mod token;

pub(crate) use decode::{binary, escaped_string, quoted, unicode_string};
pub(crate) use keyword::Keyword;
pub(crate) use token::{Token, TokenKind};

use crate::ast::Span;
use logos::Logos;

/// The tokens of `source`, the last one being of kind [`TokenKind::End`]. Spans are shifted by
/// `base`. A character that begins no token is one of kind [`TokenKind::Unknown`]; a quote or
/// comment that does not end makes the last token before the end.
pub(crate) fn tokenize(source: &str, base: usize) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(source.len() / 4 + 1);
    let mut lexer = TokenKind::lexer(source);
    while let Some(lexeme) = lexer.next() {
        let range = lexer.span();
        let kind = lexeme.unwrap_or(TokenKind::Unknown);
        let keyword = match kind {
            TokenKind::Word => Keyword::from_word(lexer.slice()),
            _ => None,
        };
        tokens.push(Token { kind, keyword, span: Span::new(base + range.start, base + range.end) });
        if matches!(kind, TokenKind::OpenString | TokenKind::OpenComment) {
            break;
        }
    }
    // Like Flink's, the end stands on the last character, not behind it.
    let end = tokens.last().map_or(base, |token| token.span.end);
    tokens.push(Token { kind: TokenKind::End, keyword: None, span: Span::new(end, end) });
    tokens
}

#[cfg(test)]
mod tests {
    use super::TokenKind::*;
    use super::*;

    fn kinds(source: &str) -> Vec<TokenKind> {
        tokenize(source, 0).iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_and_keywords() {
        let tokens = tokenize("SeLect foo$1 `a``b` ünit", 10);
        let keywords: Vec<_> = tokens.iter().map(|token| token.keyword).collect();
        assert_eq!(keywords, [Some(Keyword::SELECT), None, None, None, None]);
        assert_eq!(kinds("SELECT foo$1 `a``b` ünit"), [Word, Word, QuotedIdent, Word, End]);
        assert!(tokens[1].span.is_same_place(Span::new(17, 22)));
    }

    #[test]
    fn numbers() {
        assert_eq!(
            kinds("1 1. .5 1.5 1e3 1.E-3 .5e+3"),
            [Integer, Decimal, Decimal, Decimal, Approximate, Approximate, Approximate, End]
        );
        assert_eq!(kinds("1a 1e 1..2"), [Integer, Word, Integer, Word, Decimal, Decimal, End]);
    }

    #[test]
    fn strings() {
        assert_eq!(
            kinds(r"'a''b' U&'\263A' N'x' _UTF16'y' e'a\'b' x'0A' u x"),
            [
                String,
                UnicodeString,
                NationalString,
                PrefixedString,
                EscapedString,
                BinaryString,
                Word,
                Word,
                End
            ]
        );
        assert_eq!(kinds("'open"), [OpenString, End]);
        assert_eq!(kinds("''"), [String, End]);
    }

    #[test]
    fn comments_and_hints() {
        assert_eq!(
            kinds("a -- b\nc // d\n/* e */ /**/ /***/ f /* * / **/"),
            [Word, Word, Word, End]
        );
        assert_eq!(kinds("/*+ a */"), [HintStart, Word, HintEnd, End]);
        assert_eq!(kinds("a /* b"), [Word, OpenComment, End]);
        assert_eq!(kinds("a */ b"), [Word, HintEnd, Word, End]);
    }

    #[test]
    fn symbols() {
        assert_eq!(
            kinds("a<>b<=c>=d!=e||f|g=>h->i"),
            [
                Word, NotEq, Word, LtEq, Word, GtEq, Word, BangEq, Word, Concat, Word, Bar, Word,
                Arrow, Word, Minus, Gt, Word, End
            ]
        );
        assert_eq!(kinds("a # b"), [Word, Unknown, Word, End]);
    }
}
