//! `CREATE CATALOG … WITH ('type' = 'jdbc')`: tables of a server without DDL.

use flott::{Outcome, TableEnvironment};

use crate::support::{Database, run};

fn lines(session: &mut TableEnvironment, sql: &str) -> Vec<String> {
    match session.execute(sql).unwrap() {
        Outcome::Table(table) => table.rows.iter().map(|row| format!("{row:?}")).collect(),
        _ => panic!("{sql} shows no table"),
    }
}

fn catalog(url: &str) -> String {
    let base = url.split_once("/test?").unwrap().0;
    format!(
        "CREATE CATALOG there WITH ('type' = 'jdbc', 'default-database' = 'test',
           'username' = 'flott', 'password' = 'secret', 'base-url' = '{base}/')"
    )
}

#[test]
fn tables_of_a_server_are_read_and_written_without_ddl() {
    for database in [Database::postgres(), Database::mariadb()].into_iter().flatten() {
        let (plain, prefix) = match &database {
            Database::Postgres(_) => ("NUMERIC(10, 2)", "public."),
            _ => ("DECIMAL(10, 2)", ""),
        };
        let table = database.create(
            "catalogued",
            &format!("id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, price {plain}"),
        );
        database.execute(&format!("INSERT INTO {table} VALUES (1, 'a', 1.5)"));
        let mut session = TableEnvironment::new();
        run(&mut session, &[&catalog(&database.url()), "USE CATALOG there"]).unwrap();
        let databases = lines(&mut session, "SHOW DATABASES").concat();
        assert!(databases.contains("\"test\""), "{databases}");
        let name = format!("{prefix}{table}");
        let tables = lines(&mut session, "SHOW TABLES").concat();
        assert!(tables.contains(&format!("\"{name}\"")), "{tables}");
        let described = lines(&mut session, &format!("DESCRIBE `{name}`"));
        let expected = [
            ("id", "BIGINT", "PRI("),
            ("name", "VARCHAR(20)", ""),
            ("price", "DECIMAL(10, 2)", ""),
        ];
        assert_eq!(described.len(), expected.len(), "{described:?}");
        for (line, (column, data_type, key)) in described.iter().zip(expected) {
            assert!(
                line.contains(column) && line.contains(data_type) && line.contains(key),
                "{line}"
            );
        }
        let insert = format!("INSERT INTO `{name}` VALUES (2, 'b', 2.25), (1, 'c', 3.5)");
        let select = format!("SELECT * FROM there.test.`{name}`");
        let rows = run(&mut session, &[&insert, &select]).unwrap();
        assert_eq!(rows, ["+I[1, c, 3.50]", "+I[2, b, 2.25]"]);
        if !prefix.is_empty() {
            let short = format!("SELECT id FROM `{table}` WHERE id = 2");
            assert_eq!(run(&mut session, &[&short]).unwrap(), ["+I[2]"]);
        }
        for (sql, expected) in [
            ("SELECT * FROM nothing", "nothing"),
            ("SELECT * FROM there.nowhere.t", "nowhere"),
            ("CREATE TABLE mine (id INT) WITH ('connector' = 'print')", "read only"),
            ("CREATE DATABASE mine", "read only"),
            (&*format!("DROP TABLE `{name}`"), "read only"),
            ("DROP DATABASE there.test CASCADE", "read only"),
            ("USE there.nowhere", "nowhere"),
        ] {
            let error = run(&mut session, &[sql]).unwrap_err().to_string();
            assert!(error.contains(expected), "{sql}: {error}");
        }
        let temporary = "CREATE TEMPORARY TABLE mine (id INT) WITH ('connector' = 'blackhole')";
        run(&mut session, &[temporary]).unwrap();
    }
}

#[test]
fn arrays_and_types_without_ddl() {
    let Some(database) = Database::postgres() else { return };
    database.execute(
        "DROP TYPE IF EXISTS flott_mood CASCADE; CREATE TYPE flott_mood AS ENUM ('good', 'bad')",
    );
    let exact = database.unique("Odd");
    let table = format!("\"{exact}\"");
    database.execute(&format!(
        "CREATE TABLE {table} (id INT PRIMARY KEY, \"Tags\" TEXT[], grid INT[], u UUID, j JSONB, m flott_mood, d NUMERIC, \
         ts TIMESTAMPTZ(3))"
    ));
    database.execute(&format!(
        "INSERT INTO {table} VALUES (1, '{{a,NULL,\"b \\\"c\"}}', '{{{{1,2}},{{3,4}}}}', \
         '0123abcd-0000-0000-0000-00000000000f', '{{\"a\": 1}}', 'good', 1.25, '2024-01-01 00:00:00+00')"
    ));
    let mut session = TableEnvironment::new();
    let select = format!("SELECT `Tags`, u, j, m, d, ts FROM there.test.`public.{exact}`");
    let zone = "SET 'table.local-time-zone' = 'UTC'";
    let rows = run(&mut session, &[&catalog(&database.url()), zone, &select]);
    assert_eq!(
        rows.unwrap(),
        ["+I[[a, NULL, b \"c], 0123abcd-0000-0000-0000-00000000000f, {\"a\": 1}, good, \
          1.250000000000000000, 2024-01-01 00:00:00.000]"]
    );
    let insert = format!(
        "INSERT INTO there.test.`public.{exact}` (id, `Tags`, u, j, m) VALUES (2, ARRAY['x', 'y,{{\\'], \
         '0123abcd-0000-0000-0000-000000000001', '[1]', 'bad')"
    );
    let read = format!("SELECT `Tags`, j, m FROM there.test.`public.{exact}` WHERE id = 2");
    assert_eq!(run(&mut session, &[&insert, &read]).unwrap(), ["+I[[x, y,{\\], [1], bad]"]);
    // One dimension is declared, two are stored.
    let wrong = format!("SELECT grid FROM there.test.`public.{exact}` WHERE id = 1");
    let error = run(&mut session, &[&wrong]).unwrap_err().to_string();
    assert!(error.contains("column 'grid'"), "{error}");
}

#[test]
fn mistakes_are_named() {
    let mut session = TableEnvironment::new();
    for (options, expected) in [
        ("'type' = 'jdbc'", "'default-database'"),
        ("'type' = 'hive'", "available: jdbc, generic_in_memory"),
        (
            "'type' = 'jdbc', 'default-database' = 'd', 'username' = 'u', 'password' = 'p',
             'base-url' = 'jdbc:postgresql://localhost:1/d'",
            "names no database",
        ),
        (
            "'type' = 'jdbc', 'default-database' = 'd', 'username' = 'u', 'password' = 'p',
             'base-url' = 'jdbc:postgresql://localhost:1'",
            "jdbc:postgresql://localhost:1/d",
        ),
    ] {
        let error = run(&mut session, &[&format!("CREATE CATALOG c WITH ({options})")]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
