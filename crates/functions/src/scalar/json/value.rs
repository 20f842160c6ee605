//! JSON_VALUE.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int32Builder, StringBuilder};
use flott_types::{DataType, Family, TypeRoot};

use super::lookup::{Failure, Lookup, Lookups, Mode, literal_lookup};
use super::path::Found;
use super::text::{Decimal, Node, Number};
use crate::read::{Booleans, Primitives, Strings};
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, cast,
};

const NAME: &str = "JSON_VALUE";

/// JSON_VALUE
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: NAME,
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile,
    doc: FunctionDoc {
        syntax: &["JSON_VALUE(json, path [RETURNING type] \
                   [{ NULL | ERROR | DEFAULT value } ON EMPTY] \
                   [{ NULL | ERROR | DEFAULT value } ON ERROR])"],
        text: "The scalar that a path leads to in a JSON text, as STRING or as the type after RETURNING: \
               VARCHAR, BOOLEAN, INTEGER or DOUBLE. A path is strict unless it starts with `lax`: where a \
               strict path leads nowhere, to null, to an array or to an object, and where the text is not \
               JSON, ON ERROR decides; for a lax path ON EMPTY does. Both give NULL if absent. A value \
               that is not of the type is an error. NULL for NULL.",
        examples: &[
            ("JSON_VALUE('{\"a\": [10, 20]}', '$.a[1]')", "20"),
            ("JSON_VALUE('{\"a\": 1.5}', '$.a' RETURNING DOUBLE)", "1.5"),
            ("JSON_VALUE('{}', 'lax $.a' DEFAULT 'none' ON EMPTY)", "none"),
        ],
    },
}];

const FORMS: &[&str] = &["JSON_VALUE(<CHARACTER_STRING>, <CHARACTER_STRING>)"];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let [json, path, defaults @ ..] = args.args.as_slice() else {
        return Err(args.no_match(FORMS));
    };
    let is_text = |ty: &DataType| ty.family() == Family::CharacterString;
    let is_json = is_text(&json.data_type) || json.data_type.root == TypeRoot::Variant;
    if !is_json || !is_text(&path.data_type) {
        return Err(args.no_match(FORMS));
    }
    let returns = args.returning.clone().unwrap_or_else(DataType::string).with_nullable(true);
    if !matches!(
        returns.root,
        TypeRoot::Varchar(_) | TypeRoot::Boolean | TypeRoot::Int | TypeRoot::Double
    ) {
        return Err(unsupported(&returns));
    }
    for (position, default) in defaults.iter().enumerate() {
        if default.data_type.root == TypeRoot::Null {
            return Err(SignatureError::Argument {
                name: NAME.into(),
                position: position + 3,
                reason: "DEFAULT takes a value of a type; write NULL ON EMPTY or NULL ON ERROR"
                    .into(),
            });
        }
    }
    Ok(Resolved::unchanged(args, returns))
}

/// The error for a type that RETURNING does not take.
pub(super) fn unsupported(ty: &DataType) -> SignatureError {
    SignatureError::Other(format!(
        "unsupported type '{}' for RETURNING\nhint: return STRING and cast that",
        ty.summary()
    ))
}

fn compile(
    args: &CallArgs,
    returns: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    Ok(Box::new(JsonValue {
        literal: literal_lookup(args),
        on_empty: Behavior::new(args, 0, returns, settings)?,
        on_error: Behavior::new(args, 1, returns, settings)?,
        returns: returns.root.clone(),
        is_variant: args.data_type(0).root == TypeRoot::Variant,
    }))
}

struct JsonValue {
    literal: Option<Lookup>,
    on_empty: Behavior,
    on_error: Behavior,
    returns: TypeRoot,
    is_variant: bool,
}

/// What ON EMPTY or ON ERROR says.
enum Behavior {
    Null,
    Error,
    /// The default in this argument, after a cast to the type of the result.
    Default {
        argument: usize,
        cast: Option<Box<dyn Kernel>>,
    },
}

impl Behavior {
    fn new(
        args: &CallArgs,
        place: usize,
        returns: &DataType,
        settings: &SessionSettings,
    ) -> Result<Self, SignatureError> {
        Ok(match args.symbols.get(place).map(AsRef::as_ref) {
            Some("ERROR") => Self::Error,
            Some("DEFAULT") => {
                let argument = 2 + place;
                let from = args.data_type(argument);
                let cast = match from.same_root(returns) {
                    true => None,
                    false => {
                        cast::check(from, returns)?;
                        Some(cast::compile(from, returns, false, settings)?)
                    }
                };
                // Flink prints a Java boolean here.
                let from_boolean = from.root == TypeRoot::Boolean;
                match (from_boolean, &returns.root) {
                    (true, TypeRoot::Varchar(_)) => Self::Default { argument, cast: None },
                    _ => Self::Default { argument, cast },
                }
            }
            _ => Self::Null,
        })
    }

    /// The column of defaults.
    fn defaults(
        &self,
        args: &[Column],
        context: &EvalContext,
    ) -> Result<Option<Column>, EvalError> {
        let Self::Default { argument, cast } = self else { return Ok(None) };
        let column = &args[*argument];
        Ok(Some(match cast {
            None => column.clone(),
            Some(cast) if column.is_constant() => {
                let once = cast.evaluate(std::slice::from_ref(column), &context.with_rows(1))?;
                Column::constant(once)
            }
            Some(cast) => Column::rows(cast.evaluate(std::slice::from_ref(column), context)?),
        }))
    }
}

impl Kernel for JsonValue {
    fn evaluate(&self, args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
        let texts;
        let json = if self.is_variant {
            texts = crate::scalar::variant::texts(&args[0])?;
            &texts
        } else {
            &args[0]
        };
        match self.returns {
            TypeRoot::Boolean => self.collect::<BooleanBuilder>(json, args, context),
            TypeRoot::Int => self.collect::<Int32Builder>(json, args, context),
            TypeRoot::Double => self.collect::<Float64Builder>(json, args, context),
            _ => self.collect::<StringBuilder>(json, args, context),
        }
    }
}

impl JsonValue {
    fn collect<R: Results>(
        &self,
        json: &Column,
        args: &[Column],
        context: &EvalContext,
    ) -> Result<ArrayRef, EvalError> {
        let json = Strings::new(json);
        let mut results = R::default();
        let mut defaults = [None, None];
        Lookups::new(self.literal.as_ref(), Strings::new(&args[1])).for_each(
            context.rows,
            |row, lookup| {
                let (Some(text), Some(lookup)) = (json.get(row), lookup) else {
                    results.null();
                    return Ok(());
                };
                let failure = match scalar(lookup, text) {
                    Ok(None) => None,
                    Ok(Some(value)) if results.append(&value) => return Ok(()),
                    Ok(Some(_)) => Some(Failure::Kind("value of the type wanted")),
                    Err(failure) => Some(failure),
                };
                let (behavior, kept) = match failure {
                    None => (&self.on_empty, &mut defaults[0]),
                    Some(_) => (&self.on_error, &mut defaults[1]),
                };
                match (behavior, failure) {
                    (Behavior::Null, _) => results.null(),
                    (Behavior::Error, Some(failure)) => return Err(failure.error(NAME, text)),
                    (Behavior::Error, None) => return Err(empty()),
                    (Behavior::Default { .. }, _) => {
                        if kept.is_none() {
                            *kept = behavior.defaults(args, context)?;
                        }
                        match kept {
                            Some(column) => results.copy(column, row),
                            None => results.null(),
                        }
                    }
                }
                Ok(())
            },
        )?;
        Ok(results.finish())
    }
}

/// The scalar that a path leads to; `None` if there is nothing, in lax mode.
fn scalar<'a>(lookup: &'a Lookup, text: &'a str) -> Result<Option<Node<'a>>, Failure> {
    match lookup.find(text)? {
        Some(Found::Scalar(value)) => Ok(Some(value)),
        Some(_) if lookup.mode() == Mode::Strict => Err(Failure::Kind("scalar")),
        _ => Ok(None),
    }
}

fn empty() -> EvalError {
    EvalError::Argument {
        function: NAME,
        reason: "the result is empty, which ERROR ON EMPTY does not allow".into(),
    }
}

/// Results of a type under construction.
trait Results: Default {
    /// Adds a JSON value; false if it is not one of the type.
    fn append(&mut self, value: &Node) -> bool;
    fn null(&mut self);
    /// Adds the default of a row.
    fn copy(&mut self, defaults: &Column, row: usize);
    fn finish(self) -> ArrayRef;
}

impl Results for StringBuilder {
    fn append(&mut self, value: &Node) -> bool {
        match value {
            Node::String(text) => self.append_value(text),
            other => {
                let mut text = String::new();
                other.write_text(&mut text);
                self.append_value(text);
            }
        }
        true
    }

    fn null(&mut self) {
        self.append_null();
    }

    fn copy(&mut self, defaults: &Column, row: usize) {
        if *defaults.array().data_type() == arrow::datatypes::DataType::Boolean {
            let word = |value| if value { "true" } else { "false" };
            self.append_option(Booleans::new(defaults).get(row).map(word));
        } else {
            self.append_option(Strings::new(defaults).get(row));
        }
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(StringBuilder::finish(&mut self))
    }
}

impl Results for BooleanBuilder {
    fn append(&mut self, value: &Node) -> bool {
        let value = match value {
            Node::Boolean(value) => Some(*value),
            Node::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "t" | "yes" | "1" => Some(true),
                "false" | "f" | "no" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        value.inspect(|value| self.append_value(*value)).is_some()
    }

    fn null(&mut self) {
        self.append_null();
    }

    fn copy(&mut self, defaults: &Column, row: usize) {
        self.append_option(Booleans::new(defaults).get(row));
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(BooleanBuilder::finish(&mut self))
    }
}

impl Results for Int32Builder {
    fn append(&mut self, value: &Node) -> bool {
        let value = match value {
            Node::Number(Number::Text(number)) if number.is_integer() => number.text().parse().ok(),
            Node::Number(Number::Text(number)) => truncate(number.text()),
            Node::Number(number) => truncate(&number.to_f64().to_string()),
            Node::String(text) => truncate(text),
            _ => None,
        };
        value.inspect(|value| self.append_value(*value)).is_some()
    }

    fn null(&mut self) {
        self.append_null();
    }

    fn copy(&mut self, defaults: &Column, row: usize) {
        let defaults = Primitives::<arrow::datatypes::Int32Type>::new(defaults);
        self.append_option(defaults.get(row));
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(Int32Builder::finish(&mut self))
    }
}

/// The whole part of a decimal number, if it is one and that fits.
fn truncate(text: &str) -> Option<i32> {
    Decimal::parse(text)?.to_i32()
}

impl Results for Float64Builder {
    fn append(&mut self, value: &Node) -> bool {
        let value = match value {
            Node::Number(number) => Some(number.to_f64()),
            Node::String(text) => Decimal::parse(text).and_then(|_| text.parse().ok()),
            _ => None,
        };
        let value = value.filter(|value| value.is_finite());
        value.inspect(|value| self.append_value(*value)).is_some()
    }

    fn null(&mut self) {
        self.append_null();
    }

    fn copy(&mut self, defaults: &Column, row: usize) {
        let defaults = Primitives::<arrow::datatypes::Float64Type>::new(defaults);
        self.append_option(defaults.get(row));
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(Float64Builder::finish(&mut self))
    }
}
