//! Key groups: the units in which keyed state is divided between tasks, as Flink computes them.

use std::ops::RangeInclusive;

/// The key groups of a job that does not set `pipeline.max-parallelism`.
pub const DEFAULT_MAX_PARALLELISM: u16 = 128;

/// The key group of a key's hash, below `max_parallelism`.
///
/// It is taken from the hash's upper 16 bits, so that the lower ones still spread the keys of one
/// group over a hash table.
#[inline]
pub fn key_group(hash: u64, max_parallelism: u16) -> u16 {
    (((hash >> 48) as u32 * u32::from(max_parallelism)) >> 16) as u16
}

/// The task that owns a key group: Flink's `computeOperatorIndexForKeyGroup`.
#[inline]
pub fn key_group_owner(max_parallelism: u16, parallelism: u16, key_group: u16) -> u16 {
    (u32::from(key_group) * u32::from(parallelism) / u32::from(max_parallelism)) as u16
}

/// A run of key groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGroupRange(RangeInclusive<u16>);

impl KeyGroupRange {
    /// The key groups that task `task` of `parallelism` owns: Flink's
    /// `computeKeyGroupRangeForOperatorIndex`.
    ///
    /// `parallelism` is at least 1 and at most `max_parallelism`, `task` is below it.
    pub fn of_task(max_parallelism: u16, parallelism: u16, task: u16) -> Self {
        let (groups, tasks, task) =
            (u32::from(max_parallelism), u32::from(parallelism), u32::from(task));
        let start = (task * groups).div_ceil(tasks);
        let end = ((task + 1) * groups - 1) / tasks;
        Self(start as u16..=end as u16)
    }

    /// All key groups.
    pub fn all(max_parallelism: u16) -> Self {
        Self::of_task(max_parallelism, 1, 0)
    }

    /// Whether a key group is in the run.
    pub fn contains(&self, key_group: u16) -> bool {
        self.0.contains(&key_group)
    }

    /// The first and the last key group.
    pub fn bounds(&self) -> (u16, u16) {
        (*self.0.start(), *self.0.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_group_has_the_owner_whose_range_holds_it() {
        for (groups, tasks) in [(128, 1), (128, 3), (128, 128), (4096, 7), (5, 4)] {
            for group in 0..groups {
                let owner = key_group_owner(groups, tasks, group);
                let holders: Vec<_> = (0..tasks)
                    .filter(|t| KeyGroupRange::of_task(groups, tasks, *t).contains(group))
                    .collect();
                assert_eq!(holders, [owner], "group {group} of {groups} in {tasks} tasks");
            }
        }
    }

    #[test]
    fn common_key_patterns_spread_evenly() {
        let patterns: [fn(i64) -> i64; 5] =
            [|i| i, |i| i * 1000, |i| i << 32, |i| i * 60_000 + 1_700_000_000_000, |i| -i * 7];
        for pattern in patterns {
            let mut counts = [0u32; 128];
            for i in 0..128_000 {
                let group = key_group(super::super::hash::hash_int(pattern(i)), 128);
                counts[usize::from(group)] += 1;
            }
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least > 850 && *most < 1150, "{least} to {most}");
        }
    }
}
