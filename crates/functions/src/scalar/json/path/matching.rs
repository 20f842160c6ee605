//! Whether values fulfil the conditions of filters.

use std::borrow::Cow;
use std::cmp::Ordering;

use flott_types::text::utf16_order;

use super::condition::{Condition, Operator};
use super::evaluate::{Hit, Missing, Stop};
use super::operand::Operand;
use crate::scalar::json::text::{Decimal, Node, Number};
use crate::scalar::pattern::Regexp;

/// A value under test: itself, the document it comes from, and what becomes of missing members.
#[derive(Clone, Copy)]
pub(super) struct Subject<'t, 'a> {
    pub value: &'t Node<'a>,
    pub document: &'t Node<'a>,
    pub missing: Missing,
}

impl Condition {
    /// Whether a value fulfils the condition. A path that cannot be followed makes it unfulfilled.
    pub(super) fn accepts(&self, subject: Subject) -> Result<bool, Stop> {
        match self.holds(subject) {
            Err(Stop::NotFound | Stop::Invalid) => Ok(false),
            result => result,
        }
    }

    fn holds(&self, subject: Subject) -> Result<bool, Stop> {
        match self {
            Self::Any(conditions) => {
                for condition in conditions {
                    if condition.holds(subject)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::All(conditions) => {
                for condition in conditions {
                    if !condition.holds(subject)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(condition) => Ok(!condition.holds(subject)?),
            Self::Exists { path, wanted } => {
                let required = Missing::Required;
                match path.evaluate(subject.value, subject.document, required) {
                    Ok(_) => Ok(*wanted),
                    Err(Stop::NotFound) => Ok(!wanted),
                    Err(stop) => Err(stop),
                }
            }
            Self::Relation(left, operator, right) => {
                let (left, right) = (Value::of(left, subject)?, Value::of(right, subject)?);
                relates(*operator, &left, &right)
            }
        }
    }
}

/// What an operand stands for.
enum Value<'v, 'a> {
    /// A path that leads nowhere.
    Undefined,
    Null,
    Boolean(bool),
    Number(Decimal),
    Text(Cow<'v, str>),
    /// An array or object.
    Json(Hit<'v, 'a>),
    Pattern(&'v Regexp),
}

impl<'v, 'a: 'v> Value<'v, 'a> {
    fn of(operand: &'a Operand, subject: Subject<'v, 'a>) -> Result<Self, Stop> {
        Ok(match operand {
            Operand::Null => Self::Null,
            Operand::Boolean(value) => Self::Boolean(*value),
            Operand::Number(number) => Self::Number(number.clone()),
            Operand::Text(text) => Self::Text(Cow::Borrowed(text)),
            Operand::Pattern(pattern) => Self::Pattern(pattern),
            Operand::Json(text) => {
                Self::Json(Hit::Made(Node::parse(text).map_err(|_| Stop::Invalid)?))
            }
            Operand::Path(path) => {
                let start = if path.from_document { subject.document } else { subject.value };
                match path.evaluate(start, subject.document, subject.missing) {
                    Ok(hit) => Self::from_hit(hit),
                    Err(Stop::NotFound) => Self::Undefined,
                    Err(stop) => return Err(stop),
                }
            }
        })
    }

    fn from_hit(hit: Hit<'v, 'a>) -> Self {
        match hit {
            Hit::There(node) => Self::from_node(node),
            Hit::Made(Node::String(text)) => Self::Text(text),
            Hit::Made(node) => match Self::scalar(&node) {
                Some(value) => value,
                None => Self::Json(Hit::Made(node)),
            },
        }
    }

    fn from_node(node: &'v Node<'a>) -> Self {
        match node {
            Node::String(text) => Self::Text(Cow::Borrowed(text)),
            node => Self::scalar(node).unwrap_or(Self::Json(Hit::There(node))),
        }
    }

    fn scalar(node: &Node) -> Option<Self> {
        match node {
            Node::Null => Some(Self::Null),
            Node::Boolean(value) => Some(Self::Boolean(*value)),
            Node::Number(number) => Some(decimal(*number).map_or(Self::Undefined, Self::Number)),
            _ => None,
        }
    }

    /// The elements of an array.
    fn elements(&self) -> Option<Vec<Value<'_, 'a>>> {
        match self {
            Self::Json(hit) => match hit.node() {
                Node::Array(elements) => Some(elements.iter().map(Value::from_node).collect()),
                _ => None,
            },
            _ => None,
        }
    }
}

fn decimal(number: Number) -> Option<Decimal> {
    let mut text = String::new();
    number.write(&mut text);
    Decimal::parse(&text)
}

fn relates(operator: Operator, left: &Value, right: &Value) -> Result<bool, Stop> {
    use Operator::*;
    let order = |wanted: fn(Ordering) -> bool| compare(left, right).is_some_and(wanted);
    let contains = |list: &[Value], value: &Value| list.iter().any(|item| equal(value, item));
    let both = || left.elements().zip(right.elements());
    Ok(match operator {
        Equal => equal(left, right),
        NotEqual => !equal(left, right),
        SameTypeEqual => same_type(left, right) && equal(left, right),
        SameTypeNotEqual => !(same_type(left, right) && equal(left, right)),
        Less => order(Ordering::is_lt),
        LessOrEqual => order(Ordering::is_le),
        Greater => order(Ordering::is_gt),
        GreaterOrEqual => order(Ordering::is_ge),
        Matches => match (left, right) {
            (Value::Pattern(_), Value::Pattern(_)) => false,
            (Value::Pattern(pattern), value) | (value, Value::Pattern(pattern)) => {
                matches_pattern(pattern, value)?
            }
            _ => false,
        },
        In => right.elements().is_some_and(|list| contains(&list, left)),
        NotIn => !right.elements().is_some_and(|list| contains(&list, left)),
        Contains => match (left, right) {
            (Value::Text(text), Value::Text(part)) => text.contains(part.as_ref()),
            _ => left.elements().is_some_and(|list| contains(&list, right)),
        },
        ContainsAll => both().is_some_and(|(l, r)| r.iter().all(|item| contains(&l, item))),
        SubsetOf => both().is_some_and(|(l, r)| l.iter().all(|item| contains(&r, item))),
        AnyOf => both().is_some_and(|(l, r)| l.iter().any(|item| contains(&r, item))),
        NoneOf => both().is_some_and(|(l, r)| !l.iter().any(|item| contains(&r, item))),
        Size => match right {
            Value::Number(wanted) => size(left)
                .and_then(|size| Decimal::parse(&size.to_string()))
                .is_some_and(|size| size.compare(wanted) == Ordering::Equal),
            _ => false,
        },
        Empty => match (right, size(left)) {
            (Value::Boolean(wanted), Some(size)) => (size == 0) == *wanted,
            (Value::Boolean(_), None) => false,
            _ => return Err(Stop::Invalid),
        },
        Unusable => return Err(Stop::Invalid),
    })
}

/// Whether two values are equal; a number and a string are, if the string reads as that number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Boolean(a), Value::Boolean(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.compare(b) == Ordering::Equal,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Number(a), Value::Text(b)) => {
            Decimal::parse(b).is_some_and(|b| a.compare(&b) == Ordering::Equal)
        }
        (Value::Text(a), Value::Number(b)) => {
            let mut text = String::new();
            b.write(&mut text);
            *a == text
        }
        (Value::Json(a), Value::Json(b)) => same(a.node(), b.node()),
        _ => false,
    }
}

fn same_type(left: &Value, right: &Value) -> bool {
    std::mem::discriminant(left) == std::mem::discriminant(right)
}

/// Whether two JSON values are the same; the order of members does not count.
fn same(left: &Node, right: &Node) -> bool {
    match (left, right) {
        (Node::Null, Node::Null) => true,
        (Node::Boolean(a), Node::Boolean(b)) => a == b,
        (Node::String(a), Node::String(b)) => a == b,
        (Node::Number(a), Node::Number(b)) => {
            let order = decimal(*a).zip(decimal(*b)).map(|(a, b)| a.compare(&b));
            order == Some(Ordering::Equal)
        }
        (Node::Array(a), Node::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Node::Object(a), Node::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| right.member(name).is_some_and(|b| same(value, b)))
        }
        _ => false,
    }
}

/// The order of two numbers or two strings.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Some(a.compare(b)),
        (Value::Text(a), Value::Text(b)) => Some(utf16_order(a, b)),
        _ => None,
    }
}

/// The length of a string in UTF-16 units, or the number of elements or members.
fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Text(text) => Some(text.encode_utf16().count()),
        Value::Json(hit) => match hit.node() {
            Node::Array(elements) => Some(elements.len()),
            Node::Object(members) => Some(members.len()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a scalar, or any element of an array, matches as a whole.
fn matches_pattern(pattern: &Regexp, value: &Value) -> Result<bool, Stop> {
    let is_match = |text: &str| pattern.is_match(text).map_err(|_| Stop::Failed(PATTERN_FAILED));
    if let Some(elements) = value.elements() {
        for element in &elements {
            if is_match(&input(element))? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    is_match(&input(value))
}

const PATTERN_FAILED: &str = "the pattern of a filter takes too many steps";

/// What a pattern is matched with.
fn input(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Number(number) => {
            let mut text = String::new();
            number.write(&mut text);
            text
        }
        _ => String::new(),
    }
}
