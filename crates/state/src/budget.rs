//! How much memory the state of a job may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, StateError};

/// Operators charge the budget in steps of this many bytes, so that it is off their hot paths.
const STEP: u64 = 1 << 20;

/// The memory that the operators of a job share for their state; cheap to clone.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self(Arc::new(Budget { limit, used: AtomicU64::new(0) }))
    }

    /// A budget that is never exceeded, and still counts.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// The bytes that may be used.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// The bytes in use, to a step of 1 MiB an operator.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Opens the account of an operator, whose name errors give.
    pub fn account(&self, operator: impl Into<Arc<str>>) -> MemoryAccount {
        MemoryAccount { budget: self.clone(), operator: operator.into(), held: 0, charged: 0 }
    }
}

/// What one operator holds of a [`MemoryBudget`]; given back when dropped.
#[derive(Debug)]
pub struct MemoryAccount {
    budget: MemoryBudget,
    operator: Arc<str>,
    held: u64,
    charged: u64,
}

impl MemoryAccount {
    /// Says that the operator now holds `bytes`; cheap unless that moved by a step.
    ///
    /// Fails when all operators together exceed the budget.
    pub fn resize(&mut self, bytes: usize) -> Result<()> {
        self.held = bytes as u64;
        let steps = self.held / STEP * STEP;
        if steps > self.charged {
            self.grow(steps - self.charged)
        } else if self.charged - steps > STEP {
            self.budget.0.used.fetch_sub(self.charged - steps, Ordering::Relaxed);
            self.charged = steps;
            Ok(())
        } else {
            Ok(())
        }
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
    fn grow(&mut self, bytes: u64) -> Result<()> {
        let used = self.budget.0.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.charged += bytes;
        if used <= self.budget.limit() {
            return Ok(());
        }
        Err(StateError::OverBudget {
            operator: self.operator.clone(),
            operator_bytes: self.held,
            used,
            limit: self.budget.limit(),
        })
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.charged, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_share_the_budget_and_give_back() {
        let budget = MemoryBudget::new(10 * STEP);
        let mut join = budget.account("Join");
        let mut agg = budget.account("GroupAggregate");
        join.resize(6 * STEP as usize + 5).unwrap();
        agg.resize(4 * STEP as usize).unwrap();
        assert_eq!(budget.used(), 10 * STEP);
        let error = agg.resize(9 * STEP as usize).unwrap_err();
        assert!(
            error.to_string().starts_with(
                "out of state memory: operator GroupAggregate holds 9.0 MiB, \
                 all operators hold 15.0 MiB of 10.0 MiB allowed"
            ),
            "{error}"
        );
        drop(agg);
        assert_eq!(budget.used(), 6 * STEP);
        join.resize(100).unwrap();
        assert_eq!(budget.used(), 0);
    }
}
