//! What Java 17 answers to `find`, pattern by pattern.

use super::super::Regexp;
use super::{PatternError, translate};

/// Whether a pattern is found in a text; `None` for what Java refuses.
fn find(pattern: &str, text: &str) -> Option<bool> {
    match Regexp::new(pattern) {
        Ok(regexp) => Some(regexp.is_match(text).expect("no limit hit")),
        Err(PatternError::Invalid(_)) => None,
        Err(error) => panic!("{pattern}: {error}"),
    }
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

fn check(cases: &[(&str, &str, Option<bool>)]) {
    for (pattern, text, wanted) in cases {
        assert_eq!(find(pattern, text), *wanted, "{pattern:?} in {text:?}");
    }
}

#[test]
fn lines_end_with_java_s_terminators() {
    check(&[
        ("a$", "a\r\n", YES),
        ("a$", "a\u{2029}", YES),
        ("a$", "a\n\n", NO),
        ("a$", "a\nb", NO),
        (r"a\Z", "a\n", YES),
        (r"a\z", "a\n", NO),
        ("(?m)a$", "a\nb", YES),
        ("(?m)^b", "a\rb", YES),
        ("(?md)^b", "a\rb", NO),
        ("(?m)^b", "a\u{85}b", YES),
        ("a.b", "a\nb", NO),
        ("(?s)a.b", "a\nb", YES),
        ("(?d)a.b", "a\rb", YES),
        ("a.b", "a\u{2028}b", NO),
        ("(?m)^", "", NO),
        (r"^\R$", "\r\n", YES),
    ]);
}

#[test]
fn classes_unite_intersect_and_negate() {
    check(&[
        ("[a-z&&[^m-p]]", "m", NO),
        ("[a-z&&[^m-p]]", "b", YES),
        ("[a-z&&b]", "b", YES),
        ("[a-d[m-p]]", "m", YES),
        ("[^a-d[m-p]]", "m", NO),
        ("[^a-d&&b]", "z", YES),
        ("[^a-d&&b]", "b", NO),
        ("[&&a]", "&", NO),
        ("[a&]", "&", YES),
        ("[a-]", "-", YES),
        ("[]a]", "]", YES),
        ("[a]]", "a]", YES),
        ("[a&&]", "b", NO),
        ("[[]", "[", None),
        (r"[\^]", "^", YES),
        (r"[a-\d]", "a", None),
        ("[z-a]", "a", None),
        ("[]", "a", None),
        ("[^]", "a", None),
        ("[a-ce-g&&]", "a", NO),
        ("[a-ce-g&&]", "f", YES),
        ("[a-z&&[b]&&[c]]", "b", NO),
        ("[a-z&&[b][c]]", "b", YES),
        ("[a-z&&b&&c]", "c", NO),
        ("[a-z&&&]", "&", YES),
        ("[&&&&a]", "&", None),
        ("[a-z&&&&a]", "a", YES),
        ("[a-z&&^b]", "a", NO),
        ("[a-z^&&^b]", "^", YES),
        ("[a-[b]]", "-", YES),
        ("[a-c-e]", "d", NO),
        ("[a-c-e]", "-", YES),
        (r"[\w-z]", "-", YES),
        ("[[:alpha:]]", ":", YES),
        (r"[\Q]\E]", "]", YES),
        (r"[a\Q-\Ez]", "b", NO),
        (r"[\b]", "a", None),
        (r"[\H]", "a", YES),
        ("[$]", "$", YES),
    ]);
}

#[test]
fn quantifiers_and_groups_are_checked() {
    check(&[
        ("a++b", "aab", YES),
        ("a++ab", "aab", NO),
        ("(?>a+)ab", "aab", NO),
        ("a{", "a", None),
        ("a{,3}", "a", None),
        ("a{1", "a", None),
        ("a{2,1}", "a", None),
        ("a}", "a}", YES),
        ("{1}", "a", YES),
        ("*a", "a", None),
        ("a**", "a", None),
        ("a*?", "a", YES),
        ("a???", "a", None),
        ("a{1}{2}", "a", YES),
        ("^*a", "a", YES),
        (r"\b*a", "a", YES),
        ("(?=a)*a", "a", YES),
        ("|a", "a", YES),
        ("()", "a", YES),
        (")", "a", None),
        ("(?:a", "a", None),
        ("(?<1a>a)", "a", None),
        ("(?<a>a)(?<a>b)", "a", None),
        ("(?P<n>a)", "a", None),
        ("(?<=fo{1,2})bar", "foobar", YES),
        ("(?<=fo+)bar", "foobar", YES),
        ("(?<!foo)bar", "foobar", NO),
        (r"(ab)\1", "abab", YES),
        (r"(?<x>ab)\k<x>", "abab", YES),
        (r"\1(ab)", "abab", NO),
        (r"\2(a)", "a", NO),
        (r"\k<x>", "a", None),
        (r"(a)\11", "a11", NO),
        (r"(a)\11", "aa1", YES),
        (r"(?i)(a)\1", "aA", YES),
        ("a{2147483648}", "a", None),
        ("(?:a?){100}b", "abc", YES),
        (r"\A\Ga\z", "a", YES),
    ]);
}

#[test]
fn flags_hold_to_the_end_of_their_group() {
    check(&[
        ("(?i)H", "hello", YES),
        ("(?i:a)b", "AB", NO),
        ("a(?i)b", "aB", YES),
        ("(a(?i)b)c", "abC", NO),
        ("a((?i)b|x)C", "aBC", YES),
        ("(?:(?i)a|x)bC", "XbC", YES),
        ("(?i)a(b(?-i)c)", "ABC", NO),
        ("(?i)é", "É", NO),
        ("(?iu)é", "É", YES),
        ("(?i)[J-L]", "k", YES),
        ("(?i)[^A]", "a", NO),
        (r"(?i)\p{Lu}", "a", YES),
        (r"(?i)\P{Lu}", "a", NO),
        ("(?iu)s", "ſ", YES),
        ("(?iu)i", "İ", YES),
        ("(?x) a b # comment", "ab", YES),
        (r"(?x)a\ b", "a b", YES),
        ("(?x)a[ ]b", "a b", None),
        ("(?x)a #c\nb", "ab", YES),
        (r"(?x)a\Q \Eb", "a b", YES),
        ("(?z)a", "a", None),
        ("(?i--)a", "a", None),
        ("(?-)a", "a", YES),
        ("a(?#c)b", "ab", None),
    ]);
}

#[test]
fn escapes_are_java_s() {
    check(&[
        (r"^\Qa.b\E$", "a.b", YES),
        (r"\Qa.b", "a.b", YES),
        (r"a\Q+\E+$", "a++", YES),
        (r"\Q\\E", r"\", YES),
        (r"\E", "a", None),
        (r"\w", "é", NO),
        (r"(?U)\w", "é", YES),
        (r"\b", "é", YES),
        (r"\d", "٣", NO),
        (r"(?U)\d", "٣", YES),
        (r"\pL", "a", YES),
        (r"\pLu", "a", NO),
        (r"\p{Foo}", "a", None),
        (r"\p", "a", None),
        (r"\p{L", "a", None),
        (r"[\p{L}&&[^a]]", "a", NO),
        (r"^\p{IsHan}+$", "中文", YES),
        ("^.$", "😀", YES),
        (r"\uD83D\uDE00", "😀", YES),
        (r"[\uD83D\uDE00]", "😀", YES),
        (r"\uD83D", "😀", NO),
        (r"\x{1F600}", "😀", YES),
        (r"\x41", "A", YES),
        (r"\x4", "A", None),
        (r"\x{110000}", "A", None),
        (r"\0101", "A", YES),
        (r"\0410", "!0", YES),
        (r"\08", "A", None),
        (r"\u004", "A", None),
        (r"\cA", "\x01", YES),
        (r"\v", "\n", YES),
        (r"\h", "\u{a0}", YES),
        (r"\s", "\u{b}", YES),
        (r"^\X$", "e\u{301}", YES),
        (r"\y", "a", None),
        (r"\N", "a", None),
        (r"\_", "_", YES),
        (r"\é", "é", YES),
        ("\\", "a", None),
        (r"[\]", "a", None),
    ]);
}

#[test]
fn what_we_lack_is_said() {
    for pattern in [r"\N{DIGIT ONE}", r"\b{g}", "(?c)a"] {
        assert!(
            matches!(translate(pattern, false), Err(PatternError::Unsupported(_))),
            "{pattern}"
        );
    }
    let deep = "(".repeat(10_000);
    assert!(matches!(translate(&deep, false), Err(PatternError::Unsupported(_))));
}

#[test]
fn simple_patterns_need_no_backtracking() {
    for (pattern, backtracks) in [
        (r"^\d+-(\w+)$", false),
        ("(?i)[a-z&&[^x]]{2,}?", false),
        (r"(a)\1", true),
        ("(?m)^a", true),
        ("a*+", true),
    ] {
        let translation = translate(pattern, false).expect(pattern);
        assert_eq!(translation.backtracks, backtracks, "{pattern}");
    }
}
