//! Errors as people read them: the fact, the place in the text, and what to do.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use flott::Error;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};

/// What ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The script could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
    /// A savepoint could not be taken.
    #[error("{0}")]
    Savepoint(String),
    /// The terminal refused.
    #[error("cannot use the terminal: {0}")]
    Terminal(String),
}

/// The result of a command: whether every statement succeeded.
pub type Outcome = Result<bool, Failure>;

/// A failed statement with the text it stands in.
#[derive(Debug)]
pub struct StatementError {
    number: usize,
    message: String,
    hint: Option<String>,
    text: NamedSource<String>,
    span: Option<SourceSpan>,
}

impl StatementError {
    /// The error of statement `number` of a script; spans of the error count in `text`.
    pub fn new(error: &Error, number: usize, name: &str, text: &str) -> Self {
        let full = error.to_string();
        let (message, hint) = match full.split_once("\nhint: ") {
            Some((message, hint)) => (message.to_string(), Some(hint.to_string())),
            None => (full, None),
        };
        let span = error.span().map(|span| {
            let start = span.start.min(text.len());
            (start, span.end.clamp(start, text.len()) - start).into()
        });
        Self { number, message, hint, text: NamedSource::new(name, text.to_string()), span }
    }
}

impl std::fmt::Display for StatementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "statement {}: {}", self.number, self.message)
    }
}

impl std::error::Error for StatementError {}

impl Diagnostic for StatementError {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.span.is_some().then_some(&self.text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.span?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".into()), span))))
    }
}

/// Prints a failure to standard error.
pub fn print(failure: &Failure) {
    eprintln!("error: {failure}");
}

/// Prints a failed statement to standard error, with colours on a terminal.
pub fn print_statement(error: &StatementError) {
    let theme = if std::io::stderr().is_terminal() {
        miette::GraphicalTheme::unicode()
    } else {
        miette::GraphicalTheme::unicode_nocolor()
    };
    let mut out = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(theme).with_width(100);
    match handler.render_report(&mut out, error) {
        Ok(()) => eprintln!("{}", out.trim_end()),
        Err(_) => eprintln!("error: {error}"),
    }
}

/// Reads a script; `-` is standard input.
pub fn read_script(path: &Path) -> Result<String, Failure> {
    let read = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|source| Failure::Script { path: path.to_path_buf(), source })
}
