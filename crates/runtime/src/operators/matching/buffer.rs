//! The rows of matches that have begun, shared by all that hold them.
//!
//! A node is a row taken by a variable, behind the node of the row before it: a match is the way from
//! its last node to its first, and matches with the same beginning share it. As variables follow each
//! other, the rows of one lie together in a run; nodes know where their run begins and what is
//! before it, so that a variable's rows are found without going through all others.

use flott_plan::matching::{MatchEnd, MatchRows};
use flott_state::RowStore;
use flott_types::DataType;

/// No node: nothing taken yet.
pub(super) const NO_NODE: u32 = u32::MAX;

/// A row that waits for its turn or is part of a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    /// The row in the store.
    pub row: u32,
    /// Its number in the order of its key's rows, once its turn has come.
    pub number: u64,
    /// Its time in milliseconds.
    pub time: i64,
    /// For each variable whether what its condition says of the row alone is TRUE.
    pub passes: u64,
    /// For each variable whether that could not be computed.
    pub fails: u64,
    refs: u32,
}

/// A row taken by a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The row before, or [`NO_NODE`].
    pub parent: u32,
    pub event: u32,
    pub variable: u16,
    /// How many rows of the variable precede it.
    index: u32,
    /// The first node of the variable.
    first: u32,
    /// The last node of the variable before.
    before: u32,
    refs: u32,
}

/// Rows and nodes, each under a number, counted by who holds them.
pub(super) struct Buffer {
    rows: RowStore,
    events: Vec<Event>,
    free_events: Vec<u32>,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
}

impl Buffer {
    /// No row yet; rows are of these types.
    pub fn new(types: &[DataType]) -> Self {
        Self {
            rows: RowStore::new(types),
            events: Vec::new(),
            free_events: Vec::new(),
            nodes: Vec::new(),
            free_nodes: Vec::new(),
        }
    }

    /// Gives all memory back: nobody holds anything.
    pub fn give_back(&mut self) {
        self.rows = self.rows.emptied();
        (self.events, self.free_events) = Default::default();
        (self.nodes, self.free_nodes) = Default::default();
    }

    pub fn rows(&self) -> &RowStore {
        &self.rows
    }

    pub fn rows_mut(&mut self) -> &mut RowStore {
        &mut self.rows
    }

    pub fn event(&self, event: u32) -> &Event {
        &self.events[event as usize]
    }

    pub fn event_mut(&mut self, event: u32) -> &mut Event {
        &mut self.events[event as usize]
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The row of an event.
    pub fn row_of(&self, event: u32) -> u32 {
        self.events[event as usize].row
    }

    /// Keeps a row of the store for whoever puts it in.
    pub fn add_event(&mut self, row: u32, number: u64, time: i64, bits: (u64, u64)) -> u32 {
        let (passes, fails) = bits;
        let event = Event { row, number, time, passes, fails, refs: 1 };
        place(&mut self.events, &mut self.free_events, event)
    }

    /// Holds a row once more.
    pub fn retain_event(&mut self, event: u32) {
        self.events[event as usize].refs += 1;
    }

    /// Gives a row up.
    pub fn release_event(&mut self, event: u32) {
        let entry = &mut self.events[event as usize];
        entry.refs -= 1;
        if entry.refs == 0 {
            self.rows.remove(entry.row);
            self.free_events.push(event);
        }
    }

    /// Puts a row behind `parent` for whoever asks, and says where.
    pub fn add_node(&mut self, parent: u32, event: u32, variable: u16) -> u32 {
        self.events[event as usize].refs += 1;
        let (index, first, before) = match parent {
            NO_NODE => (0, NO_NODE, NO_NODE),
            parent => {
                let above = &mut self.nodes[parent as usize];
                above.refs += 1;
                match above.variable == variable {
                    true => (above.index + 1, above.first, above.before),
                    false => (0, NO_NODE, parent),
                }
            }
        };
        let node = Node { parent, event, variable, index, first, before, refs: 1 };
        let at = place(&mut self.nodes, &mut self.free_nodes, node);
        if index == 0 {
            self.nodes[at as usize].first = at;
        }
        at
    }

    /// Holds a node once more.
    pub fn retain_node(&mut self, node: u32) {
        if node != NO_NODE {
            self.nodes[node as usize].refs += 1;
        }
    }

    /// Gives a node up, and with it all before it that nobody else holds; `gone` is told of each.
    pub fn release_node(&mut self, node: u32, mut gone: impl FnMut(u32)) {
        let mut at = node;
        while at != NO_NODE {
            let entry = &mut self.nodes[at as usize];
            entry.refs -= 1;
            if entry.refs > 0 {
                return;
            }
            let Node { parent, event, .. } = *entry;
            gone(at);
            self.free_nodes.push(at);
            self.release_event(event);
            at = parent;
        }
    }

    /// The rows up to a node with their variables, the first first. `path` is cleared before.
    pub fn path(&self, node: u32, path: &mut Vec<(u16, u32)>) {
        path.clear();
        let mut at = node;
        while at != NO_NODE {
            let entry = &self.nodes[at as usize];
            path.push((entry.variable, entry.event));
            at = entry.parent;
        }
        path.reverse();
    }

    /// The node of a row of the match that ends in `node`, counted among `rows` from one end.
    pub fn find(&self, node: u32, rows: MatchRows, end: MatchEnd, offset: u32) -> Option<u32> {
        match rows {
            MatchRows::Variable(variable) => {
                let last = self.last_of(node, variable as u16)?;
                let entry = &self.nodes[last as usize];
                match (end, offset) {
                    (MatchEnd::First, 0) => Some(entry.first),
                    (MatchEnd::First, offset) => self.back(last, entry.index.checked_sub(offset)?),
                    (MatchEnd::Last, offset) if offset > entry.index => None,
                    (MatchEnd::Last, offset) => self.back(last, offset),
                }
            }
            MatchRows::All => match end {
                MatchEnd::Last => self.back(node, offset),
                MatchEnd::First => {
                    let length = self.length(node);
                    self.back(node, length.checked_sub(offset + 1)?)
                }
            },
        }
    }

    /// How many of the rows up to a node are among `rows`.
    pub fn count(&self, node: u32, rows: MatchRows) -> u32 {
        match rows {
            MatchRows::All => self.length(node),
            MatchRows::Variable(variable) => self
                .last_of(node, variable as u16)
                .map_or(0, |last| self.nodes[last as usize].index + 1),
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
            + self.events.capacity() * size_of::<Event>()
            + self.nodes.capacity() * size_of::<Node>()
            + (self.free_events.capacity() + self.free_nodes.capacity()) * size_of::<u32>()
    }

    fn last_of(&self, node: u32, variable: u16) -> Option<u32> {
        let mut at = node;
        while at != NO_NODE {
            let entry = &self.nodes[at as usize];
            if entry.variable == variable {
                return Some(at);
            }
            at = entry.before;
        }
        None
    }

    fn back(&self, node: u32, steps: u32) -> Option<u32> {
        let mut at = node;
        for _ in 0..steps {
            if at == NO_NODE {
                return None;
            }
            at = self.nodes[at as usize].parent;
        }
        (at != NO_NODE).then_some(at)
    }

    fn length(&self, node: u32) -> u32 {
        let mut length = 0;
        let mut at = node;
        while at != NO_NODE {
            let entry = &self.nodes[at as usize];
            length += entry.index + 1;
            at = entry.before;
        }
        length
    }
}

fn place<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
    }
}
