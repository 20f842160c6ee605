//! JSON values as trees, for what cannot be found by walking along the text.

use std::borrow::Cow;
use std::collections::HashMap;

use flott_types::text::{utf16_order, write_json_string};

use super::{Cursor, Kind, Malformed, Number};

/// Up to how many members an object's duplicates are looked for one by one.
const FEW_MEMBERS: usize = 16;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(Number<'a>),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object: members in the order of the text, each name once. Of members of the same name the
    /// last one's value stands at the first one's place.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// The first value of a text.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        Self::read(&mut Cursor::new(text))
    }

    /// Reads the next value.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        Ok(match cursor.kind()? {
            Kind::Word => cursor.word()?.map_or(Self::Null, Self::Boolean),
            Kind::Number => Self::Number(Number::Text(cursor.number()?)),
            Kind::String => Self::String(cursor.string()?.decode()),
            Kind::Array => Self::Array(read_array(cursor)?),
            Kind::Object => Self::Object(read_object(cursor)?),
        })
    }

    /// Whether it is neither array nor object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// The member of an object.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Writes the value as Flink does: no white space, members sorted by name.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(Number::Double(value)) if !value.is_finite() => {
                out.push('"');
                Number::Double(*value).write(out);
                out.push('"');
            }
            Self::Number(number) => number.write(out),
            Self::String(text) => write_json_string(out, text),
            Self::Array(elements) => {
                out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by(|(a, _), (b, _)| utf16_order(a, b));
                out.push('{');
                for (i, (name, value)) in sorted.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_json_string(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Writes the value as SQL text: strings without quotes, all else as JSON.
    pub fn write_text(&self, out: &mut String) {
        match self {
            Self::String(text) => out.push_str(text),
            Self::Number(number) => number.write(out),
            other => other.write(out),
        }
    }
}

fn read_array<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Node<'a>>, Malformed> {
    let mut elements = Vec::new();
    cursor.enter()?;
    while cursor.element(elements.is_empty())? {
        elements.push(Node::read(cursor)?);
    }
    Ok(elements)
}

fn read_object<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(Cow<'a, str>, Node<'a>)>, Malformed> {
    let mut members: Vec<(Cow<str>, Node)> = Vec::new();
    cursor.enter()?;
    while let Some(name) = cursor.member(members.is_empty())? {
        members.push((name.decode(), Node::read(cursor)?));
    }
    Ok(without_duplicates(members))
}

fn without_duplicates<'a>(members: Vec<(Cow<'a, str>, Node<'a>)>) -> Vec<(Cow<'a, str>, Node<'a>)> {
    let mut unique: Vec<(Cow<str>, Node)> = Vec::with_capacity(members.len());
    let mut places: HashMap<Cow<str>, usize> = HashMap::new();
    let many = members.len() > FEW_MEMBERS;
    for (name, value) in members {
        let place = match many {
            true => places.get(&name).copied(),
            false => unique.iter().position(|(seen, _)| *seen == name),
        };
        match place {
            Some(place) => unique[place].1 = value,
            None => {
                if many {
                    places.insert(name.clone(), unique.len());
                }
                unique.push((name, value));
            }
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let mut out = String::new();
        Node::parse(text).unwrap().write(&mut out);
        out
    }

    #[test]
    fn values_are_written_without_space_and_sorted() {
        for (text, written) in [
            (" [ 1 , \"a\" , null , true , [ ] , { } ] ", "[1,\"a\",null,true,[],{}]"),
            ("{\"b\":1,\"a\":{\"z\":1.50,\"y\":-0.0}}", "{\"a\":{\"y\":0.0,\"z\":1.50},\"b\":1}"),
            ("{\"b\":1,\"a\":2,\"b\":3}", "{\"a\":2,\"b\":3}"),
            ("\"\\u00e9\\u0001\"", "\"é\\u0001\""),
        ] {
            assert_eq!(rewritten(text), written);
        }
    }

    #[test]
    fn the_last_of_many_duplicates_counts() {
        let members: Vec<String> = (0..100).map(|i| format!("\"{}\":{i}", i % 30)).collect();
        let text = format!("{{{}}}", members.join(","));
        let Node::Object(members) = Node::parse(&text).unwrap() else { panic!("an object") };
        assert_eq!(members.len(), 30);
        assert_eq!(members[9].0, "9");
        let mut last = String::new();
        members[9].1.write(&mut last);
        assert_eq!(last, "99");
    }
}
