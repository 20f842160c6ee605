//! The sets that Java's escapes and `\p{…}` stand for.

use super::blocks::block;
use super::class::CharSet;

/// `\d`, or its complement.
pub fn digits(unicode: bool) -> CharSet {
    if unicode { CharSet::unicode("gc=Nd") } else { CharSet::range('0', '9') }
}

/// `\w`
pub fn word(unicode: bool) -> CharSet {
    if !unicode {
        return CharSet::ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
    }
    union(&["Alphabetic", "gc=Mn", "gc=Me", "gc=Mc", "gc=Nd", "gc=Pc", "Join_Control"])
}

/// `\s`
pub fn space(unicode: bool) -> CharSet {
    if unicode {
        CharSet::unicode("White_Space")
    } else {
        CharSet::ranges(&[('\t', '\r'), (' ', ' ')])
    }
}

/// `\h`
pub fn horizontal_space() -> CharSet {
    CharSet::ranges(&[
        ('\t', '\t'),
        (' ', ' '),
        ('\u{a0}', '\u{a0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{180e}', '\u{180e}'),
        ('\u{2000}', '\u{200a}'),
        ('\u{202f}', '\u{202f}'),
        ('\u{205f}', '\u{205f}'),
        ('\u{3000}', '\u{3000}'),
    ])
}

/// `\v`
pub fn vertical_space() -> CharSet {
    CharSet::ranges(&[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')])
}

/// What ends a line, and `.` therefore leaves out.
pub fn terminators(unix: bool) -> CharSet {
    if unix {
        return CharSet::one('\n');
    }
    CharSet::ranges(&[('\n', '\n'), ('\r', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')])
}

/// The set of `\p{name}` or `\p{name=value}`; `None` if Java knows no such property. With `unicode`
/// (flag `U`) the POSIX names go beyond ASCII; `insensitive` makes the cased ones equal.
pub fn property(text: &str, unicode: bool, insensitive: bool) -> Option<CharSet> {
    if let Some((name, value)) = text.split_once('=') {
        return match name.to_ascii_lowercase().as_str() {
            "sc" | "script" => script(value),
            "blk" | "block" => block(value),
            "gc" | "general_category" => category_or_posix(value, insensitive),
            _ => None,
        };
    }
    if let Some(name) = text.strip_prefix("In") {
        return block(name);
    }
    if let Some(name) = text.strip_prefix("Is") {
        return binary(name, insensitive)
            .or_else(|| category_or_posix(name, insensitive))
            .or_else(|| script(name));
    }
    if unicode && let Some(set) = unicode_posix(text, insensitive) {
        return Some(set);
    }
    category_or_posix(text, insensitive)
}

fn script(name: &str) -> Option<CharSet> {
    CharSet::try_unicode(&format!("sc={name}"))
}

/// The binary properties behind `Is`, in any case.
fn binary(name: &str, insensitive: bool) -> Option<CharSet> {
    Some(match name.to_ascii_uppercase().as_str() {
        "ALPHABETIC" => CharSet::unicode("Alphabetic"),
        "LETTER" => CharSet::unicode("gc=L"),
        "IDEOGRAPHIC" => CharSet::unicode("Ideographic"),
        "LOWERCASE" | "UPPERCASE" | "TITLECASE" if insensitive => cased(),
        "LOWERCASE" => CharSet::unicode("Lowercase"),
        "UPPERCASE" => CharSet::unicode("Uppercase"),
        "TITLECASE" => CharSet::unicode("gc=Lt"),
        "WHITE_SPACE" | "WHITESPACE" => CharSet::unicode("White_Space"),
        "CONTROL" => CharSet::unicode("gc=Cc"),
        "PUNCTUATION" => CharSet::unicode("gc=P"),
        "HEX_DIGIT" | "HEXDIGIT" => union(&["gc=Nd", "Hex_Digit"]),
        "ASSIGNED" => CharSet::unicode("gc=Cn").not(),
        "NONCHARACTER_CODE_POINT" | "NONCHARACTERCODEPOINT" => {
            CharSet::unicode("Noncharacter_Code_Point")
        }
        "DIGIT" => CharSet::unicode("gc=Nd"),
        "JOIN_CONTROL" | "JOINCONTROL" => CharSet::unicode("Join_Control"),
        "ALNUM" => union(&["Alphabetic", "gc=Nd"]),
        "BLANK" => blank(),
        "GRAPH" => graph(),
        "PRINT" => graph().or(&blank()).and(&CharSet::unicode("gc=Cc").not()),
        "WORD" => word(true),
        _ => return None,
    })
}

/// The POSIX names with flag `U`.
fn unicode_posix(name: &str, insensitive: bool) -> Option<CharSet> {
    binary(
        match name {
            "Alpha" => "ALPHABETIC",
            "Lower" => "LOWERCASE",
            "Upper" => "UPPERCASE",
            "Space" => "WHITE_SPACE",
            "Punct" => "PUNCTUATION",
            "XDigit" => "HEX_DIGIT",
            "Alnum" => "ALNUM",
            "Cntrl" => "CONTROL",
            "Digit" => "DIGIT",
            "Blank" => "BLANK",
            "Graph" => "GRAPH",
            "Print" => "PRINT",
            _ => return None,
        },
        insensitive,
    )
}

/// General categories, POSIX classes of ASCII and the `java…` methods, which must be written as they
/// are.
fn category_or_posix(name: &str, insensitive: bool) -> Option<CharSet> {
    Some(match name {
        "Lu" | "Ll" | "Lt" if insensitive => cased(),
        "Lower" | "Upper" if insensitive => CharSet::ranges(&[('A', 'Z'), ('a', 'z')]),
        "javaLowerCase" | "javaUpperCase" | "javaTitleCase" if insensitive => cased(),
        "L" | "M" | "N" | "Z" | "P" | "S" | "LC" | "Cn" | "Lu" | "Ll" | "Lt" | "Lm" | "Lo"
        | "Mn" | "Me" | "Mc" | "Nd" | "Nl" | "No" | "Zs" | "Zl" | "Zp" | "Cc" | "Cf" | "Co"
        | "Pd" | "Ps" | "Pe" | "Pc" | "Po" | "Sm" | "Sc" | "Sk" | "So" | "Pi" | "Pf" => {
            CharSet::unicode(&format!("gc={name}"))
        }
        "C" => union(&["gc=Cc", "gc=Cf", "gc=Co", "gc=Cn"]),
        "Cs" => CharSet::empty(),
        "LD" => union(&["gc=L", "gc=Nd"]),
        "L1" => CharSet::range('\0', '\u{ff}'),
        "all" => CharSet::all(),
        "ASCII" => CharSet::range('\0', '\x7f'),
        "Alnum" => CharSet::ranges(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        "Alpha" => CharSet::ranges(&[('A', 'Z'), ('a', 'z')]),
        "Blank" => CharSet::ranges(&[(' ', ' '), ('\t', '\t')]),
        "Cntrl" => CharSet::ranges(&[('\0', '\x1f'), ('\x7f', '\x7f')]),
        "Digit" => digits(false),
        "Graph" => CharSet::range('!', '~'),
        "Lower" => CharSet::range('a', 'z'),
        "Print" => CharSet::range(' ', '~'),
        "Punct" => CharSet::ranges(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        "Space" => space(false),
        "Upper" => CharSet::range('A', 'Z'),
        "XDigit" => CharSet::ranges(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return java_method(name.strip_prefix("java")?),
    })
}

/// The sets of the methods of Java's `Character` that have a property.
fn java_method(name: &str) -> Option<CharSet> {
    Some(match name {
        "LowerCase" => CharSet::unicode("Lowercase"),
        "UpperCase" => CharSet::unicode("Uppercase"),
        "Alphabetic" => CharSet::unicode("Alphabetic"),
        "Ideographic" => CharSet::unicode("Ideographic"),
        "TitleCase" => CharSet::unicode("gc=Lt"),
        "Digit" => CharSet::unicode("gc=Nd"),
        "Defined" => CharSet::unicode("gc=Cn").not(),
        "Letter" => CharSet::unicode("gc=L"),
        "LetterOrDigit" => union(&["gc=L", "gc=Nd"]),
        "JavaIdentifierStart" => union(&["gc=L", "gc=Nl", "gc=Sc", "gc=Pc"]),
        "JavaIdentifierPart" => {
            union(&["gc=L", "gc=Nl", "gc=Sc", "gc=Pc", "gc=Nd", "gc=Mc", "gc=Mn"]).or(&ignorable())
        }
        "UnicodeIdentifierStart" => CharSet::unicode("ID_Start"),
        "UnicodeIdentifierPart" => CharSet::unicode("ID_Continue").or(&ignorable()),
        "IdentifierIgnorable" => ignorable(),
        "SpaceChar" => CharSet::unicode("gc=Z"),
        "Whitespace" => CharSet::unicode("gc=Z")
            .and(
                &CharSet::ranges(&[
                    ('\u{a0}', '\u{a0}'),
                    ('\u{2007}', '\u{2007}'),
                    ('\u{202f}', '\u{202f}'),
                ])
                .not(),
            )
            .or(&CharSet::ranges(&[('\t', '\r'), ('\x1c', '\x1f')])),
        "ISOControl" => CharSet::unicode("gc=Cc"),
        "Mirrored" => CharSet::try_unicode("Bidi_Mirrored")?,
        _ => return None,
    })
}

fn cased() -> CharSet {
    union(&["gc=Lu", "gc=Ll", "gc=Lt"])
}

fn blank() -> CharSet {
    CharSet::unicode("gc=Zs").or(&CharSet::one('\t'))
}

fn graph() -> CharSet {
    union(&["White_Space", "gc=Cc", "gc=Cn"]).not()
}

fn ignorable() -> CharSet {
    let controls = [('\0', '\x08'), ('\x0e', '\x1b'), ('\x7f', '\u{9f}')];
    CharSet::ranges(&controls).or(&CharSet::unicode("gc=Cf"))
}

fn union(properties: &[&str]) -> CharSet {
    properties.iter().fold(CharSet::empty(), |set, name| set.or(&CharSet::unicode(name)))
}

#[cfg(test)]
mod tests {
    use super::property;

    #[test]
    fn names_are_java_s() {
        for (name, c, unicode, insensitive, wanted) in [
            ("L", 'a', false, false, Some(true)),
            ("Lower", 'é', false, false, Some(false)),
            ("Lower", 'é', true, false, Some(true)),
            ("IsLowercase", 'é', false, false, Some(true)),
            ("javaLowerCase", 'é', false, false, Some(true)),
            ("alpha", 'a', false, false, None),
            ("Alphabetic", 'a', false, false, None),
            ("IsLATIN", 'a', false, false, Some(true)),
            ("IsHani", '中', false, false, Some(true)),
            ("sc=latn", 'a', false, false, Some(true)),
            ("Latin", 'a', false, false, None),
            ("blk=Basic Latin", 'a', false, false, Some(true)),
            ("InGREEK", 'α', false, false, Some(true)),
            ("gc=Lo", '中', false, false, Some(true)),
            ("IsL", 'a', false, false, Some(true)),
            ("Is_L", 'a', false, false, None),
            ("L1", 'é', false, false, Some(true)),
            ("LD", '1', false, false, Some(true)),
            ("Lu", 'a', false, true, Some(true)),
            ("Upper", 'a', false, true, Some(true)),
            ("IsUppercase", 'a', false, true, Some(true)),
            ("Punct", '$', true, false, Some(false)),
            ("IsXDigit", '1', false, false, Some(true)),
            ("IsEmoji", 'a', false, false, None),
            ("javaFoo", 'a', false, false, None),
            ("", 'a', false, false, None),
        ] {
            let set = property(name, unicode, insensitive);
            assert_eq!(set.map(|set| set.contains(c)), wanted, "{name}");
        }
    }
}
