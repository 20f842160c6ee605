//! The names of partition directories, escaped as Hive and Flink escape them.

use std::fmt::Write;

/// The column and value of a directory's name; `None` when it has not the form `column=value`.
pub(in super::super) fn parse_directory(name: &str) -> Option<(String, String)> {
    let (column, value) = name.split_once('=')?;
    let complete = !column.is_empty() && !value.is_empty();
    complete.then(|| (unescape(column), unescape(value)))
}

/// Appends `column=value`, after a slash unless it is the first.
pub(in super::super) fn write_directory(out: &mut String, column: &str, value: &str) {
    if !out.is_empty() {
        out.push('/');
    }
    escape(out, column);
    out.push('=');
    escape(out, value);
}

/// Appends a name in which characters that directories should not have are `%` and two digits.
fn escape(out: &mut String, name: &str) {
    for c in name.chars() {
        if needs_escape(c) {
            // Writing into a String cannot fail.
            let _ = write!(out, "%{:02X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

fn needs_escape(c: char) -> bool {
    c.is_ascii_control()
        || matches!(
            c,
            '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '[' | ']' | '^'
        )
}

fn unescape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let code = after.get(..2).filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()));
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                out.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                out.push('%');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_escaped_as_flink_does() {
        let mut out = String::new();
        write_directory(&mut out, "k", "x/y z");
        write_directory(&mut out, "ts", "2024-01-02T03:04");
        assert_eq!(out, "k=x%2Fy z/ts=2024-01-02T03%3A04");
        assert_eq!(parse_directory("s=b%2Fc"), Some(("s".into(), "b/c".into())));
        assert_eq!(parse_directory("s=50%"), Some(("s".into(), "50%".into())));
        assert_eq!(parse_directory("plain"), None);
        assert_eq!(parse_directory("s="), None);
    }

    proptest! {
        #[test]
        fn any_value_comes_back(column in "[a-z=]{1,5}", value in "\\PC{1,20}|[\\x00-\\x20%]{1,9}") {
            let mut out = String::new();
            write_directory(&mut out, &column, &value);
            prop_assert!(!out.contains('/'));
            prop_assert_eq!(parse_directory(&out), Some((column, value)));
        }
    }
}
