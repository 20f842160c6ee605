//! Values that paths lead to.

use super::matching::Subject;
use super::token::{Path, Token};
use crate::scalar::json::text::Node;

/// What becomes of a part of a path that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Strict paths: it is an error, unless an indefinite part stands before it.
    Fails,
    /// Lax paths: the result is `null`, or an empty array for an indefinite path.
    Ignored,
    /// Existence tests: it is an error always.
    Required,
}

/// Why a path gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A part is not there.
    #[error("no results for the path")]
    NotFound,
    /// A part does not fit the value it meets.
    #[error("the path does not fit the value")]
    Invalid,
    /// A function was asked for an element that an array has not.
    #[error("index out of bounds")]
    Bounds,
    /// Anything else.
    #[error("{0}")]
    Failed(&'static str),
}

/// A value found: one of the document, or one made.
#[derive(Debug)]
pub(super) enum Hit<'t, 'a> {
    There(&'t Node<'a>),
    Made(Node<'a>),
}

impl<'a> Hit<'_, 'a> {
    pub fn node(&self) -> &Node<'a> {
        match self {
            Self::There(node) => node,
            Self::Made(node) => node,
        }
    }

    pub fn into_node(self) -> Node<'a> {
        match self {
            Self::There(node) => node.clone(),
            Self::Made(node) => node,
        }
    }
}

impl Path {
    /// The value the path leads to in a document; an indefinite path gives an array of all it finds.
    pub fn read<'a>(&'a self, document: &Node<'a>, missing: Missing) -> Result<Node<'a>, Stop> {
        self.evaluate(document, document, missing).map(Hit::into_node)
    }

    /// The value the path leads to from a value of a document.
    pub(super) fn evaluate<'t, 'a>(
        &'a self,
        value: &'t Node<'a>,
        document: &'t Node<'a>,
        missing: Missing,
    ) -> Result<Hit<'t, 'a>, Stop> {
        gather(self.find(value, document, missing)?, self.is_definite(), missing)
    }

    /// All the path finds, in order.
    pub(super) fn find<'t, 'a>(
        &'a self,
        value: &'t Node<'a>,
        document: &'t Node<'a>,
        missing: Missing,
    ) -> Result<Vec<Hit<'t, 'a>>, Stop> {
        if self.tokens.is_empty() {
            return Ok(vec![Hit::There(value)]);
        }
        let mut evaluation = Evaluation::new(self, document, missing);
        evaluation.step(0, value)?;
        Ok(evaluation.hits)
    }
}

/// The result of a path that found these: the last for a definite one, else all as an array.
pub(super) fn gather<'t, 'a>(
    mut hits: Vec<Hit<'t, 'a>>,
    definite: bool,
    missing: Missing,
) -> Result<Hit<'t, 'a>, Stop> {
    match (definite, hits.pop()) {
        (true, Some(last)) => Ok(last),
        (true, None) if missing == Missing::Ignored => Ok(Hit::Made(Node::Null)),
        (true, None) => Err(Stop::NotFound),
        (false, last) => {
            hits.extend(last);
            Ok(Hit::Made(Node::Array(hits.into_iter().map(Hit::into_node).collect())))
        }
    }
}

struct Evaluation<'t, 'a> {
    path: &'a Path,
    document: &'t Node<'a>,
    missing: Missing,
    hits: Vec<Hit<'t, 'a>>,
    /// By part: the position of the element that a scan entered by it last.
    entered: Vec<Option<i32>>,
}

impl<'t, 'a> Evaluation<'t, 'a> {
    fn new(path: &'a Path, document: &'t Node<'a>, missing: Missing) -> Self {
        let entered = vec![None; path.tokens.len()];
        Self { path, document, missing, hits: Vec::new(), entered }
    }

    /// Follows the path from a part on.
    fn step(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        let path = self.path;
        match &path.tokens[token] {
            Token::Names(names) => self.names(token, names, value),
            Token::Indexes(indexes) => match self.array(token, value)? {
                None => Ok(()),
                Some(array) => {
                    indexes.iter().try_for_each(|index| self.element(token, *index, array))
                }
            },
            Token::Slice(from, to) => match self.array(token, value)? {
                None => Ok(()),
                Some(array) => slice(*from, *to, array.len())
                    .try_for_each(|index| self.element(token, index, array)),
            },
            Token::Wildcard => self.wildcard(token, value),
            // A function that followed at once has taken the path for its parameter.
            Token::Scan if path.is_last(token) => {
                Err(Stop::Failed("nothing to look for behind `..`"))
            }
            Token::Scan => self.scan(token + 1, value),
            Token::Filter(condition) => match value {
                Node::Object(_) => match condition.accepts(self.subject(value))? {
                    true => self.arrive(token, value),
                    false => Ok(()),
                },
                Node::Array(elements) => {
                    for element in elements {
                        if condition.accepts(self.subject(element))? {
                            self.arrive_in_array(token, element)?;
                        }
                    }
                    Ok(())
                }
                _ if path.is_definite_before(token) => Err(Stop::Invalid),
                _ => Ok(()),
            },
            Token::Function(function) => {
                let result = function.call(value, self.document, self.missing)?;
                if !path.is_last(token) {
                    let mut rest = Evaluation::new(path, self.document, self.missing);
                    rest.step(token + 1, &result)?;
                    let hits: Vec<Node> = rest.hits.into_iter().map(Hit::into_node).collect();
                    self.hits.push(Hit::Made(result));
                    self.hits.extend(hits.into_iter().map(Hit::Made));
                } else {
                    self.hits.push(Hit::Made(result));
                }
                Ok(())
            }
        }
    }

    fn subject<'s>(&self, value: &'s Node<'a>) -> Subject<'s, 'a>
    where
        't: 's,
    {
        Subject { value, document: self.document, missing: self.missing }
    }

    /// Takes a value that a part led to: a result, if the part is the last one.
    fn arrive(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        if self.path.is_last(token) {
            self.hits.push(Hit::There(value));
            Ok(())
        } else {
            self.step(token + 1, value)
        }
    }

    fn arrive_in_array(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        match self.arrive(token, value) {
            Err(Stop::Bounds) => Ok(()),
            result => result,
        }
    }

    fn names(
        &mut self,
        token: usize,
        names: &'t [String],
        value: &'t Node<'a>,
    ) -> Result<(), Stop> {
        if !matches!(value, Node::Object(_)) {
            return self.unfit(token);
        }
        if names.len() == 1 || !self.path.is_last(token) {
            return names.iter().try_for_each(|name| match value.member(name) {
                Some(member) => self.member(token, member),
                None => self.absent(token, names.len() == 1),
            });
        }
        let mut members = Vec::with_capacity(names.len());
        for name in names {
            match value.member(name) {
                Some(member) if !members.iter().any(|(seen, _)| seen == name) => {
                    members.push((name.clone().into(), member.clone()));
                }
                Some(_) => {}
                None if self.missing == Missing::Required => return Err(Stop::NotFound),
                None => {}
            }
        }
        self.hits.push(Hit::Made(Node::Object(members)));
        Ok(())
    }

    /// Takes the member that a name or a wildcard led to. Behind `..` only such last ones are results that
    /// were entered by the position the part before names: so the library has it.
    fn member(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        if let (true, Some(entered)) = (self.path.is_last(token), self.entered[token]) {
            let named = match token.checked_sub(1).map(|before| &self.path.tokens[before]) {
                Some(Token::Indexes(indexes)) => indexes[..] == [entered],
                _ => false,
            };
            if !named {
                return Ok(());
            }
        }
        self.arrive(token, value)
    }

    /// A member that is not there.
    fn absent(&self, token: usize, single: bool) -> Result<(), Stop> {
        let definite = single && self.path.is_definite_before(token);
        match self.missing {
            Missing::Ignored => Ok(()),
            Missing::Required => Err(Stop::NotFound),
            Missing::Fails if definite && !self.path.is_last(token) => Err(Stop::NotFound),
            Missing::Fails => Ok(()),
        }
    }

    /// A value that is no object or no array where the part needs one.
    fn unfit(&self, token: usize) -> Result<(), Stop> {
        match self.missing {
            Missing::Ignored => Ok(()),
            _ if !self.path.is_definite_before(token) => Ok(()),
            _ => Err(Stop::NotFound),
        }
    }

    fn array(&self, token: usize, value: &'t Node<'a>) -> Result<Option<&'t [Node<'a>]>, Stop> {
        match value {
            Node::Array(elements) => Ok(Some(elements)),
            _ => self.unfit(token).map(|()| None),
        }
    }

    /// Takes the element at an index, from the end if negative; one that is not there is passed over.
    fn element(&mut self, token: usize, index: i32, array: &'t [Node<'a>]) -> Result<(), Stop> {
        let place = if index < 0 { array.len() as i64 + i64::from(index) } else { index.into() };
        match usize::try_from(place).ok().and_then(|place| array.get(place)) {
            Some(element) => self.arrive_in_array(token, element),
            None => Ok(()),
        }
    }

    fn wildcard(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        match value {
            Node::Object(members) => {
                members.iter().try_for_each(|(_, member)| self.member(token, member))
            }
            Node::Array(elements) => {
                for element in elements {
                    match self.arrive_in_array(token, element) {
                        Err(Stop::NotFound) if self.missing != Missing::Required => {}
                        result => result?,
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `..`: applies a part to a value and all within it. Of an array the part behind it, if there is one,
    /// is applied to every element.
    fn scan(&mut self, token: usize, value: &'t Node<'a>) -> Result<(), Stop> {
        match value {
            Node::Object(members) => {
                if self.scan_stops_at(token, value)? {
                    self.step(token, value)?;
                }
                members.iter().try_for_each(|(_, member)| self.scan(token, member))
            }
            Node::Array(elements) => {
                if self.scan_stops_at(token, value)? {
                    if self.path.is_last(token) {
                        self.step(token, value)?;
                    } else {
                        for (place, element) in elements.iter().enumerate() {
                            self.entered[token + 1] = i32::try_from(place).ok();
                            self.step(token + 1, element)?;
                        }
                    }
                }
                elements.iter().try_for_each(|element| self.scan(token, element))
            }
            _ => Ok(()),
        }
    }

    fn scan_stops_at(&self, token: usize, value: &'t Node<'a>) -> Result<bool, Stop> {
        Ok(match &self.path.tokens[token] {
            Token::Names(names) => {
                let is_object = matches!(value, Node::Object(_));
                let merged = names.len() == 1 || self.path.is_last(token);
                is_object && (!merged || names.iter().all(|name| value.member(name).is_some()))
            }
            Token::Indexes(_) | Token::Slice(..) => matches!(value, Node::Array(_)),
            Token::Wildcard => true,
            Token::Filter(condition) => condition.accepts(self.subject(value))?,
            Token::Scan | Token::Function(_) => false,
        })
    }
}

/// The indexes of a slice of an array of some length. With both ends given, a negative start is no
/// position from the end, but the first of a row of indexes of which the negative ones count so.
fn slice(from: Option<i32>, to: Option<i32>, length: usize) -> impl Iterator<Item = i32> {
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    let (start, end) = match (from, to) {
        (Some(from), Some(to)) => (from.max(-length), to.min(length)),
        (Some(from), None) => ((if from < 0 { length + from } else { from }).max(0), length),
        (None, Some(to)) => (0, (if to < 0 { length + to } else { to }).min(length)),
        (None, None) => (0, 0),
    };
    start..end
}
