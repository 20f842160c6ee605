//! Zones and offsets in a text. A local time has no use for them, so all that counts is how long
//! they are.

use super::super::zone_id::zone_id;
use super::super::zone_names;
use super::{Minutes, Seconds, ZonePart};

/// The length of the zone or offset that a text begins with.
pub fn length(part: ZonePart, text: &str) -> Option<usize> {
    match part {
        ZonePart::Offset { minutes, seconds, colon, zero } => {
            match offset(text, minutes, seconds, colon) {
                Some(length) => Some(length),
                None => text.starts_with(zero).then_some(zero.len()),
            }
        }
        ZonePart::Localized { full } => {
            let rest = text.strip_prefix("GMT")?;
            let length = match full {
                true => offset(rest, Minutes::Required, Seconds::Optional, true),
                false => hours(rest),
            };
            Some(3 + length.unwrap_or(0))
        }
        ZonePart::Id => id(text),
        ZonePart::Name => zone_names::all()
            .filter(|name| text.starts_with(name))
            .map(str::len)
            .max()
            .max(id(text)),
    }
}

/// `+hh`, then as the pattern has it minutes and seconds.
fn offset(text: &str, minutes: Minutes, seconds: Seconds, colon: bool) -> Option<usize> {
    let rest = text.strip_prefix(['+', '-'])?;
    let mut length = pair(rest, "", 18)? + 1;
    let separator = if colon { ":" } else { "" };
    match pair(&text[length..], separator, 59) {
        Some(more) => length += more,
        None if minutes == Minutes::Optional => return Some(length),
        None => return None,
    }
    if seconds == Seconds::Optional {
        length += pair(&text[length..], separator, 59).unwrap_or(0);
    }
    Some(length)
}

/// `+h` or `+hh`, then possibly `:mm` and `:ss`.
fn hours(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['+', '-'])?;
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let mut length = 1 + digits;
    while let Some(more) = pair(&text[length..], ":", 59) {
        length += more;
    }
    Some(length)
}

/// A separator and two digits that are not above `max`.
fn pair(text: &str, separator: &str, max: u32) -> Option<usize> {
    let rest = text.strip_prefix(separator)?;
    let digits = rest.get(..2).filter(|two| two.bytes().all(|byte| byte.is_ascii_digit()))?;
    (digits.parse::<u32>().ok()? <= max).then_some(separator.len() + 2)
}

/// The longest beginning that is the id of a zone.
fn id(text: &str) -> Option<usize> {
    let id_offset = |text| offset(text, Minutes::Required, Seconds::Optional, true);
    if text.starts_with(['+', '-']) {
        return id_offset(text);
    }
    let longest = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"/_+-~".contains(byte))
        .count();
    let region = (1..=longest)
        .rev()
        .find(|length| zone_id(&text[..*length]).is_some_and(|zone| zone.iana_name().is_some()));
    let prefixed =
        ["UTC", "GMT", "UT"].iter().find(|prefix| text.starts_with(**prefix)).map(|prefix| {
            let rest = &text[prefix.len()..];
            prefix.len() + id_offset(rest).unwrap_or(0)
        });
    prefixed.max(region).or_else(|| text.starts_with('Z').then_some(1))
}
