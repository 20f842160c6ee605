//! ARRAY_AGG.

use arrow::array::ArrayRef;
use flott_types::{DataType, TypeRoot};

use super::lists::{Listing, Lists};
use super::sequences::Sequences;
use super::typing::{one_argument, unsupported};
use super::values::{Arena, ValueCodec, lists};
use super::{Accumulator, AggregateFunction, AggregateSpec};
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "ARRAY_AGG",
    aliases: &[],
    resolve,
    create,
    order_sensitive: true,
    doc: FunctionDoc {
        syntax: &["ARRAY_AGG([ALL | DISTINCT] value [RESPECT NULLS | IGNORE NULLS])"],
        text: "All values as an array in order of arrival, NULLs too unless they are ignored; \
               NULL if there are none.",
        examples: &[("ARRAY_AGG(a) FROM (VALUES (1), (2)) AS t(a)", "[1, 2]")],
    },
}];

/// NULL for no rows, though Flink calls the array NOT NULL when its values are.
fn resolve(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let element = one_argument(args, &["<ANY>"])?;
    let returns = DataType::array(element.clone()).with_nullable(element.nullable);
    Ok(Resolved::unchanged(args, returns))
}

fn create(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let TypeRoot::Array(element) = &spec.returns.root else { return Err(unsupported(spec, 0)) };
    let skips_nulls = spec.args.symbols.iter().any(|symbol| &**symbol == "IGNORE NULLS");
    match Lists::new(Arrays { skips_nulls }, element, spec.retracts) {
        Ok(lists) => Ok(Box::new(lists)),
        Err(_) => Err(unsupported(spec, 0)),
    }
}

/// All values as an array.
struct Arrays {
    skips_nulls: bool,
}

/// Arrays under construction: items and lengths.
#[derive(Default)]
struct ArrayOutput {
    items: Arena,
    lengths: Vec<Option<usize>>,
}

impl Listing for Arrays {
    type Output = ArrayOutput;

    fn skips_nulls(&self) -> bool {
        self.skips_nulls
    }

    fn begin(&self) -> ArrayOutput {
        ArrayOutput::default()
    }

    fn push(&self, out: &mut ArrayOutput, values: &Sequences, group: u32) {
        let mut length = 0;
        for (value, _) in values.iter(group) {
            out.items.push(value);
            length += 1;
        }
        out.lengths.push((length > 0).then_some(length));
    }

    fn finish(&self, out: ArrayOutput, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        lists(out.lengths.into_iter(), codec.decode(out.items.iter())?)
    }
}
