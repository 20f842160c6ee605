//! OVER: functions over windows of rows.
//!
//! While a SELECT is bound, a call over a window stands for a column far behind all others; afterwards
//! [`OverCalls::plan`] puts a node for each window on the plan, and the columns get their places.

use flott_functions::aggregate::{AggregateFunction, in_windows_of_rows};
use flott_functions::{Expr, aggregate_function, coercion};
use flott_sql::ast::{self, FunctionCall, NamedWindow, Span, WindowSpec};
use flott_types::{DataType, Family, Field, Schema, TimeAttribute, TypeRoot, Value};

use super::Binder;
use super::aggregate::AggregateSyntax;
use super::call::call_exprs;
use super::expr::Context;
use super::outer::is_placeholder;
use super::query::sort_key;
use crate::logical::{
    Frame, FrameBound, FrameUnit, LogicalOp, LogicalPlan, OffsetFunction, Over, OverCall,
    OverFunction, PlanRef, RankingFunction, SortKey,
};
use crate::{PlanError, Result};

/// Where OVER calls are counted from, far behind any column.
const OVER_BASE: usize = 1 << 25;

/// Whether a column stands for an OVER call.
pub fn is_over_column(index: usize) -> bool {
    index >= OVER_BASE && !is_placeholder(index)
}

/// Collects the OVER calls of a SELECT while its expressions are bound.
pub struct OverContext {
    /// The windows of the WINDOW clause.
    named: Vec<NamedWindow>,
    /// One node for each distinct window, without its input, and the place that caused it.
    windows: Vec<(Over, Span)>,
    /// For each call its window and its place among the window's calls.
    calls: Vec<(usize, usize)>,
}

impl OverContext {
    /// A context with the windows of the WINDOW clause.
    pub fn new(named: &[NamedWindow]) -> Result<Self> {
        for (i, window) in named.iter().enumerate() {
            if named[..i].iter().any(|other| other.name.value == window.name.value) {
                return Err(PlanError::new("Duplicate window names not allowed")
                    .at(window.name.span)
                    .hint("give each window of WINDOW a name of its own"));
            }
        }
        Ok(Self { named: named.to_vec(), windows: Vec::new(), calls: Vec::new() })
    }

    /// The calls found, to be planned.
    pub fn finish(self) -> OverCalls {
        OverCalls { windows: self.windows, calls: self.calls }
    }

    /// The column that stands for a call.
    fn add(&mut self, window: Over, call: OverCall, span: Span) -> Expr {
        let found = self.windows.iter().position(|(known, _)| same_window(known, &window));
        let at = found.unwrap_or_else(|| {
            self.windows.push((window, span));
            self.windows.len() - 1
        });
        let data_type = call.data_type.clone();
        let calls = &mut self.windows[at].0.calls;
        let place = calls.iter().position(|known| known.is_same(&call)).unwrap_or_else(|| {
            calls.push(call);
            calls.len() - 1
        });
        let known = self.calls.iter().position(|known| *known == (at, place));
        let index = known.unwrap_or_else(|| {
            self.calls.push((at, place));
            self.calls.len() - 1
        });
        Expr::column(OVER_BASE + index, data_type)
    }

    /// A window without references to others.
    fn resolve(&self, window: &ast::Window) -> Result<WindowSpec> {
        match window {
            ast::Window::Spec(spec) => self.overlay(spec, 0),
            ast::Window::Named(name) => self.named(name, 0),
        }
    }

    fn named(&self, name: &ast::Ident, depth: usize) -> Result<WindowSpec> {
        let found = self.named.iter().find(|window| window.name.value == name.value);
        // A window that refers to itself is never found.
        match found.filter(|_| depth <= self.named.len()) {
            Some(window) => self.overlay(&window.spec, depth + 1),
            None => Err(PlanError::new(format!("Window '{}' not found", name.value))
                .at(name.span)
                .hint("declare it behind the query: WINDOW w AS (…); names are case-sensitive")),
        }
    }

    /// What a window adds to the one that it names.
    fn overlay(&self, spec: &WindowSpec, depth: usize) -> Result<WindowSpec> {
        let Some(name) = &spec.base else { return Ok(spec.clone()) };
        let base = self.named(name, depth)?;
        let refuse = |message: &str| Err(PlanError::new(message).at(spec.span));
        if !spec.partition_by.is_empty() {
            return refuse("PARTITION BY not allowed with existing window reference");
        }
        if !spec.order_by.is_empty() && !base.order_by.is_empty() {
            return refuse("ORDER BY not allowed in both base and referenced windows");
        }
        if base.frame.is_some() {
            return refuse("Referenced window cannot have framing declarations");
        }
        let order_by = if spec.order_by.is_empty() { base.order_by } else { spec.order_by.clone() };
        Ok(WindowSpec { base: None, order_by, partition_by: base.partition_by, ..spec.clone() })
    }
}

/// The OVER calls of a SELECT, all its expressions bound.
pub struct OverCalls {
    windows: Vec<(Over, Span)>,
    calls: Vec<(usize, usize)>,
}

impl OverCalls {
    /// Rewrites what the windows read, after the input was grouped.
    pub fn rewrite(&mut self, rewrite: impl Fn(&Expr, Span) -> Result<Expr>) -> Result<()> {
        for (window, span) in &mut self.windows {
            for expr in window.exprs_mut() {
                *expr = rewrite(expr, *span)?;
            }
        }
        Ok(())
    }

    /// Everything that the windows read.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.windows.iter_mut().flat_map(|(window, _)| window.exprs_mut())
    }

    /// Puts the windows on a plan. Columns that stood for calls are then to be moved by
    /// [`PlacedCalls::place`].
    ///
    /// Flink's streaming plans compute one window a SELECT and refuse more.
    pub fn plan(self, input: PlanRef, batch: bool) -> Result<(PlanRef, PlacedCalls)> {
        if let Some((_, span)) = self.windows.get(1)
            && !batch
        {
            return Err(PlanError::new(
                "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on \
                 the same window. please re-check the over window statement.",
            )
            .at(*span)
            .hint("compute each window in a query of its own, one in the FROM of the other"));
        }
        let mut plan = input;
        let mut starts = Vec::new();
        for (number, (window, span)) in self.windows.into_iter().enumerate() {
            starts.push(plan.schema.len());
            let mut fields = plan.schema.fields.clone();
            let schema = plan.schema.clone();
            fields.extend(window.calls.iter().enumerate().map(|(i, call)| {
                let name = format!("w{number}$o{i}");
                let time = time_of(call, &schema).filter(|_| !batch);
                Field::new(name, call.data_type.clone()).with_time(time)
            }));
            let schema = Schema::new(fields);
            plan = LogicalPlan::spanned(LogicalOp::Over(window), vec![plan], schema, span);
        }
        let places = self.calls.iter().map(|(window, call)| starts[*window] + call).collect();
        Ok((plan, PlacedCalls { places }))
    }
}

/// Where the results of OVER calls stand.
pub struct PlacedCalls {
    places: Vec<usize>,
}

impl PlacedCalls {
    /// The expression with calls in their places.
    pub fn place(&self, expr: Expr) -> Expr {
        expr.map_columns(&|column| match column.checked_sub(OVER_BASE) {
            Some(call) => self.places.get(call).copied().unwrap_or(column),
            None => column,
        })
    }
}

/// Whether a result still is event time: Flink lets functions hand it on that give one of their
/// argument's values.
fn time_of(call: &OverCall, schema: &Schema) -> Option<TimeAttribute> {
    let value = match &call.function {
        OverFunction::Offset(function) => &function.value,
        OverFunction::Aggregate(aggregate) => match aggregate.function.name {
            "MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE" => aggregate.args.first()?,
            _ => return None,
        },
        OverFunction::Ranking(_) => return None,
    };
    let time = super::select::time_of(value, schema);
    time.filter(|time| *time == TimeAttribute::Rowtime)
}

/// Whether the rows of a frame are the same; the order of PARTITION BY does not matter.
fn same_window(a: &Over, b: &Over) -> bool {
    let covers = |a: &[Expr], b: &[Expr]| a.iter().all(|expr| b.contains(expr));
    a.frame == b.frame
        && a.order == b.order
        && covers(&a.partition, &b.partition)
        && covers(&b.partition, &a.partition)
}

/// What can stand before OVER.
enum Callee {
    Ranking(&'static str),
    Offset { is_lead: bool },
    Aggregate(&'static AggregateFunction),
}

impl Callee {
    fn of(name: &str) -> Option<Self> {
        const RANKINGS: [&str; 6] =
            ["ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST"];
        if let Some(ranking) = RANKINGS.iter().find(|known| **known == name) {
            return Some(Self::Ranking(ranking));
        }
        match name {
            "LAG" => Some(Self::Offset { is_lead: false }),
            "LEAD" => Some(Self::Offset { is_lead: true }),
            _ => aggregate_function(name).map(in_windows_of_rows).map(Self::Aggregate),
        }
    }
}

/// Whether a function has a meaning only over a window.
pub fn needs_over(name: &str) -> bool {
    matches!(Callee::of(name), Some(Callee::Ranking(_) | Callee::Offset { .. }))
}

impl Binder<'_> {
    /// Binds a call over a window to the column that stands for it.
    pub fn bind_over(
        &mut self,
        name: &str,
        call: &FunctionCall,
        window: &ast::Window,
        context: &mut Context,
    ) -> Result<Expr> {
        let Some(overs) = context.overs.as_deref() else {
            return Err(PlanError::new("Windowed aggregate expression is illegal here").at(call.span)
                .hint(
                    "OVER stands in SELECT, QUALIFY and ORDER BY and does not nest; compute it in a \
                     sub-query to filter or group by it",
                ));
        };
        let callee = Callee::of(name).filter(|_| call.filter.is_none()).ok_or_else(|| {
            let error = PlanError::new("OVER must be applied to aggregate function").at(call.span);
            match call.filter {
                Some(_) => {
                    error.hint("in place of FILTER write SUM(CASE WHEN … THEN x END) OVER …")
                }
                None => error,
            }
        })?;
        let spec = overs.resolve(window)?;
        let mut inner = Context {
            scope: context.scope,
            aggregates: context.aggregates.as_deref_mut(),
            overs: None,
            aliases: context.aliases,
            window: context.window,
            matching: None,
        };
        let mut order = Vec::new();
        for item in &spec.order_by {
            order.push(sort_key(self.bind_expr(&item.expr, &mut inner)?, item));
        }
        let mut partition = Vec::new();
        for key in &spec.partition_by {
            partition.push(self.bind_expr(key, &mut inner)?);
        }
        let frame = self.bind_frame(&callee, &spec, &order, call)?;
        let function = match callee {
            Callee::Ranking(ranking) => self.ranking(ranking, call, &mut inner)?,
            Callee::Offset { is_lead } => self.offset(is_lead, name, call, &mut inner)?,
            Callee::Aggregate(function) => {
                if call.null_treatment.is_some() {
                    return Err(PlanError::new(format!(
                        "Cannot specify IGNORE NULLS or RESPECT NULLS following '{name}'"
                    ))
                    .at(call.span));
                }
                let syntax = AggregateSyntax::of(call)?;
                let call = self.aggregate_call(function, syntax, false, &mut inner)?;
                if function.name == "COUNT" && call.args.len() > 1 {
                    return Err(PlanError::new("We now only support the count of one field.")
                        .hint("COUNT(ROW(a, b)) OVER … counts rows of several"));
                }
                OverCall {
                    data_type: call.data_type.clone(),
                    function: OverFunction::Aggregate(call),
                }
            }
        };
        let mut window = Over { partition, order, frame, calls: vec![function] };
        if window.exprs().flat_map(Expr::columns).any(is_over_column) {
            return Err(PlanError::new("Aggregate expressions cannot be nested")
                .at(call.span)
                .hint("compute the inner one in a sub-query"));
        }
        let Some(function) = window.calls.pop() else {
            return Err(PlanError::new("a window without a call").at(call.span));
        };
        match &mut context.overs {
            Some(overs) => Ok(overs.add(window, function, call.span)),
            None => Err(PlanError::new("OVER is not allowed here").at(call.span)),
        }
    }

    fn ranking(
        &mut self,
        name: &str,
        call: &FunctionCall,
        context: &mut Context,
    ) -> Result<OverCall> {
        if call.quantifier.is_some()
            || call.null_treatment.is_some()
            || !call.within_group.is_empty()
        {
            return Err(not_plain(name, call));
        }
        let args = call_exprs(call)?;
        let wanted = usize::from(name == "NTILE");
        if args.len() != wanted || call.args.len() != wanted {
            return Err(PlanError::new(format!(
                "Invalid number of arguments to function '{name}'. Was expecting {wanted} arguments"
            ))
            .at(call.span));
        }
        let bigint = DataType::bigint().not_null();
        let double = DataType::double().not_null();
        let (function, data_type) = match name {
            "ROW_NUMBER" => (RankingFunction::RowNumber, bigint),
            "RANK" => (RankingFunction::Rank, bigint),
            "DENSE_RANK" => (RankingFunction::DenseRank, bigint),
            "PERCENT_RANK" => (RankingFunction::PercentRank, double),
            "CUME_DIST" => (RankingFunction::CumeDist, double),
            _ => {
                if !matches!(args[0].kind, ast::ExprKind::Literal(_)) {
                    return Err(PlanError::new("Argument to function 'NTILE' must be a literal")
                        .at(args[0].span));
                }
                let buckets = self.bind_expr(args[0], context)?;
                (RankingFunction::Ntile(whole_number(buckets, args[0].span, false)?), bigint)
            }
        };
        Ok(OverCall { function: OverFunction::Ranking(function), data_type })
    }

    /// LAG and LEAD. The result may be NULL unless there is a default that cannot.
    fn offset(
        &mut self,
        is_lead: bool,
        name: &str,
        call: &FunctionCall,
        context: &mut Context,
    ) -> Result<OverCall> {
        if call.quantifier.is_some() || !call.within_group.is_empty() {
            return Err(not_plain(name, call));
        }
        let args = call_exprs(call)?;
        let (value, offset, default) = match args.as_slice() {
            [value] => (value, None, None),
            [value, offset] => (value, Some(offset), None),
            [value, offset, default] => (value, Some(offset), Some(default)),
            _ => {
                return Err(PlanError::new(format!(
                    "Invalid number of arguments to function '{name}'. Was expecting 1, 2 or 3 \
                     arguments"
                ))
                .at(call.span)
                .hint(format!("write {name}(value [, offset [, default]])")));
            }
        };
        let value = self.bind_expr(value, context)?;
        let data_type = value.data_type();
        let batch = self.config.batch;
        let offset = offset
            .map(|offset| whole_number(self.bind_expr(offset, context)?, offset.span, batch))
            .transpose()?;
        let default = default
            .map(|default| {
                let bound = self.bind_expr(default, context)?;
                default_value(bound, &data_type, batch).map_err(|error| error.at(default.span))
            })
            .transpose()?;
        let nullable = default.as_ref().is_none_or(|default| default.data_type().nullable);
        let function = OffsetFunction { is_lead, value, offset, default };
        let data_type = data_type.with_nullable(nullable);
        Ok(OverCall { function: OverFunction::Offset(Box::new(function)), data_type })
    }

    /// The frame of a call: by default all rows up to the current one, and without an order all rows.
    fn bind_frame(
        &mut self,
        callee: &Callee,
        spec: &WindowSpec,
        order: &[SortKey],
        call: &FunctionCall,
    ) -> Result<Frame> {
        if !matches!(callee, Callee::Aggregate(_)) {
            if let Some(frame) = &spec.frame {
                return Err(PlanError::new(
                    "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions",
                )
                .at(frame.span)
                .hint("the function looks at all rows of its partition: leave the frame out"));
            }
            let unit = match callee {
                Callee::Ranking("ROW_NUMBER") => FrameUnit::Rows,
                _ => FrameUnit::Range,
            };
            if let Callee::Ranking(name @ ("RANK" | "DENSE_RANK" | "PERCENT_RANK" | "CUME_DIST")) =
                callee
                && order.is_empty()
            {
                return Err(PlanError::new(format!(
                    "RANK or DENSE_RANK functions require ORDER BY clause in window specification: \
                     {name}"
                ))
                .at(call.span));
            }
            return Ok(Frame::running(unit));
        }
        let Some(frame) = &spec.frame else {
            return Ok(if order.is_empty() {
                Frame::partition()
            } else {
                Frame::running(FrameUnit::Range)
            });
        };
        let unit = match frame.units {
            ast::FrameUnits::Rows => FrameUnit::Rows,
            ast::FrameUnits::Range => FrameUnit::Range,
        };
        check_frame(frame, unit, order)?;
        let start = self.frame_bound(&frame.start, unit, order)?;
        let end = match &frame.end {
            Some(end) => self.frame_bound(end, unit, order)?,
            None => FrameBound::CurrentRow,
        };
        Ok(if order.is_empty() { Frame::partition() } else { Frame { unit, start, end } })
    }

    fn frame_bound(
        &mut self,
        bound: &ast::FrameBound,
        unit: FrameUnit,
        order: &[SortKey],
    ) -> Result<FrameBound> {
        Ok(match bound {
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
            ast::FrameBound::Preceding(distance) => {
                FrameBound::Preceding(self.frame_offset(distance, unit, order)?)
            }
            ast::FrameBound::Following(distance) => {
                FrameBound::Following(self.frame_offset(distance, unit, order)?)
            }
        })
    }

    /// How far away a bound is: a constant.
    fn frame_offset(
        &mut self,
        distance: &ast::Expr,
        unit: FrameUnit,
        order: &[SortKey],
    ) -> Result<Value> {
        let Some((value, data_type)) = self.constant(distance)? else {
            return Err(PlanError::new("a bound of a frame is a constant").at(distance.span));
        };
        let refuse = |message: &str| Err(PlanError::new(message).at(distance.span));
        if unit == FrameUnit::Rows {
            return match value {
                Value::Int(rows) if rows >= 0 => Ok(Value::Int(rows)),
                _ => refuse("ROWS value must be a non-negative integral constant"),
            };
        }
        let Some(key) = order.first() else { return Ok(value) };
        let fits = match key.expr.data_type().family() {
            Family::Numeric => data_type.family() == Family::Numeric,
            Family::Date | Family::Time | Family::Timestamp => {
                data_type.family() == Family::Interval
            }
            _ => {
                return refuse("Data type of ORDER BY prohibits use of RANGE clause");
            }
        };
        if !fits {
            return refuse("Data Type mismatch between ORDER BY and RANGE clause");
        }
        if data_type.family() == Family::Interval {
            return Ok(value);
        }
        // A distance of numbers is counted in the type of the sort key.
        let distance_type = key.expr.data_type().not_null();
        let moved = Expr::literal(value, data_type).cast_to(&distance_type)?;
        let evaluator = flott_functions::Evaluator::new(&moved, self.settings)?;
        evaluator
            .evaluate_constant(self.settings.query_start)
            .map_err(|error| PlanError::from(error).at(distance.span))
    }
}

fn not_plain(name: &str, call: &FunctionCall) -> PlanError {
    PlanError::new(format!("{name} takes neither DISTINCT nor ORDER BY nor IGNORE NULLS"))
        .at(call.span)
}

/// An argument that counts rows: TINYINT, SMALLINT or INT, in batch mode BIGINT, too, as Flink has it.
fn whole_number(expr: Expr, span: Span, batch: bool) -> Result<Expr> {
    let data_type = expr.data_type();
    let fits = match data_type.root {
        TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int => true,
        TypeRoot::BigInt => batch,
        _ => false,
    };
    if !fits {
        return Err(PlanError::new(format!(
            "a number of rows of type {} where an INT is needed",
            data_type.summary()
        ))
        .at(span)
        .hint("write a whole number, or CAST(… AS INT)"));
    }
    match &expr {
        Expr::Literal { value: Value::Null, .. } => {
            Err(PlanError::new("a number of rows is not NULL").at(span))
        }
        Expr::Literal { value: Value::Int(rows), .. } if *rows < 0 && !batch => {
            Err(PlanError::new(format!("Offset({rows}) should be positive.")).at(span))
        }
        _ if data_type.root == TypeRoot::BigInt => Ok(expr),
        _ => Ok(expr.cast_to(&DataType::int().with_nullable(data_type.nullable))?),
    }
}

/// The default of LAG and LEAD. Flink's streaming plans convert it between strings, and between
/// decimals, but no other types; its batch plans convert what is converted without being asked.
fn default_value(expr: Expr, wanted: &DataType, batch: bool) -> Result<Expr> {
    let given = expr.data_type();
    if given.root == TypeRoot::Null {
        return Err(super::expr::illegal_null());
    }
    let is_decimal = |ty: &DataType| matches!(ty.root, TypeRoot::Decimal { .. });
    let nullable = wanted.clone().with_nullable(true);
    let is_close = given.same_root(wanted)
        || (batch && coercion::implicit_cast_allowed(&given, &nullable))
        || (given.family() == Family::CharacterString
            && wanted.family() == Family::CharacterString)
        || (is_decimal(&given) && is_decimal(wanted));
    if !is_close {
        return Err(PlanError::new(format!(
            "Please explicitly cast default value {} to {}.",
            given, wanted
        ))
        .hint(format!("write CAST(… AS {})", wanted.root)));
    }
    Ok(expr.cast_to(&wanted.clone().with_nullable(given.nullable))?)
}

/// What SQL says of bounds, whatever the engine.
fn check_frame(frame: &ast::WindowFrame, unit: FrameUnit, order: &[SortKey]) -> Result<()> {
    use ast::FrameBound::{
        CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding,
    };
    let refuse = |message: &str| Err(PlanError::new(message).at(frame.span));
    if unit == FrameUnit::Range {
        match order.len() {
            0 => return refuse("Window specification must contain an ORDER BY clause"),
            1 => {}
            _ => return refuse("RANGE clause cannot be used with compound ORDER BY clause"),
        }
    }
    let end = frame.end.as_ref().unwrap_or(&CurrentRow);
    match (&frame.start, end) {
        (UnboundedFollowing, _) => {
            refuse("UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary")
        }
        (_, UnboundedPreceding) => {
            refuse("UNBOUNDED PRECEDING cannot be specified for the upper frame boundary")
        }
        (CurrentRow, Preceding(_)) => {
            refuse("Upper frame boundary cannot be PRECEDING when lower boundary is CURRENT ROW")
        }
        (Following(_), CurrentRow) => {
            refuse("Upper frame boundary cannot be CURRENT ROW when lower boundary is FOLLOWING")
        }
        (Following(_), Preceding(_)) => {
            refuse("Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING")
        }
        _ => Ok(()),
    }
}
