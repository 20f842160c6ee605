//! LISTAGG.

use std::sync::Arc;

use arrow::array::ArrayRef;
use flott_types::{DataType, Family, TypeRoot};

use super::lists::{Listing, Lists, Singles};
use super::sequences::Sequences;
use super::typing::{illegal_null, unsupported};
use super::values::ValueCodec;
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "LISTAGG",
    aliases: &[],
    resolve,
    create,
    order_sensitive: true,
    doc: FunctionDoc {
        syntax: &["LISTAGG([ALL | DISTINCT] string [, separator])"],
        text: "The strings that are not NULL one after the other in order of arrival, with the \
               separator, a comma unless given, between them; NULL if there are none.",
        examples: &[("LISTAGG(a) FROM (VALUES ('x'), ('y')) AS t(a)", "x,y")],
    },
}];

const FORMS: &[&str] = &["<CHARACTER>", "<CHARACTER>, <CHARACTER_LITERAL>"];

/// Flink gives the type of the first argument, whatever the length of the list.
fn resolve(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let (Some(string), 1 | 2) = (args.args.first(), args.len()) else {
        return Err(args.no_match(FORMS));
    };
    if string.data_type.root == TypeRoot::Null {
        return Err(illegal_null());
    }
    if args.args.iter().any(|arg| arg.data_type.family() != Family::CharacterString) {
        return Err(args.no_match(FORMS));
    }
    separator(args)?;
    Ok(Resolved::unchanged(args, string.data_type.clone()))
}

fn separator(args: &CallArgs) -> Result<Arc<str>, SignatureError> {
    match args.args.get(1) {
        None => Ok(",".into()),
        Some(_) => args.literal_str(1).map(Arc::from).ok_or_else(|| SignatureError::Argument {
            name: args.name.clone(),
            position: 2,
            reason: "the separator must be a literal that is not NULL".into(),
        }),
    }
}

fn create(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let separator = separator(&spec.args)?;
    match Lists::new(Joined { separator }, &DataType::string(), spec.retracts) {
        Ok(lists) => Ok(Box::new(lists)),
        Err(_) => Err(unsupported(spec, 0)),
    }
}

/// All values in one string.
struct Joined {
    separator: Arc<str>,
}

impl Listing for Joined {
    type Output = (Singles, Vec<u8>);

    fn begin(&self) -> Self::Output {
        Self::Output::default()
    }

    fn push(&self, (out, scratch): &mut Self::Output, values: &Sequences, group: u32) {
        scratch.clear();
        let mut any = false;
        for (value, _) in values.iter(group) {
            if any {
                scratch.extend_from_slice(self.separator.as_bytes());
            }
            scratch.extend_from_slice(value.unwrap_or_default());
            any = true;
        }
        out.push(any.then_some(scratch.as_slice()));
    }

    fn differ(&self, (out, _): &Self::Output) -> bool {
        out.differ()
    }

    fn finish(&self, (out, _): Self::Output, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        out.finish(codec)
    }
}
