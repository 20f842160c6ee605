//! Names of time zones, as Java's two generations of classes read them.

use jiff::tz::{Offset, TimeZone};

/// The zone that Java's `ZoneId.of` makes of a name: a region of the tz database, or an offset with or
/// without one of the prefixes UTC, GMT and UT.
pub fn zone_id(name: &str) -> Option<TimeZone> {
    if name.starts_with(['+', '-']) || name.len() <= 1 {
        return zone_offset(name).map(TimeZone::fixed);
    }
    for prefix in ["UTC", "GMT", "UT"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            if rest.is_empty() {
                return Some(TimeZone::UTC);
            }
            if rest.starts_with(['+', '-']) {
                return zone_offset(rest).map(TimeZone::fixed);
            }
            break;
        }
    }
    // Java leaves these to its older classes.
    if matches!(name, "EST" | "MST" | "HST" | "ROC") { None } else { region(name) }
}

/// The zone that Java's `TimeZone.getTimeZone` makes of a name; UTC for one it does not know.
pub fn time_zone(name: &str) -> TimeZone {
    if let Some((_, target)) = SHORT_NAMES.iter().find(|(short, _)| *short == name) {
        return region(target).unwrap_or(TimeZone::UTC);
    }
    let fixed = |hours: i8| TimeZone::fixed(Offset::constant(hours));
    match name {
        "EST" => fixed(-5),
        "MST" => fixed(-7),
        "HST" => fixed(-10),
        _ => region(name).or_else(|| custom(name)).unwrap_or(TimeZone::UTC),
    }
}

/// A region by its exact name; Java minds the case.
fn region(name: &str) -> Option<TimeZone> {
    let zone = TimeZone::get(name).ok()?;
    (zone.iana_name() == Some(name)).then_some(zone)
}

/// `Z`, `+h`, `+hh`, `+hhmm`, `+hh:mm`, `+hhmmss`, `+hh:mm:ss`, up to 18 hours.
fn zone_offset(text: &str) -> Option<Offset> {
    if text == "Z" {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match text.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes, seconds) = match *digits {
        [h] => (number(&[h])?, 0, 0),
        [a, b] => (number(&[a, b])?, 0, 0),
        [a, b, c, d] | [a, b, b':', c, d] => (number(&[a, b])?, number(&[c, d])?, 0),
        [a, b, c, d, e, f] | [a, b, b':', c, d, b':', e, f] => {
            (number(&[a, b])?, number(&[c, d])?, number(&[e, f])?)
        }
        _ => return None,
    };
    let total = hours * 3_600 + minutes * 60 + seconds;
    if minutes > 59 || seconds > 59 || total > 18 * 3_600 {
        return None;
    }
    Offset::from_seconds(sign * total).ok()
}

/// `GMT+h`, `GMT+hh`, `GMT+hmm`, `GMT+hhmm`, `GMT+hh:mm`.
fn custom(name: &str) -> Option<TimeZone> {
    let rest = name.strip_prefix("GMT")?;
    let (sign, digits) = match rest.as_bytes() {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.iter().position(|byte| *byte == b':') {
        Some(colon) if (1..=2).contains(&colon) && digits.len() == colon + 3 => {
            (number(&digits[..colon])?, number(&digits[colon + 1..])?)
        }
        None if (1..=2).contains(&digits.len()) => (number(digits)?, 0),
        None if (3..=4).contains(&digits.len()) => {
            let all = number(digits)?;
            (all / 100, all % 100)
        }
        _ => return None,
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok().map(TimeZone::fixed)
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |so_far, digit| {
        digit.is_ascii_digit().then(|| so_far * 10 + i32::from(digit - b'0'))
    })
}

/// The three-letter names that Java keeps from its first version.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn offset(zone: &TimeZone) -> i32 {
        // 2024-03-09
        zone.to_offset(Timestamp::constant(1_709_979_630, 0)).seconds()
    }

    #[test]
    fn zone_ids() {
        for (name, hours) in [
            ("Asia/Tokyo", 9),
            ("+08:00", 8),
            ("+8", 8),
            ("-0330", -3),
            ("UTC", 0),
            ("UT", 0),
            ("UTC+8", 8),
            ("GMT-8", -8),
            ("GMT0", 0),
            ("CET", 1),
            ("Z", 0),
        ] {
            let zone = zone_id(name).unwrap_or_else(|| panic!("{name} is a zone"));
            assert_eq!(offset(&zone) / 3_600, hours, "{name}");
        }
        for name in ["", "X", "Asia/tokyo", "PST", "EST", "+19:00", "+08:60", "+8:00", "No/Where"] {
            assert!(zone_id(name).is_none(), "{name}");
        }
    }

    #[test]
    fn time_zones_fall_back_to_utc() {
        for (name, hours) in [
            ("PST", -8),
            ("EST", -5),
            ("CTT", 8),
            ("GMT+8", 8),
            ("GMT-08:00", -8),
            ("GMT+0830", 8),
            ("+08:00", 0),
            ("asia/tokyo", 0),
            ("UTC+8", 0),
            ("", 0),
        ] {
            assert_eq!(offset(&time_zone(name)) / 3_600, hours, "{name}");
        }
    }
}
