//! `%t`: instants by parts.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Whether a letter may follow `%t`.
pub fn is_known(letter: char) -> bool {
    "HIklMSLNpzZsQBbhAaCYyjmdeRTrDFc".contains(letter)
}

/// A part of an instant, given in milliseconds since the epoch, in a time zone; `None` if the instant is
/// beyond the years that are supported.
pub fn format(letter: char, millis: i64, zone: &TimeZone) -> Option<String> {
    let instant = Timestamp::from_millisecond(millis).ok()?;
    let local = instant.to_zoned_datetime(zone.clone());
    let hour12 = match local.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    // Java counts the years before Christ from 1.
    let year = match local.year() {
        year @ ..=0 => 1 - i32::from(year),
        year => i32::from(year),
    };
    let part = |pattern: &str| jiff::fmt::strtime::format(pattern, &local).ok();
    Some(match letter {
        'H' => format!("{:02}", local.hour()),
        'I' => format!("{hour12:02}"),
        'k' => local.hour().to_string(),
        'l' => hour12.to_string(),
        'M' => format!("{:02}", local.minute()),
        'S' => format!("{:02}", local.second()),
        'L' => format!("{:03}", local.millisecond()),
        'N' => format!("{:09}", local.subsec_nanosecond()),
        'p' => if local.hour() < 12 { "am" } else { "pm" }.into(),
        'z' => part("%z")?,
        'Z' => part("%Z")?,
        's' => millis.div_euclid(1000).to_string(),
        'Q' => millis.to_string(),
        'B' => part("%B")?,
        'b' | 'h' => part("%b")?,
        'A' => part("%A")?,
        'a' => part("%a")?,
        'C' => format!("{:02}", year / 100),
        'Y' => format!("{year:04}"),
        'y' => format!("{:02}", year % 100),
        'j' => format!("{:03}", local.day_of_year()),
        'm' => format!("{:02}", local.month()),
        'd' => format!("{:02}", local.day()),
        'e' => local.day().to_string(),
        'R' => part("%H:%M")?,
        'T' => part("%H:%M:%S")?,
        'r' => format!("{hour12:02}:{}", part("%M:%S %p")?),
        'D' => part("%m/%d/%y")?,
        'F' => format!("{year:04}-{}", part("%m-%d")?),
        'c' => format!("{} {year:04}", part("%a %b %d %H:%M:%S %Z")?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_printed_by_parts() {
        let print = |letters: &str, millis| {
            let parts = letters.chars().map(|letter| format(letter, millis, &TimeZone::UTC));
            parts.collect::<Option<Vec<_>>>().map(|parts| parts.join(" "))
        };
        let morning = 1_704_448_921_123;
        assert_eq!(
            print("aAbhdemyCj", morning).as_deref(),
            Some("Fri Friday Jan Jan 05 5 01 24 20 005"),
        );
        assert_eq!(
            print("HkIlMSLNpzZsQ", morning).as_deref(),
            Some("10 10 10 10 02 01 123 123000000 am +0000 UTC 1704448921 1704448921123"),
        );
        assert_eq!(
            print("RTrDFc", 1_704_495_721_123).as_deref(),
            Some("23:02 23:02:01 11:02:01 PM 01/05/24 2024-01-05 Fri Jan 05 23:02:01 UTC 2024"),
        );
        assert_eq!(print("Y", -99_999_999_999_999).as_deref(), Some("1200"));
        assert_eq!(print("Y", i64::MAX), None);
        assert!(!is_known('X'));
    }
}
