//! No expression makes the binder, the planner or the evaluator panic.

#![no_main]

use flott::{Outcome, TableEnvironment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|expression: &str| {
    let mut session = TableEnvironment::new();
    // Planning computes what is constant, a hundred times as fast as a job; columns need one.
    let explain = if expression.contains("FROM") { "" } else { "EXPLAIN " };
    let error = match session.execute(&format!("{explain}SELECT {expression}")) {
        Ok(Outcome::Query(result)) => result.collect().err(),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if let Some(error) = error {
        // Tasks turn panics into errors.
        let text = error.to_string();
        assert!(!text.contains("panicked") && !text.contains("internal error"), "{text}");
    }
});
