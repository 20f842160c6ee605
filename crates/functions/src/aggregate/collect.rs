//! COLLECT.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StructArray};
use arrow::datatypes::Field;
use flott_types::TypeRoot;

use super::lists::{Listing, Lists};
use super::sequences::Sequences;
use super::typing::{one_argument, unsupported};
use super::values::{Arena, ValueCodec, lists};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "COLLECT",
    aliases: &[],
    resolve,
    create,
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["COLLECT([ALL | DISTINCT] value)"],
        text: "The values that are not NULL as a multiset; an empty one if there are none.",
        examples: &[("COLLECT(a) FROM (VALUES ('x'), ('x'), ('y')) AS t(a)", "{x=2, y=1}")],
    },
}];

fn resolve(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let element = one_argument(args, &["<ANY>"])?;
    let returns = TypeRoot::Multiset(Arc::new(element.clone())).not_null();
    Ok(Resolved::unchanged(args, returns))
}

fn create(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let TypeRoot::Multiset(element) = &spec.returns.root else { return Err(unsupported(spec, 0)) };
    match Lists::new(Multisets, element, spec.retracts) {
        Ok(lists) => Ok(Box::new(lists)),
        Err(_) => Err(unsupported(spec, 0)),
    }
}

/// Values and how often they came.
struct Multisets;

/// Multisets under construction: elements, their counts, and the number of elements of each.
#[derive(Default)]
struct MultisetOutput {
    elements: Arena,
    counts: Vec<i32>,
    lengths: Vec<usize>,
}

impl Listing for Multisets {
    type Output = MultisetOutput;

    const COUNTED: bool = true;

    fn begin(&self) -> MultisetOutput {
        MultisetOutput::default()
    }

    fn push(&self, out: &mut MultisetOutput, values: &Sequences, group: u32) {
        let start = out.counts.len();
        for (value, count) in values.iter(group) {
            out.elements.push(value);
            out.counts.push(count.try_into().unwrap_or(i32::MAX));
        }
        out.lengths.push(out.counts.len() - start);
    }

    fn finish(&self, out: MultisetOutput, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        let elements = codec.decode(out.elements.iter())?;
        let counts: ArrayRef = Arc::new(Int32Array::from(out.counts));
        let field = |name, column: &ArrayRef| Field::new(name, column.data_type().clone(), true);
        let fields = vec![field("key", &elements), field("value", &counts)];
        let entries = StructArray::try_new(fields.into(), vec![elements, counts], None)?;
        lists(out.lengths.into_iter().map(Some), Arc::new(entries))
    }
}
