//! The operators, one a file.

mod aggregation;
mod calc;
mod changelog_normalize;
mod constraint_enforcer;
mod correlate;
mod deduplicate;
mod drop_update_before;
mod expand;
mod group_aggregate;
mod group_window;
mod join;
mod limit;
mod lookup_join;
mod matching;
mod over;
mod rank;
mod ranking;
mod sort;
mod temporal_sort;
#[cfg(test)]
mod test_rows;
#[cfg(test)]
mod testing;
mod time_join;
mod union;
mod values;
mod window;
mod window_aggregate;
mod window_assign;
mod window_rank;

pub use calc::CalcOperator;
pub use changelog_normalize::ChangelogNormalize;
pub use constraint_enforcer::ConstraintEnforcer;
pub use correlate::CorrelateOperator;
pub use deduplicate::deduplicate;
pub use drop_update_before::DropUpdateBefore;
pub use expand::ExpandOperator;
pub use group_aggregate::GroupAggregateOperator;
pub use group_window::GroupWindowOperator;
pub use join::JoinOperator;
pub use limit::LimitOperator;
pub use lookup_join::LookupJoinOperator;
pub use matching::MatchOperator;
pub use over::{BatchOverOperator, TimedOverOperator, UpdatingOverOperator};
pub use rank::RankOperator;
pub use sort::SortOperator;
pub use temporal_sort::TemporalSortOperator;
pub use time_join::{IntervalJoinOperator, TemporalJoinOperator, WindowJoinOperator};
pub use union::UnionOperator;
pub use values::ValuesSource;
pub use window_aggregate::WindowAggregateOperator;
pub use window_assign::WindowAssignOperator;
pub use window_rank::WindowRankOperator;
