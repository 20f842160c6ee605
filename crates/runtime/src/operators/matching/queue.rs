//! Beginnings of matches, the earliest first.

/// A match that has begun, or the place where the next one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Partial {
    /// The state it is in.
    pub state: u16,
    /// Its last row in the buffer.
    pub node: u32,
    /// The number of its first row; [`NOT_BEGUN`] for the place where the next match may begin.
    pub start: u64,
    /// The time of its first row.
    pub start_time: i64,
}

/// What has no first row yet stands behind everything.
pub(super) const NOT_BEGUN: u64 = u64::MAX;

/// A binary heap by first row whose order among equals is part of the result: which of two matches
/// of one beginning comes first decides, with most ways to skip, which of them there is. It is the
/// order of the heap that Flink uses, that of the Java library.
#[derive(Debug, Default)]
pub(super) struct PartialQueue {
    heap: Vec<Partial>,
}

impl PartialQueue {
    /// The order in which the heap lies.
    pub fn iter(&self) -> std::slice::Iter<'_, Partial> {
        self.heap.iter()
    }

    pub fn get(&self, index: usize) -> Partial {
        self.heap[index]
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub fn first(&self) -> Option<Partial> {
        self.heap.first().copied()
    }

    pub fn clear(&mut self) {
        self.heap.clear();
    }

    /// Takes over what another queue holds.
    pub fn copy_from(&mut self, other: &Self) {
        self.heap.clear();
        self.heap.extend_from_slice(&other.heap);
    }

    pub fn push(&mut self, partial: Partial) {
        self.heap.push(partial);
        self.sift_up(self.heap.len() - 1);
    }

    pub fn pop(&mut self) -> Option<Partial> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first_mut() else { return Some(last) };
        let first = std::mem::replace(first, last);
        self.sift_down(0);
        Some(first)
    }

    /// Removes what `remove` is true for.
    pub fn remove_if(&mut self, mut remove: impl FnMut(&Partial) -> bool) {
        let before = self.heap.len();
        self.heap.retain(|partial| !remove(partial));
        if self.heap.len() != before {
            (0..self.heap.len() / 2).rev().for_each(|index| self.sift_down(index));
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<Partial>()
    }

    fn sift_up(&mut self, mut index: usize) {
        let moved = self.heap[index];
        while index > 0 {
            let parent = (index - 1) / 2;
            if moved.start >= self.heap[parent].start {
                break;
            }
            self.heap[index] = self.heap[parent];
            index = parent;
        }
        self.heap[index] = moved;
    }

    fn sift_down(&mut self, mut index: usize) {
        let len = self.heap.len();
        let moved = self.heap[index];
        while index < len / 2 {
            let mut child = 2 * index + 1;
            if child + 1 < len && self.heap[child].start > self.heap[child + 1].start {
                child += 1;
            }
            if moved.start <= self.heap[child].start {
                break;
            }
            self.heap[index] = self.heap[child];
            index = child;
        }
        self.heap[index] = moved;
    }
}
