//! One line a statement, as Flink 2.3's own parser takes or refuses it.

use flott_sql::parse_statement;

#[test]
fn accepted() {
    let refused: Vec<String> = include_str!("grammar/accepted.sql")
        .lines()
        .filter_map(|line| parse_statement(line).err().map(|error| format!("{line}\n{error}")))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn refused() {
    let accepted: Vec<&str> = include_str!("grammar/refused.sql")
        .lines()
        .filter(|line| parse_statement(line).is_ok())
        .collect();
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}
