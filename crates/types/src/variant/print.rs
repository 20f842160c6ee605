//! Variants as JSON texts.

use std::fmt::Write;

use super::view::View;
use crate::text::{write_decimal, write_double, write_json_string};

/// Writes a variant as JSON: without white space, decimal numbers without trailing zeros.
///
/// Bytes that are no variant are `null`.
pub fn write_variant(out: &mut String, bytes: &[u8]) {
    match View::new(bytes) {
        None | Some(View::Null) => out.push_str("null"),
        Some(View::Boolean(value)) => out.push_str(if value { "true" } else { "false" }),
        Some(View::Integer(value)) => {
            let _ = write!(out, "{value}");
        }
        Some(View::Decimal { mut digits, mut scale }) => {
            while scale > 0 && digits % 10 == 0 {
                digits /= 10;
                scale -= 1;
            }
            write_decimal(out, digits, scale.min(38));
        }
        Some(View::Double(value)) => write_double(out, value),
        Some(View::String(text)) => write_json_string(out, text),
        Some(View::Array(array)) => {
            out.push('[');
            for (i, element) in (0..array.len()).map_while(|at| array.element(at)).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_variant(out, element);
            }
            out.push(']');
        }
        Some(View::Object(object)) => {
            out.push('{');
            for (i, (name, value)) in
                (0..object.len()).map_while(|at| object.member(at)).enumerate()
            {
                if i > 0 {
                    out.push(',');
                }
                write_json_string(out, name);
                out.push(':');
                write_variant(out, value);
            }
            out.push('}');
        }
    }
}
