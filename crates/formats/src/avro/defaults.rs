//! Defaults of fields, written as a writer would have written them.

use serde_json::Value;

use super::schema::{AvroSchema, Node, NodeId};

/// How deep a default may stand in itself.
const MAX_DEPTH: usize = 64;

/// Appends a default of a type; the error says what it is instead.
pub(super) fn encode_default(
    schema: &AvroSchema,
    id: NodeId,
    value: &Value,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    encode(schema, id, value, out, 0)
}

fn encode(
    schema: &AvroSchema,
    id: NodeId,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("a value without an end".into());
    }
    let no = |what: &str| Err(format!("{value}, no {what}"));
    match schema.node(id) {
        Node::Null => {
            if !value.is_null() {
                return no("null");
            }
        }
        Node::Boolean => match value.as_bool() {
            Some(truth) => out.push(truth.into()),
            None => return no("boolean"),
        },
        Node::Int(_) => match value.as_i64().and_then(|number| i32::try_from(number).ok()) {
            Some(number) => write_long(out, number.into()),
            None => return no("int"),
        },
        Node::Long(_) => match value.as_i64() {
            Some(number) => write_long(out, number),
            None => return no("long"),
        },
        Node::Float => match value.as_f64() {
            Some(number) => out.extend_from_slice(&(number as f32).to_le_bytes()),
            None => return no("float"),
        },
        Node::Double => match value.as_f64() {
            Some(number) => out.extend_from_slice(&number.to_le_bytes()),
            None => return no("double"),
        },
        Node::Bytes(_) => match value.as_str().and_then(latin) {
            Some(bytes) => write_bytes(out, &bytes),
            None => return no("bytes"),
        },
        Node::Fixed { size, .. } => match value.as_str().and_then(latin) {
            Some(bytes) if bytes.len() == *size => out.extend_from_slice(&bytes),
            _ => return no("fixed"),
        },
        Node::String => match value.as_str() {
            Some(text) => write_bytes(out, text.as_bytes()),
            None => return no("string"),
        },
        Node::Enum { symbols, .. } => {
            match symbols.iter().position(|symbol| value.as_str() == Some(symbol)) {
                Some(symbol) => write_long(out, symbol as i64),
                None => return no("symbol"),
            }
        }
        Node::Array(items) => {
            let Some(list) = value.as_array() else { return no("array") };
            if !list.is_empty() {
                write_long(out, list.len() as i64);
            }
            for item in list {
                encode(schema, *items, item, out, depth + 1)?;
            }
            out.push(0);
        }
        Node::Map(values) => {
            let Some(map) = value.as_object() else { return no("map") };
            if !map.is_empty() {
                write_long(out, map.len() as i64);
            }
            for (key, value) in map {
                write_bytes(out, key.as_bytes());
                encode(schema, *values, value, out, depth + 1)?;
            }
            out.push(0);
        }
        // By the book the first branch; later ones are common nevertheless.
        Node::Union(branches) => {
            let start = out.len();
            for (at, branch) in branches.iter().enumerate() {
                write_long(out, at as i64);
                if encode(schema, *branch, value, out, depth + 1).is_ok() {
                    return Ok(());
                }
                out.truncate(start);
            }
            return no("branch of the union");
        }
        Node::Record { fields, .. } => {
            let Some(map) = value.as_object() else { return no("record") };
            for field in fields {
                match map.get(&*field.name).or(field.default.as_ref()) {
                    Some(value) => encode(schema, field.node, value, out, depth + 1)?,
                    None => return no("record"),
                }
            }
        }
    }
    Ok(())
}

/// Appends a number, zig-zag and in sevens of bits.
#[inline]
pub(crate) fn write_long(out: &mut Vec<u8>, number: i64) {
    let mut bits = ((number << 1) ^ (number >> 63)) as u64;
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

/// Appends bytes behind their length.
#[inline]
pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_long(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

/// The bytes of a text whose characters stand for one byte each.
fn latin(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}
