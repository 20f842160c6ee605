//! Timers: what to do when time has come so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use crate::error::Result;
use crate::snapshot::{KeyedEntries, KeyedSection, StateDecoder, StateEncoder};

/// Timers by time, for event or processing time; `K` says what fires, most often a slot.
///
/// Registering a timer that is there changes nothing, as in Flink. Timers of the same time fire in the
/// order of `K`.
#[derive(Debug)]
pub struct TimerQueue<K> {
    /// May hold timers that were deleted, but never on top.
    heap: BinaryHeap<Reverse<(i64, K)>>,
    timers: HashSet<(i64, K), FixedState>,
}

impl<K: Ord + Hash + Clone> TimerQueue<K> {
    /// No timer.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), timers: HashSet::default() }
    }

    /// Registers a timer for `time`, in milliseconds; whether it is new.
    pub fn register(&mut self, time: i64, payload: K) -> bool {
        let new = self.timers.insert((time, payload.clone()));
        if new {
            self.heap.push(Reverse((time, payload)));
        }
        new
    }

    /// Deletes a timer; whether it was there.
    pub fn delete(&mut self, time: i64, payload: &K) -> bool {
        let there = self.timers.remove(&(time, payload.clone()));
        if there {
            self.settle();
        }
        there
    }

    /// Takes the earliest timer whose time is at or before `now`: a watermark or the processing time.
    pub fn pop_due(&mut self, now: i64) -> Option<(i64, K)> {
        if self.next_time()? > now {
            return None;
        }
        let Reverse(timer) = self.heap.pop()?;
        self.timers.remove(&timer);
        self.settle();
        Some(timer)
    }

    /// The time of the earliest timer.
    pub fn next_time(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// Whether this timer is registered.
    pub fn contains(&self, time: i64, payload: &K) -> bool {
        self.timers.contains(&(time, payload.clone()))
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether there is no timer.
    pub fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// The timers in no order.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &K)> {
        self.timers.iter().map(|(time, payload)| (*time, payload))
    }

    /// The bytes the timers occupy, what payloads own aside.
    pub fn memory(&self) -> usize {
        (self.heap.capacity() + self.timers.capacity()) * size_of::<(i64, K)>()
    }

    /// Writes the timers; `key_group` tells where a payload belongs and `write` writes it.
    pub fn snapshot(
        &self,
        mut section: KeyedSection<'_>,
        mut key_group: impl FnMut(&K) -> u16,
        mut write: impl FnMut(&K, &mut StateEncoder),
    ) {
        let mut timers: Vec<_> = self.timers.iter().collect();
        timers.sort_unstable();
        for (time, payload) in timers {
            section.entry(key_group(payload), &[], |out| {
                out.i64(*time);
                write(payload, out);
            });
        }
        section.finish();
    }

    /// Registers the timers of a snapshot; `read` reads a payload.
    pub fn restore(
        &mut self,
        entries: KeyedEntries<'_>,
        mut read: impl FnMut(u16, &mut StateDecoder<'_>) -> Result<K>,
    ) -> Result<()> {
        for entry in entries {
            let mut entry = entry?;
            let time = entry.value.i64()?;
            self.register(time, read(entry.version, &mut entry.value)?);
            entry.value.finish()?;
        }
        Ok(())
    }

    /// Drops deleted timers from the top, and all when they are more than half.
    fn settle(&mut self) {
        if self.heap.len() > 64 && self.heap.len() > 2 * self.timers.len() {
            self.heap = self.timers.iter().cloned().map(Reverse).collect();
        }
        while self.heap.peek().is_some_and(|Reverse(timer)| !self.timers.contains(timer)) {
            self.heap.pop();
        }
    }
}

impl<K: Ord + Hash + Clone> Default for TimerQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}
