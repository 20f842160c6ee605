//! Functions at the end of paths: `$.a.length()`.

use std::borrow::Cow;

use super::evaluate::{Missing, Stop, gather};
use super::token::{Path, Token};
use crate::scalar::json::text::{Node, Number};

/// The least positive DOUBLE, from which `max()` starts.
const LEAST_POSITIVE: f64 = f64::from_bits(1);

/// A call of a function.
#[derive(Debug)]
pub(super) struct Function {
    kind: Option<Kind>,
    parameters: Vec<Parameter>,
    /// Of `length($.a)`: whether the path without the wildcard that was put behind it is definite.
    measures_definite: Option<bool>,
}

/// A parameter of a function.
#[derive(Debug)]
pub(super) enum Parameter {
    /// The text of a JSON value.
    Json(String),
    /// A path into the document.
    Path(Path),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Avg,
    StdDev,
    Sum,
    Min,
    Max,
    Concat,
    Length,
    Append,
    Keys,
    First,
    Last,
    Index,
}

impl Function {
    /// A call of the function of this name; one that does not exist fails when it is reached.
    pub fn new(name: &str, parameters: Vec<Parameter>) -> Self {
        let kind = match name {
            "avg" => Some(Kind::Avg),
            "stddev" => Some(Kind::StdDev),
            "sum" => Some(Kind::Sum),
            "min" => Some(Kind::Min),
            "max" => Some(Kind::Max),
            "concat" => Some(Kind::Concat),
            "length" | "size" => Some(Kind::Length),
            "append" => Some(Kind::Append),
            "keys" => Some(Kind::Keys),
            "first" => Some(Kind::First),
            "last" => Some(Kind::Last),
            "index" => Some(Kind::Index),
            _ => None,
        };
        Self { kind, parameters: Vec::new(), measures_definite: None }.with_parameters(parameters)
    }

    /// The same function with other parameters.
    pub fn with_parameters(mut self, mut parameters: Vec<Parameter>) -> Self {
        self.measures_definite = None;
        if let (Some(Kind::Length), Some(Parameter::Path(path))) =
            (self.kind, parameters.first_mut())
            && !path.is_function()
        {
            self.measures_definite = Some(path.is_definite());
            if !matches!(path.tokens.last(), None | Some(Token::Scan)) {
                path.tokens.push(Token::Wildcard);
            }
        }
        self.parameters = parameters;
        self
    }

    /// What the function gives for a value of a document.
    pub fn call<'a>(
        &'a self,
        value: &Node<'a>,
        document: &Node<'a>,
        missing: Missing,
    ) -> Result<Node<'a>, Stop> {
        let kind = self.kind.ok_or(Stop::Invalid)?;
        match kind {
            Kind::Length => return self.length(value, missing),
            Kind::Keys => return Ok(keys(value)),
            _ => {}
        }
        let parameters = self.values(document, missing)?;
        match kind {
            Kind::Avg | Kind::StdDev | Kind::Sum | Kind::Min | Kind::Max => {
                aggregate(kind, value, &parameters)
            }
            Kind::Concat => Ok(concat(value, &parameters)),
            Kind::Append => Ok(append(value, parameters)),
            Kind::First => element(value, 0),
            Kind::Last => element(value, -1),
            Kind::Index | Kind::Length | Kind::Keys => {
                let index = numbers(&parameters).next().ok_or(Stop::Bounds)?;
                element(value, index as i64)
            }
        }
    }

    /// The parameters' values.
    fn values<'a>(&'a self, document: &Node<'a>, missing: Missing) -> Result<Vec<Node<'a>>, Stop> {
        let value = |parameter: &'a Parameter| match parameter {
            Parameter::Json(text) => {
                Node::parse(text).map_err(|_| Stop::Failed("a parameter of a function is no JSON"))
            }
            Parameter::Path(path) => path.read(document, missing),
        };
        self.parameters.iter().map(value).collect()
    }

    /// The number of elements or members of what a parameter finds within the value, if that is an array;
    /// else of the value itself.
    fn length<'a>(&'a self, value: &Node<'a>, missing: Missing) -> Result<Node<'a>, Stop> {
        match (self.parameters.first(), self.measures_definite) {
            (Some(Parameter::Json(_)), _) => {
                return Err(Stop::Failed("length takes a path, not a value"));
            }
            (Some(Parameter::Path(path)), Some(definite)) => {
                let found = gather(path.find(value, value, missing)?, definite, missing)?;
                if let Node::Array(elements) = found.node() {
                    return Ok(count(elements.len()));
                }
            }
            (Some(Parameter::Path(path)), None) => {
                if let Node::Array(elements) = path.evaluate(value, value, missing)?.node() {
                    return Ok(count(elements.len()));
                }
            }
            (None, _) => {}
        }
        Ok(match value {
            Node::Array(elements) => count(elements.len()),
            Node::Object(members) => count(members.len()),
            _ => Node::Null,
        })
    }
}

fn count<'a>(count: usize) -> Node<'a> {
    Node::Number(Number::Count(count))
}

fn keys<'a>(value: &Node<'a>) -> Node<'a> {
    match value {
        Node::Object(members) => {
            Node::Array(members.iter().map(|(name, _)| Node::String(name.clone())).collect())
        }
        _ => Node::Null,
    }
}

/// Values, those of arrays one by one.
fn flatten<'s, 'a>(values: &'s [Node<'a>]) -> impl Iterator<Item = &'s Node<'a>> {
    values.iter().flat_map(|value| match value {
        Node::Array(elements) => elements.as_slice(),
        other => std::slice::from_ref(other),
    })
}

fn numbers(values: &[Node]) -> impl Iterator<Item = f64> {
    flatten(values).filter_map(|value| match value {
        Node::Number(number) => Some(number.to_f64()),
        _ => None,
    })
}

/// An aggregate, in DOUBLE, of the numbers in the value, if it is an array, and in the parameters.
fn aggregate<'a>(kind: Kind, value: &Node, parameters: &[Node]) -> Result<Node<'a>, Stop> {
    let own = match value {
        Node::Array(_) => std::slice::from_ref(value),
        _ => &[],
    };
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut min, mut max) = (f64::MAX, LEAST_POSITIVE);
    for number in numbers(own).chain(numbers(parameters)) {
        n += 1.0;
        sum += number;
        squares += number * number;
        min = if min > number { number } else { min };
        max = if max < number { number } else { max };
    }
    if n == 0.0 {
        return Err(Stop::Failed("an aggregate of no numbers"));
    }
    let result = match kind {
        Kind::Avg => sum / n,
        Kind::StdDev => (squares / n - sum * sum / n / n).sqrt(),
        Kind::Min => min,
        Kind::Max => max,
        _ => sum,
    };
    Ok(Node::Number(Number::Double(result)))
}

/// The strings of the value, if it is an array, and all of the parameters but NULLs, as Java prints them.
fn concat<'a>(value: &Node, parameters: &[Node]) -> Node<'a> {
    let mut text = String::new();
    if let Node::Array(elements) = value {
        for element in elements {
            if let Node::String(string) = element {
                text.push_str(string);
            }
        }
    }
    for parameter in flatten(parameters) {
        if *parameter != Node::Null {
            write_java(&mut text, parameter);
        }
    }
    Node::String(Cow::Owned(text))
}

/// Writes a value as Java prints lists and maps: `[1, x]`, `{a=1, b=null}`.
fn write_java(out: &mut String, value: &Node) {
    match value {
        Node::Array(elements) => {
            out.push('[');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_java(out, element);
            }
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (i, (name, member)) in members.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                out.push_str(name);
                out.push('=');
                write_java(out, member);
            }
            out.push('}');
        }
        scalar => scalar.write_text(out),
    }
}

fn append<'a>(value: &Node<'a>, parameters: Vec<Node<'a>>) -> Node<'a> {
    match value {
        Node::Array(elements) => Node::Array([elements.clone(), parameters].concat()),
        other => other.clone(),
    }
}

/// The element at an index. From the end, the first one cannot be had: so the library has it.
fn element<'a>(value: &Node<'a>, index: i64) -> Result<Node<'a>, Stop> {
    let Node::Array(elements) = value else {
        return Err(Stop::Failed("an element of what is no array"));
    };
    let place = if index < 0 { elements.len() as i64 + index } else { index };
    if index < 0 && place <= 0 {
        return Err(Stop::Failed("an index from the end that is before the second element"));
    }
    let place = usize::try_from(place).map_err(|_| Stop::Bounds)?;
    elements.get(place).cloned().ok_or(Stop::Bounds)
}
