//! Repeated keys of an object that becomes a map.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::lexer::{Lexer, SyntaxError};

/// The entries of an object whose key comes again: only the last one of a key counts.
#[derive(Debug, Default)]
pub(super) struct Superseded(Vec<usize>);

impl Superseded {
    /// Looks through the object at the lexer.
    pub(super) fn find(mut lexer: Lexer<'_>) -> Result<Self, SyntaxError> {
        let mut last: HashMap<Vec<u8>, usize, FixedState> = HashMap::default();
        let mut superseded = Vec::new();
        let mut entry = 0;
        lexer.eat(b'{');
        while !lexer.eat(b'}') {
            lexer.eat(b',');
            lexer.peek();
            let mut key = Vec::new();
            lexer.string()?.unescape(&mut key);
            lexer.colon()?;
            lexer.skip_value()?;
            superseded.extend(last.insert(key, entry));
            entry += 1;
        }
        superseded.sort_unstable();
        Ok(Self(superseded))
    }

    /// Whether a later entry replaces the one at this position.
    pub(super) fn contains(&self, entry: usize) -> bool {
        self.0.binary_search(&entry).is_ok()
    }
}
