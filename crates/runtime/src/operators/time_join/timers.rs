//! When each key is to be looked at again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One timer at most for each key, by its slot. Timers of one time fire in the order of their slots.
#[derive(Default)]
pub(super) struct KeyTimers {
    /// Timers that were replaced stay until their time comes.
    heap: BinaryHeap<Reverse<(i64, u32)>>,
    due: Vec<i64>,
}

/// No timer.
const NEVER: i64 = i64::MAX;

impl KeyTimers {
    /// The time of a key's timer.
    pub fn get(&self, key: u32) -> Option<i64> {
        self.due.get(key as usize).copied().filter(|due| *due != NEVER)
    }

    /// Sets a key's timer, in place of the one it had. At the end of time nothing needs one.
    pub fn set(&mut self, key: u32, time: i64) {
        if key as usize >= self.due.len() {
            self.due.resize(key as usize + 1, NEVER);
        }
        self.due[key as usize] = time.min(NEVER - 1);
        self.heap.push(Reverse((time.min(NEVER - 1), key)));
    }

    /// Takes a key's timer away.
    pub fn clear(&mut self, key: u32) {
        if let Some(due) = self.due.get_mut(key as usize) {
            *due = NEVER;
        }
        // What was taken away or replaced must not outgrow what is there.
        if self.heap.len() > 64 && self.heap.len() > 2 * self.due.len() {
            let due = &self.due;
            self.heap.retain(|Reverse((time, key))| due[*key as usize] == *time);
        }
    }

    /// The key of the earliest timer at or before `now`, which it loses.
    pub fn pop_due(&mut self, now: i64) -> Option<u32> {
        while let Some(Reverse((time, key))) = self.heap.peek().copied() {
            if time > now {
                return None;
            }
            self.heap.pop();
            if self.due[key as usize] == time {
                self.due[key as usize] = NEVER;
                return Some(key);
            }
        }
        None
    }

    /// The time of the earliest timer, or of one before it that was replaced.
    pub fn next_time(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<(i64, u32)>() + self.due.capacity() * 8
    }
}
