//! Helps for tests of accumulators.

use std::sync::Arc;

use arrow::array::ArrayRef;
use flott_types::{DataType, Value};

use super::{Accumulator, AggregateInput, AggregateSpec};
use crate::{Arg, CallArgs, aggregate_function};

/// An argument: its type, and its value if that is a literal.
pub fn arg(data_type: DataType) -> Arg {
    Arg { data_type, literal: None }
}

/// A call by name, typed; groups may be empty.
pub fn call(name: &str, args: Vec<Arg>, symbols: &[&str], retracts: bool) -> AggregateSpec {
    let symbols = symbols.iter().map(|symbol| Arc::from(*symbol)).collect();
    let mut args = CallArgs { name: name.into(), args, symbols, returning: None };
    let resolved = (aggregate_function(name).unwrap().resolve)(&args, true).unwrap();
    for (arg, wanted) in args.args.iter_mut().zip(resolved.parameters) {
        arg.data_type = wanted;
    }
    AggregateSpec { args, returns: resolved.returns, retracts }
}

/// An accumulator of a call with room for some groups.
pub fn accumulator(spec: &AggregateSpec, groups: usize) -> Box<dyn Accumulator> {
    let function = aggregate_function(&spec.args.name).unwrap();
    let mut accumulator = (function.create)(spec).unwrap();
    accumulator.resize(groups);
    accumulator
}

/// Rows of a call's arguments, each with its group and its sign.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    pub groups: Vec<u32>,
    pub signs: Vec<i8>,
    pub args: Vec<Vec<Value>>,
}

impl Rows {
    pub fn columns(&self, spec: &AggregateSpec) -> Vec<ArrayRef> {
        let column = |(i, arg): (usize, &Arg)| {
            let values: Vec<_> = self.args.iter().map(|row| row[i].clone()).collect();
            Value::to_array(&values, &arg.data_type).unwrap()
        };
        spec.args.args.iter().enumerate().map(column).collect()
    }

    /// Hands the rows to `use_them` as a batch.
    pub fn with_input<T>(
        &self,
        spec: &AggregateSpec,
        use_them: impl FnOnce(&AggregateInput) -> T,
    ) -> T {
        let args = self.columns(spec);
        let signs = self.signs.iter().any(|sign| *sign != 1).then_some(self.signs.as_slice());
        use_them(&AggregateInput { groups: &self.groups, signs, args: &args })
    }

    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            groups: self.groups[range.clone()].to_vec(),
            signs: self.signs[range.clone()].to_vec(),
            args: self.args[range].to_vec(),
        }
    }
}

/// The values of an array of a type.
pub fn to_values(array: &ArrayRef, ty: &DataType) -> Vec<Value> {
    (0..array.len()).map(|row| Value::from_array(array, row, ty)).collect()
}
