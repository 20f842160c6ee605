//! Byte strings in one buffer.

/// Byte strings one after the other, each with a number: the row or slot it is of.
#[derive(Debug, Default)]
pub(super) struct RawKeys {
    bytes: Vec<u8>,
    /// For each where it ends, and its number.
    ends: Vec<(usize, u32)>,
}

impl RawKeys {
    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds what `write` appends.
    pub fn push(&mut self, number: u32, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push((self.bytes.len(), number));
    }

    /// The last one.
    pub fn last(&self) -> &[u8] {
        match self.ends.as_slice() {
            [] => &[],
            [(end, _)] => &self.bytes[..*end],
            [.., (start, _), (end, _)] => &self.bytes[*start..*end],
        }
    }

    /// All in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, _))| &self.bytes[start..*end])
    }

    /// Those that differ, ascending, with a number each.
    pub fn distinct(&self) -> Vec<(&[u8], u32)> {
        let numbers = self.ends.iter().map(|(_, number)| *number);
        let mut keys: Vec<(&[u8], u32)> = self.iter().zip(numbers).collect();
        keys.sort_unstable();
        keys.dedup_by_key(|(key, _)| *key);
        keys
    }
}
