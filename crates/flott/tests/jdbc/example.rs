//! The example of `docs/jdbc.md` runs and gives the rows that the page shows.

use flott::TableEnvironment;

use crate::support::run;

#[test]
fn the_example_of_the_page_runs() {
    let page = include_str!("../../../../docs/jdbc.md");
    let blocks: Vec<(&str, &str)> =
        page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut session = TableEnvironment::new().in_directory(folder.path());
    let mut rows = Vec::new();
    let mut shown = 0;
    for (language, text) in blocks {
        match language {
            // `sqlite3 shop.db '…'`
            "sh" => {
                let sql = text.split('"').nth(1).unwrap();
                let database = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
                database.execute_batch(sql).unwrap();
            }
            "sql" => {
                for statement in text.split(";\n").filter(|statement| !statement.trim().is_empty())
                {
                    rows = run(&mut session, &[statement]).unwrap();
                }
            }
            "text" if text.starts_with("+I") => {
                assert_eq!(rows, text.lines().collect::<Vec<_>>());
                shown += 1;
            }
            _ => {}
        }
    }
    assert_eq!(shown, 1);
}
