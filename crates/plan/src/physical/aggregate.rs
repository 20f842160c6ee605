//! The physical forms of GROUP BY, in one phase or two.

use std::sync::Arc;

use flott_functions::aggregate::{AggregateFunction, AggregateSpec};
use flott_functions::{Arg, CallArgs, SignatureError};
use flott_types::{DataType, Field, Value};

use super::{NodeId, PhysicalNode, PhysicalOp, PhysicalPlan};

/// One aggregate over columns of the input.
#[derive(Clone)]
pub struct ColumnAggregate {
    /// The function.
    pub function: &'static AggregateFunction,
    /// The columns of its arguments.
    pub args: Vec<usize>,
    /// Constant arguments, beside `args`: type rules and accumulators look at them.
    pub literals: Vec<Option<Value>>,
    /// The types of the arguments.
    pub arg_types: Vec<DataType>,
    /// Words of special syntax.
    pub symbols: Vec<Arc<str>>,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// A BOOLEAN column: which rows count.
    pub filter: Option<usize>,
    /// The type of the result.
    pub data_type: DataType,
}

impl ColumnAggregate {
    /// The call as the function that makes its accumulator takes it.
    pub fn spec(&self, retracts: bool) -> AggregateSpec {
        let literals = self.literals.iter().cloned().chain(std::iter::repeat(None));
        let args = self.arg_types.iter().zip(literals);
        let args = args.map(|(ty, literal)| Arg { data_type: ty.clone(), literal }).collect();
        AggregateSpec {
            args: CallArgs {
                name: self.function.name.into(),
                args,
                symbols: self.symbols.clone(),
                returning: None,
            },
            returns: self.data_type.clone(),
            retracts,
        }
    }
}

/// `GROUP BY` over a changelog.
pub struct GroupAggregate {
    /// The columns of the keys.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<ColumnAggregate>,
    /// Whether input rows may be taken back.
    pub input_retracts: bool,
    /// Whether −U rows are wanted.
    pub emit_update_before: bool,
    /// Whether only the final rows are wanted, at the end of the input (batch mode).
    pub final_only: bool,
    /// Idle groups are forgotten after so many milliseconds; 0: never.
    pub state_ttl: u64,
    /// What it is given: rows, or groups of rows.
    pub phase: AggregatePhase,
    /// Which step of a split aggregation it is.
    pub split: Option<SplitStep>,
}

/// The rows that an aggregation is over.
pub struct GroupedRows<'p> {
    /// The node that gives them.
    pub node: NodeId,
    /// Their key columns.
    pub keys: &'p [usize],
}

impl GroupAggregate {
    /// The rows that it is over, in one phase or two: the columns of its calls are theirs.
    pub fn rows<'p>(&'p self, plan: &'p PhysicalPlan, node: &PhysicalNode) -> GroupedRows<'p> {
        let input = node.inputs[0].node;
        match &plan.node(input).op {
            PhysicalOp::LocalGroupAggregate(local) if self.phase == AggregatePhase::Global => {
                GroupedRows { node: plan.node(input).inputs[0].node, keys: &local.keys }
            }
            _ => GroupedRows { node: input, keys: &self.keys },
        }
    }
}

/// What a [`GroupAggregate`] is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregatePhase {
    /// The rows.
    Complete,
    /// What a [`LocalGroupAggregate`] of the same calls made of the rows: the columns of its calls are those
    /// of that one's input.
    Global,
}

/// Which step of `table.optimizer.distinct-agg.split.enabled` an aggregation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitStep {
    /// By key and bucket of values.
    Partial,
    /// By key.
    Final,
}

/// The first of two phases: aggregates the rows of a bundle by key, in the task where they are, and gives
/// the accumulators of each key.
pub struct LocalGroupAggregate {
    /// The columns of the keys.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<ColumnAggregate>,
    /// Whether input rows may be taken back.
    pub input_retracts: bool,
    /// Which step of a split aggregation it is.
    pub split: Option<SplitStep>,
}

/// The columns that a [`LocalGroupAggregate`] gives behind its keys, in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialLayout {
    /// Whether the first counts the rows that were added, less those that were taken back.
    pub counts_rows: bool,
    /// For each call the columns of its accumulator's state; none for a DISTINCT call.
    pub states: Vec<Vec<Field>>,
    /// For each set of values of DISTINCT calls a list of each of its columns, then one of the counts of each
    /// of its lanes.
    pub sets: Vec<ValueSet>,
}

/// The values that DISTINCT calls of the same columns see.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSet {
    /// The columns.
    pub columns: Vec<usize>,
    /// Their types.
    pub types: Vec<DataType>,
    /// The filters under which they are counted, each a lane.
    pub filters: Vec<Option<usize>>,
}

impl PartialLayout {
    /// The layout of calls over rows that may be taken back, or may not.
    pub fn of(calls: &[ColumnAggregate], retracts: bool) -> Result<Self, SignatureError> {
        let mut layout = Self { counts_rows: retracts, states: Vec::new(), sets: Vec::new() };
        let mut columns = usize::from(retracts);
        for call in calls {
            if call.distinct {
                layout.add_to_set(call);
                layout.states.push(Vec::new());
                continue;
            }
            let name = call.function.name.trim_start_matches('$').to_ascii_lowercase();
            let accumulator = (call.function.create)(&call.spec(retracts))?;
            let field = |ty: DataType| {
                columns += 1;
                Field::new(format!("{name}${}", columns - 1), ty.with_nullable(true))
            };
            layout.states.push(accumulator.state_types().into_iter().map(field).collect());
        }
        Ok(layout)
    }

    fn add_to_set(&mut self, call: &ColumnAggregate) {
        let set = self.sets.iter().position(|set| set.columns == call.args);
        let set = set.unwrap_or_else(|| {
            let (columns, types) = (call.args.clone(), call.arg_types.clone());
            self.sets.push(ValueSet { columns, types, filters: Vec::new() });
            self.sets.len() - 1
        });
        let filters = &mut self.sets[set].filters;
        if !filters.contains(&call.filter) {
            filters.push(call.filter);
        }
    }

    /// The columns.
    pub fn fields(&self) -> Vec<Field> {
        let rows = self.counts_rows.then(|| Field::new("count1$0", DataType::bigint()));
        let mut fields: Vec<Field> = rows.into_iter().collect();
        fields.extend(self.states.iter().flatten().cloned());
        for (set, values) in self.sets.iter().enumerate() {
            for (column, ty) in values.types.iter().enumerate() {
                let values = DataType::array(ty.clone().with_nullable(true));
                fields.push(Field::new(format!("distinct${set}_{column}"), values));
            }
            for lane in 0..values.filters.len() {
                let counts = DataType::array(DataType::bigint());
                fields.push(Field::new(format!("distinct${set}_count{lane}"), counts));
            }
        }
        fields
    }
}
