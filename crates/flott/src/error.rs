//! What can go wrong with a statement.

use flott_catalog::connector::ConnectorError;
use flott_plan::PlanError;
use flott_runtime::RuntimeError;
use flott_sql::ParseError;
use flott_sql::ast::Span;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not SQL as Flink understands it.
    #[error("{0}")]
    Parse(#[from] ParseError),
    /// The statement cannot be planned or carried out; nothing was read.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// The job failed while it ran.
    #[error("{0}")]
    Run(#[from] RuntimeError),
}

impl Error {
    /// The place in the statement's text, where it is known.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Parse(error) => Some(error.span),
            Self::Plan(error) => error.span,
            Self::Run(_) => None,
        }
    }

    /// Whether data may have been read before the failure.
    pub fn is_at_run_time(&self) -> bool {
        matches!(self, Self::Run(_))
    }
}

impl From<ConnectorError> for Error {
    fn from(error: ConnectorError) -> Self {
        Self::Plan(error.into())
    }
}
