//! Joins: their inputs with keys as columns, and the regular join, which keeps both.

use std::sync::Arc;

use flott_functions::Expr;
use flott_types::{Field, Schema};

use super::{Lowering, as_column, by};
use crate::Result;
use crate::logical::{EquiPair, Join, JoinKind, PlanRef};
use crate::physical::{NodeId, PhysicalInput, PhysicalOp, RegularJoin};
use crate::traits::join::{JoinShape, shape};

/// The inputs of a join, whose keys are columns.
pub(super) struct Sides {
    pub left: NodeId,
    pub right: NodeId,
    pub left_keys: Vec<usize>,
    pub right_keys: Vec<usize>,
    pub null_safe: Vec<bool>,
    /// Over the columns of both.
    pub residual: Option<Expr>,
    /// The columns of the left input before keys were computed behind them.
    old_left: usize,
    old_right: usize,
    left_width: usize,
}

impl Sides {
    /// Where a column of both old inputs stands now. Computed keys stand behind the left input's own
    /// columns.
    fn moved(&self, column: usize) -> usize {
        if column < self.old_left { column } else { column - self.old_left + self.left_width }
    }

    /// The inputs, distributed by the keys.
    pub fn inputs(&self) -> Vec<PhysicalInput> {
        vec![by(self.left, &self.left_keys), by(self.right, &self.right_keys)]
    }
}

impl Lowering<'_> {
    pub(super) fn join(&mut self, plan: &PlanRef, join: &Join) -> Result<NodeId> {
        match shape(plan, join, self.settings)? {
            JoinShape::Regular => self.regular_join(plan, join),
            JoinShape::Interval(interval) => self.interval_join(plan, join.kind, &interval),
            JoinShape::Window(windows) => self.window_join(plan, join, &windows),
            JoinShape::AsOf => self.as_of_join(plan, join),
        }
    }

    fn regular_join(&mut self, plan: &PlanRef, join: &Join) -> Result<NodeId> {
        let sides = self.sides(plan, &join.equal, join.residual.as_ref())?;
        let ttl = |hint: Option<u64>| hint.unwrap_or(self.config.state_ttl);
        let op = PhysicalOp::Join(RegularJoin {
            kind: join.kind,
            left_keys: sides.left_keys.clone(),
            right_keys: sides.right_keys.clone(),
            null_safe: sides.null_safe.clone(),
            residual: sides.residual.clone(),
            left_unique: self.plan.node(sides.left).unique_keys.clone(),
            right_unique: self.plan.node(sides.right).unique_keys.clone(),
            insert_only: [sides.left, sides.right]
                .map(|side| self.plan.node(side).changelog.is_insert_only()),
            state_ttl: join.hints.state_ttl.map(ttl),
            batch: self.config.batch,
        });
        self.add_join(plan, join.kind, op, &sides, sides.inputs())
    }

    /// Both inputs with their key expressions as columns.
    pub(super) fn sides(
        &mut self,
        plan: &PlanRef,
        equal: &[EquiPair],
        residual: Option<&Expr>,
    ) -> Result<Sides> {
        let left = self.node(&plan.inputs[0])?;
        let right = self.node(&plan.inputs[1])?;
        let (left, left_keys) = self.with_keys(left, equal.iter().map(|pair| &pair.left))?;
        let (right, right_keys) = self.with_keys(right, equal.iter().map(|pair| &pair.right))?;
        let mut sides = Sides {
            left,
            right,
            left_keys,
            right_keys,
            null_safe: equal.iter().map(|pair| pair.null_safe).collect(),
            residual: None,
            old_left: plan.inputs[0].schema.len(),
            old_right: plan.inputs[1].schema.len(),
            left_width: self.plan.node(left).schema.len(),
        };
        sides.residual =
            residual.cloned().map(|residual| residual.map_columns(&|c| sides.moved(c)));
        Ok(sides)
    }

    /// Adds a join, and behind it what leaves computed keys out again.
    pub(super) fn add_join(
        &mut self,
        plan: &PlanRef,
        kind: JoinKind,
        op: PhysicalOp,
        sides: &Sides,
        inputs: Vec<PhysicalInput>,
    ) -> Result<NodeId> {
        let one_sided = matches!(kind, JoinKind::Semi | JoinKind::Anti);
        let mut fields = self.padded(sides.left, kind.keeps_right());
        if !one_sided {
            fields.extend(self.padded(sides.right, kind.keeps_left()));
        }
        let joined = self.add(op, inputs, Arc::new(Schema::new(fields)), plan.span)?;
        let old = if one_sided { sides.old_left } else { sides.old_left + sides.old_right };
        let projection = (0..old)
            .map(|column| {
                let data_type = plan.schema.fields[column].data_type.clone();
                Expr::column(sides.moved(column), data_type)
            })
            .collect();
        self.add_calc(joined, None, projection, plan.schema.clone(), plan.span)
    }

    /// The columns of a side, nullable where rows of the other side come without a match.
    fn padded(&self, side: NodeId, nullable: bool) -> Vec<Field> {
        let mut fields = self.plan.node(side).schema.fields.clone();
        if nullable {
            fields.iter_mut().for_each(|field| field.data_type.nullable = true);
        }
        fields
    }

    /// An input with its key expressions as columns, computed ones behind its own.
    pub(super) fn with_keys<'e>(
        &mut self,
        input: NodeId,
        keys: impl Iterator<Item = &'e Expr>,
    ) -> Result<(NodeId, Vec<usize>)> {
        let schema = self.plan.node(input).schema.clone();
        let mut projection = super::columns_of(&schema);
        let mut fields = schema.fields.clone();
        let mut columns = Vec::new();
        for key in keys {
            columns.push(as_column(key).unwrap_or_else(|| {
                fields.push(Field::new(format!("$k{}", fields.len()), key.data_type()));
                projection.push(key.clone());
                projection.len() - 1
            }));
        }
        let input = self.add_calc(input, None, projection, Arc::new(Schema::new(fields)), None)?;
        Ok((input, columns))
    }
}
