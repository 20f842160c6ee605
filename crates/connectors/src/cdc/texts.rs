//! The texts in which databases send values: numbers, times, bytes and arrays.

use flott_types::text::days_from_civil;

use super::columns::Unfit;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND as i128;

/// `t`, `f` (PostgreSQL) or a number (MySQL).
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"t" | b"true" | b"1" => Some(true),
        b"f" | b"false" | b"0" => Some(false),
        // TINYINT(1) holds more than BOOLEAN does; all but 0 is true.
        _ => str::from_utf8(text).ok()?.parse::<i64>().ok().map(|number| number != 0),
    }
}

/// A decimal number at a scale, rounded half up; `None` when it is none or has more digits.
pub(super) fn decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    if whole.is_empty() {
        return None;
    }
    let scale = usize::from(scale);
    let kept = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(scale);
    let mut number: i128 = 0;
    for digit in whole.iter().copied().chain(kept) {
        number = number.checked_mul(10)?.checked_add(i128::from(digit_of(digit)?))?;
    }
    for (at, digit) in fraction.iter().enumerate().skip(scale) {
        let digit = digit_of(*digit)?;
        if at == scale && digit >= 5 {
            number = number.checked_add(1)?;
        }
    }
    if number >= 10_i128.checked_pow(u32::from(precision))? {
        return None;
    }
    Some(if negative { -number } else { number })
}

/// `2024-02-29`: days since 1970-01-01.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    let (days, rest) = split_date(text)?;
    if rest.is_empty() { i32::try_from(days).ok() } else { None }
}

/// `12:30:00.125`, perhaps with an offset, which is left out as Flink CDC does: milliseconds of the day.
pub(super) fn time(text: &[u8]) -> Option<i32> {
    let (nanos, _) = split_time(text)?;
    // 24:00:00 is a time for PostgreSQL.
    i32::try_from(nanos.rem_euclid(NANOS_PER_DAY as i64) / 1_000_000).ok()
}

/// `2024-02-29 12:30:00.125`, perhaps with an offset: nanoseconds since 1970, UTC where there is an offset.
pub(super) fn timestamp(text: &[u8]) -> Option<i128> {
    let (days, rest) = split_date(text)?;
    let (nanos, offset) = split_time(rest.strip_prefix(b" ")?)?;
    let seconds = match offset {
        [] => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let mut parts = rest.split(|byte| *byte == b':').map(number);
            let mut part = || parts.next().unwrap_or(Some(0));
            let seconds = part()? * 3600 + part()? * 60 + part()?;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let offset = i128::from(seconds) * i128::from(NANOS_PER_SECOND);
    Some(i128::from(days) * NANOS_PER_DAY + i128::from(nanos) - offset)
}

/// Bytes as pairs of digits, into `out`, whose content goes.
pub(super) fn hexadecimal(digits: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    let value = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    for pair in pairs {
        out.push(value(pair[0])? << 4 | value(pair[1])?);
    }
    Some(())
}

/// The elements of PostgreSQL's `{1,NULL,"a \"b\""}`, and how many there are. An element that is an array itself is
/// handed over as its text.
pub(super) fn array(
    text: &[u8],
    mut each: impl FnMut(Option<&[u8]>) -> Result<(), Unfit>,
) -> Result<i32, Unfit> {
    // Bounds other than from 1 stand before: [0:2]={1,2,3}.
    let start = if text.first() == Some(&b'[') {
        text.iter().position(|byte| *byte == b'=').ok_or(Unfit)? + 1
    } else {
        0
    };
    let mut rest = text[start..].strip_prefix(b"{").ok_or(Unfit)?;
    let mut count = 0;
    let mut unquoted = Vec::new();
    if rest == b"}" {
        return Ok(0);
    }
    loop {
        let end = match rest.first().ok_or(Unfit)? {
            b'"' => {
                unquoted.clear();
                let end = unquote(&rest[1..], &mut unquoted).ok_or(Unfit)? + 1;
                each(Some(&unquoted))?;
                end
            }
            b'{' => {
                let end = closing(rest).ok_or(Unfit)?;
                each(Some(&rest[..end]))?;
                end
            }
            _ => {
                let end = rest.iter().position(|byte| matches!(byte, b',' | b'}')).ok_or(Unfit)?;
                let element = &rest[..end];
                each((!element.eq_ignore_ascii_case(b"NULL")).then_some(element))?;
                end
            }
        };
        count += 1;
        match rest.get(end) {
            Some(b',') => rest = &rest[end + 1..],
            Some(b'}') if rest.len() == end + 1 => return Ok(count),
            _ => return Err(Unfit),
        }
    }
}

/// Reads up to the closing quote; where what follows it begins.
fn unquote(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => {
                out.push(*text.get(at + 1)?);
                at += 2;
            }
            byte => {
                out.push(*byte);
                at += 1;
            }
        }
    }
}

/// Where the array that begins the text ends.
fn closing(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut at) = (0, false, 0);
    loop {
        match text.get(at)? {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Days, and what follows.
fn split_date(text: &[u8]) -> Option<(i64, &[u8])> {
    let end = text.iter().position(|byte| *byte == b' ').unwrap_or(text.len());
    let mut parts = text[..end].split(|byte| *byte == b'-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(i32::try_from(year).ok()?, month as u32, day as u32);
    match text[end..].strip_suffix(b" BC") {
        Some(_) => None,
        None => Some((days, &text[end..])),
    }
}

/// Nanoseconds of `12:30:00.125`, and what follows.
fn split_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let two = |at: usize| number(text.get(at..at + 2)?);
    if text.get(2) != Some(&b':') || text.get(5) != Some(&b':') {
        return None;
    }
    let (hours, minutes, seconds) = (two(0)?, two(3)?, two(6)?);
    let mut nanos = (hours * 3600 + minutes * 60 + seconds) * NANOS_PER_SECOND;
    let mut rest = &text[8..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = number(&fraction[..length])?;
        nanos += digits * 10_i64.checked_pow(9_u32.checked_sub(length as u32)?)?;
        rest = &fraction[length..];
    }
    Some((nanos, rest))
}

/// A number of digits alone.
fn number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0_i64, |number, digit| Some(number * 10 + i64::from(digit_of(*digit)?)))
}

fn digit_of(digit: u8) -> Option<u8> {
    digit.is_ascii_digit().then(|| digit - b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Option<Vec<String>> {
        let mut all = Vec::new();
        let count = array(text.as_bytes(), |element| {
            all.push(element.map_or("NULL".into(), |e| String::from_utf8(e.to_vec()).unwrap()));
            Ok(())
        });
        count.ok().map(|count| {
            assert_eq!(count as usize, all.len());
            all
        })
    }

    #[test]
    fn arrays_are_taken_apart() {
        assert_eq!(elements("{}").unwrap(), [""; 0]);
        assert_eq!(elements("{1,NULL,3}").unwrap(), ["1", "NULL", "3"]);
        assert_eq!(elements(r#"{"a, \"b\"","\\","NULL"}"#).unwrap(), ["a, \"b\"", "\\", "NULL"]);
        assert_eq!(elements(r#"{{1,2},{"}",4}}"#).unwrap(), ["{1,2}", r#"{"}",4}"#]);
        assert_eq!(elements("[0:1]={7,8}").unwrap(), ["7", "8"]);
        for broken in ["", "1", "{1", "{1}2", "{\"a", "{1,", "{{1}"] {
            assert_eq!(elements(broken), None, "{broken}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_offset() {
        assert_eq!(date(b"1970-01-02"), Some(1));
        assert_eq!(date(b"infinity"), None);
        assert_eq!(date(b"0044-03-15 BC"), None);
        assert_eq!(time(b"23:59:59.125"), Some(86_399_125));
        assert_eq!(time(b"01:00:00+02"), Some(3_600_000));
        assert_eq!(timestamp(b"1970-01-01 00:00:01.000001"), Some(1_000_001_000));
        assert_eq!(timestamp(b"1970-01-01 02:30:00+02:30"), Some(0));
        assert_eq!(timestamp(b"1969-12-31 23:00:00-01"), Some(0));
        assert_eq!(timestamp(b"1969-12-31 23:00"), None);
    }

    #[test]
    fn decimals_are_rounded_and_must_fit() {
        assert_eq!(decimal(b"12.345", 6, 2), Some(1235));
        assert_eq!(decimal(b"-12.344", 6, 2), Some(-1234));
        assert_eq!(decimal(b"5", 3, 2), Some(500));
        assert_eq!(decimal(b"10", 3, 2), None);
        assert_eq!(decimal(b"NaN", 3, 2), None);
        assert_eq!(decimal(b"1.2x", 3, 1), None);
        assert_eq!(decimal("9".repeat(38).as_bytes(), 38, 0), Some(10_i128.pow(38) - 1));
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        let mut out = vec![1];
        assert_eq!(hexadecimal(b"00fF10", &mut out), Some(()));
        assert_eq!(out, [0, 255, 16]);
        assert_eq!(hexadecimal(b"0", &mut out), None);
        assert_eq!(hexadecimal(b"0g", &mut out), None);
    }
}
