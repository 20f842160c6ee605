//! IF, IFNULL and NULLIF: other ways of writing CASE and COALESCE.
//!
//! [`rewrite`] turns calls into those, so that they evaluate an argument only where it is needed.

use flott_types::{DataType, Family, TypeRoot};

use crate::coercion::{common_argument_type, common_type};
use crate::scalar::comparison::Pairing;
use crate::{
    Arg, CallArgs, Evaluator, Expr, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "IF",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_if,
        compile,
        doc: FunctionDoc {
            syntax: &["IF(condition, then, otherwise)"],
            text: "One value if the condition is TRUE, else the other.",
            examples: &[("IF(1 < 2, 'a', 'bcd')", "a"), ("IF(FALSE, 1 / 0, 5)", "5")],
        },
    },
    ScalarFunction {
        name: "IFNULL",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_ifnull,
        compile,
        doc: FunctionDoc {
            syntax: &["IFNULL(value, replacement)"],
            text: "The value, or the replacement where the value is NULL.",
            examples: &[("IFNULL(CAST(NULL AS INT), 5)", "5")],
        },
    },
    ScalarFunction {
        name: "NULLIF",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_nullif,
        compile,
        doc: FunctionDoc {
            syntax: &["NULLIF(a, b)"],
            text: "NULL if the values are equal, else the first.",
            examples: &[("NULLIF(5, 5)", "NULL"), ("NULLIF(5, 0)", "5")],
        },
    },
];

/// The call as CASE or COALESCE, if it is one of this family. The arguments have the types that
/// its rule asked for.
pub(crate) fn rewrite(
    name: &str,
    args: &[Expr],
    returns: &DataType,
) -> Result<Option<Expr>, SignatureError> {
    Ok(Some(match (name, args) {
        ("IF", [condition, then, otherwise]) => Expr::Case {
            branches: vec![(condition.clone(), then.clone())],
            otherwise: Box::new(otherwise.clone()),
            data_type: returns.clone(),
        },
        ("IFNULL", [value, _]) if !value.data_type().nullable => value.clone(),
        ("IFNULL", [_, _]) => Expr::Coalesce { args: args.to_vec(), data_type: returns.clone() },
        ("NULLIF", [value, other]) => Expr::Case {
            branches: vec![(
                Expr::builtin("=", vec![value.clone(), other.clone()])?,
                Expr::null(returns.clone()),
            )],
            otherwise: Box::new(value.clone()),
            data_type: returns.clone(),
        },
        _ => return Ok(None),
    }))
}

/// Evaluates the rewritten call over the arguments.
fn compile(
    args: &CallArgs,
    returns: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let columns: Vec<Expr> = args
        .args
        .iter()
        .enumerate()
        .map(|(index, arg)| Expr::column(index, arg.data_type.clone()))
        .collect();
    let expr = rewrite(&args.name, &columns, returns)?.ok_or_else(|| args.no_match(&[]))?;
    let evaluator = Evaluator::new(&expr, settings)?;
    Ok(kernel(move |args, context| {
        let arrays = args
            .iter()
            .map(|column| column.clone().into_array(context.rows))
            .collect::<Result<Vec<_>, _>>()?;
        evaluator.evaluate(&arrays, context)
    }))
}

/// A condition and two values of one family. Numbers and strings meet in their common type, dates and
/// times in the type of the first.
fn resolve_if(args: &CallArgs) -> Result<Resolved, SignatureError> {
    use Family::*;
    let refused = || args.no_match(&["<BOOLEAN>, <ANY>, <ANY>"]);
    let [condition, Arg { data_type: then, .. }, Arg { data_type: otherwise, .. }] =
        args.args.as_slice()
    else {
        return Err(refused());
    };
    let condition = &condition.data_type;
    if condition.family() != Boolean || then.family() != otherwise.family() {
        return Err(refused());
    }
    let common = match then.family() {
        Numeric | CharacterString | BinaryString => {
            common_type(&[then.clone(), otherwise.clone()]).ok_or_else(refused)?
        }
        Boolean | Date | Time | Timestamp => then.clone(),
        _ => return Err(refused()),
    };
    let returns = common.clone().with_nullable(args.any_nullable());
    Ok(Resolved { parameters: vec![condition.clone(), common.clone(), common], returns })
}

/// Two values, in their common type; nullable only if both are. A value that is never NULL is the result as it is, if it is a
/// string or differs from the common type by lengths of strings only.
fn resolve_ifnull(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let common = common_argument_type(&args.types())
        .filter(|_| args.len() == 2)
        .ok_or_else(|| args.no_match(&["input <COMMON>, null_replacement <COMMON>"]))?;
    let value = args.data_type(0);
    if differs_by_lengths(&value.root, &common.root) && !value.nullable {
        let returns = value.clone();
        return Ok(Resolved { parameters: vec![returns.clone(), common], returns });
    }
    let nullable = args.args.iter().all(|arg| arg.data_type.nullable);
    let returns = common.clone().with_nullable(nullable);
    Ok(Resolved { parameters: vec![common; 2], returns })
}

/// Whether types are the same but for lengths of strings and what may be NULL within them.
fn differs_by_lengths(a: &TypeRoot, b: &TypeRoot) -> bool {
    use TypeRoot::*;
    match (a, b) {
        (Char(_) | Varchar(_), Char(_) | Varchar(_)) => true,
        (Binary(_) | Varbinary(_), Binary(_) | Varbinary(_)) => true,
        (Array(a), Array(b)) => differs_by_lengths(&a.root, &b.root),
        _ => a == b,
    }
}

/// Two values that `=` compares. The first stays as it is, since it is the result.
fn resolve_nullif(args: &CallArgs) -> Result<Resolved, SignatureError> {
    Pairing::of_equality(args)?;
    if args.data_type(0).family() == Family::Null {
        return Err(args.no_match(&["<COMPARABLE_TYPE>, <COMPARABLE_TYPE>"]));
    }
    let returns = args.data_type(0).clone().with_nullable(true);
    Ok(Resolved::unchanged(args, returns))
}
