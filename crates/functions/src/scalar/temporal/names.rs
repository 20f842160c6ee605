//! English names of months, days and time zones, and small writers that all formats share.

/// January to December.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Monday to Sunday.
pub const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The first three letters, which is how English shortens months and days.
pub fn short(name: &str) -> &str {
    name.get(..3).unwrap_or(name)
}

/// The text after `prefix`, letters compared without regard to case.
pub fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Writes a number with at least `width` digits.
pub fn write_padded(out: &mut String, value: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    let mut rest = value;
    while rest > 0 || start == digits.len() {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let length = digits.len() - start;
    out.extend(std::iter::repeat_n('0', width.saturating_sub(length)));
    out.push_str(std::str::from_utf8(&digits[start..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded() {
        let mut out = String::new();
        for (value, width) in [(0, 0), (7, 2), (2024, 4), (2024, 2), (5, 6)] {
            write_padded(&mut out, value, width);
            out.push(' ');
        }
        assert_eq!(out, "0 07 2024 2024 000005 ");
    }

    #[test]
    fn prefixes_ignore_case_and_stop_at_characters() {
        assert_eq!(strip_prefix_ignoring_case("maR 9", "Mar"), Some(" 9"));
        assert_eq!(strip_prefix_ignoring_case("é", "M"), None);
        assert_eq!(strip_prefix_ignoring_case("M", "Mar"), None);
    }
}
