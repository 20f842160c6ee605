//! Row numbers in order.

/// Rows that a block holds at most; one more splits it in two.
const BLOCK: usize = 1024;

/// The rows of one partition in their order, by number.
///
/// Short runs are one vector. Long ones are cut into blocks, so that a row finds its place among
/// millions without moving them.
#[derive(Debug, Default)]
pub(in crate::operators) struct Run {
    first: Vec<u32>,
    /// The blocks after the first, none of them empty.
    rest: Vec<Vec<u32>>,
}

impl Run {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.first.len() + self.rest.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty()
    }

    /// The row at a position, from 0.
    pub fn get(&self, at: usize) -> Option<u32> {
        let (block, at) = self.locate(at);
        self.block(block)?.get(at).copied()
    }

    /// The last row.
    pub fn last(&self) -> Option<u32> {
        self.rest.last().unwrap_or(&self.first).last().copied()
    }

    /// The rows from a position on.
    pub fn iter_from(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        let (block, at) = self.locate(at);
        let here = self.block(block).and_then(|rows| rows.get(at..)).unwrap_or_default();
        let after = self.rest.get(block..).unwrap_or_default();
        here.iter().chain(after.iter().flatten()).copied()
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first.iter().chain(self.rest.iter().flatten()).copied()
    }

    /// The number of rows for which `before` holds, which are the first ones.
    pub fn partition_point(&self, mut before: impl FnMut(u32) -> bool) -> usize {
        let last = |rows: &Vec<u32>| rows.last().copied();
        let whole =
            |rows: &Vec<u32>, before: &mut dyn FnMut(u32) -> bool| last(rows).is_some_and(before);
        if self.rest.is_empty() || !whole(&self.first, &mut before) {
            return self.first.partition_point(|row| before(*row));
        }
        let blocks = self.rest.partition_point(|rows| whole(rows, &mut before));
        let earlier: usize = self.rest[..blocks].iter().map(Vec::len).sum();
        let here = self.rest.get(blocks).map_or(0, |rows| rows.partition_point(|row| before(*row)));
        self.first.len() + earlier + here
    }

    /// Puts a row at a position, before the one that is there.
    pub fn insert(&mut self, at: usize, row: u32) {
        let (mut block, mut at) = self.locate(at);
        // Behind the last row of a block stands the end of that block.
        if at == 0 && block > 0 {
            block -= 1;
            at = self.block(block).map_or(0, Vec::len);
        }
        let rows = if block == 0 { &mut self.first } else { &mut self.rest[block - 1] };
        rows.insert(at, row);
        if rows.len() > BLOCK {
            let upper = rows.split_off(BLOCK / 2);
            self.rest.insert(block, upper);
        }
    }

    /// Takes out the row at a position, which must be there.
    pub fn remove(&mut self, at: usize) -> u32 {
        let (block, at) = self.locate(at);
        if block == 0 {
            let row = self.first.remove(at);
            if self.first.is_empty() && !self.rest.is_empty() {
                self.first = self.rest.remove(0);
            }
            return row;
        }
        let row = self.rest[block - 1].remove(at);
        if self.rest[block - 1].is_empty() {
            self.rest.remove(block - 1);
        }
        row
    }

    /// Puts another row in the place of the one at a position, which must be there.
    pub fn replace(&mut self, at: usize, row: u32) -> u32 {
        let (block, at) = self.locate(at);
        let rows = if block == 0 { &mut self.first } else { &mut self.rest[block - 1] };
        std::mem::replace(&mut rows[at], row)
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> impl Iterator<Item = u32> {
        let Self { first, rest } = std::mem::take(self);
        first.into_iter().chain(rest.into_iter().flatten())
    }

    /// The bytes its rows occupy.
    pub fn memory(&self) -> usize {
        let rest: usize = self.rest.iter().map(Vec::capacity).sum();
        (self.first.capacity() + rest) * size_of::<u32>()
            + self.rest.capacity() * size_of::<Vec<u32>>()
    }

    fn block(&self, block: usize) -> Option<&Vec<u32>> {
        if block == 0 { Some(&self.first) } else { self.rest.get(block - 1) }
    }

    /// The block of a position and the place in it; behind the last row when it is the end.
    fn locate(&self, mut at: usize) -> (usize, usize) {
        if at < self.first.len() || self.rest.is_empty() {
            return (0, at);
        }
        at -= self.first.len();
        for (block, rows) in self.rest.iter().enumerate() {
            if at < rows.len() {
                return (block + 1, at);
            }
            at -= rows.len();
        }
        let last = self.rest.len();
        (last, self.rest[last - 1].len() + at)
    }
}

impl FromIterator<u32> for Run {
    fn from_iter<T: IntoIterator<Item = u32>>(rows: T) -> Self {
        let mut run = Self::default();
        for row in rows {
            let block = run.rest.last_mut().unwrap_or(&mut run.first);
            if block.len() < BLOCK {
                block.push(row);
            } else {
                run.rest.push(vec![row]);
            }
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_behave_like_vectors() {
        let (mut run, mut plain) = (Run::default(), Vec::new());
        let mut seed = 7u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for step in 0..20_000u32 {
            let grow = step < 8_000 || (step < 12_000 && step % 3 == 0);
            if grow || plain.is_empty() {
                let at = next(plain.len() + 1);
                run.insert(at, step);
                plain.insert(at, step);
            } else if step % 7 == 0 {
                let at = next(plain.len());
                assert_eq!(run.replace(at, step), std::mem::replace(&mut plain[at], step));
            } else {
                let at = next(plain.len());
                assert_eq!(run.remove(at), plain.remove(at));
            }
            assert_eq!((run.len(), run.last()), (plain.len(), plain.last().copied()));
            if step % 500 == 0 {
                let at = next(plain.len() + 1);
                assert_eq!(run.iter().collect::<Vec<_>>(), plain);
                assert_eq!(run.iter_from(at).collect::<Vec<_>>(), plain[at..]);
                assert_eq!(run.get(at), plain.get(at).copied());
            }
        }
        let again: Run = plain.iter().copied().collect();
        assert_eq!(again.iter().collect::<Vec<_>>(), plain);
        assert_eq!(run.take().collect::<Vec<_>>(), plain);
    }

    #[test]
    fn places_are_found_by_halving() {
        let run: Run = (0..5_000).map(|row| row * 2).collect();
        for wanted in [0, 1, 2, 2_047, 2_048, 2_049, 9_997, 9_998, 9_999, 20_000] {
            let plain = (0..5_000u32).filter(|row| row * 2 < wanted).count();
            assert_eq!(run.partition_point(|row| row < wanted), plain, "{wanted}");
        }
    }
}
