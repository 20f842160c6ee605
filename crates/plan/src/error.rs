//! Errors of planning.

use std::fmt;

use flott_catalog::CatalogError;
use flott_catalog::connector::ConnectorError;
use flott_functions::{EvalError, SignatureError};
use flott_sql::ast::Span;

/// A statement that cannot be planned: what is wrong, where in the text, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PlanError {
    /// A short fact, in Flink's words where Flink has some.
    pub message: String,
    /// The place in the statement's text.
    pub span: Option<Span>,
    /// What to write instead.
    pub hint: Option<String>,
}

/// The result of a planning step.
pub type Result<T, E = PlanError> = std::result::Result<T, E>;

impl PlanError {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, hint: None }
    }

    /// The same error at a place, unless it has one already.
    pub fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// The same error with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<SignatureError> for PlanError {
    fn from(error: SignatureError) -> Self {
        let hint = match &error {
            SignatureError::NoMatch { expected, .. } if !expected.is_empty() => {
                Some(format!("supported forms: {}", expected.join(", ")))
            }
            SignatureError::NoCommonType { .. } => {
                Some("cast the operands to one type".to_string())
            }
            _ => None,
        };
        Self { message: error.to_string(), span: None, hint }
    }
}

impl From<EvalError> for PlanError {
    fn from(error: EvalError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ConnectorError> for PlanError {
    fn from(error: ConnectorError) -> Self {
        let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
        Self { message: format!("{place}{}", error.message), span: None, hint: error.hint }
    }
}

impl From<CatalogError> for PlanError {
    fn from(error: CatalogError) -> Self {
        let text = error.to_string();
        match text.split_once("\nhint: ") {
            Some((message, hint)) => Self::new(message).hint(hint),
            None => Self::new(text),
        }
    }
}
