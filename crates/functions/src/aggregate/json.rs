//! JSON_ARRAYAGG and JSON_OBJECTAGG.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use flott_types::text::{utf16_order, write_json_string};
use flott_types::{DataType, Family, TypeRoot};

use super::layout::state_column;
use super::lists::{Listing, Lists, Singles};
use super::rows::try_each_row;
use super::sequences::Sequences;
use super::typing::{illegal_null, one_argument, unsupported};
use super::values::{ValueCodec, items_of, lists, state_lists};
use super::{Accumulator, AggregateFunction, AggregateInput, AggregateSpec};
use crate::scalar::json::Encoder;
use crate::{CallArgs, EvalError, FunctionDoc, Resolved, SignatureError};

/// The functions of this family.
///
/// Symbols: `NULL` or `ABSENT`, what becomes of NULL values; then `FORMAT JSON`, if the values are JSON
/// texts already, as those of JSON_OBJECT and JSON_ARRAY.
pub const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "JSON_ARRAYAGG",
        aliases: &[],
        resolve: |args, _| {
            check_type(args, one_argument(args, &["<ANY>"])?)?;
            Ok(Resolved::unchanged(args, json_type()))
        },
        create: create_array,
        order_sensitive: true,
        doc: FunctionDoc {
            syntax: &["JSON_ARRAYAGG(value [{ NULL | ABSENT } ON NULL])"],
            text: "The values as a JSON array in order of arrival. NULLs are left out unless \
                   NULL ON NULL is given. Without rows an empty array.",
            examples: &[("JSON_ARRAYAGG(a) FROM (VALUES (1), (2)) AS t(a)", "[1,2]")],
        },
    },
    AggregateFunction {
        name: "JSON_OBJECTAGG",
        aliases: &[],
        resolve: resolve_object,
        create: create_object,
        order_sensitive: false,
        doc: FunctionDoc {
            syntax: &["JSON_OBJECTAGG([KEY] key VALUE value [{ NULL | ABSENT } ON NULL])"],
            text: "The values as a JSON object, each under its key, which must be a string, not \
                   NULL, and come once only. Values that are NULL are kept unless ABSENT ON NULL \
                   is given. Without rows an empty object.",
            examples: &[("JSON_OBJECTAGG(KEY 'a' VALUE b) FROM (VALUES (1)) AS t(b)", "{\"a\":1}")],
        },
    },
];

fn json_type() -> DataType {
    TypeRoot::Varchar(2000).not_null()
}

/// Refuses values of types that JSON has no form for.
fn check_type(args: &CallArgs, ty: &DataType) -> Result<(), SignatureError> {
    let unsupported = |error: SignatureError| SignatureError::Argument {
        name: args.name.clone(),
        position: args.len(),
        reason: error.to_string(),
    };
    Encoder::new(ty).map(drop).map_err(unsupported)
}

fn resolve_object(args: &CallArgs, _: bool) -> Result<Resolved, SignatureError> {
    let [key, value] = args.args.as_slice() else {
        return Err(args.no_match(&["<CHARACTER>, <ANY>"]));
    };
    if value.data_type.root == TypeRoot::Null || key.data_type.root == TypeRoot::Null {
        return Err(illegal_null());
    }
    if key.data_type.family() != Family::CharacterString {
        return Err(args.no_match(&["<CHARACTER>, <ANY>"]));
    }
    check_type(args, &value.data_type)?;
    Ok(Resolved::unchanged(args, json_type()))
}

fn has_symbol(spec: &AggregateSpec, wanted: &str) -> bool {
    spec.args.symbols.iter().any(|symbol| &**symbol == wanted)
}

fn create_array(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let texts = JsonTexts::new(spec, 0, has_symbol(spec, "NULL"))?;
    match Lists::new(JsonArrays { texts }, &DataType::string(), spec.retracts) {
        Ok(lists) => Ok(Box::new(lists)),
        Err(_) => Err(unsupported(spec, 0)),
    }
}

fn create_object(spec: &AggregateSpec) -> Result<Box<dyn Accumulator>, SignatureError> {
    let texts = JsonTexts::new(spec, 1, !has_symbol(spec, "ABSENT"))?;
    Ok(Box::new(Objects { texts, groups: Vec::new(), entries: 0, heap: 0 }))
}

/// Makes the JSON texts of a column.
struct JsonTexts {
    /// `None` if the values are JSON texts already.
    encoder: Option<Encoder>,
    keeps_nulls: bool,
}

impl JsonTexts {
    fn new(
        spec: &AggregateSpec,
        argument: usize,
        keeps_nulls: bool,
    ) -> Result<Self, SignatureError> {
        let encoder = match has_symbol(spec, "FORMAT JSON") {
            true => None,
            false => Some(Encoder::new(spec.args.data_type(argument))?),
        };
        Ok(Self { encoder, keeps_nulls })
    }

    /// The text of each value; NULL where it is left out.
    fn of(&self, column: &ArrayRef) -> Result<StringArray, EvalError> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for row in 0..column.len() {
            text.clear();
            match &self.encoder {
                _ if column.is_null(row) && !self.keeps_nulls => {
                    out.append_null();
                    continue;
                }
                None if column.is_valid(row) => {
                    text.push_str(column.as_string::<i32>().value(row));
                }
                None => text.push_str("null"),
                Some(encoder) => encoder.write(&mut text, column, row)?,
            }
            out.append_value(&text);
        }
        Ok(out.finish())
    }
}

/// All values as an array.
struct JsonArrays {
    texts: JsonTexts,
}

impl Listing for JsonArrays {
    type Output = (Singles, Vec<u8>);

    fn values(&self, args: &[ArrayRef]) -> Result<ArrayRef, EvalError> {
        Ok(Arc::new(self.texts.of(state_column(args, 0)?)?))
    }

    fn begin(&self) -> Self::Output {
        Self::Output::default()
    }

    fn push(&self, (out, scratch): &mut Self::Output, values: &Sequences, group: u32) {
        scratch.clear();
        scratch.push(b'[');
        for (i, (value, _)) in values.iter(group).enumerate() {
            if i > 0 {
                scratch.push(b',');
            }
            scratch.extend_from_slice(value.unwrap_or_default());
        }
        scratch.push(b']');
        out.push(Some(scratch));
    }

    fn finish(&self, (out, _): Self::Output, codec: &ValueCodec) -> Result<ArrayRef, EvalError> {
        out.finish(codec)
    }
}

/// A member's name, in Java's order.
#[derive(PartialEq, Eq)]
struct Name(Box<str>);

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        utf16_order(&self.0, &other.0)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The members of each group's object.
struct Objects {
    texts: JsonTexts,
    groups: Vec<BTreeMap<Name, Box<str>>>,
    /// The number of members in all groups, and the bytes they own.
    entries: usize,
    heap: usize,
}

impl Objects {
    fn insert(&mut self, group: u32, name: &str, value: &str) -> Result<(), EvalError> {
        let old = self.groups[group as usize].insert(Name(name.into()), value.into());
        if old.is_some() {
            return Err(failure(format!(
                "the key '{name}' came twice, JSON_OBJECTAGG takes each key once\n\
                 hint: make keys unique, as by GROUP BY or SELECT DISTINCT"
            )));
        }
        self.entries += 1;
        self.heap += name.len() + value.len();
        Ok(())
    }

    fn remove(&mut self, group: u32, name: &str) {
        if let Some(value) = self.groups[group as usize].remove(&Name(name.into())) {
            self.entries -= 1;
            self.heap -= name.len() + value.len();
        }
    }

    fn write(&self, out: &mut StringBuilder, text: &mut String, group: u32) {
        text.clear();
        text.push('{');
        for (i, (name, value)) in self.groups[group as usize].iter().enumerate() {
            text.push_str(if i > 0 { "," } else { "" });
            write_json_string(text, &name.0);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        out.append_value(text);
    }

    /// Takes in rows; `each` is called after each of them with whether it may have changed its group,
    /// and before it with `None`.
    fn apply(
        &mut self,
        input: &AggregateInput,
        mut each: impl FnMut(&Self, usize, Option<bool>),
    ) -> Result<(), EvalError> {
        let names = state_column(input.args, 0)?.as_string::<i32>();
        let values = self.texts.of(state_column(input.args, 1)?)?;
        try_each_row(input, None, |row, sign| {
            each(self, row, None);
            let counts = sign != 0 && values.is_valid(row);
            if counts && names.is_null(row) {
                return Err(failure("a key is NULL\nhint: filter such rows out".into()));
            }
            if counts && sign > 0 {
                self.insert(input.groups[row], names.value(row), values.value(row))?;
            } else if counts {
                self.remove(input.groups[row], names.value(row));
            }
            each(self, row, Some(counts));
            Ok(())
        })
    }
}

fn failure(reason: String) -> EvalError {
    EvalError::Argument { function: "JSON_OBJECTAGG", reason }
}

impl Accumulator for Objects {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, BTreeMap::new);
        }
    }

    fn update(&mut self, input: &AggregateInput) -> Result<(), EvalError> {
        self.apply(input, |_, _, _| {})
    }

    fn update_with_changes(
        &mut self,
        input: &AggregateInput,
        changed: &mut [bool],
    ) -> Result<ArrayRef, EvalError> {
        let (mut out, mut text) = (StringBuilder::new(), String::new());
        self.apply(input, |this, row, applied| {
            this.write(&mut out, &mut text, input.groups[row]);
            changed[row] |= applied == Some(true);
        })?;
        Ok(Arc::new(out.finish()))
    }

    fn values(&self, groups: &[u32]) -> Result<ArrayRef, EvalError> {
        let (mut out, mut text) = (StringBuilder::new(), String::new());
        groups.iter().for_each(|group| self.write(&mut out, &mut text, *group));
        Ok(Arc::new(out.finish()))
    }

    fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            let members = std::mem::take(&mut self.groups[*group as usize]);
            self.entries -= members.len();
            self.heap -= members.iter().map(|(k, v)| k.0.len() + v.len()).sum::<usize>();
        }
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, EvalError> {
        let members = || groups.iter().flat_map(|group| &self.groups[*group as usize]);
        let lengths = || groups.iter().map(|group| Some(self.groups[*group as usize].len()));
        let names = StringArray::from_iter_values(members().map(|(name, _)| &*name.0));
        let values = StringArray::from_iter_values(members().map(|(_, value)| &**value));
        Ok(vec![lists(lengths(), Arc::new(names))?, lists(lengths(), Arc::new(values))?])
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataType::array(DataType::string()), DataType::array(DataType::string())]
    }

    fn merge_state(&mut self, into: &[u32], state: &[ArrayRef]) -> Result<(), EvalError> {
        let (names, values) = (state_lists(state, 0)?, state_lists(state, 1)?);
        let (name, value) = (names.values().as_string::<i32>(), values.values().as_string::<i32>());
        for (row, group) in into.iter().enumerate() {
            for (n, v) in items_of(names, row).zip(items_of(values, row)) {
                self.insert(*group, name.value(n), value.value(v))?;
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let entry = size_of::<(Name, Box<str>)>() * 4 / 3;
        self.groups.capacity() * size_of::<BTreeMap<Name, Box<str>>>()
            + self.entries * entry
            + self.heap
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
