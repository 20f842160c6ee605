//! Names and texts.

use super::Span;
use std::hash::{Hash, Hasher};

/// One identifier. Flink's identifiers are case-sensitive, quoted or not.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name, without quotes and with escapes resolved.
    pub value: String,
    /// Whether it was written in back-quotes.
    pub quoted: bool,
    /// Where it stands.
    pub span: Span,
}

impl Ident {
    /// A name that came from no text.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), quoted: true, span: Span::default() }
    }

    /// Whether the name equals `other` without regard to ASCII case, as function names are matched.
    pub fn eq_ignore_case(&self, other: &str) -> bool {
        self.value.eq_ignore_ascii_case(other)
    }
}

impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Ident {}

impl Hash for Ident {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

/// A name with optional qualifiers: `catalog.database.object`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// The parts from the outermost to the object's own name; never empty.
    pub parts: Vec<Ident>,
    /// Where it stands.
    pub span: Span,
}

impl ObjectName {
    /// A name of the given parts that came from no text.
    pub fn new<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self { parts: parts.into_iter().map(Ident::new).collect(), span: Span::default() }
    }

    /// The only part, if the name has no qualifier.
    pub fn as_simple(&self) -> Option<&Ident> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether this is the unqualified name `name`, without regard to ASCII case.
    pub fn is_simple(&self, name: &str) -> bool {
        self.as_simple().is_some_and(|ident| ident.eq_ignore_case(name))
    }
}

/// A character string literal where the grammar wants nothing but a string: comments, options,
/// file names, patterns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    /// The text, with quotes removed and escapes resolved.
    pub value: String,
    /// Where it stands.
    pub span: Span,
}
