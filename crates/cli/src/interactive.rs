//! The interactive client: statements typed in, each ended by a semicolon.

use std::borrow::Cow;

use flott::split_script;
use reedline::{
    DefaultPrompt, DefaultPromptSegment, Reedline, Signal, ValidationResult, Validator,
};

use crate::args::{Format, SessionArgs};
use crate::diagnostics::{Failure, Outcome, StatementError, print_statement};
use crate::interrupt;
use crate::output::printer;
use crate::run::{Stop, execute};

/// Reads and executes statements until the input ends.
pub fn interactive(args: &SessionArgs) -> Outcome {
    let mut session = args.session();
    let mut editor = Reedline::create().with_validator(Box::new(EndsWithSemicolon));
    let prompt = DefaultPrompt::new(
        DefaultPromptSegment::Basic("Flott SQL".to_string()),
        DefaultPromptSegment::Empty,
    );
    println!("Flott SQL. End each statement with a semicolon; QUIT; or Ctrl-D leaves.");
    loop {
        let text = match editor.read_line(&prompt) {
            Ok(Signal::Success(text)) => text,
            Ok(Signal::CtrlC) => continue,
            Ok(_) => return Ok(true),
            Err(error) => return Err(Failure::Terminal(error.to_string())),
        };
        for statement in split_script(&text) {
            if is_quit(statement.text) {
                return Ok(true);
            }
            interrupt::reset();
            let mut printer = printer(Format::Table);
            match execute(&mut session, &statement, printer.as_mut()) {
                Ok(()) => println!("OK"),
                Err(Stop::Output(error)) => return Err(error),
                Err(Stop::Failed(error)) => {
                    let number = statement.number;
                    print_statement(&StatementError::new(&error, number, "input", &text));
                }
            }
        }
    }
}

fn is_quit(text: &str) -> bool {
    ["QUIT", "EXIT"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// A line is complete when a semicolon ends it.
struct EndsWithSemicolon;

impl Validator for EndsWithSemicolon {
    fn validate(&self, line: &str) -> ValidationResult {
        let text: Cow<str> = line.trim().into();
        if text.is_empty() || text.ends_with(';') {
            ValidationResult::Complete
        } else {
            ValidationResult::Incomplete
        }
    }
}
