//! Things made of a text argument once: when compiling, or once as long as the text stays the same.
//!
//! A constant that nothing can be made of fails the rows that need it, as in Flink, and not the plan: a row without a value
//! needs none.

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
        Rows { compiled: self, last: Memo::default() }
    }
}

/// Gives what the argument's text was made into, row by row.
pub struct Rows<'a, T> {
    compiled: &'a Compiled<T>,
    last: Memo<T>,
}

impl<T> Rows<'_, T> {
    /// What this text is made into.
    #[inline]
    pub fn get(&mut self, text: &str) -> &T {
        match &self.compiled.constant {
            Some(constant) => constant,
            None => self.last.get(text, |text| (self.compiled.make)(text)),
        }
    }
}

/// Remembers what the last text was made into.
pub struct Memo<T> {
    last: Option<(String, T)>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<T> Memo<T> {
    /// What a text is made into.
    pub fn get(&mut self, text: &str, make: impl FnOnce(&str) -> T) -> &T {
        if self.last.as_ref().is_some_and(|(last, _)| last != text) {
            self.last = None;
        }
        &self.last.get_or_insert_with(|| (text.to_string(), make(text))).1
    }
}
