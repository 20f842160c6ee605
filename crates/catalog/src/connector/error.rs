//! Errors of connectors, formats and their options.

use std::fmt;

/// What went wrong at an edge of a job, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConnectorError {
    /// A short fact in lower case.
    pub message: String,
    /// Where: a file and line, a topic and offset, an option key.
    pub place: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Whether the same attempt may succeed later (a server that is down, say).
    pub transient: bool,
}

impl ConnectorError {
    /// An error that trying again will not cure.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, hint: None, transient: false }
    }

    /// The same error with its place.
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// The same error with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error, marked as one that may pass.
    pub fn transient(mut self) -> Self {
        self.transient = true;
        self
    }
}

impl fmt::Display for ConnectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
