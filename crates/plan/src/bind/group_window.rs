//! Group windows: TUMBLE, HOP and SESSION in GROUP BY, and their auxiliary functions.
//!
//! `GROUP BY k, TUMBLE(ts, size)` is bound as grouping by `k` and the bounds of the window that a window
//! table function would give; `TUMBLE_START(ts, size)` is then a column among the keys.

use flott_functions::{CastMode, Expr};
use flott_sql::ast::{self, ExprKind, GroupingElementKind};
use flott_types::{DataType, Family, Field, Schema, TimeAttribute, TypeRoot, Value};

use super::aggregate::Grouping;
use super::call::call_exprs;
use super::expr::Context;
use super::{Binder, Scope};
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, WindowAssignment, WindowKind};
use crate::{PlanError, Result};

/// The group functions, and how many arguments each takes.
const FUNCTIONS: [(&str, usize); 3] = [("TUMBLE", 2), ("HOP", 3), ("SESSION", 2)];

/// The group window of a SELECT, as its auxiliary functions see it.
pub struct GroupWindow {
    call: WindowCall,
    /// The column of the window's start; its end and its time stand behind it.
    start: usize,
    is_rowtime: bool,
}

/// A SELECT grouped by a window.
pub struct Windowed {
    /// The input with the window's columns behind its own.
    pub plan: PlanRef,
    /// The keys, those of the window last.
    pub grouping: Grouping,
    /// The window.
    pub window: GroupWindow,
}

/// A call of a group function, bound.
#[derive(PartialEq)]
struct WindowCall {
    function: &'static str,
    /// The time, then the intervals.
    args: Vec<Expr>,
}

impl GroupWindow {
    /// The number of columns that expressions over the grouped input may see.
    pub fn width(&self) -> usize {
        self.start + 3
    }
}

impl Binder<'_> {
    /// Binds a GROUP BY that has a group window; `None` when it has none.
    pub fn bind_group_window(
        &mut self,
        group_by: &ast::GroupBy,
        plan: &PlanRef,
        scope: &Scope,
    ) -> Result<Option<Windowed>> {
        let mut found: Option<(WindowCall, &ast::FunctionCall)> = None;
        let mut keys = Vec::new();
        for expr in plain_elements(group_by) {
            let Some((function, call)) = group_function(expr) else {
                keys.push(expr);
                continue;
            };
            let bound = self.bind_window_call(function, call, scope)?;
            if found.as_ref().is_some_and(|(known, _)| *known != bound) {
                return Err(PlanError::new(
                    "Only a single window group function may be used in GROUP BY",
                )
                .at(call.span));
            }
            found = Some((bound, call));
        }
        let Some((window, call)) = found else { return Ok(None) };
        if group_by.elements.iter().any(|element| !is_plain(element)) {
            return Err(PlanError::new(format!(
                "{} cannot be combined with grouping sets",
                window.function
            ))
            .at(call.span)
            .hint(
                "use the window table function: FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), …))",
            ));
        }
        let keys =
            keys.into_iter().map(|key| self.bind_scalar(key, scope)).collect::<Result<Vec<_>>>()?;
        let windowed = self.group_by_window(window, keys, plan, call.span);
        windowed.map(Some).map_err(|error| error.at(call.span))
    }

    fn bind_window_call(
        &mut self,
        function: &'static str,
        call: &ast::FunctionCall,
        scope: &Scope,
    ) -> Result<WindowCall> {
        let args = call_exprs(call)?
            .into_iter()
            .map(|arg| self.bind_scalar(arg, scope))
            .collect::<Result<Vec<_>>>()?;
        let wanted = FUNCTIONS.iter().find(|(name, _)| *name == function).map_or(2, |(_, n)| *n);
        if args.len() == wanted + 1 {
            let problem = format!("{function} window with alignment is not supported yet.");
            return Err(PlanError::new(problem)
                .at(call.span)
                .hint("the window table function takes an offset as its last argument"));
        }
        let is_interval = |arg: &Expr| arg.data_type().family() == Family::Interval;
        let fits = args.len() == wanted
            && args.first().is_some_and(|time| is_timestamp(&time.data_type()))
            && args.iter().skip(1).all(is_interval);
        if !fits {
            let types: Vec<String> =
                args.iter().map(|arg| format!("<{}>", arg.data_type().summary())).collect();
            return Err(PlanError::new(format!(
                "Cannot apply '{function}' to arguments of type '{function}({})'",
                types.join(", ")
            ))
            .at(call.span)
            .hint(format!("write {}", usage(function))));
        }
        Ok(WindowCall { function, args })
    }

    fn group_by_window(
        &mut self,
        call: WindowCall,
        keys: Vec<Expr>,
        plan: &PlanRef,
        span: ast::Span,
    ) -> Result<Windowed> {
        let kind = self.kind_of(&call)?;
        let attribute = self.time_attribute(&call, kind, &plan.schema)?;
        let mut input = Extended::new(plan);
        let time_column = input.column(&call.args[0], Some(attribute));
        let is_session = matches!(kind, WindowKind::Session { .. });
        // Sessions are told apart by the keys, which so must be columns below the window.
        let groups: Vec<Expr> =
            if is_session { keys.iter().map(|key| input.key(key)).collect() } else { keys.clone() };
        let partition =
            if is_session { groups.iter().flat_map(Expr::columns).collect() } else { Vec::new() };
        let input = input.plan();
        let time_type = call.args[0].data_type();
        let is_ltz = matches!(time_type.root, TypeRoot::TimestampLtz(_));
        let start = input.schema.len();
        let bound = DataType::timestamp(3).not_null();
        let own = if is_ltz { DataType::timestamp_ltz(3) } else { DataType::timestamp(3) };
        let own = own.with_nullable(time_type.nullable);
        let mut fields = input.schema.fields.clone();
        fields.push(Field::new("w$start", bound.clone()));
        fields.push(Field::new("w$end", bound.clone()));
        let kept = (!self.config.batch).then_some(attribute);
        fields.push(Field::new("w$time", own.clone()).with_time(kept));
        let op = LogicalOp::Window(WindowAssignment {
            kind,
            time_column,
            is_rowtime: attribute == TimeAttribute::Rowtime,
            is_ltz,
            partition,
            is_group_window: true,
        });
        let plan = LogicalPlan::spanned(op, vec![input], Schema::new(fields), span);
        let window_keys = [
            Expr::column(start, bound.clone()),
            Expr::column(start + 1, bound),
            Expr::column(start + 2, own),
        ];
        let grouping = Grouping::by_window(keys, groups, &window_keys);
        let is_rowtime = attribute == TimeAttribute::Rowtime;
        Ok(Windowed { plan, grouping, window: GroupWindow { call, start, is_rowtime } })
    }

    fn kind_of(&self, call: &WindowCall) -> Result<WindowKind> {
        let lengths = call.args[1..]
            .iter()
            .map(|arg| match arg {
                Expr::Literal { value: Value::Millis(millis), .. } => Ok(*millis),
                Expr::Literal { value: Value::Months(_), .. } => Err(PlanError::new(
                    "Window aggregate only support SECOND, MINUTE, HOUR, DAY as the time unit. \
                     MONTH and YEAR time unit are not supported yet.",
                )),
                _ => Err(PlanError::new(format!(
                    "Only constant window intervals with millisecond resolution are supported \
                     by {}",
                    call.function
                ))),
            })
            .collect::<Result<Vec<i64>>>()?;
        if lengths.iter().any(|length| *length <= 0) {
            return Err(PlanError::new(format!(
                "{} must have windows longer than nothing",
                call.function
            ))
            .hint("write a positive interval"));
        }
        Ok(match (call.function, lengths.as_slice()) {
            ("HOP", [slide, size, ..]) => WindowKind::Hop { slide: *slide, size: *size, offset: 0 },
            ("SESSION", [gap, ..]) => WindowKind::Session { gap: *gap },
            (_, lengths) => {
                let size = lengths.first().copied().unwrap_or(1);
                WindowKind::Tumble { size, offset: 0 }
            }
        })
    }

    /// What kind of time the windows are cut from. Adding an interval to event time gives event
    /// time here, as in Flink.
    fn time_attribute(
        &self,
        call: &WindowCall,
        kind: WindowKind,
        schema: &Schema,
    ) -> Result<TimeAttribute> {
        let time = &call.args[0];
        let shifted = |expr: &Expr| match expr {
            Expr::Call { function, args, .. } if matches!(function.name, "+" | "-") => {
                args.iter().find_map(|arg| super::select::time_of(arg, schema))
            }
            _ => None,
        };
        let attribute = super::select::time_of(time, schema)
            .or_else(|| shifted(time).filter(|time| *time == TimeAttribute::Rowtime));
        if !self.config.batch {
            return attribute.ok_or_else(|| {
                PlanError::new(format!(
                    "Window aggregate can only be defined over a time attribute column, but {} \
                     encountered.",
                    time.data_type().summary()
                ))
                .hint(
                    "declare WATERMARK FOR the column on its table, and pass it on unchanged; \
                     PROCTIME() gives processing time",
                )
            });
        }
        if attribute == Some(TimeAttribute::Proctime) {
            return Err(PlanError::new(
                "Window can not be defined over a proctime attribute column for batch mode",
            ));
        }
        if let WindowKind::Session { gap } = kind {
            return Err(PlanError::new(format!(
                "Window SessionGroupWindow('w$, {}, {gap}) is not supported right now.",
                time.display(&names(schema))
            ))
            .hint("SET 'execution.runtime-mode' = 'streaming'"));
        }
        Ok(TimeAttribute::Rowtime)
    }

    /// Binds TUMBLE_START and its kin, and refuses TUMBLE and its kin outside GROUP BY; `None` for any
    /// other function.
    pub fn bind_auxiliary(
        &mut self,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Option<Expr>> {
        let name = match call.name.as_simple() {
            Some(name) => name.value.to_ascii_uppercase(),
            None => return Ok(None),
        };
        if FUNCTIONS.iter().any(|(function, _)| *function == name) {
            let problem = format!("Group function '{name}' can only appear in GROUP BY clause");
            return Err(PlanError::new(problem)
                .hint(format!("{name}_START and {name}_END give its bounds in SELECT")));
        }
        let Some((function, property)) = auxiliary(&name) else { return Ok(None) };
        let Some(window) = context.window else {
            return Err(PlanError::new(format!("{name} needs a group window"))
                .hint(format!("GROUP BY {} in the same SELECT", usage(function))));
        };
        let args = call_exprs(call)?
            .into_iter()
            .map(|arg| self.bind_scalar(arg, context.scope))
            .collect::<Result<Vec<_>>>()?;
        if window.call.function != function || window.call.args != args {
            return Err(PlanError::new(format!(
                "Call to auxiliary group function '{name}' must have matching call to group \
                 function '{function}' in GROUP BY clause"
            ))
            .hint("its arguments are those of the group function, word for word"));
        }
        self.window_property(window, property).map(Some)
    }

    fn window_property(&self, window: &GroupWindow, property: &str) -> Result<Expr> {
        let bound = DataType::timestamp(3).not_null();
        let time_type = window.call.args[0].data_type();
        match (property, window.is_rowtime) {
            ("START", _) => Ok(Expr::column(window.start, bound)),
            ("END", _) => Ok(Expr::column(window.start + 1, bound)),
            ("ROWTIME", true) => Ok(of_type(window.start + 2, time_type)),
            ("ROWTIME", false) => {
                Err(PlanError::new("A proctime window cannot provide a rowtime attribute."))
            }
            (_, false) => Ok(Expr::builtin("PROCTIME", Vec::new())?),
            (_, true) => Err(PlanError::new("a rowtime window has no proctime attribute")
                .hint(format!("use {}_ROWTIME, or PROCTIME()", window.call.function))),
        }
    }
}

/// An input and the computed columns put behind its own.
struct Extended<'p> {
    input: &'p PlanRef,
    exprs: Vec<Expr>,
    fields: Vec<Field>,
}

impl<'p> Extended<'p> {
    fn new(input: &'p PlanRef) -> Self {
        let fields = input.schema.fields.clone();
        let columns = fields.iter().enumerate();
        let exprs = columns.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
        Self { input, exprs, fields }
    }

    /// The column that an expression is, or becomes.
    fn column(&mut self, expr: &Expr, time: Option<TimeAttribute>) -> usize {
        if let Expr::Column { index, .. } = expr {
            return *index;
        }
        self.exprs.push(expr.clone());
        let name = format!("$f{}", self.fields.len());
        self.fields.push(Field::new(name, expr.data_type()).with_time(time));
        self.fields.len() - 1
    }

    fn key(&mut self, expr: &Expr) -> Expr {
        Expr::column(self.column(expr, None), expr.data_type())
    }

    fn plan(self) -> PlanRef {
        LogicalPlan::project(self.input.clone(), self.exprs, Schema::new(self.fields))
    }
}

/// The window's time in the type of the time it is cut from.
fn of_type(column: usize, wanted: DataType) -> Expr {
    let (own, precision) = match wanted.root {
        TypeRoot::TimestampLtz(precision) => (DataType::timestamp_ltz(3), precision),
        TypeRoot::Timestamp(precision) => (DataType::timestamp(3), precision),
        _ => (DataType::timestamp(3), 3),
    };
    let input = Expr::column(column, own.with_nullable(wanted.nullable));
    if precision == 3 {
        return input;
    }
    Expr::Cast { input: Box::new(input), mode: CastMode::Strict, data_type: wanted }
}

/// The expressions of a GROUP BY that stand in no grouping sets.
fn plain_elements(group_by: &ast::GroupBy) -> Vec<&ast::Expr> {
    let of = |element| all_exprs(element);
    group_by.elements.iter().flat_map(of).collect()
}

fn all_exprs(element: &ast::GroupingElement) -> Vec<&ast::Expr> {
    match &element.kind {
        GroupingElementKind::Expr(expr) => vec![expr],
        GroupingElementKind::Set(exprs) => exprs.iter().collect(),
        GroupingElementKind::GroupingSets(elements)
        | GroupingElementKind::Rollup(elements)
        | GroupingElementKind::Cube(elements) => elements.iter().flat_map(all_exprs).collect(),
    }
}

fn is_plain(element: &ast::GroupingElement) -> bool {
    matches!(element.kind, GroupingElementKind::Expr(_) | GroupingElementKind::Set(_))
}

/// The call of a group function that an expression is.
fn group_function(expr: &ast::Expr) -> Option<(&'static str, &ast::FunctionCall)> {
    let ExprKind::Function(call) = &expr.kind else { return None };
    let name = call.name.as_simple()?;
    let known = FUNCTIONS.iter().find(|(function, _)| name.eq_ignore_case(function));
    known.map(|(function, _)| (*function, &**call))
}

/// The group function and the property that the name of an auxiliary function stands for.
fn auxiliary(name: &str) -> Option<(&'static str, &str)> {
    let (function, property) = name.rsplit_once('_')?;
    let (function, _) = FUNCTIONS.iter().find(|(known, _)| *known == function)?;
    matches!(property, "START" | "END" | "ROWTIME" | "PROCTIME").then_some((function, property))
}

fn usage(function: &str) -> &'static str {
    match function {
        "HOP" => "HOP(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE): slide, then size",
        "SESSION" => "SESSION(ts, INTERVAL '10' MINUTE)",
        _ => "TUMBLE(ts, INTERVAL '10' MINUTE)",
    }
}

fn is_timestamp(data_type: &DataType) -> bool {
    matches!(data_type.root, TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_))
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields.iter().map(|field| field.name.to_string()).collect()
}
