//! Aggregates that build and combine bitmaps.
//!
//! A BITMAP value is a Roaring bitmap in the portable format.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, Int64Array, Int64Builder,
};
use arrow::datatypes::Int32Type;
use flott_types::{DataType, TypeRoot};
use roaring::RoaringBitmap;

use super::layout::{numbers, state_column, state_numbers};
use super::rows::try_each_row;
use super::typing::one_argument;
use super::values::{items_of, lists, state_lists};
use super::{Accumulator, AggregateFunction, AggregateInput, AggregateSpec};
use crate::scalar::bitmap;
use crate::{CallArgs, EvalError, Example, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
pub const FUNCTIONS: &[AggregateFunction] = &[
    entry(
        "BITMAP_AND_AGG",
        &["BITMAP_AND_AGG(bitmap)"],
        Combine::And,
        |spec| create(spec, Combine::And),
        false,
        &[(
            "BITMAP_AND_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "{2}",
        )],
    ),
    entry(
        "BITMAP_AND_CARDINALITY_AGG",
        &["BITMAP_AND_CARDINALITY_AGG(bitmap)"],
        Combine::And,
        |spec| create(spec, Combine::And),
        true,
        &[(
            "BITMAP_AND_CARDINALITY_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "1",
        )],
    ),
    entry(
        "BITMAP_BUILD_AGG",
        &["BITMAP_BUILD_AGG(integer)"],
        Combine::Build,
        |spec| create(spec, Combine::Build),
        false,
        &[(
            "BITMAP_BUILD_AGG(a) \
             FROM (VALUES (1), (2), (2)) AS t(a)",
            "{1,2}",
        )],
    ),
    entry(
        "BITMAP_BUILD_CARDINALITY_AGG",
        &["BITMAP_BUILD_CARDINALITY_AGG(integer)"],
        Combine::Build,
        |spec| create(spec, Combine::Build),
        true,
        &[(
            "BITMAP_BUILD_CARDINALITY_AGG(a) \
             FROM (VALUES (1), (2), (2)) AS t(a)",
            "2",
        )],
    ),
    entry(
        "BITMAP_OR_AGG",
        &["BITMAP_OR_AGG(bitmap)"],
        Combine::Or,
        |spec| create(spec, Combine::Or),
        false,
        &[(
            "BITMAP_OR_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "{1,2,3}",
        )],
    ),
    entry(
        "BITMAP_OR_CARDINALITY_AGG",
        &["BITMAP_OR_CARDINALITY_AGG(bitmap)"],
        Combine::Or,
        |spec| create(spec, Combine::Or),
        true,
        &[(
            "BITMAP_OR_CARDINALITY_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "3",
        )],
    ),
    entry(
        "BITMAP_XOR_AGG",
        &["BITMAP_XOR_AGG(bitmap)"],
        Combine::Xor,
        |spec| create(spec, Combine::Xor),
        false,
        &[(
            "BITMAP_XOR_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "{1,3}",
        )],
    ),
    entry(
        "BITMAP_XOR_CARDINALITY_AGG",
        &["BITMAP_XOR_CARDINALITY_AGG(bitmap)"],
        Combine::Xor,
        |spec| create(spec, Combine::Xor),
        true,
        &[(
            "BITMAP_XOR_CARDINALITY_AGG(a) \
             FROM (VALUES (BITMAP_BUILD(ARRAY[1, 2])), (BITMAP_BUILD(ARRAY[2, 3]))) AS t(a)",
            "2",
        )],
    ),
];

/// How values come together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Combine {
    /// Integers become members.
    Build,
    /// The members of every bitmap.
    And,
    /// The members of any bitmap.
    Or,
    /// The members of an odd number of bitmaps.
    Xor,
}

const fn entry(
    name: &'static str,
    syntax: &'static [&'static str],
    combine: Combine,
    create: fn(&AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError>,
    cardinality: bool,
    examples: &'static [Example],
) -> AggregateFunction {
    let resolve: fn(&CallArgs, bool) -> Result<Resolved, SignatureError> =
        match (matches!(combine, Combine::Build), cardinality) {
            (true, false) => |args, _| resolve_build(args, TypeRoot::Bitmap.nullable()),
            (true, true) => |args, _| resolve_build(args, DataType::bigint()),
            (false, false) => |args, _| resolve_bitmap(args, TypeRoot::Bitmap.nullable()),
            (false, true) => |args, _| resolve_bitmap(args, DataType::bigint()),
        };
    let text = match combine {
        Combine::Build => {
            "The bitmap of the integers that are not NULL, taken as unsigned, or its size."
        }
        Combine::And => "What all bitmaps that are not NULL have in common, or its size.",
        Combine::Or => "All members of the bitmaps that are not NULL, or their number.",
        Combine::Xor => {
            "The members of an odd number of the bitmaps that are not NULL, or their number."
        }
    };
    AggregateFunction {
        name,
        aliases: &[],
        resolve,
        create,
        order_sensitive: false,
        doc: FunctionDoc { syntax, text, examples },
    }
}

fn resolve_build(args: &CallArgs, returns: DataType) -> Result<Resolved, SignatureError> {
    let ty = one_argument(args, &["<INTEGER>"])?;
    match ty.root {
        TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int => {
            Ok(Resolved { parameters: vec![DataType::int().with_nullable(ty.nullable)], returns })
        }
        _ => Err(args.no_match(&["<INTEGER>"])),
    }
}

fn resolve_bitmap(args: &CallArgs, returns: DataType) -> Result<Resolved, SignatureError> {
    match one_argument(args, &["<BITMAP>"])?.root {
        TypeRoot::Bitmap => Ok(Resolved::unchanged(args, returns)),
        _ => Err(args.no_match(&["<BITMAP>"])),
    }
}

fn create(spec: &AggregateSpec, combine: Combine) -> Result<Box<dyn Accumulator>, SignatureError> {
    Ok(Box::new(Bitmaps {
        combine,
        counted: spec.retracts && combine != Combine::Xor,
        cardinality: spec.returns.root == TypeRoot::BigInt,
        groups: Vec::new(),
        members: 0,
        entries: 0,
    }))
}

/// A bitmap a group.
struct Bitmaps {
    combine: Combine,
    /// Whether it is counted how many values each member is in, so that values can be taken back.
    counted: bool,
    /// Whether the result is the size of the bitmap.
    cardinality: bool,
    groups: Vec<Group>,
    /// The number of members of all bitmaps, and of all counts.
    members: u64,
    entries: usize,
}

#[derive(Default)]
struct Group {
    /// How many values it took in.
    rows: i64,
    /// Of AND with counts it is not kept.
    bitmap: RoaringBitmap,
    counts: BTreeMap<u32, i64>,
}

impl Bitmaps {
    /// Takes in, or back, a value: a member or a bitmap.
    fn apply(&mut self, group: u32, value: &RoaringBitmap, sign: i64) {
        let group = &mut self.groups[group as usize];
        let before = (group.bitmap.len(), group.counts.len());
        group.rows += sign;
        if self.counted {
            for member in value {
                let count = group.counts.entry(member).or_insert(0);
                let was_in = *count > 0;
                *count += sign;
                match (was_in, *count > 0) {
                    (false, true) => group.bitmap.insert(member),
                    (true, false) => group.bitmap.remove(member),
                    _ => false,
                };
                if *count == 0 {
                    group.counts.remove(&member);
                }
            }
        } else {
            match self.combine {
                Combine::Build | Combine::Or => group.bitmap |= value,
                Combine::Xor => group.bitmap ^= value,
                Combine::And if group.rows == sign => group.bitmap = value.clone(),
                Combine::And => group.bitmap &= value,
            }
        }
        self.members = self.members + group.bitmap.len() - before.0;
        self.entries = self.entries + group.counts.len() - before.1;
    }

    fn value(&self, group: u32) -> Option<RoaringBitmap> {
        let group = &self.groups[group as usize];
        if group.rows == 0 {
            return None;
        }
        if self.counted && self.combine == Combine::And {
            let everywhere = group.counts.iter().filter(|(_, count)| **count == group.rows);
            return Some(everywhere.map(|(member, _)| *member).collect());
        }
        Some(group.bitmap.clone())
    }

    fn each_value(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(&mut Self, usize, &RoaringBitmap, i8),
    ) -> Result<(), EvalError> {
        let column = state_column(input.args, 0)?;
        let empty = RoaringBitmap::new();
        if self.combine == Combine::Build {
            let integers = numbers::<Int32Type>(column)?;
            return try_each_row(input, integers.nulls(), |row, sign| {
                let value = if sign == 0 {
                    empty.clone()
                } else {
                    RoaringBitmap::from_iter([integers.value(row) as u32])
                };
                each(self, row, &value, sign);
                Ok(())
            });
        }
        let bitmaps = bitmap_column(column)?;
        try_each_row(input, bitmaps.nulls(), |row, sign| {
            let value = if sign == 0 { empty.clone() } else { bitmap::decode(bitmaps.value(row))? };
            each(self, row, &value, sign);
            Ok(())
        })
    }

    fn finish(&self, values: &[Option<RoaringBitmap>]) -> ArrayRef {
        if self.cardinality {
            let mut out = Int64Builder::with_capacity(values.len());
            values.iter().for_each(|v| out.append_option(v.as_ref().map(|v| v.len() as i64)));
            return Arc::new(out.finish());
        }
        Arc::new(bitmap_array(values.iter().map(Option::as_ref)))
    }
}

/// Bitmaps as a column.
fn bitmap_array<'a>(values: impl Iterator<Item = Option<&'a RoaringBitmap>>) -> BinaryArray {
    let mut out = BinaryBuilder::new();
    for value in values {
        match value.map(|value| bitmap::encode(value.clone())) {
            Some(Ok(bytes)) => out.append_value(bytes),
            // Writing to a vector cannot fail.
            Some(Err(_)) | None => out.append_null(),
        }
    }
    out.finish()
}

fn bitmap_column(column: &ArrayRef) -> Result<&BinaryArray, EvalError> {
    column.as_binary_opt().ok_or_else(|| EvalError::Internal("a column that is no BITMAP".into()))
}

impl Accumulator for Bitmaps {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, Group::default);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        self.each_value(input, |this, row, value, sign| {
            if sign != 0 {
                this.apply(input.groups[row], value, sign.into());
            }
        })
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let mut pairs = Vec::with_capacity(2 * input.groups.len());
        self.each_value(input, |this, row, value, sign| {
            let group = input.groups[row];
            let before = this.value(group);
            if sign != 0 {
                this.apply(group, value, sign.into());
            }
            let after = this.value(group);
            changed[row] |= if this.cardinality {
                before.as_ref().map(RoaringBitmap::len) != after.as_ref().map(RoaringBitmap::len)
            } else {
                before != after
            };
            pairs.extend([before, after]);
        })?;
        Ok(self.finish(&pairs))
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let values: Vec<_> = groups.iter().map(|group| self.value(*group)).collect();
        Ok(self.finish(&values))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let old = std::mem::take(&mut self.groups[*group as usize]);
            self.members -= old.bitmap.len();
            self.entries -= old.counts.len();
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let picked = || groups.iter().map(|group| &self.groups[*group as usize]);
        let lengths = || picked().map(|group| Some(group.counts.len()));
        let members = picked().flat_map(|group| group.counts.keys().map(|key| i64::from(*key)));
        let counts = picked().flat_map(|group| group.counts.values().copied());
        Ok(vec![
            Arc::new(Int64Array::from_iter_values(picked().map(|group| group.rows))),
            Arc::new(bitmap_array(picked().map(|group| Some(&group.bitmap)))),
            lists(lengths(), Arc::new(Int64Array::from_iter_values(members)))?,
            lists(lengths(), Arc::new(Int64Array::from_iter_values(counts)))?,
        ])
    }

    fn state_types(&self) -> Vec<DataType> {
        let numbers = DataType::array(DataType::bigint());
        vec![DataType::bigint(), DataType::bytes(), numbers.clone(), numbers]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        use arrow::datatypes::Int64Type;
        let rows = state_numbers::<Int64Type>(state, 0)?;
        let bitmaps = bitmap_column(state_column(state, 1)?)?;
        let (members, counts) = (state_lists(state, 2)?, state_lists(state, 3)?);
        let member = numbers::<Int64Type>(members.values())?;
        let count = numbers::<Int64Type>(counts.values())?;
        for (row, group) in into.iter().enumerate() {
            let added = rows.value(row);
            if added == 0 && members.value_length(row) == 0 {
                continue;
            }
            if self.counted {
                for (m, c) in items_of(members, row).zip(items_of(counts, row)) {
                    // Not a value of its own: rows are added below.
                    let single = RoaringBitmap::from_iter([member.value(m) as u32]);
                    self.apply(*group, &single, count.value(c));
                    self.groups[*group as usize].rows -= count.value(c);
                }
                self.groups[*group as usize].rows += added;
            } else {
                let bitmap = bitmap::decode(bitmaps.value(row))?;
                self.apply(*group, &bitmap, added);
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Group>() + self.members as usize * 4 + self.entries * 16
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
