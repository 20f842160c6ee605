//! UNNEST: a row for each element of a collection.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, StructArray, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::take;
use arrow::datatypes::Int32Type;
use flott_types::{DataType, RowField, TypeRoot};

use super::{Pick, ResolvedTable, TableFunction, TableKernel, TableRows, WITH_ORDINALITY};
use crate::{CallArgs, EvalError, FunctionDoc, SignatureError};

pub(super) const FUNCTION: TableFunction = TableFunction {
    name: "$UNNEST",
    resolve,
    compile: |args| {
        Ok(Box::new(Unnest {
            shape: Shape::of(args.data_type(0)).ok_or_else(|| no_collection(args))?,
            ordinality: with_ordinality(args),
        }))
    },
    doc: FunctionDoc {
        syntax: &["UNNEST(array | map | multiset) [WITH ORDINALITY]"],
        text: "A row for each element of an array, in order; of an array of rows, their fields. A map \
               gives keys and values, a multiset each element as often as it is in there. WITH \
               ORDINALITY adds the position, from 1. NULL gives no rows.",
        examples: &[],
    },
};

/// What the elements of a collection are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Values, a column.
    Values,
    /// Rows or pairs, a column for each field.
    Rows,
    /// Values with a count each, a column.
    Counted,
    /// Rows with a count each.
    CountedRows,
}

impl Shape {
    fn of(collection: &DataType) -> Option<Self> {
        let is_row = |element: &DataType| element.root.row_fields().is_some();
        match &collection.root {
            TypeRoot::Array(element) if is_row(element) => Some(Self::Rows),
            TypeRoot::Array(_) => Some(Self::Values),
            TypeRoot::Map(..) => Some(Self::Rows),
            TypeRoot::Multiset(element) if is_row(element) => Some(Self::CountedRows),
            TypeRoot::Multiset(_) => Some(Self::Counted),
            _ => None,
        }
    }
}

fn with_ordinality(args: &CallArgs) -> bool {
    args.symbols.iter().any(|symbol| &**symbol == WITH_ORDINALITY)
}

fn no_collection(args: &CallArgs) -> SignatureError {
    let given: Vec<String> = args.types().iter().map(DataType::to_string).collect();
    SignatureError::Other(format!(
        "Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{}>)'. Supported form(s): \
         'UNNEST(<MULTISET>)', 'UNNEST(<ARRAY>)', 'UNNEST(<MAP>)'",
        given.join(">, <")
    ))
}

fn resolve(args: &CallArgs) -> Result<ResolvedTable, SignatureError> {
    let [collection] = args.args.as_slice() else { return Err(no_collection(args)) };
    let mut columns = match &collection.data_type.root {
        TypeRoot::Array(element) | TypeRoot::Multiset(element) => element_columns(element),
        TypeRoot::Map(key, value) => vec![
            RowField::new("KEY", DataType::clone(key)),
            RowField::new("VALUE", DataType::clone(value)),
        ],
        _ => return Err(no_collection(args)),
    };
    let mut keys = Vec::new();
    if matches!(collection.data_type.root, TypeRoot::Map(..)) {
        keys.push(vec![0]);
    }
    if with_ordinality(args) {
        keys.push(vec![columns.len()]);
        columns.push(RowField::new("ORDINALITY", TypeRoot::Int.not_null()));
    }
    Ok(ResolvedTable { parameters: args.types(), columns, keys })
}

/// The fields of a row, nullable where the row is; a value as one column.
fn element_columns(element: &DataType) -> Vec<RowField> {
    match element.root.row_fields() {
        None => vec![RowField::new("EXPR$0", element.clone())],
        Some(fields) => fields
            .iter()
            .map(|field| {
                let nullable = field.data_type.nullable || element.nullable;
                let data_type = field.data_type.clone().with_nullable(nullable);
                RowField::new(field.name.clone(), data_type)
            })
            .collect(),
    }
}

struct Unnest {
    shape: Shape,
    ordinality: bool,
}

impl TableKernel for Unnest {
    fn evaluate(&self, args: &[ArrayRef], rows: usize) -> Result<Box<dyn TableRows>, EvalError> {
        let list: &ListArray = args
            .first()
            .and_then(|array| array.as_list_opt())
            .ok_or_else(|| EvalError::Internal("UNNEST of a column without lists".into()))?;
        let mut elements = Elements::new(list, rows, self.ordinality);
        match self.shape {
            Shape::Values => elements.columns = vec![list.values().clone()],
            Shape::Rows => {
                elements.skip_nulls(list.values());
                elements.columns = fields(list.values())?;
            }
            Shape::Counted | Shape::CountedRows => {
                let [values, counts] = <[ArrayRef; 2]>::try_from(fields(list.values())?)
                    .map_err(|_| EvalError::Internal("a multiset without counts".into()))?;
                elements.repeat(counts.as_primitive::<Int32Type>());
                elements.columns =
                    if self.shape == Shape::Counted { vec![values] } else { fields(&values)? };
            }
        }
        Ok(Box::new(elements))
    }
}

/// The fields of rows; NULL where the row is.
fn fields(rows: &ArrayRef) -> Result<Vec<ArrayRef>, EvalError> {
    let rows: &StructArray = rows
        .as_struct_opt()
        .ok_or_else(|| EvalError::Internal("UNNEST of rows that are none".into()))?;
    let Some(nulls) = rows.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(rows.columns().to_vec());
    };
    rows.columns()
        .iter()
        .map(|column| {
            let union = NullBuffer::union(column.nulls(), Some(nulls));
            let data = column.to_data().into_builder().nulls(union).build()?;
            Ok(arrow::array::make_array(data))
        })
        .collect()
}

/// The elements of a batch of collections.
struct Elements {
    /// For each row, where its elements begin; one more at the end.
    starts: Vec<u32>,
    /// Where the elements stand in `columns`; as `starts` counts them when there is no such list.
    places: Option<Vec<u32>>,
    columns: Vec<ArrayRef>,
    ordinality: bool,
    /// Rows whose collection is NULL, which may still stand for elements.
    nulls: Option<NullBuffer>,
}

impl Elements {
    fn new(list: &ListArray, rows: usize, ordinality: bool) -> Self {
        Self {
            starts: list.offsets()[..=rows].iter().map(|offset| *offset as u32).collect(),
            places: None,
            columns: Vec::new(),
            ordinality,
            nulls: list.nulls().cloned(),
        }
    }

    /// Leaves elements out that are NULL, as Flink does with rows.
    fn skip_nulls(&mut self, values: &ArrayRef) {
        let Some(nulls) = values.nulls().filter(|nulls| nulls.null_count() > 0) else { return };
        let mut places = Vec::new();
        let mut starts = Vec::with_capacity(self.starts.len());
        starts.push(0);
        for bounds in self.starts.windows(2) {
            places
                .extend((bounds[0]..bounds[1]).filter(|element| nulls.is_valid(*element as usize)));
            starts.push(places.len() as u32);
        }
        self.starts = starts;
        self.places = Some(places);
    }

    /// Has each element as often as its count says.
    fn repeat(&mut self, counts: &Int32Array) {
        let mut places = Vec::new();
        let mut starts = Vec::with_capacity(self.starts.len());
        starts.push(0);
        for bounds in self.starts.windows(2) {
            for element in bounds[0]..bounds[1] {
                let count = counts.value(element as usize).max(0) as usize;
                places.extend(std::iter::repeat_n(element, count));
            }
            starts.push(places.len() as u32);
        }
        self.starts = starts;
        self.places = Some(places);
    }
}

impl TableRows for Elements {
    fn count(&self, row: usize) -> usize {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return 0;
        }
        (self.starts[row + 1] - self.starts[row]) as usize
    }

    fn gather(&self, picks: &[Pick]) -> Result<Vec<ArrayRef>, EvalError> {
        let place = |pick: &Pick| {
            let at = self.starts[pick.row as usize] + pick.nth?;
            Some(self.places.as_ref().map_or(at, |places| places[at as usize]))
        };
        let places: UInt32Array = picks.iter().map(place).collect();
        let mut columns = self
            .columns
            .iter()
            .map(|column| take(column, &places, None))
            .collect::<Result<Vec<_>, _>>()?;
        if self.ordinality {
            let position = |pick: &Pick| pick.nth.map(|nth| nth as i32 + 1);
            columns.push(Arc::new(picks.iter().map(position).collect::<Int32Array>()));
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use flott_types::Value;

    use super::*;
    use crate::Arg;

    fn call(ty: DataType, ordinality: bool) -> CallArgs {
        CallArgs {
            name: "$UNNEST".into(),
            args: vec![Arg { data_type: ty, literal: None }],
            symbols: if ordinality { vec![WITH_ORDINALITY.into()] } else { Vec::new() },
            returning: None,
        }
    }

    /// All rows that these collections give, with NULLs for the empty ones.
    fn rows(ty: &DataType, collections: &[Value], ordinality: bool) -> Vec<(u32, Vec<Value>)> {
        let call = call(ty.clone(), ordinality);
        let columns = (FUNCTION.resolve)(&call).unwrap().columns;
        let array = Value::to_array(collections, ty).unwrap();
        let given =
            (FUNCTION.compile)(&call).unwrap().evaluate(&[array], collections.len()).unwrap();
        let mut picks = Vec::new();
        for row in 0..collections.len() {
            let count = given.count(row) as u32;
            picks.extend((0..count).map(|nth| Pick { row: row as u32, nth: Some(nth) }));
            if count == 0 {
                picks.push(Pick { row: row as u32, nth: None });
            }
        }
        let arrays = given.gather(&picks).unwrap();
        let value = |row: usize, column: usize| {
            Value::from_array(&arrays[column], row, &columns[column].data_type)
        };
        let values = |row: usize| (0..columns.len()).map(|column| value(row, column)).collect();
        picks.iter().enumerate().map(|(row, pick)| (pick.row, values(row))).collect()
    }

    #[test]
    fn arrays_give_their_elements_in_order() {
        let ty = DataType::array(DataType::int());
        let list = |items: &[i64]| Value::Array(items.iter().map(|i| Value::Int(*i)).collect());
        let given = rows(&ty, &[list(&[7, 8]), Value::Null, list(&[]), list(&[9])], true);
        let int = Value::Int;
        assert_eq!(
            given,
            [
                (0, vec![int(7), int(1)]),
                (0, vec![int(8), int(2)]),
                (1, vec![Value::Null, Value::Null]),
                (2, vec![Value::Null, Value::Null]),
                (3, vec![int(9), int(1)]),
            ]
        );
    }

    #[test]
    fn multisets_give_an_element_as_often_as_it_counts() {
        let ty = DataType::new(TypeRoot::Multiset(DataType::int().into()));
        let bag = Value::Map(vec![(Value::Int(5), Value::Int(2)), (Value::Int(6), Value::Int(1))]);
        let given: Vec<Value> =
            rows(&ty, &[bag], false).into_iter().flat_map(|(_, values)| values).collect();
        assert_eq!(given, [Value::Int(5), Value::Int(5), Value::Int(6)]);
    }

    #[test]
    fn only_collections_have_elements() {
        assert!((FUNCTION.resolve)(&call(DataType::string(), false)).is_err());
    }
}
