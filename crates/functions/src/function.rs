//! What a scalar function is: names, type rule, compilation, documentation.

use std::sync::Arc;

use arrow::array::ArrayRef;
use flott_types::{DataType, TypeRoot, Value};

use crate::{Column, EvalContext, EvalError, SessionSettings, SignatureError};

/// A scalar function or operator; one entry in the table of its family.
pub struct ScalarFunction {
    /// The SQL name in upper case, or the operator's sign.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// When its result may be reused.
    pub volatility: Volatility,
    /// The type rule: which types the arguments are cast to, and the type of the result.
    pub resolve: fn(&CallArgs) -> Result<Resolved, SignatureError>,
    /// Makes the kernel for arguments that have the types `resolve` asked for. `returns` is what
    /// it answered. Patterns, formats and paths that are literal are compiled here, once.
    pub compile: Compile,
    /// For the reference page and `DESCRIBE FUNCTION`.
    pub doc: FunctionDoc,
}

impl ScalarFunction {
    /// Whether it can be called as `NAME(…)`, other than operators and what has a syntax of its own.
    pub fn is_called_by(&self, name: &str) -> bool {
        let is_call = |form: &&str| {
            form.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        };
        self.aliases.contains(&name) || self.doc.syntax.iter().any(is_call)
    }
}

/// Compiles a call: its arguments, the type of its result, the session's settings.
pub type Compile =
    fn(&CallArgs, &DataType, &SessionSettings) -> Result<Box<dyn Kernel>, SignatureError>;

/// When a function gives the same result for the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    /// Always; calls on literals are folded while planning.
    Immutable,
    /// Within one record when streaming, within one query in batch mode (CURRENT_TIMESTAMP).
    Temporal,
    /// Never (RAND, UUID).
    Volatile,
}

/// Documentation of a function.
#[derive(Debug, Clone, Copy)]
pub struct FunctionDoc {
    /// The forms of a call: `SUBSTRING(string FROM start [FOR length])`.
    pub syntax: &'static [&'static str],
    /// Meaning, units, NULL rule and errors, in whole sentences.
    pub text: &'static str,
    /// Examples, run as tests.
    pub examples: &'static [Example],
}

/// An expression and what it gives as text (NULL as `NULL`).
pub type Example = (&'static str, &'static str);

/// An argument as the type rule sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// Its type.
    pub data_type: DataType,
    /// Its value, when it is a constant.
    pub literal: Option<Value>,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallArgs {
    /// The name the function was called by.
    pub name: String,
    /// The arguments.
    pub args: Vec<Arg>,
    /// Words of special syntax in upper case: the unit of EXTRACT, the side of TRIM, the ON EMPTY
    /// clause of JSON_VALUE. Which word stands where is the function's to say.
    pub symbols: Vec<Arc<str>>,
    /// The type of a RETURNING clause.
    pub returning: Option<DataType>,
}

impl CallArgs {
    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.args.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// The type of an argument, from 0.
    pub fn data_type(&self, index: usize) -> &DataType {
        &self.args[index].data_type
    }

    /// The types of all arguments.
    pub fn types(&self) -> Vec<DataType> {
        self.args.iter().map(|arg| arg.data_type.clone()).collect()
    }

    /// The value of a constant argument, from 0.
    pub fn literal(&self, index: usize) -> Option<&Value> {
        self.args.get(index).and_then(|arg| arg.literal.as_ref())
    }

    /// The text of a constant string argument, from 0.
    pub fn literal_str(&self, index: usize) -> Option<&str> {
        self.literal(index).and_then(Value::as_str)
    }

    /// Whether any argument may be NULL.
    pub fn any_nullable(&self) -> bool {
        self.args.iter().any(|arg| arg.data_type.nullable)
    }

    /// Refuses an untyped NULL among the arguments, as Flink's older functions do.
    pub fn refuse_untyped_null(&self) -> Result<(), SignatureError> {
        match self.args.iter().any(|arg| arg.data_type.root == TypeRoot::Null) {
            true => Err(SignatureError::UntypedNull),
            false => Ok(()),
        }
    }

    /// The error for arguments that fit no form of the function.
    pub fn no_match(&self, expected: &[&'static str]) -> SignatureError {
        SignatureError::NoMatch {
            name: self.name.clone(),
            arguments: self.types(),
            expected: expected.to_vec(),
        }
    }
}

/// The answer of a type rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The types that the arguments are cast to implicitly, one for each.
    pub parameters: Vec<DataType>,
    /// The type of the result.
    pub returns: DataType,
}

impl Resolved {
    /// The arguments stay as they are.
    pub fn unchanged(args: &CallArgs, returns: DataType) -> Self {
        Self { parameters: args.types(), returns }
    }
}

/// A compiled call.
///
/// Arguments arrive in the types that the type rule asked for; a result has `context.rows` values in
/// the layout of the result type.
pub trait Kernel: Send + Sync {
    /// Computes the results of all rows.
    fn evaluate(&self, args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError>;

    /// Whether it can fail for some values. A kernel that cannot is evaluated for rows whose
    /// result a CASE then throws away, which is cheaper than choosing the rows.
    fn can_fail(&self) -> bool {
        true
    }
}

/// A kernel of a closure that may fail.
pub fn kernel(
    evaluate: impl Fn(&[Column], &EvalContext) -> Result<ArrayRef, EvalError> + Send + Sync + 'static,
) -> Box<dyn Kernel> {
    Box::new(FnKernel { evaluate, can_fail: true })
}

/// A kernel of a closure that cannot fail for any values.
pub fn total_kernel(
    evaluate: impl Fn(&[Column], &EvalContext) -> Result<ArrayRef, EvalError> + Send + Sync + 'static,
) -> Box<dyn Kernel> {
    Box::new(FnKernel { evaluate, can_fail: false })
}

struct FnKernel<F> {
    evaluate: F,
    can_fail: bool,
}

impl<F> Kernel for FnKernel<F>
where
    F: Fn(&[Column], &EvalContext) -> Result<ArrayRef, EvalError> + Send + Sync,
{
    fn evaluate(&self, args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
        (self.evaluate)(args, context)
    }

    fn can_fail(&self) -> bool {
        self.can_fail
    }
}
