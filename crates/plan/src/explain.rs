//! Plans as text: the tree in Flink's form, and behind each operator what is known of it.

mod aggregate;
mod cost;
mod joins;
mod json;
mod matching;
mod over;
mod rank;

use std::fmt::Write;

use flott_catalog::connector::ScanColumn;
use flott_functions::Expr;
use flott_types::Schema;

use crate::config::MiniBatch;
use crate::logical::{ChangelogFunction, SinkTarget, WindowKind};
use crate::physical::{
    ColumnAggregate, Distribution, EmitStrategy, NodeId, PhysicalInput, PhysicalOp, PhysicalPlan,
    WindowOf, WindowOutput, WindowSource,
};
use crate::traits::state::StateBound;

/// What EXPLAIN shows besides the tree, whose changelog modes and advice are always there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Details {
    /// `ESTIMATED_COST`
    pub cost: bool,
    /// `PLAN_ADVICE`: says so too when there is nothing to advise.
    pub advice: bool,
    /// `JSON_EXECUTION_PLAN`, with this parallelism.
    pub json: Option<usize>,
}

/// A plan as a tree of its operators with their traits.
pub fn explain(plan: &PhysicalPlan) -> String {
    explain_with(plan, Details::default())
}

/// A plan as a tree with details.
pub fn explain_with(plan: &PhysicalPlan, details: Details) -> String {
    let costs = if details.cost { cost::estimate(plan) } else { Vec::new() };
    let mut out = String::from("== Optimized Physical Plan ==\n");
    let mut readers = vec![0; plan.nodes.len()];
    for node in &plan.nodes {
        node.inputs.iter().for_each(|input| readers[input.node] += 1);
    }
    let mut printer =
        Printer { plan, readers, costs, shown: vec![false; plan.nodes.len()], out: &mut out };
    for sink in &plan.sinks {
        printer.node(*sink, 0);
        printer.out.push('\n');
    }
    if !advice(plan, &mut out) && details.advice {
        out.push_str("No available advice...\n");
    }
    if let Some(parallelism) = details.json {
        out.push_str("\n== Physical Execution Plan ==\n");
        out.push_str(&json::execution_plan(plan, parallelism));
        out.push('\n');
    }
    out
}

struct Printer<'a> {
    plan: &'a PhysicalPlan,
    readers: Vec<usize>,
    costs: Vec<cost::Cost>,
    shown: Vec<bool>,
    out: &'a mut String,
}

impl Printer<'_> {
    fn node(&mut self, id: NodeId, depth: usize) {
        let node = self.plan.node(id);
        self.indent(depth);
        self.out.push_str(&describe(self.plan, id));
        let shared = self.readers[id] > 1;
        if shared {
            let _ = write!(self.out, "(reuse_id=[{id}])");
        }
        if shared && self.shown[id] {
            self.out.push('\n');
            return;
        }
        self.shown[id] = true;
        let _ = write!(self.out, ", changelogMode=[{}]", mode(node.changelog));
        if !node.unique_keys.is_empty() {
            let keys: Vec<String> =
                node.unique_keys.iter().map(|key| names(&node.schema, key)).collect();
            let _ = write!(self.out, ", upsertKeys=[{}]", keys.join("; "));
        }
        if node.state != StateBound::Stateless {
            let _ = write!(self.out, ", state=[{}]", node.state);
        }
        if let Some(MiniBatch { size, latency }) = node.mini_batch {
            let _ = write!(self.out, ", miniBatch=[{size} rows, {latency} ms]");
        }
        if let Some(cost) = self.costs.get(id) {
            let rows = cost::number(cost.rows);
            let cumulative = cost::number(cost.cumulative);
            let _ = write!(self.out, ", rowcount=[{rows}], cumulativeRows=[{cumulative}]");
        }
        if let Some(refused) = rank::not_in_flink(&node.op) {
            let _ = write!(self.out, ", notInFlink=[{refused}]");
        }
        self.out.push('\n');
        for input in &node.inputs {
            let depth = self.exchange(input, depth + 1);
            self.node(input.node, depth);
        }
    }

    fn exchange(&mut self, input: &PhysicalInput, depth: usize) -> usize {
        let text = match &input.distribution {
            Distribution::Any => return depth,
            Distribution::Single => "single".to_string(),
            Distribution::Hash(columns) => {
                format!("hash[{}]", names(&self.plan.node(input.node).schema, columns))
            }
        };
        self.indent(depth);
        let _ = writeln!(self.out, "Exchange(distribution=[{text}])");
        depth + 1
    }

    fn indent(&mut self, depth: usize) {
        if depth > 0 {
            let _ = write!(self.out, "{}+- ", "   ".repeat(depth - 1));
        }
    }
}

fn mode(mode: flott_types::ChangelogMode) -> String {
    mode.to_string().trim_matches(['[', ']']).to_string()
}

/// Names the operators whose state nothing bounds, and the cure; tells whether there are any.
fn advice(plan: &PhysicalPlan, out: &mut String) -> bool {
    let mut lines = Vec::new();
    for id in 0..plan.nodes.len() {
        if let StateBound::Unbounded { reason, cure } = &plan.node(id).state {
            let what = describe(plan, id);
            lines.push(format!("{what} keeps {reason}, which nothing bounds: {cure}"));
        }
        if pairs_everything(plan, id) {
            lines.push(format!(
                "{} compares every row with every row of the other side, in one task: an equality \
                 between columns of both sides would find them by key",
                describe(plan, id)
            ));
        }
    }
    if lines.is_empty() {
        return false;
    }
    let _ = writeln!(out, "== Advice ==\n{}", lines.join("\n"));
    true
}

/// Whether a node is a join without keys of two sides that may have many rows each.
fn pairs_everything(plan: &PhysicalPlan, id: NodeId) -> bool {
    let node = plan.node(id);
    let has_many = |input: &PhysicalInput| {
        let below = plan.node(input.node);
        !below.unique_keys.iter().any(Vec::is_empty) && !matches!(below.op, PhysicalOp::Values(_))
    };
    matches!(&node.op, PhysicalOp::Join(join) if join.left_keys.is_empty())
        && node.inputs.iter().all(has_many)
}

/// An operator by what decides its state: [`describe`] without what only says how it runs.
pub fn describe_state(plan: &PhysicalPlan, id: NodeId) -> String {
    let node = plan.node(id);
    match &node.op {
        PhysicalOp::GroupAggregate(group) => aggregate::state(plan, node, group),
        _ => describe(plan, id),
    }
}

/// An operator as one line, in Flink's form.
pub fn describe(plan: &PhysicalPlan, id: NodeId) -> String {
    let node = plan.node(id);
    let input_schema = |i: usize| &plan.node(node.inputs[i].node).schema;
    let fields = || node.schema.fields.iter().map(|f| f.name.to_string()).collect::<Vec<_>>();
    let around =
        || joins::Around { left: input_schema(0), right: input_schema(1), output: &node.schema };
    match &node.op {
        PhysicalOp::Source(scan) => {
            let columns: Vec<String> =
                node.schema.fields.iter().map(|f| f.name.to_string()).collect();
            let metadata: Vec<&str> = scan
                .columns
                .iter()
                .filter_map(|column| match column {
                    ScanColumn::Metadata(key) => Some(key.as_str()),
                    ScanColumn::Physical(_) => None,
                })
                .collect();
            let mut text = format!("TableSourceScan(table=[{}]", scan.path);
            if !metadata.is_empty() {
                let _ = write!(text, ", metadata=[{}]", metadata.join(", "));
            }
            let filters = scan.filters.iter().map(ToString::to_string);
            let filters: Vec<String> =
                filters.chain(scan.predicates.iter().map(ToString::to_string)).collect();
            if !filters.is_empty() {
                let _ = write!(text, ", filter=[{}]", filters.join(" AND "));
            }
            if let Some(limit) = scan.limit {
                let _ = write!(text, ", limit=[{limit}]");
            }
            let _ = write!(text, ", fields=[{}]", columns.join(", "));
            if let Some(watermark) = &scan.watermark {
                let _ = write!(text, ", watermark=[{}]", watermark.display(&columns));
            }
            text + ")"
        }
        PhysicalOp::Values(rows) => format!("Values(rows=[{}])", rows.len()),
        PhysicalOp::Match(pattern) => matching::text(pattern, input_schema(0), &fields()),
        PhysicalOp::Calc(calc) => {
            let below = column_names(input_schema(0));
            let select = select(&calc.projection, &fields(), &below);
            match &calc.condition {
                None => format!("Calc(select=[{select}])"),
                Some(condition) => {
                    format!("Calc(select=[{select}], where=[{}])", condition.display(&below))
                }
            }
        }
        PhysicalOp::Expand(rows) => format!("Expand(sets=[{}])", rows.len()),
        PhysicalOp::GroupAggregate(group) => aggregate::group(plan, node, group),
        PhysicalOp::LocalGroupAggregate(local) => aggregate::local(plan, node, local),
        PhysicalOp::WindowAggregate(aggregate) => {
            let below = input_schema(0);
            let window = match &aggregate.window {
                WindowSource::Assign(window) => window_text(window, below),
                WindowSource::Attached { start, end, .. } => format!(
                    "win_start=[{}], win_end=[{}]",
                    below.fields[*start].name, below.fields[*end].name
                ),
            };
            let mut select: Vec<String> = aggregate
                .outputs
                .iter()
                .map(|output| match output {
                    WindowOutput::Key(key) => below.fields[aggregate.keys[*key]].name.to_string(),
                    WindowOutput::Start => "start('w$) AS window_start".to_string(),
                    WindowOutput::End => "end('w$) AS window_end".to_string(),
                    WindowOutput::Time => "rowtime('w$) AS window_time".to_string(),
                })
                .collect();
            select.extend(calls(&aggregate.calls, below, &fields()));
            let keys = names(below, &aggregate.keys);
            let group_by =
                if keys.is_empty() { String::new() } else { format!("groupBy=[{keys}], ") };
            let select = select.join(", ");
            match &aggregate.group_window {
                None => format!("WindowAggregate({group_by}window=[{window}], select=[{select}])"),
                Some(group_window) => format!(
                    "GroupWindowAggregate({group_by}window=[{window}], select=[{select}]{})",
                    emit(group_window.emit)
                ),
            }
        }
        PhysicalOp::WindowAssign(window) => {
            format!("WindowTableFunction(window=[{}])", window_text(window, input_schema(0)))
        }
        PhysicalOp::Join(join) => joins::regular(join, &around()),
        PhysicalOp::IntervalJoin(join) => joins::interval(join, &around()),
        PhysicalOp::WindowJoin(join) => joins::window(join, &around()),
        PhysicalOp::TemporalJoin(join) => joins::temporal(join, &around()),
        PhysicalOp::LookupJoin(join) => joins::lookup(join, input_schema(0), &node.schema),
        PhysicalOp::Correlate(correlate) => {
            let below = column_names(input_schema(0));
            let args: Vec<String> =
                correlate.args.iter().map(|arg| arg.display(&below).to_string()).collect();
            let ordinality = if correlate.symbols.is_empty() { "" } else { " WITH ORDINALITY" };
            let mut text = format!(
                "Correlate(invocation=[{}({}){ordinality}], joinType=[{}]",
                correlate.function.name.trim_start_matches('$'),
                args.join(", "),
                correlate.kind.name()
            );
            if let Some(condition) = &correlate.condition {
                let resolved = (correlate.function.resolve)(&correlate.call_args());
                let names = resolved.map(|resolved| resolved.columns).unwrap_or_default();
                let names: Vec<String> = names.iter().map(|c| c.name.to_string()).collect();
                let _ = write!(text, ", condition=[{}]", condition.display(&names));
            }
            let _ = write!(text, ", select=[{}])", fields().join(", "));
            text
        }
        PhysicalOp::Over(over) => over::describe(over, input_schema(0), &fields()),
        PhysicalOp::Union => format!("Union(all=[true], union=[{}])", fields().join(", ")),
        PhysicalOp::Limit { offset, fetch } => format!("Limit(offset=[{offset}], fetch=[{fetch}])"),
        PhysicalOp::Sort(sort) => rank::sort(sort, input_schema(0)),
        PhysicalOp::Rank(rank) => rank::rank(rank, input_schema(0), &node.schema),
        PhysicalOp::Deduplicate(deduplicate) => {
            rank::deduplicate(deduplicate, input_schema(0), node.changelog)
        }
        PhysicalOp::WindowRank(rank) => rank::window_rank(rank, input_schema(0), &node.schema),
        PhysicalOp::TemporalSort(sort) => rank::temporal_sort(sort, input_schema(0)),
        PhysicalOp::ChangelogNormalize { key, .. } => {
            format!("ChangelogNormalize(key=[{}])", names(input_schema(0), key))
        }
        PhysicalOp::SinkMaterialize(materialize) => {
            let below = input_schema(0);
            let upsert_key = match materialize.upsert_key.as_slice() {
                [] => "none".to_string(),
                key => names(below, key),
            };
            format!(
                "SinkUpsertMaterializer(primaryKey=[{}], upsertKey=[{upsert_key}], \
                 conflictStrategy=[{}])",
                names(below, &materialize.key),
                materialize.strategy()
            )
        }
        PhysicalOp::ChangelogFunction(function) => {
            let name = match function {
                ChangelogFunction::From { .. } => "FROM_CHANGELOG",
                ChangelogFunction::To { .. } => "TO_CHANGELOG",
            };
            format!("ProcessTableFunction(invocation=[{name}], select=[{}])", fields().join(","))
        }
        PhysicalOp::DropUpdateBefore => "DropUpdateBefore".to_string(),
        PhysicalOp::Sink(sink) => match sink.sink.target {
            SinkTarget::Collect => format!("Sink(collect, fields=[{}])", fields().join(", ")),
            SinkTarget::Table(_) => {
                format!("Sink(table=[{}], fields=[{}])", sink.sink.path, fields().join(", "))
            }
        },
    }
}

/// `, emit=[early delay 5000 millisecond, late no delay]`
fn emit(strategy: Option<EmitStrategy>) -> String {
    let Some(strategy) = strategy else { return String::new() };
    let part = |word: &str, delay: Option<u64>| match delay? {
        0 => Some(format!("{word} no delay")),
        millis => Some(format!("{word} delay {millis} millisecond")),
    };
    let parts = [part("early", strategy.early), part("late", strategy.late)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!(", emit=[{}]", parts.join(", "))
}

fn column_names(schema: &Schema) -> Vec<String> {
    schema.fields.iter().map(|field| field.name.to_string()).collect()
}

fn names(schema: &Schema, columns: &[usize]) -> String {
    columns.iter().map(|column| &*schema.fields[*column].name).collect::<Vec<_>>().join(", ")
}

fn select(projection: &[Expr], names: &[String], below: &[String]) -> String {
    let item = |(expr, name): (&Expr, &String)| {
        let text = expr.display(below).to_string();
        if text == *name { text } else { format!("{text} AS {name}") }
    };
    projection.iter().zip(names).map(item).collect::<Vec<_>>().join(", ")
}

fn calls<'a>(
    calls: &'a [ColumnAggregate],
    below: &'a Schema,
    fields: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    let outputs = &fields[fields.len() - calls.len()..];
    calls
        .iter()
        .zip(outputs)
        .map(move |(call, name)| format!("{} AS {name}", call_text(call, below)))
}

/// `SUM(DISTINCT a) FILTER b`
fn call_text(call: &ColumnAggregate, below: &Schema) -> String {
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let args = if call.args.is_empty() && call.function.name == "COUNT" {
        "*".to_string()
    } else {
        names(below, &call.args)
    };
    let filter = match call.filter {
        None => String::new(),
        Some(column) => format!(" FILTER {}", below.fields[column].name),
    };
    format!("{}({distinct}{args}){filter}", call.function.name)
}

fn window_text(window: &WindowOf, below: &Schema) -> String {
    let time = &below.fields[window.time_column].name;
    let seconds = |millis: i64| match millis {
        m if m % 86_400_000 == 0 => format!("{} d", m / 86_400_000),
        m if m % 3_600_000 == 0 => format!("{} h", m / 3_600_000),
        m if m % 60_000 == 0 => format!("{} min", m / 60_000),
        m if m % 1_000 == 0 => format!("{} s", m / 1_000),
        m => format!("{m} ms"),
    };
    let (name, arguments, offset) = match window.kind {
        WindowKind::Tumble { size, offset } => {
            ("TUMBLE", format!("size=[{}]", seconds(size)), offset)
        }
        WindowKind::Hop { slide, size, offset } => {
            ("HOP", format!("size=[{}], slide=[{}]", seconds(size), seconds(slide)), offset)
        }
        WindowKind::Cumulate { step, size, offset } => {
            ("CUMULATE", format!("max_size=[{}], step=[{}]", seconds(size), seconds(step)), offset)
        }
        WindowKind::Session { gap } => ("SESSION", format!("gap=[{}]", seconds(gap)), 0),
    };
    let offset =
        if offset == 0 { String::new() } else { format!(", offset=[{}]", seconds(offset)) };
    format!("{name}(time_col=[{time}], {arguments}{offset})")
}
