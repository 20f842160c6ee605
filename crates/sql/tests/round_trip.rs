//! What is printed parses to the tree that it was printed from.

use flott_sql::ast::Statement;
use flott_sql::{parse_expression, parse_statement, parse_type, split_script};
use std::fs;
use std::path::{Path, PathBuf};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");

#[test]
fn scripts() {
    for path in scripts_below(&Path::new(CORPUS).join("queries")) {
        let script = fs::read_to_string(&path).expect("a readable script");
        for statement in split_script(&script) {
            if let Ok(parsed) = statement.parse() {
                assert_round_trip(&parsed);
            }
        }
    }
}

#[test]
fn expressions() {
    for entry in fs::read_dir(Path::new(CORPUS).join("expressions")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(&path).expect("a readable file").lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("valid JSON");
            let expr = case["expr"].as_str().expect("an expression");
            if let Ok(parsed) = parse_statement(&format!("SELECT {expr}")) {
                assert_round_trip(&parsed);
            }
        }
    }
}

#[test]
fn grammar() {
    for line in include_str!("grammar/accepted.sql").lines() {
        let parsed = parse_statement(line).expect(line);
        assert_round_trip(&parsed);
    }
}

#[test]
fn canonical_forms() {
    let cases = [
        ("a=1 or b and not c", "`a` = 1 OR `b` AND NOT `c`"),
        ("(a or b) and (c and d)", "(`a` OR `b`) AND (`c` AND `d`)"),
        ("a-(b-c)-d", "`a` - (`b` - `c`) - `d`"),
        ("- (-a) * -1", "- (- `a`) * -1"),
        ("a is null is not true", "(`a` IS NULL) IS NOT TRUE"),
        ("a = not b", "`a` = (NOT `b`)"),
        ("x between 1 and 2", "`x` BETWEEN ASYMMETRIC 1 AND 2"),
        ("x between (a and b) and c", "`x` BETWEEN ASYMMETRIC (`a` AND `b`) AND `c`"),
        ("x in ((select 1))", "`x` IN (SELECT 1)"),
        ("(a, b) overlaps (c, d)", "PERIOD (`a`, `b`) OVERLAPS PERIOD (`c`, `d`)"),
        ("(a).b[1].c", "(`a`).`b`[1].`c`"),
        ("upper(x) || Substring(y from 2)", "UPPER(`x`) || SUBSTRING(`y`, 2)"),
        ("trim(x)", "TRIM(BOTH ' ' FROM `x`)"),
        ("current_date", "CURRENT_DATE"),
        ("pi + t.pi", "PI() + `t`.`pi`"),
        ("case when a then 1 end", "CASE WHEN `a` THEN 1 ELSE NULL END"),
        ("'ü''s' || x'0a'", r"u&'\00fc''s' || X'0A'"),
        ("interval - '1' days", "INTERVAL -'1' DAY"),
        ("01.50 + .5e+03", "01.50 + 0.5E3"),
        ("count(*) filter (where a) over w", "COUNT(*) FILTER (WHERE `a`) OVER `w`"),
        ("cast(a as int array)", "CAST(`a` AS ARRAY< INTEGER NOT NULL >)"),
    ];
    for (sql, printed) in cases {
        assert_eq!(parse_expression(sql).expect(sql).to_string(), printed);
    }
}

#[test]
fn types() {
    let cases = [
        ("row(a int not null, b string 'x')", "ROW< `a` INTEGER NOT NULL, `b` STRING 'x' >"),
        (
            "map<char varying(3), timestamp_ltz(3)> not null",
            "MAP< VARCHAR(3), TIMESTAMP_LTZ(3) > NOT NULL",
        ),
        ("interval day(3) to second(6)", "INTERVAL DAY(3) TO SECOND(6)"),
        ("dec(10) null", "DECIMAL(10)"),
        ("my.own.type", "`my`.`own`.`type`"),
    ];
    for (text, printed) in cases {
        let parsed = parse_type(text).expect(text);
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(parse_type(printed).expect(printed), parsed);
    }
}

#[test]
fn clauses_stand_on_lines_of_their_own() {
    let sql = "select distinct a, b as c from t as u left join v on u.x = v.x, w where a > 1 \
               group by a, (b, c) having d order by a desc limit 3";
    let printed = "SELECT DISTINCT `a`, `b` AS `c`
FROM `t` AS `u`
LEFT JOIN `v` ON `u`.`x` = `v`.`x`,
`w`
WHERE `a` > 1
GROUP BY `a`, ROW(`b`, `c`)
HAVING `d`
ORDER BY `a` DESC
FETCH NEXT 3 ROWS ONLY";
    assert_eq!(parse_statement(sql).expect(sql).to_string(), printed);
}

fn assert_round_trip(statement: &Statement) {
    let printed = statement.to_string();
    match parse_statement(&printed) {
        Ok(again) => assert_eq!(&again, statement, "printed as {printed}"),
        Err(error) => panic!("{printed}\n{error}"),
    }
}

fn scripts_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            found.extend(scripts_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            found.push(path);
        }
    }
    found
}
