//! INET_ATON, INET_NTOA.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;

use arrow::array::Int64Array;
use flott_types::DataType;

use super::rows::{Integers, texts};
use super::signature::{Kind, immutable, resolve_with_null};
use crate::read::Strings;
use crate::{FunctionDoc, ScalarFunction, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "INET_ATON",
        |args| {
            let form = "INET_ATON(<CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text]], &[form], |_| DataType::bigint())
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let address = Strings::new(&args[0]);
                let numbers = (0..context.rows).map(|row| to_number(address.get(row)?));
                Ok(Arc::new(numbers.collect::<Int64Array>()))
            }))
        },
        FunctionDoc {
            syntax: &["INET_ATON(string)"],
            text: "The number of an IPv4 address. Of fewer than four parts, the last is the lowest \
                   byte and the others are the highest: `127.1` is `127.0.0.1`. Leading zeros do \
                   not make a part octal. NULL if the text is not an address.",
            examples: &[("INET_ATON('127.0.0.1')", "2130706433"), ("INET_ATON('a')", "NULL")],
        },
    ),
    immutable(
        "INET_NTOA",
        |args| {
            let form = "INET_NTOA(<INTEGER>)";
            resolve_with_null(args, &[&[Kind::Integer]], &[form], |_| DataType::string())
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let number = Integers::new(&args[0]);
                texts(context.rows, |row, out| {
                    let address = Ipv4Addr::from(u32::try_from(number.get(row)?).ok()?);
                    write!(out, "{address}").ok()
                })
            }))
        },
        FunctionDoc {
            syntax: &["INET_NTOA(integer)"],
            text: "The IPv4 address of a number; NULL if it is negative or above 4294967295.",
            examples: &[("INET_NTOA(2130706433)", "127.0.0.1"), ("INET_NTOA(-1)", "NULL")],
        },
    ),
];

/// The number of an address of one to four parts, each a byte.
fn to_number(address: &str) -> Option<i64> {
    let mut bytes = [0u8; 4];
    let parts = address.split('.').count();
    if parts > 4 {
        return None;
    }
    for (i, part) in address.split('.').enumerate() {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = part.trim_start_matches('0');
        let value = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        bytes[if i + 1 == parts { 3 } else { i }] = value;
    }
    Some(i64::from(u32::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::to_number;

    #[test]
    fn short_addresses_leave_out_the_middle() {
        for (address, number) in [
            ("192.168.1.10", Some(3232235786)),
            ("127.1", Some(2130706433)),
            ("10.1.2", Some(167837698)),
            ("7", Some(7)),
            ("010.001.000.007", Some(167837703)),
            ("1.2.3.00000000000000000000000255", Some(16909311)),
            ("256.1.1.1", None),
            ("1.256", None),
            ("1..2", None),
            ("1.2.3.4.5", None),
            (" 1.2.3.4", None),
            ("+1.2.3.4", None),
            ("", None),
        ] {
            assert_eq!(to_number(address), number, "{address}");
        }
    }
}
