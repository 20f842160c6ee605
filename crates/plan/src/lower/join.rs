//! Joins whose inputs are kept.

use std::sync::Arc;

use flott_functions::Expr;
use flott_types::{Field, Schema};

use super::{Lowering, as_column, by};
use crate::Result;
use crate::logical::{Join, JoinKind, PlanRef};
use crate::physical::{NodeId, PhysicalOp, RegularJoin};

impl Lowering<'_> {
    pub(super) fn join(&mut self, plan: &PlanRef, join: &Join) -> Result<NodeId> {
        let (old_left, old_right) = (plan.inputs[0].schema.len(), plan.inputs[1].schema.len());
        let left = self.node(&plan.inputs[0])?;
        let right = self.node(&plan.inputs[1])?;
        let (left, left_keys) = self.with_keys(left, join.equal.iter().map(|pair| &pair.left))?;
        let (right, right_keys) =
            self.with_keys(right, join.equal.iter().map(|pair| &pair.right))?;
        let left_width = self.plan.node(left).schema.len();
        // Computed keys stand behind the left input's own columns.
        let moved =
            |column: usize| if column < old_left { column } else { column - old_left + left_width };
        let op = PhysicalOp::Join(RegularJoin {
            kind: join.kind,
            left_keys: left_keys.clone(),
            right_keys: right_keys.clone(),
            null_safe: join.equal.iter().map(|pair| pair.null_safe).collect(),
            residual: join.residual.clone().map(|residual| residual.map_columns(&moved)),
            left_unique: self.plan.node(left).unique_keys.clone(),
            right_unique: self.plan.node(right).unique_keys.clone(),
            state_ttl: self.config.state_ttl,
            batch: self.config.batch,
        });
        let one_sided = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
        let mut fields = self.padded(left, join.kind.keeps_right());
        if !one_sided {
            fields.extend(self.padded(right, join.kind.keeps_left()));
        }
        let schema = Arc::new(Schema::new(fields));
        let inputs = vec![by(left, &left_keys), by(right, &right_keys)];
        let joined = self.add(op, inputs, schema, plan.span)?;
        let old = if one_sided { old_left } else { old_left + old_right };
        let projection = (0..old)
            .map(|column| Expr::column(moved(column), plan.schema.fields[column].data_type.clone()))
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
    fn with_keys<'e>(
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
