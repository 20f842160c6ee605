//! LIKE patterns, compiled to comparisons and substring searches.

use memchr::memmem::Finder;

use super::java::ends_with_terminator;

/// A LIKE pattern that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LikeError {
    /// The escape character is followed by something that needs no escape, or by nothing.
    #[error(
        "invalid escape sequence '{pattern}', {index}\nhint: behind the escape character comes %, _ \
         or itself"
    )]
    Sequence {
        /// The pattern.
        pattern: String,
        /// The place of the escape character in it, from 0.
        index: usize,
    },
    /// The escape is more than one character, in UTF-16 units.
    #[error("invalid escape character '{0}'\nhint: ESCAPE takes one character")]
    Character(String),
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Like {
    /// What the text must start with: all before the first `%`.
    first: Segment,
    /// What must be found between the first and the last `%`, in this order.
    middle: Vec<Segment>,
    /// What the text must end with: all behind the last `%`; `None` if there is no `%`.
    last: Option<Segment>,
}

/// A part of a pattern without `%`.
#[derive(Debug, Clone)]
enum Segment {
    /// Characters that stand for themselves.
    Text(Box<Finder<'static>>),
    /// With `_`, which is `None`.
    Wild(Vec<Option<char>>),
}

impl Like {
    /// Compiles a pattern. In it `%` stands for any characters, `_` for one that is no line terminator.
    pub fn new(pattern: &str, escape: Option<char>) -> Result<Self, LikeError> {
        let mut segments = vec![Vec::new()];
        let mut chars = pattern.chars().enumerate();
        while let Some((index, c)) = chars.next() {
            let item = if Some(c) == escape {
                match chars.next() {
                    Some((_, c)) if Some(c) == escape || c == '%' || c == '_' => Some(c),
                    _ => return Err(LikeError::Sequence { pattern: pattern.into(), index }),
                }
            } else if c == '%' {
                segments.push(Vec::new());
                continue;
            } else {
                (c != '_').then_some(c)
            };
            if let Some(segment) = segments.last_mut() {
                segment.push(item);
            }
        }
        let mut segments: Vec<Segment> = segments.into_iter().map(Segment::new).collect();
        let last = if segments.len() > 1 { segments.pop() } else { None };
        let first = segments.remove(0);
        segments.retain(|segment| !segment.is_empty());
        Ok(Self { first, middle: segments, last })
    }

    /// Whether the whole text fits the pattern.
    pub fn matches(&self, text: &str) -> bool {
        let Some(last) = &self.last else { return self.first.equals(text) };
        self.first.strip_start(text).and_then(|rest| last.strip_end(rest)).is_some_and(|rest| {
            let found = |rest, segment: &Segment| segment.strip_first(rest);
            self.middle.iter().try_fold(rest, found).is_some()
        })
    }
}

impl Segment {
    fn new(items: Vec<Option<char>>) -> Self {
        match items.iter().copied().collect::<Option<String>>() {
            Some(text) => Self::Text(Box::new(Finder::new(text.as_bytes()).into_owned())),
            None => Self::Wild(items),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(finder) if finder.needle().is_empty())
    }

    fn equals(&self, text: &str) -> bool {
        match self {
            Self::Text(finder) => finder.needle() == text.as_bytes(),
            Self::Wild(items) => wild_start(items, text).is_some_and(str::is_empty),
        }
    }

    /// What follows the segment at the start of the text.
    fn strip_start<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Text(finder) => {
                let needle = finder.needle();
                text.as_bytes().starts_with(needle).then(|| &text[needle.len()..])
            }
            Self::Wild(items) => wild_start(items, text),
        }
    }

    /// What precedes the segment at the end of the text.
    fn strip_end<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Text(finder) => {
                let needle = finder.needle();
                text.as_bytes().ends_with(needle).then(|| &text[..text.len() - needle.len()])
            }
            Self::Wild(items) => items.iter().rev().try_fold(text, |rest, item| {
                let mut chars = rest.chars();
                fits(*item, chars.next_back()?).then_some(chars.as_str())
            }),
        }
    }

    /// What follows the first appearance of the segment in the text.
    fn strip_first<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Text(finder) => {
                let found = finder.find(text.as_bytes())?;
                Some(&text[found + finder.needle().len()..])
            }
            Self::Wild(items) => {
                text.char_indices().find_map(|(start, _)| wild_start(items, &text[start..]))
            }
        }
    }
}

/// What follows `items` at the start of the text.
fn wild_start<'a>(items: &[Option<char>], text: &'a str) -> Option<&'a str> {
    items.iter().try_fold(text, |rest, item| {
        let mut chars = rest.chars();
        fits(*item, chars.next()?).then_some(chars.as_str())
    })
}

fn fits(item: Option<char>, c: char) -> bool {
    match item {
        Some(wanted) => c == wanted,
        None => c.is_ascii_graphic() || !ends_with_terminator(c.encode_utf8(&mut [0; 4])),
    }
}

/// The escape character of an ESCAPE clause; none for the empty text.
pub fn escape_char(escape: &str) -> Result<Option<char>, LikeError> {
    let mut units = escape.encode_utf16();
    match (units.next(), units.next()) {
        (None, _) => Ok(None),
        (Some(_), None) => Ok(escape.chars().next()),
        _ => Err(LikeError::Character(escape.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (text, pattern, wanted) in [
            ("hello", "hello", true),
            ("hello", "h%", true),
            ("hello", "%ell%", true),
            ("hello", "h_llo", true),
            ("hello", "h__lo", true),
            ("hello", "", false),
            ("", "", true),
            ("", "%", true),
            ("", "_", false),
            ("hello", "%%", true),
            ("[a]", "[a]", true),
            ("中文", "中_", true),
            ("😀", "_", true),
            ("e\u{301}", "_", false),
            ("two\nlines", "two%", true),
            ("two\nlines", "two_lines", false),
            ("a\u{b}b", "a_b", true),
            ("a\u{2028}b", "a_b", false),
            ("a\nb_c", "a%b__", true),
            ("a ", "a", false),
            ("100%", "100\\%", false),
            ("abc", "%a%b%c%", true),
            ("aaa", "a%a", true),
            ("a", "a%a", false),
            ("abab", "%ab", true),
            ("mississippi", "%issip%iss%", false),
            ("abc", "ab_%", true),
            ("abc", "abc_%", false),
            ("xaybz", "%a_b%", true),
            ("xa\nbz", "%a_b%", false),
        ] {
            let like = Like::new(pattern, None).expect(pattern);
            assert_eq!(like.matches(text), wanted, "{text:?} LIKE {pattern:?}");
        }
    }

    #[test]
    fn an_escaped_character_stands_for_itself() {
        for (text, pattern, escape, wanted) in [
            ("100%", "100!%", '!', true),
            ("100x", "100!%", '!', false),
            ("axb", "a#_b", '#', false),
            ("a\\b", "a\\\\b", '\\', true),
            ("a!b", "a!!b", '!', true),
            ("a_", "a__", '_', true),
            ("a%c", "a%%c", '%', true),
        ] {
            let like = Like::new(pattern, Some(escape)).expect(pattern);
            assert_eq!(like.matches(text), wanted, "{text:?} LIKE {pattern:?}");
        }
        for (pattern, index) in [("a!bc", 1), ("abc!", 3)] {
            let error = LikeError::Sequence { pattern: pattern.into(), index };
            assert_eq!(Like::new(pattern, Some('!')).err(), Some(error));
        }
        assert_eq!(escape_char(""), Ok(None));
        assert_eq!(escape_char("中"), Ok(Some('中')));
        assert!(escape_char("!!").is_err() && escape_char("😀").is_err());
    }
}
