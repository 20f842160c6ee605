//! No text makes the parser panic, and what parses prints and parses again.

use flott_sql::{parse_expression, parse_query, parse_statement, parse_type, split_script};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Words and signs that statements are made of.
const PIECES: [&str; 96] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "AS",
    "JOIN",
    "LEFT",
    "ON",
    "USING",
    "LATERAL",
    "TABLE",
    "UNNEST",
    "VALUES",
    "UNION",
    "ALL",
    "WITH",
    "IN",
    "IS",
    "NOT",
    "NULL",
    "AND",
    "OR",
    "BETWEEN",
    "LIKE",
    "ESCAPE",
    "EXISTS",
    "ANY",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "INTERVAL",
    "DAY",
    "TO",
    "SECOND",
    "DATE",
    "ROW",
    "ARRAY",
    "MAP",
    "MULTISET",
    "OVER",
    "PARTITION",
    "ROWS",
    "UNBOUNDED",
    "PRECEDING",
    "FILTER",
    "DISTINCT",
    "TRIM",
    "EXTRACT",
    "YEAR",
    "SUBSTRING",
    "JSON_OBJECT",
    "JSON_VALUE",
    "KEY",
    "VALUE",
    "CREATE",
    "INSERT",
    "INTO",
    "SET",
    "SHOW",
    "INT",
    "STRING",
    "DECIMAL",
    "TUMBLE",
    "DESCRIPTOR",
    "COUNT",
    "a",
    "b",
    "t",
    "`q r`",
    "'text'",
    "u&'\\00fc'",
    "x'0a'",
    "1",
    "2.5",
    "1e3",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ".",
    "=",
    "*",
    "-",
    "||",
];

fn accepted() -> Vec<&'static str> {
    include_str!("grammar/accepted.sql").lines().collect()
}

/// Checks all that holds for any text.
fn check(text: &str) -> Result<(), TestCaseError> {
    match parse_statement(text) {
        Ok(statement) => {
            prop_assert!(text.get(statement.span.start..statement.span.end).is_some());
            let printed = statement.to_string();
            match parse_statement(&printed) {
                Ok(again) => prop_assert_eq!(again, statement, "printed as {}", printed),
                Err(error) => prop_assert!(false, "{}\n{}", printed, error),
            }
        }
        Err(error) => {
            prop_assert!(text.get(error.span.start..error.span.end).is_some());
            prop_assert!(error.to_string().starts_with("SQL parse failed. "));
        }
    }
    let _ = (parse_expression(text), parse_query(text), parse_type(text));
    let mut end = 0;
    for (at, statement) in split_script(text).iter().enumerate() {
        prop_assert_eq!(statement.number, at + 1);
        prop_assert_eq!(statement.span.text(text), statement.text);
        prop_assert!(statement.span.start >= end && !statement.text.is_empty());
        end = statement.span.end;
        let _ = statement.parse();
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_signs(text in r#"[-a-zA-Z0-9'"`()\[\]{}<>=!|*/+%.,;:?#&_$^\\ \n]{0,60}"#) {
        check(&text)?;
    }

    #[test]
    fn words_in_any_order(pieces in prop::collection::vec(select(&PIECES[..]), 0..40)) {
        check(&pieces.join(" "))?;
        check(&format!("SELECT {}", pieces.join(" ")))?;
    }

    #[test]
    fn changed_statements(
        lines in prop::collection::vec(select(accepted()), 2),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), 0..5), 1..4),
    ) {
        let mut words: Vec<&str> = lines[0].split(' ').collect();
        let others: Vec<&str> = lines[1].split(' ').collect();
        for (place, other, change) in changes {
            if words.is_empty() {
                break;
            }
            let at = place.index(words.len());
            let second = other.index(words.len());
            match change {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[second]),
                2 => words.swap(at, second),
                3 => words[at] = PIECES[other.index(PIECES.len())],
                _ => {
                    words.truncate(at);
                    words.extend(&others[other.index(others.len())..]);
                }
            }
        }
        check(&words.join(" "))?;
    }

    #[test]
    fn cut_statements(line in select(accepted()), cut in any::<Index>()) {
        let mut at = cut.index(line.len() + 1);
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        check(&line[..at])?;
        check(&line[at..])?;
    }
}
