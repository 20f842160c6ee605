//! Every node knows which text it came from.

use flott_sql::ast::{ExprKind, QueryBodyKind, Select, Span, StatementKind, TableRefKind};
use flott_sql::{parse_expression, parse_statement, parse_statement_at, parse_type};

const SQL: &str = "SELECT a  +  b AS c, t.* FROM x.t /*+ OPTIONS('k'='v') */ AS y (d) \
                   LEFT JOIN (SELECT 1) z ON ( e = 1 ) WHERE f IN (1, 2) ORDER BY g DESC ;";

fn select(sql: &str) -> Select {
    match parse_statement(sql).expect(sql).kind {
        StatementKind::Query(query) => match query.body.kind {
            QueryBodyKind::Select(select) => *select,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_of_a_query() {
    let select = select(SQL);
    assert_eq!(select.items[0].span.text(SQL), "a  +  b AS c");
    assert_eq!(select.items[0].expr.span.text(SQL), "a  +  b");
    assert_eq!(select.items[1].expr.span.text(SQL), "t.*");
    let condition = select.where_clause.expect("a condition");
    assert_eq!(condition.span.text(SQL), "f IN (1, 2)");
    let TableRefKind::Join(join) = select.from.expect("tables").kind else { panic!("no join") };
    assert_eq!(join.left.span.text(SQL), "x.t /*+ OPTIONS('k'='v') */ AS y (d)");
    assert_eq!(join.right.span.text(SQL), "(SELECT 1) z");
    let TableRefKind::Table { name, hints } = join.left.kind else { panic!("no table") };
    assert_eq!(name.span.text(SQL), "x.t");
    assert_eq!(name.parts[1].span.text(SQL), "t");
    assert_eq!(hints[0].span.text(SQL), "OPTIONS('k'='v')");
}

#[test]
fn statements_end_before_the_semicolon() {
    let statement = parse_statement(SQL).expect(SQL);
    assert_eq!(statement.span.text(SQL), SQL.trim_end_matches([' ', ';']));
    let shifted = parse_statement_at(SQL, 100).expect(SQL);
    assert!(shifted.span.is_same_place(Span::new(100, 98 + SQL.len())));
    assert_eq!(shifted, statement, "places do not count in comparisons");
}

#[test]
fn parentheses_belong_to_the_expression() {
    let sql = "( a ) * -(b . c)";
    let ExprKind::Binary { left, right, .. } = parse_expression(sql).expect(sql).kind else {
        panic!("no product")
    };
    assert_eq!(left.span.text(sql), "( a )");
    assert_eq!(right.span.text(sql), "-(b . c)");
}

#[test]
fn types() {
    let sql = " ROW < a INT  NOT NULL > ARRAY ";
    assert_eq!(parse_type(sql).expect(sql).span.text(sql), sql.trim());
}
