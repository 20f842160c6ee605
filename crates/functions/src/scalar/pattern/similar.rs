//! SIMILAR TO patterns, rewritten to Java's regular expressions.

use super::like::LikeError;

/// What a SIMILAR TO pattern may get wrong before it is a regular expression at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimilarError {
    /// An escape is wrong.
    #[error(transparent)]
    Escape(#[from] LikeError),
    /// A bracket is.
    #[error("invalid regular expression '{0}'")]
    Class(String),
}

/// The characters with a meaning in a pattern, which can be escaped.
const SPECIAL: &str = "[]()|^-+*_%?{}";

/// The characters with a meaning in Java's regular expressions.
const JAVA_SPECIAL: &str = "[]()|^-+*?{}$\\.";

/// Character classes, with what Java calls them. Both cases of the name are known, but no mixture.
const CLASSES: &[(&str, &str)] = &[
    ("ALPHA", r"\p{Alpha}"),
    ("UPPER", r"\p{Upper}"),
    ("LOWER", r"\p{Lower}"),
    ("DIGIT", r"\d"),
    ("SPACE", " "),
    ("WHITESPACE", r"\s"),
    ("ALNUM", r"\p{Alnum}"),
];

/// The regular expression that a pattern stands for. As in Flink, `.` keeps Java's meaning.
pub fn to_java(pattern: &str, escape: Option<char>) -> Result<String, SimilarError> {
    if let Some(escape) = escape {
        check_escapes(pattern, escape)?;
    }
    let mut rewriter = Rewriter { pattern, escape, out: String::with_capacity(pattern.len() * 2) };
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        if Some(c) == escape {
            let next = chars.next().map(|(_, c)| c);
            rewriter.escaped(next).ok_or_else(|| invalid_escape(pattern, at))?;
            continue;
        }
        match c {
            '_' => rewriter.out.push('.'),
            '%' => rewriter.out.push_str("(?s:.*)"),
            '[' => {
                let rest = rewriter.class(&pattern[at + 1..])?;
                chars = pattern.char_indices();
                chars.by_ref().find(|(at, _)| at + 1 == pattern.len() - rest.len());
            }
            ']' => return Err(SimilarError::Class(pattern.into())),
            '\\' => rewriter.out.push_str("\\\\"),
            '$' => rewriter.out.push_str("\\$"),
            _ => rewriter.out.push(c),
        }
    }
    Ok(rewriter.out)
}

struct Rewriter<'a> {
    pattern: &'a str,
    escape: Option<char>,
    out: String,
}

impl Rewriter<'_> {
    /// Writes what follows the escape character; `None` if it cannot be escaped.
    fn escaped(&mut self, c: Option<char>) -> Option<()> {
        let c = c.filter(|c| SPECIAL.contains(*c) || Some(*c) == self.escape)?;
        if SPECIAL.contains(c) && JAVA_SPECIAL.contains(c) {
            self.out.push('\\');
        }
        self.out.push(c);
        Some(())
    }

    /// Writes a bracketed class whose inside `text` starts with, and gives what is behind its `]`.
    fn class<'t>(&mut self, text: &'t str) -> Result<&'t str, SimilarError> {
        let invalid = || SimilarError::Class(self.pattern.into());
        self.out.push('[');
        let mut rest = text;
        loop {
            let c = rest.chars().next().ok_or_else(invalid)?;
            if let Some(name) = rest.strip_prefix("[:") {
                let (java, behind) = named_class(name).ok_or_else(invalid)?;
                self.out.push_str(java);
                rest = behind;
                continue;
            }
            rest = &rest[c.len_utf8()..];
            match c {
                ']' => {
                    self.out.push(']');
                    return Ok(rest);
                }
                _ if Some(c) == self.escape => {
                    let next = rest.chars().next();
                    self.escaped(next).ok_or_else(|| SimilarError::Class(self.pattern.into()))?;
                    rest = &rest[next.map_or(0, char::len_utf8)..];
                }
                '-' | '^' => self.out.push(c),
                _ if SPECIAL.contains(c) => return Err(invalid()),
                _ => self.out.push(c),
            }
        }
    }
}

/// Java's name of the class that `text` starts with, behind `[:`, and what is behind its `:]`.
fn named_class(text: &str) -> Option<(&'static str, &str)> {
    CLASSES.iter().find_map(|(name, java)| {
        let behind = text
            .strip_prefix(name)
            .or_else(|| text.strip_prefix(name.to_ascii_lowercase().as_str()))?;
        Some((*java, behind.strip_prefix(":]")?))
    })
}

/// The rules for an escape character that has a meaning itself, and for the colon of `[:ALPHA:]`.
fn check_escapes(pattern: &str, escape: char) -> Result<(), SimilarError> {
    if SPECIAL.contains(escape) {
        for (at, _) in pattern.match_indices(escape) {
            let next = pattern[at + escape.len_utf8()..].chars().next();
            if !next.is_some_and(|c| SPECIAL.contains(c) || c == escape) {
                return Err(invalid_escape(pattern, at));
            }
        }
    }
    if escape == ':' && !(pattern.contains("[:") && pattern.contains(":]")) {
        return Err(invalid_escape(pattern, 0));
    }
    Ok(())
}

fn invalid_escape(pattern: &str, at: usize) -> SimilarError {
    let index = pattern[..at].chars().count();
    SimilarError::Escape(LikeError::Sequence { pattern: pattern.into(), index })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_rewritten() {
        for (pattern, escape, java) in [
            ("h%_o", None, "h(?s:.*).o"),
            ("(a|b)+$", None, r"(a|b)+\$"),
            (r"a\b", None, r"a\\b"),
            ("[[:DIGIT:]a-z]%", None, r"[\da-z](?s:.*)"),
            ("[^[:alpha:]]x", None, r"[^\p{Alpha}]x"),
            ("a!%c!!", Some('!'), "a%c!"),
            ("a!{2", Some('!'), r"a\{2"),
            ("[!%!-]", Some('!'), r"[%\-]"),
            ("中[文国]!_", Some('!'), "中[文国]_"),
        ] {
            assert_eq!(to_java(pattern, escape).as_deref(), Ok(java), "{pattern}");
        }
    }

    #[test]
    fn brackets_and_escapes_are_checked() {
        for (pattern, escape) in [
            ("[abc", None),
            ("a]", None),
            ("[[:Lower:]]", None),
            ("[[:foo:]]", None),
            ("[a%]", None),
            ("[a(]", None),
            ("[]a]", None),
            ("a!b", Some('!')),
            ("ab!", Some('!')),
            ("a%%", Some('%')),
            ("a:_", Some(':')),
        ] {
            assert!(to_java(pattern, escape).is_err(), "{pattern}");
        }
    }
}
