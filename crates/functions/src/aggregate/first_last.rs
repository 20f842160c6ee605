//! FIRST_VALUE and LAST_VALUE.

use arrow::array::ArrayRef;

use super::extremes::keep;
use super::keep::{First, Last};
use super::lists::{Listing, Lists, Singles};
use super::sequences::Sequences;
use super::typing::{same_as_argument, unsupported};
use super::values::ValueCodec;
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::{EvalError, FunctionDoc, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "FIRST_VALUE",
        aliases: &[],
        resolve: same_as_argument,
        create: |spec| if spec.retracts { listed(spec, FirstListed) } else { keep::<First>(spec) },
        order_sensitive: true,
        doc: FunctionDoc {
            syntax: &["FIRST_VALUE(value)"],
            text: "The first of the values that are not NULL, in order of arrival; NULL if there \
                   are none.",
            examples: &[("FIRST_VALUE(a) FROM (VALUES ('x'), ('y')) AS t(a)", "x")],
        },
    },
    AggregateFunction {
        name: "LAST_VALUE",
        aliases: &[],
        resolve: same_as_argument,
        create: |spec| if spec.retracts { listed(spec, LastListed) } else { keep::<Last>(spec) },
        order_sensitive: true,
        doc: FunctionDoc {
            syntax: &["LAST_VALUE(value)"],
            text: "The last of the values that are not NULL, in order of arrival; NULL if there \
                   are none.",
            examples: &[("LAST_VALUE(a) FROM (VALUES ('x'), ('y')) AS t(a)", "y")],
        },
    },
];

fn listed(
    spec: &AggregateSpec,
    listing: impl Listing,
) -> Result<Box<dyn Accumulator>, SignatureError> {
    match Lists::new(listing, &spec.returns, true) {
        Ok(lists) => Ok(Box::new(lists)),
        Err(_) => Err(unsupported(spec, 0)),
    }
}

/// The first of all values.
struct FirstListed;

/// The last of all values.
struct LastListed;

impl Listing for FirstListed {
    type Output = Singles;

    fn begin(&self) -> Singles {
        Singles::default()
    }

    fn push(&self, out: &mut Singles, values: &Sequences, group: u32) {
        out.push(values.iter(group).next().and_then(|(value, _)| value));
    }

    fn differ(&self, out: &Singles) -> bool {
        out.differ()
    }

    fn finish(&self, out: Singles, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        out.finish(codec)
    }
}

impl Listing for LastListed {
    type Output = Singles;

    fn begin(&self) -> Singles {
        Singles::default()
    }

    fn push(&self, out: &mut Singles, values: &Sequences, group: u32) {
        out.push(values.last(group).flatten());
    }

    fn differ(&self, out: &Singles) -> bool {
        out.differ()
    }

    fn finish(&self, out: Singles, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        out.finish(codec)
    }
}
