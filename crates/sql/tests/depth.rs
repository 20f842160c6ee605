//! However deeply a text is nested, it gives a tree or an error, and the stack holds.

use flott_sql::{ParseErrorKind, parse_statement, parse_type};

/// Texts nested `depth` times, one for each way of nesting.
fn nested(depth: usize) -> Vec<String> {
    let around = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
    };
    let select = |expr: String| format!("SELECT {expr}");
    vec![
        select(around("(", "a", ")")),
        select(around("(", "SELECT 1", ")")),
        select(around("((SELECT ", "1", ") + 1)")),
        select(around("(a + ", "b", ")")),
        select(around("NOT ", "a", "")),
        select(around("- ", "a", "")),
        select(around("f(", "a", ")")),
        select(around("CASE WHEN ", "a", " THEN 1 END")),
        select(around("CAST(", "a", " AS INT)")),
        select(around("a[", "1", "]")),
        select(around("ARRAY[", "1", "]")),
        select(around("EXISTS (SELECT ", "1", ")")),
        select(around("a IN (SELECT ", "1", ")")),
        select(around("a BETWEEN b AND (", "c", ")")),
        select(around("a LIKE ", "b", "")),
        around("(", "SELECT 1", ")"),
        around("SELECT * FROM (", "SELECT 1", ")"),
        format!("SELECT * FROM {}", around("(", "a JOIN b ON c", " JOIN d ON e)")),
        around("WITH a AS (", "SELECT 1", ") SELECT 1"),
        format!("SELECT 1 FROM t GROUP BY {}", around("GROUPING SETS (", "a", ")")),
        format!(
            "SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({}) DEFINE A AS b)",
            around("(", "A", ")")
        ),
        format!("CREATE TABLE t (a {})", around("ARRAY<", "INT", ">")),
    ]
}

/// Texts with `length` operators in a row, one for each kind of chain.
fn chained(length: usize) -> Vec<String> {
    let behind = |first: &str, next: &str| format!("{first}{}", next.repeat(length));
    vec![
        behind("SELECT a", " + a"),
        behind("SELECT a", " || a"),
        behind("SELECT a", " IN (1)"),
        behind("SELECT f(a)", ".b"),
        behind("SELECT a", "[1]"),
        behind("SELECT 1", " UNION ALL SELECT 1"),
        behind("SELECT 1 FROM t", ", t"),
        behind("SELECT 1 FROM t", " JOIN t ON a"),
    ]
}

/// Texts with `length` operators in a row that are printed nested.
fn wrapped(length: usize) -> Vec<String> {
    let behind = |first: &str, next: &str| format!("{first}{}", next.repeat(length));
    vec![
        behind("SELECT a", " IS NULL"),
        behind("SELECT a", " IS NULL + a"),
        behind("SELECT CAST(a AS INT", " ARRAY") + ")",
        behind("CREATE TABLE t (a INT", " NOT NULL ARRAY") + ")",
    ]
}

#[test]
fn a_reasonable_depth_parses() {
    for text in nested(25) {
        let parsed = parse_statement(&text).expect(&text);
        let printed = parsed.to_string();
        assert_eq!(parse_statement(&printed).expect(&printed), parsed);
    }
}

#[test]
fn too_deep_is_an_error() {
    for text in nested(10_000) {
        let error = parse_statement(&text).expect_err(&text[..60]);
        assert_eq!(error.kind, ParseErrorKind::TooDeep, "{}", &text[..60]);
    }
    let error = parse_type(&"ROW<a ".repeat(10_000)).expect_err("too deep");
    assert_eq!(error.kind, ParseErrorKind::TooDeep);
}

#[test]
fn the_deepest_tree_can_be_walked() {
    for depth in 0..150 {
        for text in nested(depth) {
            if let Ok(parsed) = parse_statement(&text) {
                assert!(!parsed.clone().to_string().is_empty());
            }
        }
    }
    for text in chained(490).into_iter().chain(wrapped(60)) {
        let parsed = parse_statement(&text).expect(&text[..60]);
        assert_eq!(parsed.clone(), parsed);
        assert!(parse_statement(&parsed.to_string()).is_ok());
    }
}

#[test]
fn too_long_chains_are_errors() {
    for text in chained(510).into_iter().chain(wrapped(510)) {
        let error = parse_statement(&text).expect_err(&text[..60]);
        assert_eq!(error.kind, ParseErrorKind::TooDeep, "{}", &text[..60]);
    }
}

#[test]
fn lists_and_conditions_may_be_long() {
    let conditions = vec!["a = 1"; 20_000];
    for text in [
        format!("SELECT 1 FROM t WHERE {}", conditions.join(" OR ")),
        format!("SELECT 1 FROM t WHERE a IN ({})", vec!["1"; 20_000].join(", ")),
        format!("VALUES {}", vec!["(1, 2)"; 20_000].join(", ")),
        format!("SELECT {}", vec!["a"; 20_000].join(", ")),
    ] {
        let parsed = parse_statement(&text).expect("a long statement");
        assert!(parsed.to_string().len() > 20_000);
    }
}

#[test]
fn nested_chains_count_together() {
    let mut chain = "a".to_owned();
    for _ in 0..60 {
        chain = format!("({chain}{})", " + a".repeat(60));
    }
    let error = parse_statement(&format!("SELECT {chain}")).expect_err("too high a tree");
    assert_eq!(error.kind, ParseErrorKind::TooDeep);
}

#[test]
fn chains_side_by_side_do_not() {
    let sum = vec!["a"; 400].join(" + ");
    let joins = format!("SELECT {sum} FROM t{}", " JOIN t ON a".repeat(400));
    for text in [
        format!("SELECT {sum}, {sum} FROM t WHERE {sum} AND {sum}"),
        format!("{joins} UNION ALL {joins}"),
    ] {
        assert!(parse_statement(&text).is_ok());
    }
}
