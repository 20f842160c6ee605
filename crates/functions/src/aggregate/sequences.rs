//! For each group a list of values, kept as bytes.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// No node.
const NONE: u32 = u32::MAX;

/// Lists of values by group, in the order in which the values came.
///
/// Appending takes constant time; so does taking out the oldest of equal values and counting equal
/// values, if the lists are indexed.
pub struct Sequences {
    lists: Vec<List>,
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// The oldest node of each value of each group.
    index: Option<HashTable<u32>>,
    hasher: FixedState,
    /// The bytes of all values.
    heap: usize,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

/// A value in a list.
struct Node {
    /// `None` is NULL.
    value: Option<Box<[u8]>>,
    count: i64,
    group: u32,
    previous: u32,
    next: u32,
    /// The next node of an equal value.
    newer: u32,
    /// Of the oldest node of a value: the newest one.
    newest: u32,
}

impl Sequences {
    /// No group yet. Only indexed lists take values out or count them.
    pub fn new(indexed: bool) -> Self {
        Self {
            lists: Vec::new(),
            nodes: Vec::new(),
            free: Vec::new(),
            index: indexed.then(HashTable::new),
            hasher: FixedState::default(),
            heap: 0,
        }
    }

    /// Makes room for groups `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.lists.len() {
            self.lists.resize(groups, EMPTY);
        }
    }

    /// Appends a value.
    pub fn push(&mut self, group: u32, value: Option<&[u8]>) {
        let node = self.append(group, value, 1);
        if self.index.is_none() {
            return;
        }
        match self.oldest(group, value) {
            Some(oldest) => {
                let newest = std::mem::replace(&mut self.node_mut(oldest).newest, node);
                self.node_mut(newest).newer = node;
            }
            None => self.enter(node),
        }
    }

    /// Takes out the oldest of the values that equal this one; whether there was one.
    pub fn remove(&mut self, group: u32, value: Option<&[u8]>) -> bool {
        let Some(node) = self.oldest(group, value) else { return false };
        let Node { newer, newest, .. } = self.nodes[node as usize];
        if newer == NONE {
            self.leave(node);
        } else {
            let hash = self.hash(group, value);
            if let Some(index) = &mut self.index
                && let Some(entry) = index.find_mut(hash, |other| *other == node)
            {
                *entry = newer;
            }
            self.node_mut(newer).newest = newest;
        }
        self.unlink(node);
        true
    }

    /// Adds to the count of a value, which is appended when it is new and gone when its count is 0.
    pub fn count(&mut self, group: u32, value: Option<&[u8]>, delta: i64) {
        match self.oldest(group, value) {
            Some(node) => {
                let count = &mut self.node_mut(node).count;
                *count += delta;
                if *count == 0 {
                    self.leave(node);
                    self.unlink(node);
                }
            }
            None if delta == 0 => {}
            None => {
                let node = self.append(group, value, delta);
                self.enter(node);
            }
        }
    }

    /// The values of a group in order, with their counts.
    pub fn iter(&self, group: u32) -> impl Iterator<Item = (Option<&[u8]>, i64)> {
        let mut at = self.lists[group as usize].first;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some((node.value.as_deref(), node.count))
        })
    }

    /// The last value of a group.
    pub fn last(&self, group: u32) -> Option<Option<&[u8]>> {
        let node = self.nodes.get(self.lists[group as usize].last as usize)?;
        Some(node.value.as_deref())
    }

    /// Empties a list.
    pub fn clear(&mut self, group: u32) {
        let mut at = self.lists[group as usize].first;
        while let Some(node) = self.nodes.get(at as usize) {
            let next = node.next;
            self.leave(at);
            self.unlink(at);
            at = next;
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.lists.capacity() * size_of::<List>()
            + self.nodes.capacity() * size_of::<Node>()
            + (self.free.capacity() + self.index.as_ref().map_or(0, HashTable::capacity)) * 4
            + self.heap
    }

    fn append(&mut self, group: u32, value: Option<&[u8]>, count: i64) -> u32 {
        let list = self.lists[group as usize];
        let node = Node {
            value: value.map(Box::from),
            count,
            group,
            previous: list.last,
            next: NONE,
            newer: NONE,
            newest: NONE,
        };
        self.heap += value.map_or(0, <[u8]>::len);
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.node_mut(at).newest = at;
        let first = if list.last == NONE { at } else { list.first };
        if list.last != NONE {
            self.node_mut(list.last).next = at;
        }
        self.lists[group as usize] = List { first, last: at };
        at
    }

    /// Takes a node out of its list.
    fn unlink(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        let value = node.value.take();
        let (group, previous, next) = (node.group as usize, node.previous, node.next);
        self.heap -= value.map_or(0, |value| value.len());
        match previous {
            NONE => self.lists[group].first = next,
            previous => self.node_mut(previous).next = next,
        }
        match next {
            NONE => self.lists[group].last = previous,
            next => self.node_mut(next).previous = previous,
        }
        self.free.push(at);
    }

    fn oldest(&self, group: u32, value: Option<&[u8]>) -> Option<u32> {
        let index = self.index.as_ref()?;
        let is_it = |at: &u32| {
            let node = &self.nodes[*at as usize];
            node.group == group && node.value.as_deref() == value
        };
        index.find(self.hash(group, value), is_it).copied()
    }

    /// Puts a node into the index as the oldest of its value.
    fn enter(&mut self, at: u32) {
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let hash = |at: &u32| {
            let node = &nodes[*at as usize];
            hasher.hash_one((node.group, node.value.as_deref()))
        };
        if let Some(index) = &mut self.index {
            index.insert_unique(hash(&at), at, hash);
        }
    }

    /// Takes a node out of the index, if it stands there.
    fn leave(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let hash = self.hash(node.group, node.value.as_deref());
        if let Some(index) = &mut self.index
            && let Ok(entry) = index.find_entry(hash, |other| *other == at)
        {
            entry.remove();
        }
    }

    fn hash(&self, group: u32, value: Option<&[u8]>) -> u64 {
        self.hasher.hash_one((group, value))
    }

    fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(sequences: &Sequences, group: u32) -> Vec<&str> {
        let texts = sequences.iter(group).map(|(value, _)| value.map(std::str::from_utf8));
        texts.map(|text| text.map_or("NULL", |text| text.unwrap())).collect()
    }

    #[test]
    fn the_oldest_of_equal_values_goes_first() {
        let mut sequences = Sequences::new(true);
        sequences.resize(2);
        for value in ["a", "b", "a", "c", "a"] {
            sequences.push(0, Some(value.as_bytes()));
            sequences.push(1, Some(value.as_bytes()));
        }
        sequences.push(0, None);
        assert!(sequences.remove(0, Some(b"a")) && !sequences.remove(0, Some(b"x")));
        assert_eq!(values(&sequences, 0), ["b", "a", "c", "a", "NULL"]);
        assert!(sequences.remove(0, Some(b"a")) && sequences.remove(0, Some(b"b")));
        sequences.push(0, Some(b"a"));
        assert!(sequences.remove(0, Some(b"a")) && sequences.remove(0, None));
        assert_eq!(values(&sequences, 0), ["c", "a"]);
        assert_eq!(sequences.last(0), Some(Some(b"a".as_slice())));
        assert_eq!(values(&sequences, 1), ["a", "b", "a", "c", "a"]);
        sequences.clear(1);
        assert!(values(&sequences, 1).is_empty() && !sequences.remove(1, Some(b"a")));
        assert!(sequences.remove(0, Some(b"c")) && sequences.remove(0, Some(b"a")));
        assert_eq!((sequences.heap, sequences.last(0)), (0, None));
    }

    #[test]
    fn equal_values_are_counted() {
        let mut sequences = Sequences::new(true);
        sequences.resize(1);
        for (value, delta) in [("a", 1), ("b", 1), ("a", 1), ("b", -1), ("b", -1)] {
            sequences.count(0, Some(value.as_bytes()), delta);
        }
        let counts: Vec<_> = sequences.iter(0).map(|(_, count)| count).collect();
        assert_eq!((values(&sequences, 0), counts), (vec!["a", "b"], vec![2, -1]));
    }
}
