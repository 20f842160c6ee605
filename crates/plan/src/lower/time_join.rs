//! Joins bounded by time: interval joins, window joins, and joins with versions of a table.

use flott_types::RowKind;

use super::{Lowering, by};
use crate::logical::{AsOf, Join, JoinKind, PlanRef};
use crate::physical::{IntervalJoin, NodeId, PhysicalOp, TemporalJoin, WindowJoin};
use crate::traits::changelog;
use crate::traits::join::{Interval, JoinedWindows};
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn interval_join(
        &mut self,
        plan: &PlanRef,
        kind: JoinKind,
        interval: &Interval,
    ) -> Result<NodeId> {
        let sides = self.sides(plan, &interval.equal, interval.residual.as_ref())?;
        self.refuse_updates("an interval join", &[sides.left, sides.right])?;
        let op = PhysicalOp::IntervalJoin(IntervalJoin {
            kind,
            left_keys: sides.left_keys.clone(),
            right_keys: sides.right_keys.clone(),
            null_safe: sides.null_safe.clone(),
            residual: sides.residual.clone(),
            left_time: interval.left_time,
            right_time: interval.right_time,
            is_rowtime: interval.is_rowtime,
            lower: interval.lower,
            upper: interval.upper,
            min_cleanup_interval: self.config.interval_join_min_cleanup,
        });
        self.add_join(plan, kind, op, &sides, sides.inputs())
    }

    pub(super) fn window_join(
        &mut self,
        plan: &PlanRef,
        join: &Join,
        windows: &JoinedWindows,
    ) -> Result<NodeId> {
        let sides = self.sides(plan, &windows.equal, join.residual.as_ref())?;
        self.refuse_updates("a window join", &[sides.left, sides.right])?;
        let bounds = |start: Option<usize>, end: Option<usize>| {
            start.zip(end).ok_or_else(|| PlanError::new("the window of a window join was lost"))
        };
        let left_window = bounds(windows.left.start, windows.left.end)?;
        let right_window = bounds(windows.right.start, windows.right.end)?;
        let op = PhysicalOp::WindowJoin(WindowJoin {
            kind: join.kind,
            left_keys: sides.left_keys.clone(),
            right_keys: sides.right_keys.clone(),
            null_safe: sides.null_safe.clone(),
            residual: sides.residual.clone(),
            left_window,
            right_window,
            is_ltz: windows.is_ltz,
        });
        // A window's rows of one key meet; different windows of a key need not.
        let with_end = |keys: &[usize], end: usize| [keys, &[end]].concat();
        let inputs = vec![
            by(sides.left, &with_end(&sides.left_keys, left_window.1)),
            by(sides.right, &with_end(&sides.right_keys, right_window.1)),
        ];
        self.add_join(plan, join.kind, op, &sides, inputs)
    }

    pub(super) fn as_of_join(&mut self, plan: &PlanRef, join: &Join) -> Result<NodeId> {
        let Some(as_of) = join.as_of else {
            return Err(PlanError::new("internal error: a join as of no moment"));
        };
        if join.equal.is_empty() {
            return Err(PlanError::new(
                "Currently the join key in Temporal Table Join can not be empty.",
            )
            .hint("compare the table's primary key with columns of the left table in ON"));
        }
        if !as_of.is_rowtime
            && as_of.function_key.is_none()
            && let Some(lookup) = self.lookup_join(plan, join)?
        {
            return Ok(lookup);
        }
        if self.config.batch {
            return Err(PlanError::new(
                "temporal joins against versions of a table are not supported in batch mode",
            )
            .hint("SET 'execution.runtime-mode' = 'streaming'"));
        }
        let sides = self.sides(plan, &join.equal, join.residual.as_ref())?;
        let right = self.plan.node(sides.right);
        let is_key = |key: &Vec<usize>| key.iter().all(|c| sides.right_keys.contains(c));
        let has_key = match as_of.function_key {
            Some(key) => sides.right_keys.contains(&key),
            None => right.unique_keys.iter().any(is_key),
        };
        if !has_key {
            return Err(PlanError::new(
                "Temporal Table Join requires primary key in versioned table, but no primary key \
                 can be found.",
            )
            .hint(
                "declare PRIMARY KEY (…) NOT ENFORCED on the table, or keep its latest rows by \
                 ROW_NUMBER() … = 1 in a view, and compare all columns of the key in ON",
            ));
        }
        let times = self.temporal_times(plan, &as_of)?;
        let op = PhysicalOp::TemporalJoin(TemporalJoin {
            kind: join.kind,
            left_keys: sides.left_keys.clone(),
            right_keys: sides.right_keys.clone(),
            null_safe: sides.null_safe.clone(),
            residual: sides.residual.clone(),
            times,
            ignore_update_before: changelog::can_omit_update_before(&self.plan, sides.right),
            state_ttl: self.config.state_ttl,
        });
        self.add_join(plan, join.kind, op, &sides, sides.inputs())
    }

    fn temporal_times(&self, plan: &PlanRef, as_of: &AsOf) -> Result<Option<(usize, usize)>> {
        if !as_of.is_rowtime {
            if as_of.function_key.is_some() {
                return Ok(None);
            }
            return Err(PlanError::new("Processing-time temporal join is not supported yet.")
                .hint(
                    "join as of a column with a WATERMARK, or look the table up: give it \
                 'lookup.cache' = 'FULL' or a connector that looks rows up",
                ));
        }
        let version = as_of
            .version
            .filter(|column| plan.inputs[1].schema.fields[*column].time.is_some())
            .ok_or_else(|| {
                PlanError::new(
                    "Event-Time Temporal Table Join requires both primary key and row time \
                     attribute in versioned table, but no row time attribute can be found.",
                )
                .hint("declare a WATERMARK on the versioned table")
            })?;
        Ok(Some((as_of.time, version)))
    }

    /// Flink's operators that emit rows once take no changes.
    fn refuse_updates(&self, what: &str, inputs: &[NodeId]) -> Result<()> {
        for input in inputs {
            let mode = self.plan.node(*input).changelog;
            if mode.is_insert_only() {
                continue;
            }
            let kinds = match (mode.has_updates(), mode.contains(RowKind::Delete)) {
                (true, true) => "update and delete",
                (true, false) => "update",
                _ => "delete",
            };
            let node = crate::explain::describe(&self.plan, *input);
            return Err(PlanError::new(format!(
                "{what} doesn't support consuming {kinds} changes which is produced by node {node}"
            ))
            .hint("join before the rows are updated, or without the bounds on time"));
        }
        Ok(())
    }
}
