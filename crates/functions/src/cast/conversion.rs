//! Conversions of whole arrays, and the values on which they fail.

use arrow::array::{ArrayRef, new_null_array};
use flott_types::{DataType, TypeRoot, arrow_type};

use crate::EvalError;

/// Converts an array of one type into one of another.
pub(super) struct Conversion {
    convert: Box<Convert>,
    can_fail: bool,
}

type Convert = dyn Fn(&ArrayRef, &mut Failures) -> Result<ArrayRef, EvalError> + Send + Sync;

impl Conversion {
    /// One that adds the rows it has no result for to the failures, and gives NULL for them.
    pub fn fallible(
        convert: impl Fn(&ArrayRef, &mut Failures) -> Result<ArrayRef, EvalError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { convert: Box::new(convert), can_fail: true }
    }

    /// One that has a result for every value.
    pub fn total(
        convert: impl Fn(&ArrayRef) -> Result<ArrayRef, EvalError> + Send + Sync + 'static,
    ) -> Self {
        let convert = move |array: &ArrayRef, _: &mut Failures| convert(array);
        Self { convert: Box::new(convert), can_fail: false }
    }

    /// One of children, failing when one of them can.
    pub fn composed(
        can_fail: bool,
        convert: impl Fn(&ArrayRef, &mut Failures) -> Result<ArrayRef, EvalError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { convert: Box::new(convert), can_fail }
    }

    /// The values as they are.
    pub fn identity() -> Self {
        Self::total(|array| Ok(array.clone()))
    }

    /// NULL for every value.
    pub fn nulls(to: DataType) -> Self {
        Self::total(move |array| Ok(new_null_array(&arrow_type(&to), array.len())))
    }

    /// Whether it has no result for some values.
    pub fn can_fail(&self) -> bool {
        self.can_fail
    }

    /// Converts an array.
    pub fn apply(&self, array: &ArrayRef, failures: &mut Failures) -> Result<ArrayRef, EvalError> {
        (self.convert)(array, failures)
    }
}

/// The rows of an array that a conversion has no result for.
pub(super) struct Failures {
    lenient: bool,
    rows: Vec<usize>,
    first: Option<EvalError>,
}

impl Failures {
    /// None so far. When `lenient`, nobody will ask for the error.
    pub fn new(lenient: bool) -> Self {
        Self { lenient, rows: Vec::new(), first: None }
    }

    /// Notes that there is no result for a row.
    pub fn add(&mut self, row: usize, error: impl FnOnce() -> EvalError) {
        if !self.lenient && self.first.is_none() {
            self.first = Some(error());
        }
        self.rows.push(row);
    }

    /// The error of the first row, unless lenient.
    pub fn into_error(self) -> Option<EvalError> {
        self.first
    }

    /// The rows, in the order in which they were added.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// An empty collection of the same leniency, for children.
    pub fn of_children(&self) -> Self {
        Self::new(self.lenient)
    }
}

/// Whether every value of `from` is one of `to` in the same representation.
pub(super) fn same_layout_and_values(from: &DataType, to: &DataType) -> bool {
    use TypeRoot::*;
    if from.root == to.root {
        return true;
    }
    match (&from.root, &to.root) {
        (Char(have) | Varchar(have), Varchar(most)) => have <= most,
        (Binary(have) | Varbinary(have), Varbinary(most)) => have <= most,
        (Array(a), Array(b)) | (Multiset(a), Multiset(b)) => same_layout_and_values(a, b),
        (Map(ka, va), Map(kb, vb)) => {
            same_layout_and_values(ka, kb) && same_layout_and_values(va, vb)
        }
        // Rows carry field names in their layout.
        (Row(a), Row(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(x, y)| {
                    x.name == y.name && same_layout_and_values(&x.data_type, &y.data_type)
                })
        }
        _ => false,
    }
}
