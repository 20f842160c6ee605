//! Results are those of Java 17 with English names.

use super::*;
use crate::scalar::temporal::stamps::Stamp;

fn print(pattern: &str, second: i64, nano: u32) -> String {
    let mut out = String::new();
    match Formatter::compile(pattern) {
        Err(_) => "not a pattern".into(),
        Ok(format) => match format.print(&mut out, &LocalTime::from(Stamp { second, nano })) {
            Ok(()) => out,
            Err(_) => "not printable".into(),
        },
    }
}

fn parse(pattern: &str, text: &str) -> String {
    match Formatter::compile(pattern).unwrap().parse(text) {
        Ok(stamp) => {
            let mut out = String::new();
            let format = Formatter::compile("uuuu-MM-dd HH:mm:ss").unwrap();
            format.print(&mut out, &LocalTime::from(stamp)).unwrap();
            if stamp.nano > 0 {
                out.push_str(&format!(".{:09}", stamp.nano));
            }
            out
        }
        Err(Failure::Unparsable(_)) => "unparsable".into(),
        Err(Failure::Invalid(_)) => "invalid".into(),
    }
}

#[test]
fn local_times_are_printed() {
    // 2024-03-09 15:04:05.678912345, a Saturday.
    for (pattern, expected) in [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-03-09T15:04:05.678"),
        ("yy M d h:m:s a", "24 3 9 3:4:5 PM"),
        ("yyyyy uuu u", "02024 2024 2024"),
        ("EEE EEEE EEEEE e ee c", "Sat Saturday S 7 07 7"),
        ("MMM MMMM MMMMM LLL", "Mar March M Mar"),
        ("Q QQ QQQ QQQQ", "1 01 Q1 1st quarter"),
        ("G GGGG GGGGG", "AD Anno Domini A"),
        ("YYYY ww W D DDD F g", "2024 10 2 69 069 2 60378"),
        ("kk KK K S SS n N A", "15 03 3 6 67 678912345 54245678912345 54245678"),
        ("''yyyy'' 'o''clock' [MM] ppppH", "'2024' o'clock 03   15"),
        ("yyyy[ XXX]", "2024"),
        ("年yyyy", "年2024"),
        ("yyyy XXX", "not printable"),
        ("z", "not printable"),
        ("pH", "not printable"),
        ("b", "not a pattern"),
        ("yyyy '", "not a pattern"),
        ("{yyyy}", "not a pattern"),
        ("HHH", "not a pattern"),
        ("cc", "not a pattern"),
        ("p", "not a pattern"),
    ] {
        assert_eq!(print(pattern, 1_709_996_645, 678_912_345), expected, "{pattern}");
    }
    assert_eq!(print("yyyy uuuu G", -62_200_000_000, 0), "0003 -0002 BC");
    assert_eq!(print("yyyy-MM-dd", 253_402_300_800, 0), "+10000-01-01");
    assert_eq!(print("YYYY-'W'ww", 978_220_859, 0), "2001-W01");
}

#[test]
fn texts_are_parsed() {
    for (pattern, text, expected) in [
        ("yyyy-MM-dd HH:mm:ss", "2024-03-09 15:04:05", "2024-03-09 15:04:05"),
        ("yyyy-MM-dd HH:mm:ss", "2024-3-9 5:4:5", "unparsable"),
        ("yyyy-MM-dd HH:mm:ss", "2024-02-30 10:20:30", "2024-02-29 10:20:30"),
        ("yyyy-MM-dd HH:mm:ss", "2024-03-09 24:00:00", "2024-03-10 00:00:00"),
        ("yyyy-MM-dd HH:mm:ss", "2024-03-09 24:00:01", "unparsable"),
        ("yyyy-MM-dd HH:mm:ss", "2024-13-01 00:00:00", "unparsable"),
        ("yyyy-MM-dd HH:mm:ss", "12024-01-01 00:00:00", "unparsable"),
        ("yyyy-MM-dd HH:mm:ss", "+12024-01-01 00:00:00", "+12024-01-01 00:00:00"),
        ("yyyy-M-d H:m:s", "2024-3-9 5:4:5", "2024-03-09 05:04:05"),
        ("yyyyMMddHHmmssSSS", "20240309150405123", "2024-03-09 15:04:05.123000000"),
        ("yy-MM-dd", "24-03-09", "2024-03-09 00:00:00"),
        ("yyyy-DDD", "2024-069", "2024-03-09 00:00:00"),
        ("yyyy-DDD", "2023-366", "unparsable"),
        ("EEE, dd MMM yyyy", "Sat, 09 Mar 2024", "2024-03-09 00:00:00"),
        ("EEE, dd MMM yyyy", "Sun, 09 Mar 2024", "unparsable"),
        ("EEE, dd MMM yyyy", "sat, 09 mar 2024", "unparsable"),
        ("hh:mm a", "10:20 PM", "1970-01-01 22:20:00"),
        ("hh:mm a", "12:20 AM", "1970-01-01 00:20:00"),
        ("hh:mm", "10:20", "1970-01-01 00:20:00"),
        ("kk:mm", "24:00", "1970-01-01 00:00:00"),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-03-09T15:04:05+05:30", "2024-03-09 15:04:05"),
        ("yyyy-MM-dd'T'HH:mm:ssX", "2024-03-09T15:04:05Z", "2024-03-09 15:04:05"),
        ("yyyy-MM-dd'T'HH:mm:ssX", "2024-03-09T15:04:05", "unparsable"),
        ("HH:mm VV", "10:20 Asia/Tokyo", "1970-01-01 10:20:00"),
        ("HH:mm VV", "10:20 PST", "unparsable"),
        ("HH:mm z", "10:20 PST", "1970-01-01 10:20:00"),
        ("YYYY-ww-e", "2024-10-6", "2024-03-08 00:00:00"),
        ("yyyy-Q", "2024-3", "2024-01-01 00:00:00"),
        ("G yyyy", "BC 0044", "-0043-01-01 00:00:00"),
        ("yyyy dd", "2024 30", "2024-01-30 00:00:00"),
        ("MM-dd", "02-30", "invalid"),
        ("MM", "13", "invalid"),
        ("yyyy-MM-dd HH:mm[:ss][.S]", "2024-03-09 15:04.5", "2024-03-09 15:04:00.500000000"),
        ("yyyy-MM-dd[ HH:mm]", "2024-03-09", "2024-03-09 00:00:00"),
        ("ppH", " 5", "1970-01-01 05:00:00"),
        ("A", "37230", "1970-01-01 00:00:37.230000000"),
        ("", "x", "unparsable"),
    ] {
        assert_eq!(parse(pattern, text), expected, "{pattern}: {text}");
    }
}

#[test]
fn the_default_form_takes_one_or_two_digits() {
    let format = Formatter::default_timestamp();
    for (text, ok) in [
        ("2024-03-09 15:04:05.123456789", true),
        ("2024-3-9 1:2:3", true),
        ("2024-03-09", true),
        ("2024-03-09 15:04:05.", true),
        ("2024-03-09 15:04", false),
        ("2024-03-09T15:04:05", false),
        ("0000-01-01", false),
        ("2024-03-09 15:04:05.1234567890", false),
        (" 2024-03-09", false),
    ] {
        assert_eq!(format.parse(text).is_ok(), ok, "{text}");
    }
}
