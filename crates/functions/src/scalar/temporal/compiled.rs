//! Things made of a text argument once: when compiling, or once as long as the text stays the same.

use std::sync::Arc;

use crate::CallArgs;

/// What one argument of a call is made into.
pub struct Compiled<T> {
    /// Made of the constant that the argument is.
    constant: Option<T>,
    make: Arc<dyn Fn(&str) -> T + Send + Sync>,
}

impl<T> Compiled<T> {
    /// Makes it of a constant argument, or prepares to.
    pub fn new(
        args: &CallArgs,
        index: usize,
        make: impl Fn(&str) -> T + Send + Sync + 'static,
    ) -> Self {
        Self { constant: args.literal_str(index).map(&make), make: Arc::new(make) }
    }

    /// What the constant became.
    pub fn constant(&self) -> Option<&T> {
        self.constant.as_ref()
    }

    /// A cursor for the rows of one batch.
    pub fn rows(&self) -> Rows<'_, T> {
        Rows { compiled: self, last: None }
    }
}

/// Gives what the argument's text was made into, row by row.
pub struct Rows<'a, T> {
    compiled: &'a Compiled<T>,
    last: Option<(String, T)>,
}

impl<T> Rows<'_, T> {
    /// What this text is made into.
    #[inline]
    pub fn get(&mut self, text: &str) -> &T {
        if let Some(constant) = &self.compiled.constant {
            return constant;
        }
        if self.last.as_ref().is_some_and(|(last, _)| last != text) {
            self.last = None;
        }
        let make = || (text.to_string(), (self.compiled.make)(text));
        &self.last.get_or_insert_with(make).1
    }
}
