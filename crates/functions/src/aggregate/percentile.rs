//! PERCENTILE.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Float64Type, Int64Type};
use flott_types::{DataType, Family, TypeRoot, Value};

use super::layout::{numbers, state_column};
use super::ordered::{order_f64, unorder_f64};
use super::rows::each_row;
use super::values::{items_of, lists, state_lists};
use super::{Accumulator, AggregateFunction, AggregateInput};
use crate::{Arg, CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "PERCENTILE",
    aliases: &[],
    resolve,
    create: |spec| {
        let several = matches!(spec.returns.root, TypeRoot::Array(_));
        Ok(Box::new(Percentile { several, ..Percentile::default() }))
    },
    order_sensitive: false,
    doc: FunctionDoc {
        syntax: &["PERCENTILE(number, fraction [, frequency])"],
        text: "The value below which the given fraction of the values lies, interpolated between \
               the two nearest; the fraction is between 0 and 1, or an array of such, which \
               gives an array. A value counts as often as its frequency says, once unless given. \
               NULL if there are no values.",
        examples: &[("PERCENTILE(a, 0.5) FROM (VALUES (1), (2)) AS t(a)", "1.5")],
    },
}];

const FORMS: &[&str] = &[
    "<NUMERIC>, <NUMERIC NOT NULL> [, <INTEGER>]",
    "<NUMERIC>, <ARRAY<NUMERIC NOT NULL> NOT NULL> [, <INTEGER>]",
];

fn resolve(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let (number, fraction, frequency) = match args.args.as_slice() {
        [number, fraction] => (number, fraction, None),
        [number, fraction, frequency] => (number, fraction, Some(frequency)),
        _ => return Err(args.no_match(FORMS)),
    };
    let is_number = |ty: &DataType| ty.family() == Family::Numeric;
    let several = match &fraction.data_type.root {
        TypeRoot::Array(element) if is_number(element) => true,
        _ if is_number(&fraction.data_type) => false,
        _ => return Err(args.no_match(FORMS)),
    };
    let fits = is_number(&number.data_type)
        && !fraction.data_type.nullable
        && frequency.is_none_or(|frequency| frequency.data_type.root.is_integer());
    if !fits {
        return Err(args.no_match(FORMS));
    }
    check_fraction(args, fraction)?;
    let double = DataType::double();
    let fraction_type = if several {
        DataType::array(double.clone().not_null()).not_null()
    } else {
        double.clone().not_null()
    };
    let mut parameters =
        vec![double.clone().with_nullable(number.data_type.nullable), fraction_type];
    if let Some(frequency) = frequency {
        parameters.push(DataType::bigint().with_nullable(frequency.data_type.nullable));
    }
    let returns = if several { DataType::array(double) } else { double };
    Ok(Resolved { parameters, returns })
}

fn check_fraction(args: &CallArgs, fraction: &Arg) -> Result<(), SignatureError> {
    fn in_range(value: &Value, ty: &DataType) -> bool {
        match (value, &ty.root) {
            (Value::Int(number), _) => (0..=1).contains(number),
            (Value::Double(number), _) => (0.0..=1.0).contains(number),
            (Value::Float(number), _) => (0.0..=1.0).contains(number),
            (Value::Decimal(digits), TypeRoot::Decimal { scale, .. }) => {
                (0..=crate::decimal::pow10(*scale)).contains(digits)
            }
            (Value::Array(items), TypeRoot::Array(element)) => {
                items.iter().all(|item| in_range(item, element))
            }
            _ => false,
        }
    }
    match &fraction.literal {
        Some(value) if !in_range(value, &fraction.data_type) => Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 2,
            reason: "a fraction must be between 0 and 1".into(),
        }),
        _ => Ok(()),
    }
}

/// The values of each group in order, with their frequencies.
#[derive(Default)]
struct Percentile {
    /// Whether the result is an array.
    several: bool,
    groups: Vec<Group>,
    /// The number of values in all groups.
    entries: usize,
}

#[derive(Default)]
struct Group {
    counts: BTreeMap<i64, i64>,
    total: i64,
    /// The fractions, from the group's first row.
    fractions: Option<Box<[f64]>>,
}

impl Group {
    /// The value at a fraction; the group has values.
    fn at(&self, fraction: f64) -> f64 {
        // Counted from 1 as in Flink, which decides the last digits of what lies between two values.
        let position = (self.total - 1) as f64 * fraction.clamp(0.0, 1.0) + 1.0;
        let (low, high) = (position.floor(), position.ceil());
        let lower = self.nth(low as i64 - 1);
        if low == high {
            return lower;
        }
        let upper = self.nth(high as i64 - 1);
        if lower == upper {
            return lower;
        }
        (high - position) * lower + (position - low) * upper
    }

    /// The value with this number, from 0.
    fn nth(&self, number: i64) -> f64 {
        let mut seen = 0;
        let mut present = self.counts.iter().filter(|(_, count)| **count > 0);
        let found = present.find(|(_, count)| {
            seen += **count;
            seen > number
        });
        found.map_or(f64::NAN, |(key, _)| unorder_f64(*key))
    }
}

impl Percentile {
    fn add(&mut self, group: u32, key: i64, delta: i64) {
        let group = &mut self.groups[group as usize];
        let count = group.counts.entry(key).or_insert_with(|| {
            self.entries += 1;
            0
        });
        group.total += delta;
        *count += delta;
        if *count == 0 {
            group.counts.remove(&key);
            self.entries -= 1;
        }
    }

    /// Calls `each` for every row that counts.
    fn apply(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(&mut Self, usize, Option<(i64, i64)>),
    ) -> Result<(), EvalError> {
        let values = numbers::<Float64Type>(state_column(input.args, 0)?)?;
        let fractions = state_column(input.args, 1)?;
        let frequencies = input.args.get(2).map(numbers::<Int64Type>).transpose()?;
        let nulls = NullBuffer::union(
            values.nulls(),
            frequencies.as_ref().and_then(|frequencies| frequencies.nulls()),
        );
        each_row(input, nulls.as_ref(), |row, sign| {
            let group = &mut self.groups[input.groups[row] as usize];
            if group.fractions.is_none() {
                group.fractions = Some(fractions_of(fractions, row));
            }
            let frequency = frequencies.as_ref().map_or(1, |column| column.value(row));
            let counts = sign != 0 && frequency > 0;
            let delta = i64::from(sign) * frequency;
            each(self, row, counts.then(|| (order_f64(values.value(row)), delta)));
        });
        Ok(())
    }

    fn results(&self) -> Results {
        Results { several: self.several, values: Vec::new(), lengths: Vec::new() }
    }
}

fn fractions_of(column: &ArrayRef, row: usize) -> Box<[f64]> {
    if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
        return Box::new([numbers.value(row)]);
    }
    let Some(list) = column.as_list_opt::<i32>().filter(|list| list.is_valid(row)) else {
        return Box::new([]);
    };
    let items = list.value(row);
    items.as_primitive_opt::<Float64Type>().map_or_else(Box::default, |n| n.values()[..].into())
}

/// Results under construction.
struct Results {
    several: bool,
    values: Vec<Option<f64>>,
    lengths: Vec<Option<usize>>,
}

impl Results {
    fn push(&mut self, group: &Group) {
        let fractions = group.fractions.as_deref().filter(|_| group.total > 0);
        self.lengths.push(fractions.map(<[f64]>::len));
        match fractions {
            Some(fractions) if self.several => {
                self.values.extend(fractions.iter().map(|fraction| Some(group.at(*fraction))));
            }
            Some(fractions) => self.values.push(fractions.first().map(|f| group.at(*f))),
            None if self.several => {}
            None => self.values.push(None),
        }
    }

    /// Whether the last two differ.
    fn differ(&self) -> bool {
        let [.., before, after] = self.lengths[..] else { return true };
        let width = if self.several { after.unwrap_or(0) } else { 1 };
        let (rest, last) = self.values.split_at(self.values.len() - width);
        before != after || !rest.ends_with(last)
    }

    fn finish(self) -> Result<ArrayRef, EvalError> {
        let values: ArrayRef = Arc::new(Float64Array::from(self.values));
        if self.several { lists(self.lengths.into_iter(), values) } else { Ok(values) }
    }
}

impl Accumulator for Percentile {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, Group::default);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        self.apply(input, |this, row, change| {
            if let Some((key, delta)) = change {
                this.add(input.groups[row], key, delta);
            }
        })
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let mut out = self.results();
        self.apply(input, |this, row, change| {
            let group = input.groups[row];
            out.push(&this.groups[group as usize]);
            if let Some((key, delta)) = change {
                this.add(group, key, delta);
            }
            out.push(&this.groups[group as usize]);
            changed[row] |= change.is_some() && out.differ();
        })?;
        out.finish()
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let mut out = self.results();
        groups.iter().for_each(|group| out.push(&self.groups[*group as usize]));
        out.finish()
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let old = std::mem::take(&mut self.groups[*group as usize]);
            self.entries -= old.counts.len();
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let picked = || groups.iter().map(|group| &self.groups[*group as usize]);
        let lengths = || picked().map(|group| Some(group.counts.len()));
        let keys = picked().flat_map(|group| group.counts.keys().map(|key| unorder_f64(*key)));
        let counts = picked().flat_map(|group| group.counts.values().copied());
        let fractions = picked().flat_map(|group| group.fractions.as_deref().unwrap_or_default());
        Ok(vec![
            lists(lengths(), Arc::new(Float64Array::from_iter_values(keys)))?,
            lists(lengths(), Arc::new(Int64Array::from_iter_values(counts)))?,
            lists(
                picked().map(|group| group.fractions.as_deref().map(<[f64]>::len)),
                Arc::new(Float64Array::from_iter_values(fractions.copied())),
            )?,
        ])
    }

    fn state_types(&self) -> Vec<DataType> {
        let doubles = DataType::array(DataType::double());
        vec![doubles.clone(), DataType::array(DataType::bigint()), doubles]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let (values, counts) = (state_lists(state, 0)?, state_lists(state, 1)?);
        let fractions = state_column(state, 2)?;
        let doubles = numbers::<Float64Type>(values.values())?;
        let deltas = numbers::<Int64Type>(counts.values())?;
        for (row, group) in into.iter().enumerate() {
            for (value, count) in items_of(values, row).zip(items_of(counts, row)) {
                self.add(*group, order_f64(doubles.value(value)), deltas.value(count));
            }
            let group = &mut self.groups[*group as usize];
            if group.fractions.is_none() && fractions.is_valid(row) {
                group.fractions = Some(fractions_of(fractions, row));
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Group>() + self.entries * 16 * 4 / 3
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
