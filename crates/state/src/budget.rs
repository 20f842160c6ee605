//! How much memory the state of a job may use.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, StateError};
use crate::spill::SpillSpace;

/// Operators charge the budget in steps of at most this many bytes, so that it is off their hot paths.
const STEP: u64 = 1 << 20;
/// The store on disk may use one part in this of the budget.
const STORE_PART: u64 = 8;

/// The memory that the operators of a job share for their state; cheap to clone.
///
/// State that its operator can move to disk is kept within what the budget leaves beside all else: state that
/// cannot move, rows on their way between tasks, and an eighth for the store on disk. Each operator may use
/// what the others leave, and at least an equal share.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    limit: u64,
    step: u64,
    used: AtomicU64,
    /// Of `used`, what operators hold that can spill, and how many of them hold anything.
    movable: AtomicU64,
    movers: AtomicU64,
    /// Rows on their way between tasks.
    in_flight: AtomicU64,
    space: Option<SpillSpace>,
}

impl MemoryBudget {
    /// A budget of `limit` bytes, without a place on disk.
    pub fn new(limit: u64) -> Self {
        Self::of(limit, None)
    }

    /// A budget of `limit` bytes, for operators that move what has no room to the first of `folders` that
    /// can be written to.
    pub fn spilling(limit: u64, folders: Vec<PathBuf>) -> Self {
        Self::of(limit, Some(SpillSpace::new(folders, limit / STORE_PART)))
    }

    /// A budget that is never exceeded, and still counts.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// A budget that is never exceeded, though operators that can spill hold at most `keys` keys in memory: for
    /// tests.
    pub fn crowded(keys: usize) -> Self {
        Self::of(u64::MAX, Some(SpillSpace::crowded(keys)))
    }

    fn of(limit: u64, space: Option<SpillSpace>) -> Self {
        Self(Arc::new(Budget {
            limit,
            step: (limit / 256).clamp(1, STEP),
            used: AtomicU64::new(0),
            movable: AtomicU64::new(0),
            movers: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            space,
        }))
    }

    /// The bytes that may be used.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// The bytes in use, to a step of at most 1 MiB an operator.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed) + self.in_flight()
    }

    /// The bytes of rows on their way between tasks.
    pub fn in_flight(&self) -> u64 {
        self.0.in_flight.load(Ordering::Relaxed)
    }

    /// Notes that rows of so many bytes are on their way.
    pub fn sent(&self, bytes: usize) {
        self.0.in_flight.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that rows of so many bytes have arrived.
    pub fn received(&self, bytes: usize) {
        self.0.in_flight.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Where state goes that has no room.
    pub fn space(&self) -> Option<&SpillSpace> {
        self.0.space.as_ref()
    }

    /// Opens the account of an operator, whose name errors give; `spills` says whether it can move its state to
    /// disk.
    pub fn account(&self, operator: impl Into<Arc<str>>, spills: bool) -> MemoryAccount {
        let spills = spills && self.0.space.is_some();
        MemoryAccount {
            budget: self.clone(),
            operator: operator.into(),
            spills,
            allowed: 0,
            held: 0,
            charged: 0,
        }
    }

    /// What operators that can spill may hold together.
    fn room(&self) -> u64 {
        let used = self.0.used.load(Ordering::Relaxed);
        let fixed = used.saturating_sub(self.0.movable.load(Ordering::Relaxed));
        let reserved = self.0.limit / STORE_PART + fixed + self.in_flight();
        self.0.limit.saturating_sub(reserved)
    }

    /// An equal part of that.
    fn share(&self) -> u64 {
        self.room() / self.0.movers.load(Ordering::Relaxed).max(1)
    }
}

/// What one operator holds of a [`MemoryBudget`]; given back when dropped.
#[derive(Debug)]
pub struct MemoryAccount {
    budget: MemoryBudget,
    operator: Arc<str>,
    /// Whether the operator can move its state to disk.
    spills: bool,
    /// What [`Self::room`] said last: the operator has made itself as small as that.
    allowed: u64,
    held: u64,
    charged: u64,
}

impl MemoryAccount {
    /// Says that the operator now holds `bytes`; cheap unless that moved by a step.
    ///
    /// Fails when all operators together exceed the budget and it is this one's doing: it cannot move its
    /// state to disk, or holds more than its share though it did. What others have taken since it asked for
    /// its [room](Self::room) is not its doing: it makes itself smaller with its next batch.
    pub fn resize(&mut self, bytes: usize) -> Result<()> {
        self.held = bytes as u64;
        let step = self.budget.0.step;
        let steps = self.held / step * step;
        if steps > self.charged {
            self.charge(steps)?;
        } else if self.charged - steps > step {
            self.give_back(steps);
        }
        Ok(())
    }

    /// The bytes that the operator may hold: what the others leave, and at least its share. `None` for one that
    /// cannot spill. Until it asks again it is not blamed for holding as much.
    pub fn room(&mut self) -> Option<usize> {
        if !self.spills {
            return None;
        }
        let budget = &self.budget;
        let others = budget.0.movable.load(Ordering::Relaxed).saturating_sub(self.charged);
        let left = budget.room().saturating_sub(others);
        let share = budget.share();
        let room = left.max(share);
        self.allowed = room;
        Some(usize::try_from(room).unwrap_or(usize::MAX))
    }

    /// The bytes the operator said it holds.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The operator's name.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    #[cold]
    fn charge(&mut self, bytes: u64) -> Result<()> {
        let more = bytes - self.charged;
        let budget = &self.budget;
        budget.0.used.fetch_add(more, Ordering::Relaxed);
        if self.spills {
            budget.0.movable.fetch_add(more, Ordering::Relaxed);
            budget.0.movers.fetch_add(u64::from(self.charged == 0), Ordering::Relaxed);
        }
        self.charged = bytes;
        let used = budget.used();
        let allowed = self.allowed.max(budget.share());
        if used <= budget.limit() || (self.spills && self.held <= allowed) {
            return Ok(());
        }
        Err(StateError::OverBudget {
            operator: self.operator.clone(),
            operator_bytes: self.held,
            spills: self.spills,
            in_flight: budget.in_flight(),
            used,
            limit: budget.limit(),
        })
    }

    fn give_back(&mut self, bytes: u64) {
        let less = self.charged - bytes;
        let budget = &self.budget.0;
        budget.used.fetch_sub(less, Ordering::Relaxed);
        if self.spills {
            budget.movable.fetch_sub(less, Ordering::Relaxed);
            budget.movers.fetch_sub(u64::from(bytes == 0 && less > 0), Ordering::Relaxed);
        }
        self.charged = bytes;
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.give_back(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn accounts_share_the_budget_and_give_back() {
        let budget = MemoryBudget::new(10 * MIB);
        let mut join = budget.account("Join", true);
        let mut agg = budget.account("GroupAggregate", true);
        join.resize(6 * MIB as usize + 5).unwrap();
        agg.resize(4 * MIB as usize).unwrap();
        assert!(budget.used().abs_diff(10 * MIB) < MIB / 10, "{}", budget.used());
        let error = agg.resize(9 * MIB as usize).unwrap_err();
        assert!(
            error.to_string().starts_with(
                "out of state memory: operator GroupAggregate holds 9.0 MiB, \
                 all operators and 0 B of rows between tasks hold "
            ),
            "{error}"
        );
        drop(agg);
        assert!(budget.used().abs_diff(6 * MIB) < MIB / 10, "{}", budget.used());
        join.resize(100).unwrap();
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn what_others_take_meanwhile_is_nobodys_fault() {
        let budget = MemoryBudget::spilling(80 * MIB, vec![std::env::temp_dir()]);
        let mut left = budget.account("Join", true);
        let mut right = budget.account("Join", true);
        left.resize(MIB as usize).unwrap();
        right.resize(MIB as usize).unwrap();
        // Both ask before either has grown.
        let (of_left, of_right) = (left.room().unwrap(), right.room().unwrap());
        left.resize(of_left).unwrap();
        right.resize(of_right).unwrap();
        assert!(budget.used() > budget.limit());
        // With the next batch each is told to make room, and must not keep what it has.
        assert!(left.room().unwrap() < of_left);
        assert!(left.resize(of_left + MIB as usize).is_err());
    }

    #[test]
    fn what_can_spill_shares_what_is_left() {
        let budget = MemoryBudget::spilling(80 * MIB, vec![std::env::temp_dir()]);
        let mut fixed = budget.account("Match", false);
        let mut join = budget.account("Join", true);
        let mut agg = budget.account("GroupAggregate", true);
        fixed.resize(10 * MIB as usize).unwrap();
        assert_eq!(fixed.room(), None);
        // An eighth is the store's.
        assert_eq!(join.room(), Some(60 * MIB as usize));
        join.resize(50 * MIB as usize).unwrap();
        assert_eq!(agg.room(), Some(60 * MIB as usize));
        agg.resize(20 * MIB as usize).unwrap();
        assert_eq!(agg.room(), Some(30 * MIB as usize));
        assert_eq!(join.room(), Some(40 * MIB as usize));
        // Rows on their way leave less.
        budget.sent(10 * MIB as usize);
        assert_eq!(join.room(), Some(30 * MIB as usize));
        let error = join.resize(60 * MIB as usize).unwrap_err();
        assert!(error.to_string().contains("operator Join holds 60.0 MiB"), "{error}");
        budget.received(10 * MIB as usize);
        drop((join, agg, fixed));
        assert_eq!(budget.used(), 0);
    }
}
