//! Which elements of arrays are the same.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::row::{RowConverter, Rows, SortField};
use flott_types::{DataType, TypeRoot};
use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::EvalError;
use crate::scalar::comparison::{Equality, RowsEqual};

/// The elements of an array, comparable with each other.
pub struct Elements<'a> {
    array: &'a dyn Array,
    identity: Identity<'a>,
    hasher: FixedState,
}

enum Identity<'a> {
    /// Elements are the same when these bytes are.
    Bytes(Rows),
    /// Elements must be compared one by one: bytes do not tell that 0.0 is -0.0.
    Equality(RowsEqual<'a>),
}

impl<'a> Elements<'a> {
    /// The elements of an array of values of a type.
    pub fn new(array: &'a ArrayRef, ty: &DataType) -> Result<Self, EvalError> {
        let identity = if bytes_tell(ty) {
            let field = SortField::new(array.data_type().clone());
            let converter = RowConverter::new(vec![field])?;
            Identity::Bytes(converter.convert_columns(&[Arc::clone(array)])?)
        } else {
            Identity::Equality(Equality::new(ty, ty).rows(array, array)?)
        };
        Ok(Self { array, identity, hasher: FixedState::default() })
    }

    /// Whether the elements at two places are the same.
    pub fn same(&self, left: usize, right: usize) -> bool {
        match &self.identity {
            Identity::Bytes(rows) => rows.row(left) == rows.row(right),
            Identity::Equality(equal) => {
                match (self.array.is_null(left), self.array.is_null(right)) {
                    (false, false) => equal(left, right),
                    (left, right) => left && right,
                }
            }
        }
    }

    fn hash(&self, index: usize) -> u64 {
        match &self.identity {
            Identity::Bytes(rows) => self.hasher.hash_one(rows.row(index).as_ref()),
            Identity::Equality(_) => 0,
        }
    }
}

/// Whether equal values of a type have equal bytes: floating-point numbers and maps do not.
fn bytes_tell(ty: &DataType) -> bool {
    match &ty.root {
        TypeRoot::Float | TypeRoot::Double | TypeRoot::Map(..) | TypeRoot::Multiset(_) => false,
        TypeRoot::Array(element) => bytes_tell(element),
        root => root
            .row_fields()
            .is_none_or(|fields| fields.iter().all(|field| bytes_tell(&field.data_type))),
    }
}

/// A set of elements, by their places.
#[derive(Default)]
pub struct ElementSet {
    places: HashTable<usize>,
}

impl ElementSet {
    /// Empties the set.
    pub fn clear(&mut self) {
        self.places.clear();
    }

    /// Whether the set has an element that is the same as that at a place.
    pub fn contains(&self, elements: &Elements, index: usize) -> bool {
        self.find(elements, index).is_some()
    }

    /// The place of the element of the set that is the same as that at `index`.
    pub fn find(&self, elements: &Elements, index: usize) -> Option<usize> {
        let same = |place: &usize| elements.same(*place, index);
        self.places.find(elements.hash(index), same).copied()
    }

    /// Adds an element; `false` when the set has it already.
    pub fn insert(&mut self, elements: &Elements, index: usize) -> bool {
        if self.contains(elements, index) {
            return false;
        }
        let hash = |place: &usize| elements.hash(*place);
        self.places.insert_unique(elements.hash(index), index, hash);
        true
    }
}
