//! JSON_QUERY.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use flott_types::{DataType, Family, TypeRoot};

use super::lookup::{Failure, Lookup, Lookups, Mode, literal_lookup};
use super::path::Found;
use super::text::Node;
use super::value::unsupported;
use crate::read::Strings;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility,
};

const NAME: &str = "JSON_QUERY";

/// JSON_QUERY
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: NAME,
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile,
    doc: FunctionDoc {
        syntax: &["JSON_QUERY(json, path [RETURNING { STRING | ARRAY<STRING> }] \
                   [{ WITHOUT | WITH { CONDITIONAL | UNCONDITIONAL } } [ARRAY] WRAPPER] \
                   [{ NULL | EMPTY ARRAY | EMPTY OBJECT | ERROR } ON EMPTY] \
                   [{ NULL | EMPTY ARRAY | EMPTY OBJECT | ERROR } ON ERROR])"],
        text: "The array or object that a path leads to in a JSON text, as JSON with its members sorted \
               by name. A wrapper puts the result into an array, a conditional one unless it is an array. \
               A path is strict unless it starts with `lax`: where a strict path leads nowhere, to null \
               or to a scalar, and where the text is not JSON, ON ERROR decides; for a lax path ON EMPTY \
               does. Both give NULL if absent. With RETURNING ARRAY<STRING> the elements are strings as \
               they are, and all else as JSON. NULL for NULL.",
        examples: &[
            ("JSON_QUERY('{\"a\": {\"c\": 1, \"b\": 2}}', '$.a')", "{\"b\":2,\"c\":1}"),
            ("JSON_QUERY('{\"a\": 1}', '$.a' WITH WRAPPER)", "[1]"),
        ],
    },
}];

const FORMS: &[&str] = &["JSON_QUERY(<CHARACTER_STRING>, <CHARACTER_STRING>)"];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let is_text = |ty: &DataType| ty.family() == Family::CharacterString;
    let fits = match args.args.as_slice() {
        [json, path] => {
            let json = &json.data_type;
            (is_text(json) || json.root == TypeRoot::Variant) && is_text(&path.data_type)
        }
        _ => false,
    };
    if !fits {
        return Err(args.no_match(FORMS));
    }
    let returns = args.returning.clone().unwrap_or_else(DataType::string).with_nullable(true);
    match &returns.root {
        TypeRoot::Varchar(_) => {}
        TypeRoot::Array(element) if matches!(element.root, TypeRoot::Varchar(_)) => {
            for (symbol, clause) in args.symbols.iter().skip(1).zip(["EMPTY", "ERROR"]) {
                if symbol.as_ref() == "EMPTY OBJECT" {
                    return Err(SignatureError::Other(format!(
                        "EMPTY OBJECT ON {clause} does not go with RETURNING {}\n\
                         hint: write EMPTY ARRAY ON {clause}",
                        returns.summary()
                    )));
                }
            }
        }
        _ => return Err(unsupported(&returns)),
    }
    Ok(Resolved::unchanged(args, returns))
}

fn compile(
    args: &CallArgs,
    returns: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let symbol = |place: usize| args.symbols.get(place).map(AsRef::as_ref);
    Ok(Box::new(JsonQuery {
        literal: literal_lookup(args),
        wrapper: match symbol(0) {
            Some("CONDITIONAL") => Wrapper::Conditional,
            Some("UNCONDITIONAL") => Wrapper::Unconditional,
            _ => Wrapper::Without,
        },
        on_empty: Behavior::new(symbol(1)),
        on_error: Behavior::new(symbol(2)),
        array: matches!(returns.root, TypeRoot::Array(_)),
        is_variant: args.data_type(0).root == TypeRoot::Variant,
    }))
}

struct JsonQuery {
    literal: Option<Lookup>,
    wrapper: Wrapper,
    on_empty: Behavior,
    on_error: Behavior,
    array: bool,
    is_variant: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Without,
    Conditional,
    Unconditional,
}

/// What ON EMPTY or ON ERROR says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Null,
    EmptyArray,
    EmptyObject,
    Error,
}

impl Behavior {
    fn new(symbol: Option<&str>) -> Self {
        match symbol {
            Some("EMPTY ARRAY") => Self::EmptyArray,
            Some("EMPTY OBJECT") => Self::EmptyObject,
            Some("ERROR") => Self::Error,
            _ => Self::Null,
        }
    }
}

impl Kernel for JsonQuery {
    fn evaluate(&self, args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
        let texts;
        let json = if self.is_variant {
            texts = crate::scalar::variant::texts(&args[0])?;
            &texts
        } else {
            &args[0]
        };
        match self.array {
            true => self.collect::<ListBuilder<StringBuilder>>(json, &args[1], context),
            false => self.collect::<StringBuilder>(json, &args[1], context),
        }
    }
}

impl JsonQuery {
    fn collect<R: Results>(
        &self,
        json: &Column,
        paths: &Column,
        context: &EvalContext,
    ) -> Result<ArrayRef, EvalError> {
        let json = Strings::new(json);
        let mut results = R::default();
        Lookups::new(self.literal.as_ref(), Strings::new(paths)).for_each(
            context.rows,
            |row, lookup| {
                let (Some(text), Some(lookup)) = (json.get(row), lookup) else {
                    results.null();
                    return Ok(());
                };
                let failure = match self.find(lookup, text) {
                    Ok(None) => None,
                    Ok(Some(value)) if results.append(&value) => return Ok(()),
                    Ok(Some(_)) => Some(Failure::Kind("array")),
                    Err(failure) => Some(failure),
                };
                let behavior = if failure.is_none() { self.on_empty } else { self.on_error };
                match (behavior, failure) {
                    (Behavior::Null, _) => results.null(),
                    (Behavior::EmptyArray, _) => results.empty_array(),
                    (Behavior::EmptyObject, _) => results.empty_object(),
                    (Behavior::Error, Some(failure)) => return Err(failure.error(NAME, text)),
                    (Behavior::Error, None) => return Err(empty()),
                }
                Ok(())
            },
        )?;
        Ok(results.finish())
    }

    /// The array or object that a path leads to, wrapped as asked; `None` if there is none, in lax mode.
    fn find<'a>(&self, lookup: &'a Lookup, text: &'a str) -> Result<Option<Node<'a>>, Failure> {
        let node = match lookup.find(text)? {
            None => return Ok(None),
            Some(Found::Scalar(node) | Found::Tree(node)) => node,
            Some(Found::Nested(text)) => Node::parse(text).map_err(Failure::Malformed)?,
        };
        let wrap = match self.wrapper {
            Wrapper::Without => false,
            Wrapper::Conditional => !matches!(node, Node::Array(_)),
            Wrapper::Unconditional => true,
        };
        match (wrap, node.is_scalar(), lookup.mode()) {
            (true, ..) => Ok(Some(Node::Array(vec![node]))),
            (false, true, Mode::Lax) => Ok(None),
            (false, true, Mode::Strict) => Err(Failure::Kind("array or object")),
            (false, false, _) => Ok(Some(node)),
        }
    }
}

fn empty() -> EvalError {
    EvalError::Argument {
        function: NAME,
        reason: "the result is empty, which ERROR ON EMPTY does not allow".into(),
    }
}

/// Results under construction.
trait Results: Default {
    /// Adds an array or object; false if it is not of the type.
    fn append(&mut self, value: &Node) -> bool;
    fn null(&mut self);
    fn empty_array(&mut self);
    fn empty_object(&mut self);
    fn finish(self) -> ArrayRef;
}

impl Results for StringBuilder {
    fn append(&mut self, value: &Node) -> bool {
        let mut text = String::new();
        value.write(&mut text);
        self.append_value(text);
        true
    }

    fn null(&mut self) {
        self.append_null();
    }

    fn empty_array(&mut self) {
        self.append_value("[]");
    }

    fn empty_object(&mut self) {
        self.append_value("{}");
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(StringBuilder::finish(&mut self))
    }
}

impl Results for ListBuilder<StringBuilder> {
    fn append(&mut self, value: &Node) -> bool {
        let Node::Array(elements) = value else { return false };
        for element in elements {
            match element {
                Node::Null => self.values().append_null(),
                Node::String(text) => self.values().append_value(text),
                other => {
                    let mut text = String::new();
                    other.write_text(&mut text);
                    self.values().append_value(text);
                }
            }
        }
        ListBuilder::append(self, true);
        true
    }

    fn null(&mut self) {
        ListBuilder::append(self, false);
    }

    fn empty_array(&mut self) {
        ListBuilder::append(self, true);
    }

    /// The type rule keeps it away.
    fn empty_object(&mut self) {
        ListBuilder::append(self, false);
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(ListBuilder::finish(&mut self))
    }
}
