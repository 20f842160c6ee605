//! Results are those of Java 17 with English names.

use jiff::tz::TimeZone;

use super::*;
use crate::scalar::temporal::zone_id::time_zone;

/// 2026-01-01, so that two-digit years are those from 1946 on.
const NOW: i128 = 1_767_225_600_000_000_000;

fn print(pattern: &str, millis: i64, zone: &TimeZone) -> String {
    let mut out = String::new();
    SimpleFormat::compile(pattern).unwrap().print(&mut out, millis, &Zone::new(zone));
    out
}

fn parse(pattern: &str, text: &str, zone: &TimeZone) -> Option<i64> {
    let format = SimpleFormat::compile(pattern).unwrap();
    format.parse(text, &Zone::new(zone), Century::around(NOW))
}

#[test]
fn patterns_are_checked() {
    for (pattern, ok) in [
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", true),
        ("''yyyy''", true),
        ("中yyyy", true),
        ("{yyyy}#[MM]", true),
        ("", true),
        ("Q", false),
        ("bad pattern", false),
        ("'yyyy", false),
        ("XXXX", false),
    ] {
        assert_eq!(SimpleFormat::compile(pattern).is_ok(), ok, "{pattern}");
    }
}

#[test]
fn instants_are_printed() {
    for (pattern, expected) in [
        ("yyyy-MM-dd HH:mm:ss.SSS", "2024-03-09 15:04:05.005"),
        ("yy y yyyyy M MMM MMMM", "24 2024 02024 3 Mar March"),
        ("E EEEE u F w W D DDD", "Sat Saturday 6 2 10 2 69 069"),
        ("h K k a G", "3 3 15 PM AD"),
        ("S SS SSSSSS", "5 05 000005"),
        ("z zzzz Z X XXX", "UTC Coordinated Universal Time +0000 Z Z"),
        ("'o''clock' [HH] 中", "o'clock [15] 中"),
    ] {
        assert_eq!(print(pattern, 1_709_996_645_005, &TimeZone::UTC), expected, "{pattern}");
    }
    let new_york = time_zone("America/New_York");
    let zoned = "yyyy-MM-dd HH z zzzz Z X XXX";
    assert_eq!(
        print(zoned, 1_709_979_630_000, &new_york),
        "2024-03-09 05 EST Eastern Standard Time -0500 -05 -05:00"
    );
    assert_eq!(print("XXX Z", 0, &time_zone("GMT-03:30")), "-03:30 -0330");
    assert_eq!(print("z", 0, &time_zone("GMT+8")), "GMT+08:00");
    assert_eq!(print("HH:mm:ss", -14_825_858_400_000, &time_zone("Asia/Shanghai")), "18:00:00");
    // The Julian calendar, and years before Christ.
    assert_eq!(print("yyyy-MM-dd", -12_345_678_901_000, &TimeZone::UTC), "1578-10-03");
    assert_eq!(print("G yyyy-MM-dd EEE", -62_200_000_000_000, &TimeZone::UTC), "BC 0003-12-19 Thu");
}

#[test]
fn texts_are_read_leniently() {
    for (pattern, text, seconds) in [
        ("yyyy-MM-dd HH:mm:ss", "2024-03-09 15:04:05", Some(1_709_996_645)),
        ("yyyy-MM-dd HH:mm:ss", "2024-3-9 5:4:5 and more", Some(1_709_960_645)),
        ("yyyy-MM-dd HH:mm:ss", "2024-13-09 10:20:30", Some(1_736_418_030)),
        ("yyyy-MM-dd HH:mm:ss", "2024-02-30 25:60:61", Some(1_709_344_861)),
        ("yyyy-MM-dd HH:mm:ss", " 2024-03-09  15:04:05", Some(1_709_996_645)),
        ("yyyy-MM-dd HH:mm:ss", "0001-01-01 00:00:00", Some(-62_135_769_600)),
        ("yyyy-MM-dd HH:mm:ss", "1500-02-29 10:00:00", Some(-14_825_858_400)),
        ("yyyy-MM-dd HH:mm:ss", "2024-03-09", None),
        ("yyyy-MM-dd HH:mm:ss", "+2024-03-09 15:04:05", None),
        ("yyyyMMddHHmmss", "20240309150405", Some(1_709_996_645)),
        ("yy-MM-dd", "24-03-09", Some(1_709_942_400)),
        ("yy-MM-dd", "46-01-01", Some(-757_382_400)),
        ("yy-MM-dd", "45-12-31", Some(2_398_291_200)),
        ("yyyy-DDD", "2024-069", Some(1_709_942_400)),
        ("EEE, dd MMM yyyy", "sun, 09 MARCH 2024", Some(1_709_942_400)),
        ("hh:mm a", "10:20 pm", Some(80_400)),
        ("kk:mm", "24:00", Some(0)),
        ("yyyy-MM-dd HH:mm:ss X", "2024-03-09 10:20:30 +0200", Some(1_709_972_430)),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-03-09T10:20:30+05:30", Some(1_709_959_830)),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-03-09T10:20:30+0530", None),
        ("yyyy-MM-dd HH:mm:ss z", "2024-03-09 10:20:30 PST", Some(1_710_008_430)),
        ("yyyy-MM-dd HH:mm:ssz", "2024-03-09 10:20:30GMT+8:00", Some(1_709_950_830)),
        ("YYYY-ww-u", "2024-10-5", Some(1_709_856_000)),
        ("G yyyy-MM-dd", "BC 0044-03-15", Some(-63_517_996_800)),
        ("yyyy年MM月dd日", "2024年03月09日", Some(1_709_942_400)),
        ("", "x", None),
    ] {
        let millis = parse(pattern, text, &TimeZone::UTC);
        assert_eq!(millis.map(|m| m.div_euclid(1_000)), seconds, "{pattern}: {text}");
    }
    let new_york = time_zone("America/New_York");
    for (text, seconds) in
        [("2024-03-10 02:30:00", 1_710_055_800), ("2024-11-03 01:30:00", 1_730_615_400)]
    {
        assert_eq!(parse("yyyy-MM-dd HH:mm:ss", text, &new_york), Some(seconds * 1_000));
    }
}
