//! Sets of characters.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A set of Unicode characters. Surrogates are in no set: no text has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharSet(ClassUnicode);

impl CharSet {
    /// The set without members.
    pub fn empty() -> Self {
        Self(ClassUnicode::empty())
    }

    /// The set of all characters.
    pub fn all() -> Self {
        Self::range('\0', char::MAX)
    }

    /// One character.
    pub fn one(c: char) -> Self {
        Self::range(c, c)
    }

    /// The characters of a range, ends included.
    pub fn range(first: char, last: char) -> Self {
        Self(ClassUnicode::new([ClassUnicodeRange::new(first, last)]))
    }

    /// The characters of several ranges.
    pub fn ranges(ranges: &[(char, char)]) -> Self {
        Self(ClassUnicode::new(
            ranges.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last)),
        ))
    }

    /// The characters with a Unicode property, written as between the braces of `\p{…}`; none if there
    /// is no such property.
    pub fn unicode(property: &str) -> Self {
        Self::try_unicode(property).unwrap_or_else(Self::empty)
    }

    /// As [`CharSet::unicode`]; `None` if there is no such property.
    pub fn try_unicode(property: &str) -> Option<Self> {
        let hir = regex_syntax::Parser::new().parse(&format!(r"\p{{{property}}}")).ok()?;
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => Some(Self(class.clone())),
            HirKind::Class(Class::Bytes(class)) => class.to_unicode_class().map(Self),
            HirKind::Literal(literal) => {
                std::str::from_utf8(&literal.0).ok()?.chars().next().map(Self::one)
            }
            _ => None,
        }
    }

    /// The characters of either set.
    pub fn or(mut self, other: &Self) -> Self {
        self.0.union(&other.0);
        self
    }

    /// The characters of both sets.
    pub fn and(mut self, other: &Self) -> Self {
        self.0.intersect(&other.0);
        self
    }

    /// The characters that are not in the set.
    #[allow(clippy::should_implement_trait)]
    pub fn not(mut self) -> Self {
        self.0.negate();
        self
    }

    /// The set with the other case of its ASCII letters.
    pub fn fold_ascii(self) -> Self {
        let letters = Self::ranges(&[('A', 'Z'), ('a', 'z')]).and(&self);
        letters.fold_unicode().and(&Self::range('\0', '\x7f')).or(&self)
    }

    /// The set with all characters that differ from a member only by case.
    pub fn fold_unicode(mut self) -> Self {
        // Java compares by upper case and then by lower case, which the Turkish letters share with I.
        let turkish = Self::ranges(&[('I', 'I'), ('i', 'i'), ('İ', 'ı')]);
        if !turkish.clone().and(&self).is_empty() {
            self = self.or(&turkish);
        }
        self.0.case_fold_simple();
        self
    }

    /// Whether the set has no member.
    pub fn is_empty(&self) -> bool {
        self.0.ranges().is_empty()
    }

    /// Whether a character is in the set.
    pub fn contains(&self, c: char) -> bool {
        let ranges = self.0.ranges();
        let after = ranges.partition_point(|range| range.start() <= c);
        after.checked_sub(1).is_some_and(|i| ranges[i].end() >= c)
    }

    /// The only member.
    pub fn as_one(&self) -> Option<char> {
        match self.0.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        }
    }

    /// The members as ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (char, char)> + '_ {
        self.0.ranges().iter().map(|range| (range.start(), range.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_combined() {
        let vowels = CharSet::ranges(&[('a', 'a'), ('e', 'e')]);
        let set = CharSet::range('a', 'f').and(&vowels.not());
        assert_eq!(set.iter().collect::<Vec<_>>(), [('b', 'd'), ('f', 'f')]);
        assert!(set.contains('c') && !set.contains('e') && !set.contains('z'));
    }

    #[test]
    fn case_is_folded_in_ascii_or_in_all_of_unicode() {
        let k = CharSet::one('k');
        assert_eq!(k.clone().fold_ascii(), CharSet::ranges(&[('K', 'K'), ('k', 'k')]));
        assert!(k.fold_unicode().contains('\u{212a}'));
        assert!(!CharSet::one('é').fold_ascii().contains('É'));
        assert!(CharSet::one('I').fold_unicode().contains('ı'));
        assert!(!CharSet::range('A', 'z').fold_ascii().contains('İ'));
    }
}
