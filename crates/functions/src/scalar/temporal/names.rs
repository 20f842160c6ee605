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

/// Abbreviations of time zones: their offset in minutes and their long name.
pub const ZONES: &[(&str, i32, &str)] = &[
    ("UTC", 0, "Coordinated Universal Time"),
    ("GMT", 0, "Greenwich Mean Time"),
    ("EST", -300, "Eastern Standard Time"),
    ("EDT", -240, "Eastern Daylight Time"),
    ("CST", -360, "Central Standard Time"),
    ("CDT", -300, "Central Daylight Time"),
    ("MST", -420, "Mountain Standard Time"),
    ("MDT", -360, "Mountain Daylight Time"),
    ("PST", -480, "Pacific Standard Time"),
    ("PDT", -420, "Pacific Daylight Time"),
    ("AKST", -540, "Alaska Standard Time"),
    ("AKDT", -480, "Alaska Daylight Time"),
    ("HST", -600, "Hawaii-Aleutian Standard Time"),
    ("AST", -240, "Atlantic Standard Time"),
    ("ADT", -180, "Atlantic Daylight Time"),
    ("NST", -210, "Newfoundland Standard Time"),
    ("NDT", -150, "Newfoundland Daylight Time"),
    ("WET", 0, "Western European Standard Time"),
    ("WEST", 60, "Western European Summer Time"),
    ("BST", 60, "British Summer Time"),
    ("CET", 60, "Central European Standard Time"),
    ("CEST", 120, "Central European Summer Time"),
    ("EET", 120, "Eastern European Standard Time"),
    ("EEST", 180, "Eastern European Summer Time"),
    ("MSK", 180, "Moscow Standard Time"),
    ("SAST", 120, "South Africa Standard Time"),
    ("IST", 330, "India Standard Time"),
    ("PKT", 300, "Pakistan Standard Time"),
    ("CST", 480, "China Standard Time"),
    ("HKT", 480, "Hong Kong Standard Time"),
    ("SGT", 480, "Singapore Standard Time"),
    ("JST", 540, "Japan Standard Time"),
    ("KST", 540, "Korean Standard Time"),
    ("AWST", 480, "Australian Western Standard Time"),
    ("ACST", 570, "Australian Central Standard Time"),
    ("ACDT", 630, "Australian Central Daylight Time"),
    ("AEST", 600, "Australian Eastern Standard Time"),
    ("AEDT", 660, "Australian Eastern Daylight Time"),
    ("NZST", 720, "New Zealand Standard Time"),
    ("NZDT", 780, "New Zealand Daylight Time"),
];

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
