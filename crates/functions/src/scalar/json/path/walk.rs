//! Simple paths followed along the text, without a tree: `$.a.b`, `$[0]['c']`.

use super::token::{Path, Token};
use crate::scalar::json::text::{Cursor, Kind, Malformed, Node, Number};

/// A step into an array or object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the member of this name, the last of them if there are several.
    Member(String),
    /// To the element at this index, from the end if negative.
    Element(i32),
}

/// A value found in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Found<'a> {
    /// A scalar.
    Scalar(Node<'a>),
    /// The text of an array or object.
    Nested(&'a str),
    /// An array or object that a path made.
    Tree(Node<'a>),
}

impl Path {
    /// The steps of the path, if it is of single names and indexes only.
    pub fn steps(&self) -> Option<Vec<Step>> {
        let step = |token: &Token| match token {
            Token::Names(names) if names.len() == 1 => Some(Step::Member(names[0].clone())),
            Token::Indexes(indexes) if indexes.len() == 1 => Some(Step::Element(indexes[0])),
            _ => None,
        };
        self.tokens.iter().map(step).collect()
    }
}

/// The value that steps lead to in a text, all of which is read.
pub fn walk<'a>(text: &'a str, steps: &[Step]) -> Result<Option<Found<'a>>, Malformed> {
    follow(&mut Cursor::new(text), steps)
}

fn follow<'a>(cursor: &mut Cursor<'a>, steps: &[Step]) -> Result<Option<Found<'a>>, Malformed> {
    let kind = cursor.kind()?;
    let Some((step, rest)) = steps.split_first() else {
        return take(cursor, kind).map(Some);
    };
    match (step, kind) {
        (Step::Member(name), Kind::Object) => member(cursor, name, rest),
        (Step::Element(index), Kind::Array) => match usize::try_from(*index) {
            Ok(place) => element(cursor, place, rest),
            Err(_) => {
                let mut counter = *cursor;
                let length = count(&mut counter)?;
                match length.checked_sub(index.unsigned_abs() as usize) {
                    Some(place) => element(cursor, place, rest),
                    None => {
                        *cursor = counter;
                        Ok(None)
                    }
                }
            }
        },
        _ => cursor.skip().map(|()| None),
    }
}

fn take<'a>(cursor: &mut Cursor<'a>, kind: Kind) -> Result<Found<'a>, Malformed> {
    Ok(Found::Scalar(match kind {
        Kind::Word => cursor.word()?.map_or(Node::Null, Node::Boolean),
        Kind::Number => Node::Number(Number::Text(cursor.number()?)),
        Kind::String => Node::String(cursor.string()?.decode()),
        Kind::Array | Kind::Object => {
            let start = cursor.position();
            cursor.skip()?;
            return Ok(Found::Nested(cursor.text_since(start)));
        }
    }))
}

fn member<'a>(
    cursor: &mut Cursor<'a>,
    wanted: &str,
    rest: &[Step],
) -> Result<Option<Found<'a>>, Malformed> {
    let mut found = None;
    cursor.enter()?;
    let mut first = true;
    while let Some(name) = cursor.member(first)? {
        first = false;
        if name.is(wanted) {
            found = follow(cursor, rest)?;
        } else {
            cursor.skip()?;
        }
    }
    Ok(found)
}

fn element<'a>(
    cursor: &mut Cursor<'a>,
    wanted: usize,
    rest: &[Step],
) -> Result<Option<Found<'a>>, Malformed> {
    let mut found = None;
    let mut place = 0;
    cursor.enter()?;
    while cursor.element(place == 0)? {
        if place == wanted {
            found = follow(cursor, rest)?;
        } else {
            cursor.skip()?;
        }
        place += 1;
    }
    Ok(found)
}

/// The number of elements of an array.
fn count(cursor: &mut Cursor) -> Result<usize, Malformed> {
    let mut length = 0;
    cursor.enter()?;
    while cursor.element(length == 0)? {
        cursor.skip()?;
        length += 1;
    }
    Ok(length)
}
