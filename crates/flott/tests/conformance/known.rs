//! The list of cases that do not pass, and the verdict over a run.

use std::collections::BTreeMap;

use crate::corpus;

/// Outcomes of the cases of one corpus.
pub struct Report {
    prefix: &'static str,
    filter: Option<String>,
    known: BTreeMap<String, String>,
    passed: usize,
    failures: BTreeMap<String, String>,
    unexpected_passes: Vec<String>,
}

impl Report {
    /// A report of the cases whose name starts with `prefix`.
    pub fn new(prefix: &'static str) -> Self {
        let text = std::fs::read_to_string(corpus().join("not-passing.tsv")).unwrap_or_default();
        let known = text
            .lines()
            .filter(|line| line.starts_with(prefix))
            .map(|line| {
                let (case, reason) = line.split_once('\t').expect("a case, a tab and a reason");
                assert!(!reason.trim().is_empty(), "no reason for {case}");
                (case.to_string(), reason.to_string())
            })
            .collect();
        Self {
            prefix,
            filter: std::env::var("CONFORMANCE").ok(),
            known,
            passed: 0,
            failures: BTreeMap::new(),
            unexpected_passes: Vec::new(),
        }
    }

    /// Whether a case is to be run.
    pub fn wants(&self, case: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| case.starts_with(filter.as_str()))
    }

    /// Notes the outcome of a case: `Err` says what differs.
    pub fn outcome(&mut self, case: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) if self.known.contains_key(case) => {
                self.unexpected_passes.push(case.to_string());
            }
            Ok(()) => self.passed += 1,
            Err(difference) => {
                self.failures.insert(case.to_string(), difference);
            }
        }
    }

    /// Prints the sums and fails on every surprise.
    pub fn settle(self) {
        let unknown: Vec<_> =
            self.failures.iter().filter(|(case, _)| !self.known.contains_key(*case)).collect();
        println!(
            "{}: {} passed, {} known not to pass, {} failed, {} pass though listed",
            self.prefix,
            self.passed,
            self.failures.len() - unknown.len(),
            unknown.len(),
            self.unexpected_passes.len(),
        );
        let explained: Vec<_> = match self.filter {
            Some(_) => self.failures.iter().collect(),
            None => unknown.clone(),
        };
        for (case, difference) in explained {
            println!("--- {case}\n{difference}");
        }
        for case in &self.unexpected_passes {
            println!("+++ {case} passes: take it off conformance/not-passing.tsv");
        }
        if let Ok(path) = std::env::var("CONFORMANCE_FAILURES") {
            let lines: String = self
                .failures
                .iter()
                .map(|(case, text)| format!("{case}\t{}\n", text.replace(['\n', '\t'], " ")))
                .collect();
            std::fs::write(path, lines).expect("CONFORMANCE_FAILURES can be written");
        }
        assert!(unknown.is_empty(), "{} cases do not pass", unknown.len());
        assert!(self.unexpected_passes.is_empty(), "listed cases pass");
    }
}
