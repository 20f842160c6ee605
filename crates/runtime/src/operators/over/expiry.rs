//! When partitions of frames bounded by time are over.

use std::collections::BTreeMap;

use flott_state::StateEncoder;

/// No time.
const NEVER: i64 = i64::MIN;

/// When the partitions of RANGE with a bound are over, Flink's clean-up timers.
#[derive(Default)]
pub(super) struct Expiry {
    /// By partition; `NEVER` where none is set.
    at: Vec<i64>,
    /// Partitions by the end they had once.
    queue: BTreeMap<i64, Vec<u32>>,
    queued: usize,
}

impl Expiry {
    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.at.len() {
            self.at.resize(groups, NEVER);
        }
    }

    /// Moves the end of a partition, of which a row came, so that the row's frame lies before it.
    pub fn extend(&mut self, group: u32, time: i64, millis: i64) {
        let at = &mut self.at[group as usize];
        if *at == NEVER || *at < time.saturating_add(millis).saturating_add(1) {
            *at = time.saturating_add(millis.saturating_add(millis / 2)).saturating_add(1);
            self.queue.entry(*at).or_default().push(group);
            self.queued += 1;
        }
    }

    /// Whether a partition's end lies at or before `time`.
    pub fn is_over(&self, group: u32, time: i64) -> bool {
        self.at[group as usize] != NEVER && self.at[group as usize] <= time
    }

    /// When a partition is over, if that is set.
    pub fn of(&self, group: u32) -> Option<i64> {
        Some(self.at[group as usize]).filter(|at| *at != NEVER)
    }

    /// What a snapshot says of a partition's end.
    pub fn write(&self, group: u32, out: &mut StateEncoder) {
        out.i64(self.at[group as usize]);
    }

    /// Takes a partition's end away.
    pub fn forget(&mut self, group: u32) {
        self.at[group as usize] = NEVER;
    }

    /// Takes the ends of partitions away that are on disk.
    pub fn leave(&mut self, groups: &[u32]) {
        groups.iter().for_each(|group| self.at[*group as usize] = NEVER);
        let Self { at: ends, queue, queued } = self;
        queue.retain(|at, groups| {
            *queued -= groups.len();
            groups.retain(|group| ends[*group as usize] == *at);
            *queued += groups.len();
            !groups.is_empty()
        });
    }

    /// Sets an end that a snapshot holds.
    pub fn restore(&mut self, group: u32, at: i64) {
        self.at[group as usize] = at;
        if at != NEVER {
            self.queue.entry(at).or_default().push(group);
            self.queued += 1;
        }
    }

    /// When the first partition may be over.
    pub fn first(&self) -> Option<i64> {
        self.queue.first_key_value().map(|(at, _)| *at)
    }

    /// The partitions whose end lies at or before `until`.
    pub fn pop(&mut self, until: i64) -> Vec<u32> {
        let mut over = Vec::new();
        while let Some(entry) = self.queue.first_entry()
            && *entry.key() <= until
        {
            let (at, groups) = entry.remove_entry();
            self.queued -= groups.len();
            over.extend(groups.into_iter().filter(|group| self.at[*group as usize] == at));
        }
        over
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.at.capacity() * size_of::<i64>()
            + self.queued * size_of::<u32>()
            + self.queue.len() * size_of::<(i64, Vec<u32>)>()
    }
}
