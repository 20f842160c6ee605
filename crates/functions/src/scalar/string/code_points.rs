//! Offsets of code points in UTF-8, without decoding where a stretch is ASCII.

/// The byte offset of code point `n`, from 0; the length of the text when it has no more than `n`.
pub fn offset_of(text: &str, n: usize) -> usize {
    match text.as_bytes().get(..n) {
        None => text.len(),
        Some(prefix) if prefix.is_ascii() => n,
        Some(_) => text.char_indices().nth(n).map_or(text.len(), |(offset, _)| offset),
    }
}

/// The byte offset of the `n`th code point from the end, from 1; `None` when there are fewer.
pub fn offset_from_end(text: &str, n: usize) -> Option<usize> {
    if n == 0 {
        return Some(text.len());
    }
    let start = text.len().checked_sub(n)?;
    if text.as_bytes()[start..].is_ascii() {
        return Some(start);
    }
    text.char_indices().rev().nth(n - 1).map(|(offset, _)| offset)
}

/// The number of code points.
pub fn count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_code_points() {
        for (text, n, forward, backward) in [
            ("abc", 0, 0, Some(3)),
            ("abc", 2, 2, Some(1)),
            ("abc", 4, 3, None),
            ("a中😀b", 2, 4, Some(4)),
            ("a中😀b", 3, 8, Some(1)),
            ("a中😀b", 4, 9, Some(0)),
            ("", 1, 0, None),
        ] {
            assert_eq!(offset_of(text, n), forward, "{text} {n}");
            assert_eq!(offset_from_end(text, n), backward, "{text} {n} from the end");
        }
    }
}
