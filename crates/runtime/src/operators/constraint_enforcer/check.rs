//! What is looked at in a column, and finding values that break it.

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use flott_plan::{Enforcement, LengthEnforcer, NestedEnforcer};
use flott_types::{DataType, TypeRoot};

use super::Violation;

/// What is held of a column or of a part of its values.
#[derive(Debug)]
pub(super) struct Check {
    /// The position of the column, or of the part in what holds it.
    pub at: usize,
    /// The column, with the way to the part: `r.x`, `m[value]`.
    pub column: String,
    not_null: bool,
    pub length: Option<Length>,
    pub parts: Parts,
}

/// The parts of a value that have checks of their own.
#[derive(Debug)]
pub(super) enum Parts {
    None,
    Fields(Vec<Check>),
    /// The elements of an ARRAY.
    Elements(Box<Check>),
    /// Keys and values of a MAP, keys of a MULTISET.
    Entries(Vec<Check>),
}

/// How long a text or bytes may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub limit: usize,
    /// CHAR and BINARY: no shorter either.
    pub exact: bool,
    /// Counted in characters rather than bytes.
    pub is_text: bool,
}

impl Check {
    /// What is held of values of a type; `None` when nothing is.
    pub fn of(
        at: usize,
        column: &str,
        data_type: &DataType,
        enforcement: Enforcement,
    ) -> Option<Self> {
        let rows = enforcement.nested != NestedEnforcer::Ignore;
        let collections = enforcement.nested == NestedEnforcer::RowsAndCollections;
        let part = |at: usize, suffix: String, ty: &DataType| {
            Self::of(at, &format!("{column}{suffix}"), ty, enforcement)
        };
        let parts = match &data_type.root {
            TypeRoot::Array(element) if collections => {
                part(0, "[]".into(), element).map_or(Parts::None, |it| Parts::Elements(it.into()))
            }
            TypeRoot::Map(key, value) if collections => {
                let both = [part(0, "[key]".into(), key), part(1, "[value]".into(), value)];
                some(both.into_iter().flatten().collect(), Parts::Entries)
            }
            TypeRoot::Multiset(element) if collections => {
                some(part(0, "[key]".into(), element).into_iter().collect(), Parts::Entries)
            }
            root if rows => match root.row_fields() {
                Some(fields) => {
                    let fields = fields.iter().enumerate();
                    let checks =
                        fields.filter_map(|(i, f)| part(i, format!(".{}", f.name), &f.data_type));
                    some(checks.collect(), Parts::Fields)
                }
                None => Parts::None,
            },
            _ => Parts::None,
        };
        let length = match enforcement.length {
            LengthEnforcer::Ignore => None,
            _ => Length::of(&data_type.root),
        };
        let not_null = !data_type.nullable;
        let nothing = !not_null && length.is_none() && matches!(parts, Parts::None);
        (!nothing).then(|| Self { at, column: column.to_string(), not_null, length, parts })
    }

    /// Marks the rows of a column with a NULL where none may be; the name of the first such part.
    pub fn find_nulls(&self, column: &ArrayRef, bad: &mut Vec<bool>) -> Option<String> {
        let mut first = None;
        self.nulls(column, &|row| row, column.len(), bad, &mut first);
        first
    }

    /// `row` gives the row that the value at a position belongs to.
    fn nulls(
        &self,
        values: &ArrayRef,
        row: &dyn Fn(usize) -> usize,
        rows: usize,
        bad: &mut Vec<bool>,
        first: &mut Option<String>,
    ) {
        if self.not_null && values.null_count() > 0 {
            first.get_or_insert_with(|| self.column.clone());
            bad.resize(rows, false);
            let nulls = (0..values.len()).filter(|at| values.is_null(*at));
            nulls.for_each(|at| bad[row(at)] = true);
        }
        match &self.parts {
            Parts::None => {}
            Parts::Fields(fields) => {
                let (part, of) = present_fields(values.as_struct());
                let row = |at: usize| row(of[at]);
                fields.iter().for_each(|f| f.nulls(part.column(f.at), &row, rows, bad, first));
            }
            Parts::Elements(element) => {
                let (items, of) = items(values.as_list());
                element.nulls(&items, &|at| row(of[at]), rows, bad, first);
            }
            Parts::Entries(entries) => {
                let (items, of) = items(values.as_list());
                let row = |at: usize| row(of[at]);
                let items = items.as_struct();
                entries.iter().for_each(|e| e.nulls(items.column(e.at), &row, rows, bad, first));
            }
        }
    }

    /// The first value of a wrong length.
    pub fn find_length(&self, values: &ArrayRef) -> Option<Violation> {
        if let Some(length) = self.length {
            let wrong = |at: usize| {
                let found = length.of_value(values, at)?;
                let fits = found == length.limit || (found < length.limit && !length.exact);
                (!fits).then_some((at, found))
            };
            let (_, found) = (0..values.len()).find_map(wrong)?;
            return Some(Violation::Length {
                column: self.column.clone(),
                data_type: length.data_type(),
                length: found,
            });
        }
        match &self.parts {
            Parts::None => None,
            Parts::Fields(fields) => {
                let (part, _) = present_fields(values.as_struct());
                fields.iter().find_map(|field| field.find_length(part.column(field.at)))
            }
            Parts::Elements(element) => element.find_length(&items(values.as_list()).0),
            Parts::Entries(entries) => {
                let (items, _) = items(values.as_list());
                let items = items.as_struct();
                entries.iter().find_map(|entry| entry.find_length(items.column(entry.at)))
            }
        }
    }
}

fn some(checks: Vec<Check>, parts: impl FnOnce(Vec<Check>) -> Parts) -> Parts {
    if checks.is_empty() { Parts::None } else { parts(checks) }
}

impl Length {
    fn of(root: &TypeRoot) -> Option<Self> {
        let (limit, exact, is_text) = match root {
            TypeRoot::Char(length) => (*length, true, true),
            TypeRoot::Varchar(length) => (*length, false, true),
            TypeRoot::Binary(length) => (*length, true, false),
            TypeRoot::Varbinary(length) => (*length, false, false),
            _ => return None,
        };
        // STRING and BYTES take all there is.
        let bounded = exact || limit < i32::MAX as u32;
        bounded.then_some(Self { limit: limit as usize, exact, is_text })
    }

    fn data_type(self) -> String {
        let name = match (self.is_text, self.exact) {
            (true, true) => "CHAR",
            (true, false) => "VARCHAR",
            (false, true) => "BINARY",
            (false, false) => "VARBINARY",
        };
        format!("{name}({})", self.limit)
    }

    /// The length of a value; `None` for NULL.
    pub fn of_value(self, values: &ArrayRef, at: usize) -> Option<usize> {
        if values.is_null(at) {
            return None;
        }
        Some(match self.is_text {
            true => {
                let text = values.as_string::<i32>().value(at);
                // Characters are no more than bytes: short texts need no counting.
                if text.len() <= self.limit && !self.exact {
                    text.len()
                } else {
                    text.chars().count()
                }
            }
            false => values.as_binary::<i32>().value(at).len(),
        })
    }
}

/// The fields of the values that are there, and which value each belongs to.
fn present_fields(values: &StructArray) -> (StructArray, Vec<usize>) {
    if values.null_count() == 0 {
        return (values.clone(), (0..values.len()).collect());
    }
    let of: Vec<usize> = (0..values.len()).filter(|at| values.is_valid(*at)).collect();
    let chosen = arrow::array::UInt32Array::from_iter_values(of.iter().map(|at| *at as u32));
    match arrow::compute::take(values, &chosen, None) {
        Ok(taken) => (taken.as_struct().clone(), of),
        // The positions are those of the array.
        Err(_) => (values.slice(0, 0), Vec::new()),
    }
}

/// The items of all lists that are there, and which list each belongs to.
fn items(lists: &ListArray) -> (ArrayRef, Vec<usize>) {
    let offsets = lists.value_offsets();
    let (mut positions, mut of) = (Vec::new(), Vec::new());
    for list in (0..lists.len()).filter(|list| lists.is_valid(*list)) {
        for item in offsets[list]..offsets[list + 1] {
            positions.push(item as u32);
            of.push(list);
        }
    }
    let chosen = arrow::array::UInt32Array::from(positions);
    match arrow::compute::take(lists.values(), &chosen, None) {
        Ok(taken) => (taken, of),
        // The positions are those of the array.
        Err(_) => (lists.values().slice(0, 0), Vec::new()),
    }
}
