//! Patterns of a call: literal and compiled once, or from data and kept while they recur.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{EvalError, SignatureError};

/// How many patterns from data are kept.
const KEPT: usize = 256;

/// A compilation of the text of a pattern.
pub type Compile<T> = Box<dyn Fn(&str) -> Result<T, EvalError> + Send + Sync>;

/// The patterns of one argument.
pub struct Patterns<T> {
    literal: Option<T>,
    compile: Compile<T>,
    kept: Mutex<HashMap<Box<str>, Arc<T>>>,
}

impl<T> Patterns<T> {
    /// The patterns of an argument that is `literal`, or comes from data if that is `None`.
    pub fn new(
        literal: Option<&str>,
        compile: impl Fn(&str) -> Result<T, EvalError> + Send + Sync + 'static,
    ) -> Result<Self, SignatureError> {
        // One that cannot be compiled fails the rows that need it, as in Flink: rows with a NULL need none.
        let literal = literal.and_then(|literal| compile(literal).ok());
        Ok(Self { literal, compile: Box::new(compile), kept: Mutex::default() })
    }

    /// A view for the rows of one batch.
    pub fn lookup(&self) -> Lookup<'_, T> {
        Lookup { patterns: self, last: None }
    }
}

/// The compiled patterns of the rows of a batch.
pub struct Lookup<'a, T> {
    patterns: &'a Patterns<T>,
    last: Option<(Box<str>, Arc<T>)>,
}

impl<T> Lookup<'_, T> {
    /// The compiled form of a row's pattern; the text does not count if the pattern is literal.
    pub fn of(&mut self, text: &str) -> Result<&T, EvalError> {
        if let Some(literal) = &self.patterns.literal {
            return Ok(literal);
        }
        if self.last.as_ref().is_none_or(|(known, _)| **known != *text) {
            self.last = Some((text.into(), self.compiled(text)?));
        }
        match &self.last {
            Some((_, pattern)) => Ok(pattern),
            None => Err(EvalError::Internal("a pattern vanished".into())),
        }
    }

    fn compiled(&self, text: &str) -> Result<Arc<T>, EvalError> {
        let mut kept = self.patterns.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = kept.get(text) {
            return Ok(pattern.clone());
        }
        let pattern = Arc::new((self.patterns.compile)(text)?);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(text.into(), pattern.clone());
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_from_data_are_compiled_once_while_they_recur() {
        let compiled = Arc::new(Mutex::new(0));
        let counter = compiled.clone();
        let patterns = Patterns::new(None, move |text| {
            *counter.lock().expect("not poisoned") += 1;
            Ok(text.len())
        });
        let patterns = patterns.expect("nothing to compile");
        let mut lookup = patterns.lookup();
        for (text, length) in [("a", 1), ("a", 1), ("bb", 2), ("a", 1)] {
            assert_eq!(lookup.of(text), Ok(&length));
        }
        assert_eq!(*compiled.lock().expect("not poisoned"), 2);
    }
}
