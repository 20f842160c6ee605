//! Aggregates over the rows that a match holds so far, for DEFINE.
//!
//! Each node has the aggregates of the rows up to it: those of the node before, and its own row
//! taken in. A condition asks for one row more than it has; what that costs is one row, however long
//! the match is.

use arrow::array::ArrayRef;
use flott_functions::{EvalContext, Evaluator, Expr, SessionSettings};
use flott_plan::logical::AggregateCall;
use flott_plan::matching::{Match, MatchRows, MatchSlot};
use flott_plan::physical::ColumnAggregate;
use flott_types::Value;

use crate::operators::aggregation::{Aggregation, GroupedRows};
use crate::{Result, RuntimeError};

/// The group of no rows.
const EMPTY: u32 = 0;

/// Calls over one set of rows, and their arguments.
pub(super) struct Calls {
    pub rows: MatchRows,
    texts: Vec<String>,
    calls: Vec<ColumnAggregate>,
    arguments: Vec<Evaluator>,
}

/// The calls of some slots, together by rows.
pub(super) struct CallSets(pub Vec<Calls>);

/// Where a call's value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub set: usize,
    pub call: usize,
}

impl CallSets {
    /// No call yet.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// The place of a call, which is added if it is new.
    pub fn place(
        &mut self,
        rows: MatchRows,
        call: &AggregateCall,
        settings: &SessionSettings,
    ) -> Result<CallPlace> {
        let set = self.0.iter().position(|calls| calls.rows == rows);
        let set = set.unwrap_or_else(|| {
            let (texts, calls, arguments) = (Vec::new(), Vec::new(), Vec::new());
            self.0.push(Calls { rows, texts, calls, arguments });
            self.0.len() - 1
        });
        let calls = &mut self.0[set];
        let text = call.digest();
        if let Some(known) = calls.texts.iter().position(|known| *known == text) {
            return Ok(CallPlace { set, call: known });
        }
        let first = calls.arguments.len();
        let mut literals = Vec::new();
        for arg in &call.args {
            let evaluator = Evaluator::new(arg, settings)?;
            literals.push(constant(arg, &evaluator, settings));
            calls.arguments.push(evaluator);
        }
        calls.calls.push(ColumnAggregate {
            function: call.function,
            args: (first..calls.arguments.len()).collect(),
            literals,
            arg_types: call.args.iter().map(Expr::data_type).collect(),
            symbols: call.symbols.clone(),
            distinct: call.distinct,
            filter: None,
            data_type: call.data_type.clone(),
        });
        calls.texts.push(text);
        Ok(CallPlace { set, call: calls.calls.len() - 1 })
    }
}

fn constant(arg: &Expr, evaluator: &Evaluator, settings: &SessionSettings) -> Option<Value> {
    let is_constant =
        arg.columns().is_empty() && arg.volatility() == flott_functions::Volatility::Immutable;
    is_constant.then(|| evaluator.evaluate_constant(settings.query_start).ok()).flatten()
}

impl Calls {
    /// What takes in rows of the calls.
    pub fn aggregation(&self) -> Result<Aggregation> {
        Aggregation::new(&self.calls, false, None)
    }

    /// The arguments of all calls for some rows.
    pub fn arguments(&self, columns: &[ArrayRef], context: &EvalContext) -> Result<Vec<ArrayRef>> {
        let arguments = self.arguments.iter().map(|arg| arg.evaluate(columns, context));
        arguments.collect::<Result<_, _>>().map_err(RuntimeError::operator)
    }
}

/// The aggregates of DEFINE, by node.
pub(super) struct Running {
    sets: Vec<Set>,
    /// By node and set, the group of the rows up to the node.
    groups: Vec<u32>,
}

struct Set {
    calls: Calls,
    aggregation: Aggregation,
    /// By group, how many nodes have it.
    refs: Vec<u32>,
    free: Vec<u32>,
    /// The group with the row in question, if it was asked for.
    extended: Option<u32>,
}

impl Running {
    /// The aggregates of the conditions of a pattern, and where each slot finds its own.
    pub fn new(sets: CallSets) -> Result<Self> {
        let sets = sets.0.into_iter().map(|calls| {
            let mut aggregation = calls.aggregation()?;
            aggregation.resize(1);
            Ok(Set { aggregation, calls, refs: vec![1], free: Vec::new(), extended: None })
        });
        Ok(Self { sets: sets.collect::<Result<_>>()?, groups: Vec::new() })
    }

    /// Whether there is no aggregate.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The value of a call over the rows up to `node`, and the row in question, of which `columns`
    /// are, if it is taken by `variable`.
    pub fn value(
        &mut self,
        place: CallPlace,
        node: Option<u32>,
        variable: u16,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<ArrayRef> {
        let group = self.group(place.set, node, variable, columns, context)?;
        let values = self.sets[place.set].aggregation.values(&[group])?;
        values.into_iter().nth(place.call).ok_or_else(|| RuntimeError::internal("", "no such call"))
    }

    fn group(
        &mut self,
        set: usize,
        node: Option<u32>,
        variable: u16,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<u32> {
        let base = node.map_or(EMPTY, |node| self.groups[node as usize * self.sets.len() + set]);
        let set = &mut self.sets[set];
        if !set.calls.rows.covers(usize::from(variable)) {
            return Ok(base);
        }
        if let Some(extended) = set.extended {
            return Ok(extended);
        }
        let group = set.new_group();
        set.extended = Some(group);
        if base != EMPTY {
            set.aggregation.merge_within(&[group], &[base])?;
        }
        let arguments = set.calls.arguments(columns, context)?;
        let now = context.millis();
        let rows = GroupedRows { columns: &arguments, groups: &[group], signs: None, now };
        set.aggregation.update(&rows)?;
        Ok(group)
    }

    /// Gives a new node its groups: those of its parent, with the row in question taken in.
    pub fn take(
        &mut self,
        node: u32,
        parent: Option<u32>,
        variable: u16,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<()> {
        let sets = self.sets.len();
        let needed = (node as usize + 1) * sets;
        if self.groups.len() < needed {
            self.groups.resize(needed, EMPTY);
        }
        for set in 0..sets {
            let group = self.group(set, parent, variable, columns, context)?;
            self.sets[set].refs[group as usize] += 1;
            self.groups[node as usize * sets + set] = group;
        }
        Ok(())
    }

    /// Forgets what was computed with the row in question.
    pub fn next_question(&mut self) {
        for set in &mut self.sets {
            if let Some(group) = set.extended.take() {
                set.release(group);
            }
        }
    }

    /// Frees the groups of a node that is gone.
    pub fn release(&mut self, node: u32) {
        let sets = self.sets.len();
        for (i, set) in self.sets.iter_mut().enumerate() {
            set.release(self.groups[node as usize * sets + i]);
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        let of_set =
            |set: &Set| set.aggregation.memory() + (set.refs.capacity() + set.free.capacity()) * 4;
        self.groups.capacity() * 4 + self.sets.iter().map(of_set).sum::<usize>()
    }
}

impl Set {
    fn new_group(&mut self) -> u32 {
        let group = self.free.pop().unwrap_or_else(|| {
            self.refs.push(0);
            self.refs.len() as u32 - 1
        });
        self.refs[group as usize] = 1;
        self.aggregation.resize(self.refs.len());
        group
    }

    fn release(&mut self, group: u32) {
        let refs = &mut self.refs[group as usize];
        *refs -= 1;
        if *refs == 0 {
            self.aggregation.reset(&[group]);
            self.free.push(group);
        }
    }
}

/// The calls in the conditions of a pattern.
pub(super) fn condition_calls(pattern: &Match, settings: &SessionSettings) -> Result<CallSets> {
    let mut sets = CallSets::new();
    let conditions = pattern.variables.iter().filter_map(|variable| variable.condition.as_ref());
    for slot in conditions.flat_map(|condition| &condition.slots) {
        if let MatchSlot::Aggregate { rows, call } = slot {
            sets.place(*rows, call, settings)?;
        }
    }
    Ok(sets)
}
