//! Logical to physical: operators, exchanges, and the traits of each node.

mod aggregate;
mod correlate;
mod digest;
mod group_window;
mod join;
mod lookup;
mod matching;
mod mini_batch;
mod over;
mod rank;
mod sink;
mod sort;
mod split_distinct;
mod time_join;
mod two_phase;

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::connector::Boundedness;
use flott_functions::{Evaluator, Expr, SessionSettings, Volatility};
use flott_sql::ast::{ConflictStrategy, Span};
use flott_types::{ChangelogMode, DataType, Field, RowKind, Schema, Value};

use crate::logical::{LogicalOp, LogicalPlan, PlanRef, Scan, WindowAssignment};
use crate::physical::{
    AggregatePhase, Calc, Distribution, Keep, NodeId, PhysicalInput, PhysicalNode, PhysicalOp,
    PhysicalPlan, WindowOf,
};
use crate::traits::state::{self, StateBound};
use crate::traits::{changelog, domain, keys};
use crate::{PlanError, PlannerConfig, Result};

/// Lowers optimised plans of one job to operators.
pub fn lower(
    roots: &[PlanRef],
    settings: &SessionSettings,
    config: &PlannerConfig,
) -> Result<PhysicalPlan> {
    let mut lowering = Lowering {
        plan: PhysicalPlan { nodes: Vec::new(), sinks: Vec::new() },
        bounded: Vec::new(),
        domains: Vec::new(),
        done: HashMap::new(),
        digests: HashMap::new(),
        settings,
        config,
    };
    for root in roots {
        let sink = lowering.node(root)?;
        lowering.plan.sinks.push(sink);
    }
    let mut plan = reachable(lowering.plan);
    changelog::drop_unneeded_updates(&mut plan);
    changelog::bypass_idle_drops(&mut plan);
    let mut plan = reachable(plan);
    changelog::check_sinks(&plan)?;
    if let Some(limits) = config.mini_batch.filter(|_| !config.batch) {
        mini_batch::assign(&mut plan, limits);
    }
    if config.strict_state {
        state::check_bounded(&plan)?;
    }
    Ok(plan)
}

struct Lowering<'a> {
    plan: PhysicalPlan,
    /// For each node, whether its input ends.
    bounded: Vec<bool>,
    /// For each node, which of its columns have a domain that does not grow.
    domains: Vec<Vec<bool>>,
    done: HashMap<*const LogicalPlan, NodeId>,
    digests: HashMap<String, NodeId>,
    settings: &'a SessionSettings,
    config: &'a PlannerConfig,
}

impl Lowering<'_> {
    fn node(&mut self, plan: &PlanRef) -> Result<NodeId> {
        if let Some(id) = self.done.get(&Arc::as_ptr(plan)) {
            return Ok(*id);
        }
        let id = self.lower(plan).map_err(|error| match plan.span {
            Some(span) => error.at(span),
            None => error,
        })?;
        self.done.insert(Arc::as_ptr(plan), id);
        Ok(id)
    }

    fn lower(&mut self, plan: &PlanRef) -> Result<NodeId> {
        let schema = plan.schema.clone();
        match &plan.op {
            LogicalOp::Scan(scan) => self.scan(scan, schema, plan.span),
            LogicalOp::Values(rows) => self.values(rows, schema),
            LogicalOp::Project(_) | LogicalOp::Filter(_) => self.calc(plan),
            LogicalOp::Match(pattern) => self.match_recognize(plan, pattern),
            LogicalOp::Expand(rows) => {
                let input = any(self.node(plan.input())?);
                self.add(PhysicalOp::Expand(rows.clone()), vec![input], schema, plan.span)
            }
            LogicalOp::Aggregate(aggregate) => self.aggregate(plan, aggregate),
            LogicalOp::Window(window) => {
                let input = any(self.node(plan.input())?);
                let op = PhysicalOp::WindowAssign(window_of(window));
                self.add(op, vec![input], schema, plan.span)
            }
            LogicalOp::Over(over) => self.over(plan, over),
            LogicalOp::Rank(rank) => self.rank(plan, rank),
            LogicalOp::Join(join) => self.join(plan, join),
            LogicalOp::Correlate(correlate) => self.correlate(plan, correlate),
            LogicalOp::Union => {
                let inputs = plan
                    .inputs
                    .iter()
                    .map(|input| Ok(any(self.node(input)?)))
                    .collect::<Result<_>>()?;
                self.add(PhysicalOp::Union, inputs, schema, plan.span)
            }
            LogicalOp::Sort(sort) => self.sort(plan, sort),
            LogicalOp::ChangelogNormalize(key) => {
                let input = self.node(plan.input())?;
                self.normalize(input, key.clone(), plan.span)
            }
            LogicalOp::ChangelogFunction(function) => self.changelog_function(plan, function),
            LogicalOp::Sink(sink) => self.sink(plan, sink),
        }
    }

    fn scan(&mut self, scan: &Scan, schema: Arc<Schema>, span: Option<Span>) -> Result<NodeId> {
        if self.config.batch && scan.source.boundedness() == Boundedness::Unbounded {
            return Err(PlanError::new(format!(
                "Querying an unbounded table '{}' in batch mode is not allowed. The table source \
                 is unbounded.",
                scan.path
            ))
            .hint("SET 'execution.runtime-mode' = 'streaming', or bound the table's source"));
        }
        let mode = scan.source.changelog_mode();
        if self.config.batch && !mode.is_insert_only() {
            return Err(PlanError::new(format!(
                "Querying a table in batch mode is currently only possible for INSERT-only table \
                 sources. But the source for table '{}' produces other changelog messages than \
                 just INSERT.",
                scan.path
            ))
            .hint("SET 'execution.runtime-mode' = 'streaming'"));
        }
        let key: Option<Vec<usize>> = scan
            .table
            .primary_key
            .as_ref()
            .and_then(|key| key.columns.iter().map(|name| schema.index_of(name)).collect());
        // No row of a bounded input is late.
        let watermark = scan.watermark.clone().filter(|_| !self.config.batch);
        let source = PhysicalOp::Source(Scan { watermark, ..scan.clone() });
        let id = self.add(source, Vec::new(), schema, span)?;
        let partial = mode.contains(RowKind::UpdateAfter) && !mode.contains(RowKind::UpdateBefore);
        let repeated = self.config.cdc_events_duplicate && !mode.is_insert_only();
        match key {
            _ if !partial && !repeated => Ok(id),
            Some(key) => self.normalize(id, key, span),
            None if repeated => Err(PlanError::new(format!(
                "Configuration 'table.exec.source.cdc-events-duplicate' is enabled which requires \
                 the changelog sources to define a PRIMARY KEY. However, table '{}' doesn't have a \
                 primary key.",
                scan.path
            ))
            .hint("declare PRIMARY KEY (…) NOT ENFORCED on the table, or RESET the option")),
            None => Err(PlanError::new(format!(
                "Table '{}' gives updates without their old rows and has no PRIMARY KEY to find \
                 them by",
                scan.path
            ))
            .hint("declare PRIMARY KEY (…) NOT ENFORCED on the table")),
        }
    }

    fn normalize(&mut self, input: NodeId, key: Vec<usize>, span: Option<Span>) -> Result<NodeId> {
        let schema = self.plan.node(input).schema.clone();
        let distribution = Distribution::Hash(key.clone());
        let input = PhysicalInput { node: input, distribution };
        let op = PhysicalOp::ChangelogNormalize { key, emit_update_before: true };
        self.add(op, vec![input], schema, span)
    }

    fn values(&mut self, rows: &[Vec<Expr>], schema: Arc<Schema>) -> Result<NodeId> {
        let literal = |expr: &Expr| match expr {
            Expr::Literal { value, .. } => Some(value.clone()),
            _ => None,
        };
        let constants: Option<Vec<Vec<Value>>> =
            rows.iter().map(|row| row.iter().map(literal).collect()).collect();
        if let Some(rows) = constants {
            return self.add(PhysicalOp::Values(rows), Vec::new(), schema, None);
        }
        // Expressions that are no constants are computed row by row when the query runs.
        let mut inputs = Vec::new();
        for row in rows {
            let one = PhysicalOp::Values(vec![Vec::new()]);
            let empty = Arc::new(Schema::default());
            let input = self.add(one, Vec::new(), empty, None)?;
            let calc = Calc { condition: None, projection: row.clone() };
            let input = self.add(PhysicalOp::Calc(calc), vec![any(input)], schema.clone(), None)?;
            inputs.push(any(input));
        }
        if let [only] = inputs.as_slice() {
            return Ok(only.node);
        }
        self.add(PhysicalOp::Union, inputs, schema, None)
    }

    /// A run of projections and filters becomes one operator.
    fn calc(&mut self, plan: &PlanRef) -> Result<NodeId> {
        let (mut projection, mut conditions) = match &plan.op {
            LogicalOp::Project(exprs) => (exprs.clone(), Vec::new()),
            LogicalOp::Filter(condition) => (columns_of(&plan.schema), vec![condition.clone()]),
            _ => return self.node(plan),
        };
        let mut at = plan.input();
        loop {
            match &at.op {
                LogicalOp::Project(exprs) if may_inline(&projection, &conditions, exprs) => {
                    let inline = |expr: &Expr| crate::bind::inline(expr, exprs);
                    projection = projection.iter().map(inline).collect();
                    conditions = conditions.iter().map(inline).collect();
                    at = at.input();
                }
                LogicalOp::Filter(condition) => {
                    conditions.insert(0, condition.clone());
                    at = at.input();
                }
                _ => break,
            }
        }
        let input = self.node(at)?;
        let condition = (!conditions.is_empty()).then(|| Expr::conjunction(conditions));
        self.add_calc(input, condition, projection, plan.schema.clone(), plan.span)
    }

    fn add_calc(
        &mut self,
        input: NodeId,
        condition: Option<Expr>,
        projection: Vec<Expr>,
        schema: Arc<Schema>,
        span: Option<Span>,
    ) -> Result<NodeId> {
        let below = &self.plan.node(input).schema;
        if condition.is_none() && is_identity(&projection, below.len()) && *schema == **below {
            return Ok(input);
        }
        let calc = Calc { condition, projection };
        self.add(PhysicalOp::Calc(calc), vec![any(input)], schema, span)
    }

    /// The columns that these expressions become behind `input`: itself when all are columns,
    /// else a calc that gives just them.
    fn columns(&mut self, input: NodeId, exprs: &[Expr]) -> Result<(NodeId, Vec<usize>)> {
        let direct: Option<Vec<usize>> = exprs.iter().map(as_column).collect();
        if let Some(columns) = direct {
            return Ok((input, columns));
        }
        let below = self.plan.node(input).schema.clone();
        let mut projection: Vec<Expr> = Vec::new();
        let mut fields: Vec<Field> = Vec::new();
        let mut columns = Vec::new();
        for expr in exprs {
            let known = projection.iter().position(|known| known == expr);
            columns.push(known.unwrap_or_else(|| {
                fields.push(match expr {
                    Expr::Column { index, .. } => below.fields[*index].clone(),
                    _ => Field::new(format!("$f{}", projection.len()), expr.data_type()),
                });
                projection.push(expr.clone());
                projection.len() - 1
            }));
        }
        let schema = Arc::new(Schema::new(fields));
        // A calc below is taken in rather than put another one on top.
        if let PhysicalOp::Calc(calc) = &self.plan.node(input).op
            && may_inline(&projection, &[], &calc.projection)
        {
            let condition = calc.condition.clone();
            let inner: Vec<Expr> =
                projection.iter().map(|e| crate::bind::inline(e, &calc.projection)).collect();
            let (source, span) = (self.plan.node(input).inputs[0].node, self.plan.node(input).span);
            return Ok((self.add_calc(source, condition, inner, schema, span)?, columns));
        }
        Ok((self.add_calc(input, None, projection, schema, None)?, columns))
    }

    /// Adds an operator, or finds the one that does the same.
    fn add(
        &mut self,
        op: PhysicalOp,
        inputs: Vec<PhysicalInput>,
        schema: Arc<Schema>,
        span: Option<Span>,
    ) -> Result<NodeId> {
        let digest = self.config.reuse_sub_plan.then(|| digest::of(&op, &inputs)).flatten();
        if let Some(digest) = &digest
            && let Some(id) = self.digests.get(digest)
            && *self.plan.node(*id).schema == *schema
        {
            return Ok(*id);
        }
        let of = |input: &PhysicalInput| &self.plan.nodes[input.node];
        let modes: Vec<ChangelogMode> = inputs.iter().map(|input| of(input).changelog).collect();
        let bounded = match &op {
            PhysicalOp::Source(scan) => scan.source.boundedness() == Boundedness::Bounded,
            _ => inputs.iter().all(|input| self.bounded[input.node]),
        };
        let first_keys = inputs.first().map(|input| of(input).unique_keys.clone());
        let first_keys = first_keys.unwrap_or_default();
        let unique_keys = match &op {
            PhysicalOp::Source(scan) => scan
                .table
                .primary_key
                .iter()
                .filter_map(|key| key.columns.iter().map(|name| schema.index_of(name)).collect())
                .collect(),
            PhysicalOp::Calc(calc) => keys::project(&first_keys, &calc.projection),
            PhysicalOp::Match(_) => Vec::new(),
            PhysicalOp::GroupAggregate(aggregate) => keys::grouped(aggregate.keys.len()),
            PhysicalOp::LocalGroupAggregate(_) => Vec::new(),
            PhysicalOp::WindowAggregate(aggregate) => keys::windowed(&aggregate.outputs),
            PhysicalOp::Join(join) => keys::joined(join, of(&inputs[0]).schema.len()),
            PhysicalOp::Correlate(correlate) => keys::correlated(correlate, &first_keys),
            // Each left row meets one version at most.
            PhysicalOp::TemporalJoin(_) => first_keys,
            PhysicalOp::Deduplicate(deduplicate) => vec![deduplicate.key.clone()],
            PhysicalOp::Rank(rank) => keys::ranked(rank, &first_keys, of(&inputs[0]).schema.len()),
            PhysicalOp::WindowRank(rank) => {
                keys::window_ranked(rank, &first_keys, of(&inputs[0]).schema.len())
            }
            PhysicalOp::ChangelogNormalize { key, .. } => vec![key.clone()],
            PhysicalOp::SinkMaterialize(materialize) => vec![materialize.key.clone()],
            PhysicalOp::Limit { .. }
            | PhysicalOp::Sort(_)
            | PhysicalOp::TemporalSort(_)
            | PhysicalOp::Over(_)
            | PhysicalOp::DropUpdateBefore
            | PhysicalOp::Sink(_) => first_keys,
            PhysicalOp::ChangelogFunction(_) => Vec::new(),
            PhysicalOp::Values(_)
            | PhysicalOp::Expand(_)
            | PhysicalOp::WindowAssign(_)
            | PhysicalOp::IntervalJoin(_)
            | PhysicalOp::WindowJoin(_)
            | PhysicalOp::LookupJoin(_)
            | PhysicalOp::Union => Vec::new(),
        };
        let state = self.state_bound(&op, &inputs, bounded);
        let of_inputs: Vec<&[bool]> =
            inputs.iter().map(|input| self.domains[input.node].as_slice()).collect();
        let domains = domain::of(&op, &schema, &of_inputs)?;
        let changelog = changelog::produced(&op, &modes);
        let node = PhysicalNode {
            op,
            inputs,
            schema,
            changelog,
            unique_keys,
            state,
            mini_batch: None,
            span,
        };
        let id = self.plan.nodes.len();
        self.plan.nodes.push(node);
        self.bounded.push(bounded);
        self.domains.push(domains);
        if let Some(digest) = digest {
            self.digests.insert(digest, id);
        }
        Ok(id)
    }

    fn state_bound(&self, op: &PhysicalOp, inputs: &[PhysicalInput], bounded: bool) -> StateBound {
        let name = |columns: &[usize], input: usize| {
            let schema = &self.plan.nodes[inputs[input].node].schema;
            let names: Vec<&str> = columns.iter().map(|c| &*schema.fields[*c].name).collect();
            names.join(", ")
        };
        let of_domain = |columns: &[usize], input: usize| {
            columns.iter().all(|column| self.domains[inputs[input].node][*column])
        };
        match op {
            PhysicalOp::Source(_) | PhysicalOp::Limit { .. } => StateBound::Constant,
            PhysicalOp::Match(pattern) => {
                matching::state_bound(pattern, bounded, name(&pattern.partition, 0))
            }
            PhysicalOp::GroupAggregate(aggregate) => {
                // The columns of calls are those of the rows, before a first phase.
                let rows = match aggregate.phase {
                    AggregatePhase::Complete => inputs[0].node,
                    AggregatePhase::Global => self.plan.nodes[inputs[0].node].inputs[0].node,
                };
                let domain = &self.domains[rows];
                let calls = &aggregate.calls;
                let grows = domain::growing_call(calls, aggregate.input_retracts, domain);
                let keys = name(&aggregate.keys, 0);
                match (of_domain(&aggregate.keys, 0), grows) {
                    (true, None) if aggregate.keys.is_empty() => StateBound::Constant,
                    (true, None) => StateBound::Domain(keys),
                    (true, Some(call)) => StateBound::keyed(aggregate.state_ttl, bounded, || {
                        format!("the values that {} has seen", call.name)
                    }),
                    (false, _) => StateBound::keyed(aggregate.state_ttl, bounded, || {
                        format!("a group for each ({keys})")
                    }),
                }
            }
            PhysicalOp::WindowAggregate(_) => StateBound::Watermark,
            PhysicalOp::Join(join) => StateBound::joined(join.state_ttl, bounded),
            PhysicalOp::IntervalJoin(join) => match join.is_rowtime {
                true => StateBound::Watermark,
                false => StateBound::ProcessingTime,
            },
            PhysicalOp::WindowJoin(_) => StateBound::Watermark,
            PhysicalOp::TemporalJoin(join) => StateBound::keyed(join.state_ttl, bounded, || {
                format!("the latest version of each ({})", name(&join.right_keys, 1))
            }),
            PhysicalOp::ChangelogNormalize { key, .. } if of_domain(key, 0) => {
                StateBound::Domain(name(key, 0))
            }
            PhysicalOp::Over(over) => over::state_bound(over, bounded, name(&over.partition, 0)),
            PhysicalOp::ChangelogNormalize { key, .. } => {
                StateBound::keyed(self.config.state_ttl, bounded, || {
                    format!("the last row of each ({})", name(key, 0))
                })
            }
            PhysicalOp::SinkMaterialize(materialize) => {
                StateBound::keyed(self.config.state_ttl, bounded, || {
                    let what = if materialize.conflict == ConflictStrategy::Deduplicate {
                        "all rows of each"
                    } else {
                        "the row of each"
                    };
                    format!("{what} ({})", name(&materialize.key, 0))
                })
            }
            PhysicalOp::Sort(_) => StateBound::BoundedInput,
            PhysicalOp::Rank(rank) => rank.state_bound(bounded, &name(&rank.partition, 0)),
            PhysicalOp::Deduplicate(deduplicate) => {
                StateBound::keyed(deduplicate.state_ttl, bounded, || match deduplicate.keep {
                    Keep::First => format!("a mark for each ({})", name(&deduplicate.key, 0)),
                    Keep::Last => format!("the last row of each ({})", name(&deduplicate.key, 0)),
                })
            }
            PhysicalOp::WindowRank(_) => StateBound::Watermark,
            PhysicalOp::TemporalSort(sort) if sort.rowtime.is_some() => StateBound::Watermark,
            PhysicalOp::TemporalSort(_) => StateBound::Constant,
            _ => StateBound::Stateless,
        }
    }

    /// The value of a constant expression.
    fn constant(&self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Literal { value, .. } => Some(value.clone()),
            _ if expr.columns().is_empty() && expr.volatility() == Volatility::Immutable => {
                let evaluator = Evaluator::new(expr, self.settings).ok()?;
                evaluator.evaluate_constant(self.settings.query_start).ok()
            }
            _ => None,
        }
    }
}

/// An input whose rows stay where they are.
fn any(node: NodeId) -> PhysicalInput {
    PhysicalInput { node, distribution: Distribution::Any }
}

/// Rows that agree in these columns meet; all rows, when there are none.
fn by(node: NodeId, columns: &[usize]) -> PhysicalInput {
    let distribution = if columns.is_empty() {
        Distribution::Single
    } else {
        Distribution::Hash(columns.to_vec())
    };
    PhysicalInput { node, distribution }
}

fn window_of(window: &WindowAssignment) -> WindowOf {
    WindowOf {
        kind: window.kind,
        time_column: window.time_column,
        is_rowtime: window.is_rowtime,
        is_ltz: window.is_ltz,
        partition: window.partition.clone(),
    }
}

/// All columns of a schema, in order.
fn columns_of(schema: &Schema) -> Vec<Expr> {
    let fields = schema.fields.iter().enumerate();
    fields.map(|(i, field)| Expr::column(i, DataType::clone(&field.data_type))).collect()
}

fn as_column(expr: &Expr) -> Option<usize> {
    if let Expr::Column { index, .. } = expr { Some(*index) } else { None }
}

fn column(expr: &Expr) -> Result<usize> {
    as_column(expr).ok_or_else(|| PlanError::new(format!("internal error: {expr} is no column")))
}

fn is_identity(projection: &[Expr], width: usize) -> bool {
    projection.len() == width
        && projection.iter().enumerate().all(|(i, expr)| as_column(expr) == Some(i))
}

/// Whether expressions over a projection may be computed from its input directly: nothing is
/// computed twice, and what differs from call to call is called as often as before.
fn may_inline(projection: &[Expr], conditions: &[Expr], below: &[Expr]) -> bool {
    let mut uses = vec![0usize; below.len()];
    for expr in projection.iter().chain(conditions) {
        expr.visit(&mut |node| {
            if let Expr::Column { index, .. } = node {
                uses[*index] += 1;
            }
        });
    }
    below.iter().zip(uses).all(|(expr, uses)| match expr {
        Expr::Column { .. } | Expr::Literal { .. } => true,
        _ => uses <= 1 && (uses == 0 || expr.volatility() != Volatility::Volatile),
    })
}

/// The plan without nodes that no sink reads.
fn reachable(plan: PhysicalPlan) -> PhysicalPlan {
    let mut used = vec![false; plan.nodes.len()];
    for sink in &plan.sinks {
        used[*sink] = true;
    }
    for id in (0..plan.nodes.len()).rev() {
        if used[id] {
            for input in &plan.nodes[id].inputs {
                used[input.node] = true;
            }
        }
    }
    let mut moved = vec![0; plan.nodes.len()];
    let mut nodes = Vec::new();
    for (id, mut node) in plan.nodes.into_iter().enumerate() {
        if used[id] {
            moved[id] = nodes.len();
            node.inputs.iter_mut().for_each(|input| input.node = moved[input.node]);
            nodes.push(node);
        }
    }
    PhysicalPlan { nodes, sinks: plan.sinks.iter().map(|sink| moved[*sink]).collect() }
}
