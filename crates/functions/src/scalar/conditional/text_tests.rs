//! IS_ALPHA, IS_DIGIT and IS_DECIMAL.

use std::sync::{Arc, LazyLock};

use arrow::array::{AsArray, BooleanArray, StringArray};
use fancy_regex::Regex;
use flott_types::{DataType, Family, TypeRoot};

use crate::{
    CallArgs, Column, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    cast, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "IS_ALPHA",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |args, _, _| Ok(test(args, |_| false, is_alpha)),
        doc: FunctionDoc {
            syntax: &["IS_ALPHA(string)"],
            text: "Whether the text is not empty and has letters only; FALSE for NULL and for \
                   numbers.",
            examples: &[("IS_ALPHA('abc')", "TRUE"), ("IS_ALPHA('a1')", "FALSE")],
        },
    },
    ScalarFunction {
        name: "IS_DECIMAL",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |args, _, _| Ok(test(args, is_primitive, is_decimal)),
        doc: FunctionDoc {
            syntax: &["IS_DECIMAL(string)"],
            text: "Whether the text can be read as a DOUBLE; FALSE for NULL, TRUE for all \
                   numbers but DECIMAL.",
            examples: &[("IS_DECIMAL('-1.5e3')", "TRUE"), ("IS_DECIMAL('1,5')", "FALSE")],
        },
    },
    ScalarFunction {
        name: "IS_DIGIT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile: |args, _, _| Ok(test(args, TypeRoot::is_integer, is_digit)),
        doc: FunctionDoc {
            syntax: &["IS_DIGIT(string)"],
            text: "Whether the text is not empty and has digits only; FALSE for NULL, TRUE for \
                   integers.",
            examples: &[("IS_DIGIT('123')", "TRUE"), ("IS_DIGIT('1.2')", "FALSE")],
        },
    },
];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if matches!(arg.data_type.family(), Family::CharacterString | Family::Numeric) => {
            Ok(Resolved::unchanged(args, DataType::boolean().not_null()))
        }
        _ => Err(args.no_match(&["<CHARACTER>", "<NUMERIC>"])),
    }
}

fn is_primitive(root: &TypeRoot) -> bool {
    root.is_integer() || root.is_approximate()
}

/// A test of texts. Numbers of one type all have the same answer.
fn test(
    args: &CallArgs,
    of_numbers: fn(&TypeRoot) -> bool,
    holds: fn(&str) -> bool,
) -> Box<dyn Kernel> {
    let of_numbers = match args.data_type(0) {
        ty if ty.family() == Family::CharacterString => None,
        ty => Some(of_numbers(&ty.root)),
    };
    total_kernel(move |args, context| {
        let constant = |answer: bool| BooleanArray::from(vec![answer; context.rows]);
        if let Some(answer) = of_numbers {
            return Ok(Arc::new(constant(answer)));
        }
        let texts: &StringArray = args[0].array().as_string();
        let answers: BooleanArray =
            texts.iter().map(|text| Some(text.is_some_and(holds))).collect();
        let column = match args[0].is_constant() {
            true => Column::constant(Arc::new(answers)),
            false => Column::rows(Arc::new(answers)),
        };
        column.into_array(context.rows)
    })
}

fn is_alpha(text: &str) -> bool {
    if text.is_ascii() {
        return !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    }
    static LETTERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A\p{L}+\z").ok());
    has_only(text, LETTERS.as_ref())
}

fn is_digit(text: &str) -> bool {
    if text.is_ascii() {
        return !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    }
    static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A\p{Nd}+\z").ok());
    has_only(text, DIGITS.as_ref())
}

/// Whether Java reads the text as a DOUBLE, or as an integer, which may have digits of any script.
fn is_decimal(text: &str) -> bool {
    cast::parse_double(text).is_ok()
        || (!text.is_ascii()
            && cast::parse_integer(&cast::with_ascii_digits(text), i64::MIN, i64::MAX).is_ok()
            && text.strip_prefix(['+', '-']).unwrap_or(text).chars().all(cast::is_digit))
}

/// Java looks at UTF-16 units, of which those beyond 16 bits are neither letters nor digits.
fn has_only(text: &str, class: Option<&Regex>) -> bool {
    text.chars().all(|c| c <= '\u{FFFF}')
        && class.is_some_and(|class| class.is_match(text).unwrap_or(false))
}
