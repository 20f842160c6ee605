//! What happens to the frames of partitions, step by step.

/// Rows that come into frames and leave them, in order, and where results are read.
#[derive(Default)]
pub(super) struct Script {
    /// The partition of each step.
    pub groups: Vec<u32>,
    /// What each step does: +1 adds a row to the frame, −1 takes it back, 0 does nothing.
    pub signs: Vec<i8>,
    /// The time of each step's row, or any other number that peers share.
    pub times: Vec<i64>,
    /// Whether rows of one time are peers, which have one rank.
    pub peers: bool,
    /// For each row that comes out, the step after which its results hold.
    pub reads: Vec<u32>,
}

impl Script {
    /// Adds a step and gives its number.
    pub fn step(&mut self, group: u32, sign: i8, time: i64) -> u32 {
        self.groups.push(group);
        self.signs.push(sign);
        self.times.push(time);
        self.groups.len() as u32 - 1
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether every step adds a row.
    pub fn only_adds(&self) -> bool {
        self.signs.iter().all(|sign| *sign > 0)
    }
}
