//! Functions on strings against their definitions, written as naively as can be.

use flott_functions::Expr;
use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;

use crate::{call, value, value_of_columns};

fn text(text: &str) -> Expr {
    Expr::literal(Value::string(text), DataType::string().not_null())
}

fn int(number: i64) -> Expr {
    Expr::literal(Value::Int(number), TypeRoot::Int.not_null())
}

/// What a call gives over constants, and the same over columns.
fn of(name: &str, args: Vec<Expr>) -> String {
    let expr = call(name, args);
    let constant = value(expr.clone()).unwrap();
    assert_eq!(value_of_columns(expr).unwrap(), constant, "{name} over columns");
    constant
}

fn with_symbol(name: &str, args: Vec<Expr>, symbol: &str) -> String {
    let function = flott_functions::scalar_function(name).unwrap();
    value(Expr::call(function, args, vec![symbol.into()], None).unwrap()).unwrap()
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn string(chars: &[char]) -> String {
    chars.iter().collect()
}

/// The place of the first occurrence at or after a character, all counted from 0.
fn find(needle: &[char], hay: &[char], from: usize) -> Option<usize> {
    (from..=hay.len()).find(|start| hay[*start..].starts_with(needle))
}

/// Short texts over few characters, so that they have something in common.
fn word() -> impl Strategy<Value = String> {
    "[ab,.é😀 ]{0,8}"
}

/// Texts without characters beyond 16 bits, which Flink counts twice in some functions.
fn plain() -> impl Strategy<Value = String> {
    "[abé, ]{0,8}"
}

proptest! {
    #[test]
    fn parts(s in word(), start in -10i64..10, length in -2i64..10) {
        let all = chars(&s);
        let count = all.len() as i64;
        let first = if start > 0 { start - 1 } else if start == 0 { 0 } else { count + start };
        let part = |length: i64| match first {
            ..0 => String::new(),
            first => all.iter().skip(first as usize).take(length as usize).collect(),
        };
        let wanted = if length < 0 { "NULL".to_string() } else { part(length) };
        prop_assert_eq!(of("SUBSTRING", vec![text(&s), int(start), int(length)]), wanted);
        prop_assert_eq!(of("SUBSTRING", vec![text(&s), int(start)]), part(i64::MAX));
        let n = length.clamp(0, count) as usize;
        prop_assert_eq!(of("LEFT", vec![text(&s), int(length)]), string(&all[..n]));
        prop_assert_eq!(of("RIGHT", vec![text(&s), int(length)]), string(&all[all.len() - n..]));
        let backwards: String = s.chars().rev().collect();
        prop_assert_eq!(of("REVERSE", vec![text(&s)]), backwards);
        prop_assert_eq!(of("CHAR_LENGTH", vec![text(&s)]), count.to_string());
        prop_assert_eq!(of("REPEAT", vec![text(&s), int(length)]), s.repeat(length.max(0) as usize));
    }

    #[test]
    fn places(needle in "[ab]{0,3}", hay in "[abé😀]{0,10}", from in 1i64..6) {
        let (n, h) = (chars(&needle), chars(&hay));
        let place = find(&n, &h, 0).map_or(0, |place| place + 1).to_string();
        prop_assert_eq!(of("POSITION", vec![text(&needle), text(&hay)]), place.clone());
        prop_assert_eq!(of("INSTR", vec![text(&hay), text(&needle)]), place.clone());
        prop_assert_eq!(of("LOCATE", vec![text(&needle), text(&hay)]), place);
        if !needle.is_empty() {
            let place = find(&n, &h, from as usize - 1).map_or(0, |place| place + 1).to_string();
            prop_assert_eq!(of("LOCATE", vec![text(&needle), text(&hay), int(from)]), place);
        }
        let truth = |holds: bool| if holds { "TRUE" } else { "FALSE" };
        let starts = of("STARTSWITH", vec![text(&hay), text(&needle)]);
        prop_assert_eq!(starts, truth(hay.starts_with(&needle)));
        let ends = of("ENDSWITH", vec![text(&hay), text(&needle)]);
        prop_assert_eq!(ends, truth(hay.ends_with(&needle)));
    }

    #[test]
    fn ends(s in plain(), set in "[ab ]{1,3}") {
        let is_in = |c: char| set.contains(c);
        prop_assert_eq!(of("BTRIM", vec![text(&s), text(&set)]), s.trim_matches(is_in));
        prop_assert_eq!(of("LTRIM", vec![text(&s), text(&set)]), s.trim_start_matches(is_in));
        prop_assert_eq!(of("RTRIM", vec![text(&s), text(&set)]), s.trim_end_matches(is_in));
        let trim = |side| with_symbol("TRIM", vec![text(&set), text(&s)], side);
        prop_assert_eq!(trim("BOTH"), s.trim_matches(is_in));
        prop_assert_eq!(trim("LEADING"), s.trim_start_matches(is_in));
        prop_assert_eq!(trim("TRAILING"), s.trim_end_matches(is_in));
    }

    #[test]
    fn padding(s in plain(), length in -2i64..12, pad in "[xy]{0,3}") {
        let (all, filling) = (chars(&s), chars(&pad));
        let wanted = |left: bool| {
            if length < 0 || pad.is_empty() {
                return "NULL".to_string();
            }
            let length = length as usize;
            if all.len() >= length {
                return string(&all[..length]);
            }
            let fill: String = filling.iter().cycle().take(length - all.len()).collect();
            if left { format!("{fill}{s}") } else { format!("{s}{fill}") }
        };
        prop_assert_eq!(of("LPAD", vec![text(&s), int(length), text(&pad)]), wanted(true));
        prop_assert_eq!(of("RPAD", vec![text(&s), int(length), text(&pad)]), wanted(false));
    }

    #[test]
    fn replacing(s in word(), search in "[ab]{1,2}", by in "[xyz]{0,3}", from in "[abé]{0,3}") {
        let replaced = of("REPLACE", vec![text(&s), text(&search), text(&by)]);
        prop_assert_eq!(replaced, s.replace(&search, &by));
        let (froms, bys) = (chars(&from), chars(&by));
        let translated: String = s
            .chars()
            .filter_map(|c| match froms.iter().position(|from| *from == c) {
                Some(place) => bys.get(place).copied(),
                None => Some(c),
            })
            .collect();
        prop_assert_eq!(of("TRANSLATE", vec![text(&s), text(&from), text(&by)]), translated);
    }

    #[test]
    fn splitting(s in word(), separator in "[,.]|ab", index in -1i64..5) {
        let parts: Vec<&str> = s.split(separator.as_str()).collect();
        let part = usize::try_from(index).ok().and_then(|index| parts.get(index));
        // An empty text has no parts.
        let wanted = if s.is_empty() { "NULL" } else { part.copied().unwrap_or("NULL") };
        prop_assert_eq!(of("SPLIT_INDEX", vec![text(&s), text(&separator), int(index)]), wanted);
        let joined = of("ARRAY_JOIN", vec![call("SPLIT", vec![text(&s), text(&separator)]), text(&separator)]);
        prop_assert_eq!(joined, s);
    }

    #[test]
    fn joining(a in word(), b in prop::option::of(word()), separator in word()) {
        let second = match &b {
            Some(b) => text(b),
            None => Expr::null(DataType::string()),
        };
        let joined = of("CONCAT_WS", vec![text(&separator), text(&a), second.clone()]);
        match &b {
            Some(b) => {
                prop_assert_eq!(joined, format!("{a}{separator}{b}"));
                prop_assert_eq!(of("||", vec![text(&a), second]), format!("{a}{b}"));
            }
            None => {
                prop_assert_eq!(joined, a.clone());
                prop_assert_eq!(of("||", vec![text(&a), second]), "NULL");
            }
        }
    }

    #[test]
    fn likeness(s in "[ab%_]{0,6}", pattern in "[ab%_]{0,6}") {
        let wanted = if like(&chars(&s), &chars(&pattern)) { "TRUE" } else { "FALSE" };
        prop_assert_eq!(of("LIKE", vec![text(&s), text(&pattern)]), wanted);
    }

    #[test]
    fn codes_come_back(s in "\\PC{0,12}") {
        let back = |to: &str, from: &str| {
            let decoded = call(from, vec![call(to, vec![text(&s)])]);
            value(decoded).unwrap()
        };
        prop_assert_eq!(back("TO_BASE64", "FROM_BASE64"), s.clone());
        prop_assert_eq!(back("URL_ENCODE", "URL_DECODE"), s.clone());
        prop_assert_eq!(back("HEX", "UNHEX"), s.clone());
        prop_assert_eq!(back("JSON_QUOTE", "JSON_UNQUOTE"), s);
    }
}

/// LIKE by its definition.
fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|skip| like(&text[skip..], rest)),
        ['_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        [c, rest @ ..] => text.first() == Some(c) && like(&text[1..], rest),
    }
}
