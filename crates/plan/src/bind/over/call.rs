//! What stands before OVER: rankings, LAG and LEAD, and aggregates.

use flott_functions::aggregate::{AggregateFunction, in_windows_of_rows};
use flott_functions::{Expr, aggregate_function, coercion};
use flott_sql::ast::{self, FunctionCall, Span};
use flott_types::{DataType, Family, TypeRoot, Value};

use super::is_over_column;
use crate::bind::Binder;
use crate::bind::aggregate::AggregateSyntax;
use crate::bind::call::call_exprs;
use crate::bind::expr::{self, Context};
use crate::bind::query::sort_key;
use crate::logical::{OffsetFunction, Over, OverCall, OverFunction, RankingFunction};
use crate::{PlanError, Result};

/// What can stand before OVER.
pub(super) enum Callee {
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
        return Err(expr::illegal_null());
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
