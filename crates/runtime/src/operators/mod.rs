//! The operators, one a file.

mod calc;
mod constraint_enforcer;
mod drop_update_before;
mod expand;
mod join;
mod limit;
mod sort;
mod union;
mod values;

pub use calc::CalcOperator;
pub use constraint_enforcer::ConstraintEnforcer;
pub use drop_update_before::DropUpdateBefore;
pub use expand::ExpandOperator;
pub use join::JoinOperator;
pub use limit::LimitOperator;
pub use sort::SortOperator;
pub use union::UnionOperator;
pub use values::ValuesSource;
