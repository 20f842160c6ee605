//! What is said of wrong statements, where, and what is advised.

use flott_sql::parse_statement;

/// A statement, the first line of the error without what all begin with, and the hint.
const CASES: &[(&str, &str, Option<&str>)] = &[
    (
        "SELEC 1",
        "Non-query expression encountered in illegal context at line 1, column 1.",
        Some("did you mean SELECT?"),
    ),
    (
        "SELECT FROM orders",
        "Incorrect syntax near the keyword 'FROM' at line 1, column 8.",
        Some("FROM is a reserved word; as a name it must be quoted: `FROM`"),
    ),
    ("SELECT 1 FROM", "Encountered \"<EOF>\" at line 1, column 13.", None),
    ("SELECT (1", "Encountered \"<EOF>\" at line 1, column 9.", None),
    ("CREATE TABLE (a INT)", "Encountered \"(\" at line 1, column 14.", None),
    ("INSERT sink SELECT 1", "Encountered \"sink\" at line 1, column 8.", None),
    ("CREATE INDEX i ON t (a)", "Encountered \"INDEX\" at line 1, column 8.", None),
    ("SELECT TOP 3 * FROM t", "Encountered \"3\" at line 1, column 12.", None),
    (
        "SELECT a, value FROM t",
        "Incorrect syntax near the keyword 'value' at line 1, column 11.",
        Some("value is a reserved word; as a name it must be quoted: `value`"),
    ),
    (
        "SELECT a\nFROM t\nWHERE a != 1",
        "Bang equal '!=' is not allowed under the current SQL conformance level at line 3, column 9.",
        Some("write <>"),
    ),
    (
        "SELECT 1 MINUS SELECT 2",
        "MINUS is not allowed under the current SQL conformance level at line 1, column 10.",
        Some("write EXCEPT"),
    ),
    (
        "SELECT \"a\" FROM t",
        "Encountered \"\"\" at line 1, column 8.",
        Some("quote names with `back-quotes` and strings with 'single quotes'"),
    ),
    (
        "SELECT 'a FROM t",
        "Lexical error: encountered <EOF>, the quote opened here is not closed at line 1, column 8.",
        None,
    ),
    ("SELECT a & b", "Lexical error: encountered '&' at line 1, column 10.", None),
    (
        "SELECT a FROM t LIMIT 2, 3",
        "'LIMIT start, count' is not allowed under the current SQL conformance level at line 1, \
         column 24.",
        Some("write LIMIT count OFFSET start"),
    ),
    (
        "SELECT a 'b'",
        "Expecting alias, found character literal at line 1, column 10.",
        Some("quote the alias with `back-quotes`"),
    ),
    ("SELECT CAST(5 AS)", "Encountered \")\" at line 1, column 17.", None),
    (
        "SELECT EXTRACT(FORTNIGHT FROM a)",
        "'FORTNIGHT' is not a valid time frame at line 1, column 16.",
        Some("write the unit in the singular: SECOND, MINUTE, HOUR, DAY …"),
    ),
    (
        "CREATE TABLE t (a INT, WATERMARK FOR b AS b, WATERMARK FOR c AS c)",
        "Multiple WATERMARK declarations are not supported yet at line 1, column 46.",
        None,
    ),
    (
        "CREATE TABLE t (a, b)",
        "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only \
         at line 1, column 16.",
        Some("give each column a type, or a query with AS"),
    ),
    (
        "CREATE TABEL t (a INT)",
        "Encountered \"TABEL\" at line 1, column 8.",
        Some("did you mean TABLE?"),
    ),
    (
        "EXPLAIN CHANGELOG_MODE, CHANGELOG_MODE SELECT 1",
        "Duplicate EXPLAIN DETAIL is not allowed at line 1, column 40.",
        None,
    ),
];

#[test]
fn messages_places_and_hints() {
    for &(sql, message, hint) in CASES {
        let error = parse_statement(sql).expect_err(sql);
        let text = error.to_string();
        assert_eq!(
            text.lines().next(),
            Some(format!("SQL parse failed. {message}").as_str()),
            "{sql}"
        );
        assert_eq!(error.hint.as_deref(), hint, "{sql}");
    }
}

#[test]
fn what_was_expected_is_listed() {
    let error = parse_statement("DROP TABLE t x").expect_err("no statement");
    assert_eq!(
        error.to_string(),
        "SQL parse failed. Encountered \"x\" at line 1, column 14.
Was expecting one of:
    \".\" ...
    \";\" ...
    <EOF> ..."
    );
    let error = parse_statement("USE CATALOG a.b").expect_err("no statement");
    assert_eq!(error.expected, ["\";\"", "<EOF>"]);
}
