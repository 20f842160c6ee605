//! The syntax tree back to text, in the form in which Flink prints SQL: names in back-quotes,
//! keywords in capitals, a line for each clause. What is printed parses to an equal tree.

mod alter;
mod ddl;
mod expr;
mod function;
mod matching;
mod name;
mod query;
mod statement;
mod table;
mod table_ref;
mod types;

use std::fmt::{self, Display, Formatter};

/// Several things with something between them.
struct Joined<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// Several things with commas between them.
fn comma<T: Display>(items: &[T]) -> Joined<'_, T> {
    Joined(items, ", ")
}

/// Something with text before and behind it, if it is there.
struct Maybe<'a, T>(&'static str, Option<&'a T>, &'static str);

impl<T: Display> Display for Maybe<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(item) => write!(f, "{}{item}{}", self.0, self.2),
            None => Ok(()),
        }
    }
}

/// The text, if the condition holds.
fn flag(condition: bool, text: &'static str) -> &'static str {
    if condition { text } else { "" }
}
