//! Table functions called for each row.

use super::{Lowering, any};
use crate::Result;
use crate::logical::{Correlate, PlanRef};
use crate::physical::{NodeId, PhysicalOp};

impl Lowering<'_> {
    pub(super) fn correlate(&mut self, plan: &PlanRef, correlate: &Correlate) -> Result<NodeId> {
        let input = any(self.node(plan.input())?);
        let op = PhysicalOp::Correlate(correlate.clone());
        self.add(op, vec![input], plan.schema.clone(), plan.span)
    }
}
