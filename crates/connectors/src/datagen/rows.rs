//! Which values of a column are asked for.

/// Rows `first`, `first + stride`, … of the table, `count` of them, with `each` values a row.
///
/// A value of a column is known by its index: the row's number for plain columns, and for the items
/// of collections of a fixed length `each` the numbers `row * each` and up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) first: u64,
    pub(crate) stride: u64,
    pub(crate) count: usize,
    pub(super) each: u64,
}

impl Rows {
    pub(super) fn new(first: u64, stride: u64, count: usize) -> Self {
        Self { first, stride, count, each: 1 }
    }

    /// The items of collections of `length` that are the values asked for.
    pub(super) fn items(self, length: u64) -> Self {
        Self { each: self.each * length, ..self }
    }

    /// How many values are asked for.
    pub(super) fn len(self) -> usize {
        self.count * self.each as usize
    }

    /// What `value` makes of each index.
    pub(super) fn map<T>(self, mut value: impl FnMut(u64) -> T) -> Vec<T> {
        // The plain case has no inner loop, which lets the compiler see through it.
        if self.each == 1 {
            return (0..self.count as u64)
                .map(|row| value(self.first.wrapping_add(row.wrapping_mul(self.stride))))
                .collect();
        }
        let mut values = Vec::with_capacity(self.len());
        for row in 0..self.count as u64 {
            let base = self.first.wrapping_add(row * self.stride).wrapping_mul(self.each);
            values.extend((0..self.each).map(|item| value(base.wrapping_add(item))));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_follow_rows_and_items() {
        let rows = Rows::new(5, 3, 2);
        assert_eq!(rows.map(|i| i), [5, 8]);
        assert_eq!(rows.items(2).map(|i| i), [10, 11, 16, 17]);
        assert_eq!(rows.items(2).items(2).map(|i| i), [20, 21, 22, 23, 32, 33, 34, 35]);
        assert_eq!(rows.items(0).len(), 0);
    }
}
