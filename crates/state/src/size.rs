//! How much memory values occupy beside themselves.

use std::sync::Arc;

use flott_types::Value;

/// A value that knows the heap memory it owns, in constant time where it can.
pub trait StateSize {
    /// The bytes it owns on the heap.
    fn heap_size(&self) -> usize;
}

macro_rules! no_heap {
    ($($ty:ty),*) => {$(
        impl StateSize for $ty {
            fn heap_size(&self) -> usize {
                0
            }
        }
    )*};
}

no_heap!((), bool, u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64, usize);

/// Counts the vector's memory and not what its items own: their owner adds that when it matters.
impl<T> StateSize for Vec<T> {
    fn heap_size(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl StateSize for String {
    fn heap_size(&self) -> usize {
        self.capacity()
    }
}

impl<T> StateSize for Box<[T]> {
    fn heap_size(&self) -> usize {
        size_of_val::<[T]>(self)
    }
}

impl StateSize for Arc<str> {
    fn heap_size(&self) -> usize {
        self.len()
    }
}

impl<T: StateSize> StateSize for Option<T> {
    fn heap_size(&self) -> usize {
        self.as_ref().map_or(0, T::heap_size)
    }
}

impl<A: StateSize, B: StateSize> StateSize for (A, B) {
    fn heap_size(&self) -> usize {
        self.0.heap_size() + self.1.heap_size()
    }
}

impl<A: StateSize, B: StateSize, C: StateSize> StateSize for (A, B, C) {
    fn heap_size(&self) -> usize {
        self.0.heap_size() + self.1.heap_size() + self.2.heap_size()
    }
}

impl StateSize for Value {
    fn heap_size(&self) -> usize {
        let own = |items: &[Value]| {
            size_of_val(items) + items.iter().map(Value::heap_size).sum::<usize>()
        };
        match self {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Array(items) | Value::Row(items) => own(items),
            Value::Map(entries) => {
                let items = entries.iter().map(|(k, v)| k.heap_size() + v.heap_size());
                size_of_val(entries.as_slice()) + items.sum::<usize>()
            }
            _ => 0,
        }
    }
}
