//! APPROX_COUNT_DISTINCT.

use std::any::Any;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, Int64Array};
use flott_types::{DataType, Family};
use foldhash::quality::FixedState;

use super::cells::first_arg;
use super::layout::state_column;
use super::rows::each_row;
use super::typing::{one_argument, unsupported};
use super::values::ValueCodec;
use super::{Accumulator, AggregateFunction, AggregateInput};
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "APPROX_COUNT_DISTINCT",
    aliases: &[],
    resolve,
    create: |spec| {
        if spec.retracts {
            return Err(SignatureError::Other(
                "APPROX_COUNT_DISTINCT cannot take rows back\nhint: use COUNT(DISTINCT …)".into(),
            ));
        }
        match ValueCodec::new(spec.args.data_type(0)) {
            Ok(codec) => Ok(Box::new(Approximate { codec, groups: Vec::new(), heap: 0 })),
            Err(_) => Err(unsupported(spec, 0)),
        }
    },
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["APPROX_COUNT_DISTINCT(value)"],
        text: "About how many different values there are that are not NULL, within about 1 %; \
               exact up to a few hundred. In batch mode only.",
        examples: &[("APPROX_COUNT_DISTINCT(a) FROM (VALUES (1), (2), (2)) AS t(a)", "2")],
    },
}];

fn resolve(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let ty = one_argument(args, &["<ANY>"])?;
    let family = ty.family();
    let supported = matches!(
        family,
        Family::Numeric | Family::CharacterString | Family::Date | Family::Time | Family::Timestamp
    );
    if supported {
        return Ok(Resolved::unchanged(args, DataType::bigint().not_null()));
    }
    Err(SignatureError::Argument {
        name: args.name.clone(),
        position: 1,
        reason: format!("the aggregate function does not support type {}", ty.summary()),
    })
}

/// The logarithm of the number of registers.
const PRECISION: u32 = 14;
const REGISTERS: usize = 1 << PRECISION;

/// Up to so many hashes are kept as they are.
const SPARSE: usize = 512;

/// A sketch a group.
struct Approximate {
    codec: ValueCodec,
    groups: Vec<Sketch>,
    heap: usize,
}

/// HyperLogLog, which begins as the sorted hashes themselves.
enum Sketch {
    Sparse(Vec<u64>),
    Dense(Box<[u8]>),
}

impl Sketch {
    fn insert(&mut self, hash: u64) {
        match self {
            Self::Sparse(hashes) => {
                let Err(place) = hashes.binary_search(&hash) else { return };
                hashes.insert(place, hash);
                if hashes.len() > SPARSE {
                    let mut registers = vec![0; REGISTERS].into_boxed_slice();
                    hashes.iter().for_each(|hash| note(&mut registers, *hash));
                    *self = Self::Dense(registers);
                }
            }
            Self::Dense(registers) => note(registers, hash),
        }
    }

    fn count(&self) -> i64 {
        match self {
            Self::Sparse(hashes) => hashes.len() as i64,
            Self::Dense(registers) => estimate(registers),
        }
    }

    fn heap(&self) -> usize {
        match self {
            Self::Sparse(hashes) => hashes.capacity() * 8,
            Self::Dense(registers) => registers.len(),
        }
    }
}

fn note(registers: &mut [u8], hash: u64) {
    let place = (hash >> (64 - PRECISION)) as usize;
    let rank = (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros() as u8 + 1;
    registers[place] = registers[place].max(rank);
}

/// The improved raw estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog
/// sketches", which needs no table of biases.
fn estimate(registers: &[u8]) -> i64 {
    let highest = (64 - PRECISION + 1) as usize;
    let mut counts = vec![0f64; highest + 1];
    registers.iter().for_each(|rank| counts[usize::from(*rank).min(highest)] += 1.0);
    let size = registers.len() as f64;
    let mut sum = size * tau(1.0 - counts[highest] / size);
    for count in counts[1..highest].iter().rev() {
        sum = (sum + count) * 0.5;
    }
    sum += size * sigma(counts[0] / size);
    (size * size / (2.0 * std::f64::consts::LN_2 * sum)).round() as i64
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * power;
        power += power;
        if sum == before {
            return sum;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut power, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        power *= 0.5;
        sum -= (1.0 - x).powi(2) * power;
        if sum == before {
            return sum / 3.0;
        }
    }
}

impl Approximate {
    fn insert(&mut self, group: u32, hash: u64) {
        let sketch = &mut self.groups[group as usize];
        let before = sketch.heap();
        sketch.insert(hash);
        self.heap = self.heap + sketch.heap() - before;
    }

    fn apply(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(i64, i64, usize),
    ) -> Result<(), EvalError> {
        let arg = first_arg(input)?;
        let values = self.codec.encode(arg)?;
        let hasher = FixedState::default();
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            let group = input.groups[row];
            let before = self.groups[group as usize].count();
            if sign > 0 {
                self.insert(group, hasher.hash_one(values.get(row)));
            }
            each(before, self.groups[group as usize].count(), row);
        });
        Ok(())
    }
}

impl Accumulator for Approximate {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, || Sketch::Sparse(Vec::new()));
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        let arg = first_arg(input)?;
        let values = self.codec.encode(arg)?;
        let hasher = FixedState::default();
        each_row(input, arg.logical_nulls().as_ref(), |row, sign| {
            if sign > 0 {
                self.insert(input.groups[row], hasher.hash_one(values.get(row)));
            }
        });
        Ok(())
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let mut pairs = Vec::with_capacity(2 * input.groups.len());
        self.apply(input, |before, after, row| {
            changed[row] |= before != after;
            pairs.extend([before, after]);
        })?;
        Ok(Arc::new(Int64Array::from(pairs)))
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let counts = groups.iter().map(|group| self.groups[*group as usize].count());
        Ok(Arc::new(Int64Array::from_iter_values(counts)))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let empty = Sketch::Sparse(Vec::new());
            let old = std::mem::replace(&mut self.groups[*group as usize], empty);
            self.heap -= old.heap();
        }
    }

    /// Registers, or hashes of eight bytes, which are fewer bytes than there are registers.
    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let mut out = BinaryBuilder::new();
        for group in groups {
            match &self.groups[*group as usize] {
                Sketch::Dense(registers) => out.append_value(registers),
                Sketch::Sparse(hashes) => {
                    let bytes: Vec<u8> =
                        hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
                    out.append_value(bytes);
                }
            }
        }
        Ok(vec![Arc::new(out.finish())])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::bytes()]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let sketches = state_column(state, 0)?.as_binary_opt::<i32>();
        let wrong = || EvalError::Internal("an aggregate's state that is no sketch".into());
        let sketches = sketches.ok_or_else(wrong)?;
        for (row, group) in into.iter().enumerate() {
            let bytes = sketches.value(row);
            if bytes.len() != REGISTERS {
                for hash in bytes.as_chunks::<8>().0 {
                    self.insert(*group, u64::from_le_bytes(*hash));
                }
                continue;
            }
            let sketch = &mut self.groups[*group as usize];
            let before = sketch.heap();
            let mut registers: Box<[u8]> = bytes.into();
            match sketch {
                Sketch::Sparse(hashes) => hashes.iter().for_each(|h| note(&mut registers, *h)),
                Sketch::Dense(own) => {
                    registers.iter_mut().zip(own).for_each(|(r, own)| *r = (*r).max(*own));
                }
            }
            *sketch = Sketch::Dense(registers);
            self.heap = self.heap + sketch.heap() - before;
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Sketch>() + self.heap
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_close() {
        let hasher = FixedState::default();
        for size in [0, 1, 300, 1_000, 20_000, 50_000, 300_000] {
            let mut sketch = Sketch::Sparse(Vec::new());
            (0..size).for_each(|number: i64| sketch.insert(hasher.hash_one(number)));
            let error = (sketch.count() - size).abs() as f64 / size.max(1) as f64;
            assert!(error < 0.03, "{size}: {}", sketch.count());
        }
    }
}
