//! Typed views of columns: `get(row)` whether the column is constant or not.

use arrow::array::{
    Array, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, ListArray, PrimitiveArray,
    StringArray,
};

use crate::Column;

macro_rules! view {
    ($(#[$doc:meta])* $name:ident, $array:ty, $item:ty, $cast:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            array: &'a $array,
            stride: usize,
        }

        impl<'a> $name<'a> {
            /// A view of the column, which must hold values of this kind.
            pub fn new(column: &'a Column) -> Self {
                let cast: fn(&'a dyn Array) -> &'a $array = $cast;
                Self { array: cast(column.array()), stride: usize::from(!column.is_constant()) }
            }

            /// The value of `row`; `None` for NULL.
            #[inline]
            pub fn get(&self, row: usize) -> Option<$item> {
                let index = row * self.stride;
                self.array.is_valid(index).then(|| self.array.value(index))
            }

            /// Whether no value is NULL.
            pub fn all_valid(&self) -> bool {
                self.array.null_count() == 0
            }
        }
    };
}

view!(
    /// CHAR and VARCHAR.
    Strings, StringArray, &'a str, |array| array.as_string()
);
view!(
    /// BINARY, VARBINARY and the types kept as bytes.
    Bytes, BinaryArray, &'a [u8], |array| array.as_binary()
);
view!(
    /// BOOLEAN
    Booleans, BooleanArray, bool, |array| array.as_boolean()
);
view!(
    /// ARRAY, MAP and MULTISET: the elements of a row as an array.
    Lists, ListArray, arrow::array::ArrayRef, |array| array.as_list()
);

/// Numbers, dates, timestamps: everything of fixed width.
#[derive(Clone, Copy)]
pub struct Primitives<'a, T: ArrowPrimitiveType> {
    array: &'a PrimitiveArray<T>,
    stride: usize,
}

impl<'a, T: ArrowPrimitiveType> Primitives<'a, T> {
    /// A view of the column, which must hold values of this type.
    pub fn new(column: &'a Column) -> Self {
        Self { array: column.array().as_primitive(), stride: usize::from(!column.is_constant()) }
    }

    /// The value of `row`; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T::Native> {
        let index = row * self.stride;
        self.array.is_valid(index).then(|| self.array.value(index))
    }

    /// The value of `row`, whatever it is where the row is NULL.
    #[inline]
    pub fn value(&self, row: usize) -> T::Native {
        self.array.value(row * self.stride)
    }

    /// Whether no value is NULL.
    pub fn all_valid(&self) -> bool {
        self.array.null_count() == 0
    }

    /// The array itself, of one element when the column is constant.
    pub fn array(&self) -> &'a PrimitiveArray<T> {
        self.array
    }
}
