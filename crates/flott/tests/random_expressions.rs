//! No expression makes Flott panic: recorded expressions are mutated for a few seconds and run.
//!
//! `FUZZ_SECONDS=600 cargo test --workspace --test random_expressions` searches longer, `FUZZ_SEED=…` elsewhere. A
//! failure prints the statement, which then belongs into a test of its kind.

#![allow(clippy::unwrap_used, clippy::expect_used)] // Tests may end so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use flott::{Outcome, TableEnvironment};

/// Values at the edges of what functions take.
const EDGES: [&str; 44] = [
    "0",
    "1",
    "-1",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "0.1",
    "99999999999999999.9",
    "-0e0",
    "1e308",
    "1e-320",
    "CAST('NaN' AS DOUBLE)",
    "CAST('-Infinity' AS DOUBLE)",
    "CAST('1e-38' AS DECIMAL(38, 38))",
    "CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))",
    "NULL",
    "CAST(NULL AS INT)",
    "CAST(NULL AS STRING)",
    "''",
    "'a'",
    "'😀'",
    "'%_\\'",
    "'é中'",
    "'('",
    "'[a-'",
    "'$.a[*]'",
    "'{\"a\": [1, null]}'",
    "'yyyy-MM-dd'",
    "'2024-02-30 25:61:61'",
    "TRUE",
    "X''",
    "X'FF00'",
    "DATE '9999-12-31'",
    "DATE '0001-01-01'",
    "TIME '23:59:59.999'",
    "TIMESTAMP '2024-02-29 12:34:56.123456789'",
    "TO_TIMESTAMP_LTZ(-9223372036854775808, 0)",
    "INTERVAL '99' DAY",
    "INTERVAL '2147483647' MONTH(10)",
    "ARRAY[1, CAST(NULL AS INT)]",
    "ARRAY['a', 'b']",
    "MAP['a', 1]",
    "ROW(1, 'a')",
];

#[test]
fn mutated_expressions_do_not_panic() {
    let variable = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let seed = variable("FUZZ_SEED", 20_240_229);
    let until = Instant::now() + Duration::from_secs(variable("FUZZ_SECONDS", 3));
    let seeds = recorded();
    let mut random = Random(seed);
    let mut count = 0;
    while Instant::now() < until {
        let expression = random.mutant(&seeds);
        count += 1;
        if std::env::var_os("FUZZ_TRACE").is_some() {
            eprintln!("SELECT {expression}");
        }
        if let Err(panic) = run(&expression) {
            panic!("after {count} with seed {seed}:\nSELECT {expression}\n{panic}");
        }
    }
    println!("{count} expressions");
}

/// All recorded expressions, as tokens.
fn recorded() -> Vec<Vec<String>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut seeds = Vec::new();
    for folder in ["expressions", "expressions-more"] {
        for entry in std::fs::read_dir(corpus.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let case: serde_json::Value = serde_json::from_str(line).unwrap();
                seeds.push(tokens(case["expr"].as_str().unwrap()));
            }
        }
    }
    seeds.sort();
    seeds
}

/// Runs a query of the expression; `Err` is a panic, or an error that says that Flott is wrong.
fn run(expression: &str) -> Result<(), String> {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut session = TableEnvironment::new();
        match session.execute(&format!("SELECT {expression}")) {
            Ok(Outcome::Query(result)) => result.collect().err(),
            Ok(_) => None,
            Err(error) => Some(error),
        }
    }));
    match ended {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.unwrap_or_else(|| "panicked".into()))
        }
        Ok(Some(error)) if error.to_string().contains("panicked") => Err(error.to_string()),
        Ok(Some(error)) if error.to_string().contains("internal error") => Err(error.to_string()),
        Ok(_) => Ok(()),
    }
}

/// Words, numbers, strings and signs, with the blanks before them.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |place| place + 2),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(rest[..end].to_string());
        rest = &rest[end..];
    }
    tokens
}

/// A small counter-based generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    fn mutant(&mut self, seeds: &[Vec<String>]) -> String {
        let mut tokens = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(3) {
            self.mutate(&mut tokens, seeds);
        }
        tokens.concat()
    }

    fn mutate(&mut self, tokens: &mut Vec<String>, seeds: &[Vec<String>]) {
        let at = self.below(tokens.len());
        match self.below(10) {
            // A value becomes another one.
            0..=4 => {
                let values: Vec<usize> = (0..tokens.len())
                    .filter(|i| tokens[*i].starts_with(|c: char| c == '\'' || c.is_ascii_digit()))
                    .collect();
                let place = if values.is_empty() { at } else { values[self.below(values.len())] };
                if let Some(token) = tokens.get_mut(place) {
                    *token = EDGES[self.below(EDGES.len())].to_string();
                }
            }
            // An argument becomes that of another expression.
            5 | 6 => {
                let other = &seeds[self.below(seeds.len())];
                if let (Some(into), Some(from)) = (self.argument(tokens), self.argument(other)) {
                    tokens.splice(into, other[from].iter().cloned());
                }
            }
            // A word becomes one of another expression: often a function another function.
            7 => {
                let other = &seeds[self.below(seeds.len())];
                let is_word = |token: &String| token.starts_with(|c: char| c.is_alphabetic());
                let words: Vec<&String> = other.iter().filter(|token| is_word(token)).collect();
                if let (Some(token), false) = (tokens.get_mut(at), words.is_empty()) {
                    *token = words[self.below(words.len())].clone();
                }
            }
            8 if tokens.len() > 1 => {
                tokens.remove(at);
            }
            _ => {
                let copy: Vec<String> = tokens[at..(at + 3).min(tokens.len())].to_vec();
                tokens.splice(at..at, copy);
            }
        }
    }

    /// What stands between the parentheses, brackets or commas of some level.
    fn argument(&mut self, tokens: &[String]) -> Option<std::ops::Range<usize>> {
        let opens: Vec<usize> =
            (0..tokens.len()).filter(|i| ["(", "[", ","].contains(&tokens[*i].as_str())).collect();
        let start = *opens.get(self.below(opens.len()))? + 1;
        let mut depth = 0;
        for (i, token) in tokens.iter().enumerate().skip(start) {
            match token.as_str() {
                "(" | "[" => depth += 1,
                ")" | "]" | "," if depth == 0 => return Some(start..i),
                ")" | "]" => depth -= 1,
                _ => {}
            }
        }
        None
    }
}
