//! The lives of groups: a key whose last row is taken back has no group until the next row comes, and
//! then a new one, within one batch too.

use flott_types::ChangelogBatch;

/// No group.
const NONE: u32 = u32::MAX;

/// What a row does to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: it takes a row back from an unknown group.
    Pass,
    /// It is the group's first row.
    Begin,
    /// It is one more, or one less.
    Change,
    /// It takes the last row back.
    End,
}

/// The groups of slots, and how many rows each group has.
#[derive(Default)]
pub(super) struct Lives {
    /// By slot.
    groups: Vec<u32>,
    /// By group.
    rows: Vec<i64>,
    /// By group: the slot that has it, or had it last.
    slots: Vec<u32>,
    /// Groups that are nobody's.
    free: Vec<u32>,
    /// Groups that ended and still hold their state.
    ended: Vec<u32>,
}

/// What the rows of a batch do.
pub(super) struct Steps {
    /// What each row does.
    pub steps: Vec<Step>,
    /// The group of each row.
    pub groups: Vec<u32>,
    /// +1 to add the row to its group, −1 to take it back, 0 to pass it over.
    pub signs: Vec<i8>,
    /// Slots that had no group at some moment.
    pub vacated: Vec<u32>,
}

/// What the rows of a first phase do.
#[derive(Default)]
pub(super) struct Merge {
    /// The rows that count, and the group of each.
    pub rows: Vec<u32>,
    pub groups: Vec<u32>,
    /// Slots that had no group at some moment.
    pub vacated: Vec<u32>,
}

impl Lives {
    /// Goes through rows of a first phase in order, each of which stands for so many rows, those taken back
    /// subtracted. What takes rows back from an unknown group is passed over.
    pub fn merge(&mut self, counts: &[i64], slots: &[u32], fresh: &[u32]) -> Merge {
        let mut merge = Merge::default();
        let mut fresh = fresh.iter().peekable();
        for (row, (slot, count)) in (0u32..).zip(slots.iter().zip(counts)) {
            if fresh.next_if(|fresh| **fresh == row).is_some() {
                self.end(*slot);
            }
            let group = match self.group(*slot) {
                NONE if *count <= 0 => {
                    merge.vacated.push(*slot);
                    continue;
                }
                NONE => self.revive(*slot, *count),
                group => {
                    self.rows[group as usize] += count;
                    if self.rows[group as usize] <= 0 {
                        self.end(*slot);
                        merge.vacated.push(*slot);
                    }
                    group
                }
            };
            merge.rows.push(row);
            merge.groups.push(group);
        }
        merge
    }

    /// Goes through the rows of a batch in order. `fresh` are the rows before which their slot is
    /// new or expired.
    pub fn step(&mut self, batch: &ChangelogBatch, slots: &[u32], fresh: &[u32]) -> Steps {
        let rows = slots.len();
        let mut all = Steps {
            steps: Vec::with_capacity(rows),
            groups: Vec::with_capacity(rows),
            signs: Vec::with_capacity(rows),
            vacated: Vec::new(),
        };
        let mut fresh = fresh.iter().peekable();
        for (row, slot) in slots.iter().enumerate() {
            if fresh.next_if(|fresh| **fresh as usize == row).is_some() {
                self.end(*slot);
            }
            let adds = batch.kind(row).adds();
            let (group, step) = match (self.group(*slot), adds) {
                (NONE, false) => {
                    all.vacated.push(*slot);
                    (0, Step::Pass)
                }
                (NONE, true) => (self.revive(*slot, 1), Step::Begin),
                (group, _) => {
                    let count = &mut self.rows[group as usize];
                    *count += if adds { 1 } else { -1 };
                    if *count == 0 {
                        self.end(*slot);
                        all.vacated.push(*slot);
                        (group, Step::End)
                    } else {
                        (group, Step::Change)
                    }
                }
            };
            all.groups.push(group);
            all.steps.push(step);
            all.signs.push(match step {
                Step::Pass => 0,
                _ if adds => 1,
                _ => -1,
            });
        }
        all
    }

    /// The group of a slot that has one.
    pub fn group(&self, slot: u32) -> u32 {
        self.groups.get(slot as usize).copied().unwrap_or(NONE)
    }

    /// Whether a slot has a group.
    pub fn is_live(&self, slot: u32) -> bool {
        self.group(slot) != NONE
    }

    /// The slot that has a group, if one has.
    pub fn slot(&self, group: u32) -> Option<u32> {
        self.slots.get(group as usize).copied().filter(|slot| self.group(*slot) == group)
    }

    /// The rows of a slot's group.
    pub fn rows(&self, slot: u32) -> i64 {
        self.rows.get(self.group(slot) as usize).copied().unwrap_or(0)
    }

    /// All groups are below this, which is at least 1.
    pub fn bound(&self) -> usize {
        self.rows.len().max(1)
    }

    /// Gives a slot without group one of so many rows.
    pub fn revive(&mut self, slot: u32, rows: i64) -> u32 {
        let group = self.free.pop().unwrap_or_else(|| {
            self.rows.push(0);
            self.slots.push(slot);
            self.rows.len() as u32 - 1
        });
        self.rows[group as usize] = rows;
        self.slots[group as usize] = slot;
        if slot as usize >= self.groups.len() {
            self.groups.resize(slot as usize + 1, NONE);
        }
        self.groups[slot as usize] = group;
        group
    }

    /// Ends the group of a slot, if it has one.
    pub fn end(&mut self, slot: u32) {
        if let Some(group) = self.groups.get_mut(slot as usize).filter(|group| **group != NONE) {
            self.ended.push(std::mem::replace(group, NONE));
        }
    }

    /// The groups that ended, whose state is to be reset; from now on they may begin anew.
    pub fn release(&mut self) -> Vec<u32> {
        let ended = std::mem::take(&mut self.ended);
        self.free.extend(&ended);
        ended
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let numbers = self.groups.capacity() + self.slots.capacity() + self.free.capacity();
        numbers * 4 + self.rows.capacity() * 8
    }
}
