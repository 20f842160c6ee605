//! A filter on a rank becomes a Top-N, which need not rank what nobody wants.

use flott_functions::{Expr, SessionSettings};
use flott_types::{DataType, Field, Schema, TypeRoot, Value};

use super::keys::with_key_columns;
use crate::Result;
use crate::bind::time_of;
use crate::logical::{
    LogicalOp, LogicalPlan, Over, OverFunction, PlanRef, Rank, RankEnd, RankFunction, RankRange,
    RankingFunction, SortKey,
};

pub(super) fn apply(roots: Vec<PlanRef>, _: &SessionSettings) -> Result<Vec<PlanRef>> {
    Ok(LogicalPlan::transform(&roots, &mut |plan| to_rank(&plan).unwrap_or(plan)))
}

/// The plan as a [`Rank`], if it is a filter whose conditions on the rank are bounds of it.
fn to_rank(plan: &PlanRef) -> Option<PlanRef> {
    let LogicalOp::Filter(condition) = &plan.op else { return None };
    let windowed = plan.input();
    let LogicalOp::Over(over) = &windowed.op else { return None };
    let function = ranking(over)?;
    let width = windowed.input().schema.len();
    let mut bounds = Bounds::default();
    let mut rest = Vec::new();
    for condition in condition.clone().conjuncts() {
        if !bounds.take(&condition, width) {
            if condition.columns().contains(&width) {
                return None;
            }
            rest.push(condition);
        }
    }
    let ranked = rank(windowed, over, function, bounds.range()?);
    if rest.is_empty() {
        return Some(ranked);
    }
    let schema = (*plan.schema).clone();
    let filter = LogicalOp::Filter(Expr::conjunction(rest));
    Some(match plan.span {
        Some(span) => LogicalPlan::spanned(filter, vec![ranked], schema, span),
        None => LogicalPlan::new(filter, vec![ranked], schema),
    })
}

/// The only function of a window, if it ranks rows.
fn ranking(over: &Over) -> Option<RankFunction> {
    let [call] = over.calls.as_slice() else { return None };
    match &call.function {
        OverFunction::Ranking(RankingFunction::RowNumber) => Some(RankFunction::RowNumber),
        OverFunction::Ranking(RankingFunction::Rank) => Some(RankFunction::Rank),
        OverFunction::Ranking(RankingFunction::DenseRank) => Some(RankFunction::DenseRank),
        _ => None,
    }
}

/// The Top-N with the columns of `windowed`. A single rank is a constant and needs no counting.
fn rank(windowed: &PlanRef, over: &Over, function: RankFunction, range: RankRange) -> PlanRef {
    let source = with_key_columns(windowed.input());
    let mut input = Columns::of(&source);
    let partition =
        over.partition.iter().filter_map(|key| input.column(key, &source.schema)).collect();
    let order = over
        .order
        .iter()
        .filter_map(|key| {
            let column = input.column(&key.expr, &source.schema)?;
            Some(SortKey { expr: Expr::column(column, key.expr.data_type()), ..key.clone() })
        })
        .collect();
    let width = windowed.input().schema.len();
    let with_number = !range.is_one();
    let number = &windowed.schema.fields[width];
    let input = input.plan(&source);
    let mut fields = input.schema.fields.clone();
    let given = if with_number {
        fields.push(number.clone());
        Expr::column(fields.len() - 1, number.data_type.clone())
    } else {
        let only = i64::try_from(range.start).unwrap_or(i64::MAX);
        Expr::literal(Value::Int(only), number.data_type.clone())
    };
    let op = LogicalOp::Rank(Rank { function, partition, order, range, with_number });
    let schema = Schema::new(fields);
    let ranked = match windowed.span {
        Some(span) => LogicalPlan::spanned(op, vec![input], schema, span),
        None => LogicalPlan::new(op, vec![input], schema),
    };
    let own = windowed.input().schema.fields.iter().enumerate();
    let own = own.map(|(i, field)| Expr::column(i, field.data_type.clone()));
    let exprs = own.chain([given]).collect();
    LogicalPlan::project(ranked, exprs, (*windowed.schema).clone())
}

/// The columns of an input and, behind them, what is computed from them.
struct Columns {
    exprs: Vec<Expr>,
    fields: Vec<Field>,
}

impl Columns {
    fn of(input: &PlanRef) -> Self {
        let fields = input.schema.fields.clone();
        let exprs = fields.iter().enumerate();
        let exprs = exprs.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
        Self { exprs, fields }
    }

    /// The column that an expression is; `None` for a constant, which neither parts nor orders rows.
    fn column(&mut self, expr: &Expr, schema: &Schema) -> Option<usize> {
        let time = time_of(expr, schema);
        if expr.columns().is_empty() && time.is_none() {
            return None;
        }
        let known = self.exprs.iter().position(|known| known == expr);
        Some(known.unwrap_or_else(|| {
            let name = format!("$r{}", self.exprs.len());
            self.fields.push(Field::new(name, expr.data_type()).with_time(time));
            self.exprs.push(expr.clone());
            self.exprs.len() - 1
        }))
    }

    fn plan(self, input: &PlanRef) -> PlanRef {
        LogicalPlan::project(input.clone(), self.exprs, Schema::new(self.fields))
    }
}

/// What conditions say about a rank.
#[derive(Default)]
struct Bounds {
    start: Option<i64>,
    end: Option<i64>,
    column: Option<RankEnd>,
}

impl Bounds {
    /// Takes note of a condition; whether it is a bound of column `rank`.
    fn take(&mut self, condition: &Expr, rank: usize) -> bool {
        let Expr::Call { function, args, .. } = condition else { return false };
        let is_rank = |expr: &Expr| column(expr) == Some(rank);
        match (function.name, args.as_slice()) {
            ("BETWEEN", [value, low, high]) if is_rank(value) => {
                match (Constant::of(low), Constant::of(high)) {
                    (Some(low), Some(high)) => {
                        self.at_least(low.ceil());
                        self.at_most(high.floor());
                        true
                    }
                    _ => false,
                }
            }
            (name, [left, right]) if is_rank(left) => self.compare(name, right, rank),
            (name, [left, right]) if is_rank(right) => {
                let turned = match name {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    other => other,
                };
                self.compare(turned, left, rank)
            }
            _ => false,
        }
    }

    /// Takes note of `rank operator bound`.
    fn compare(&mut self, operator: &str, bound: &Expr, rank: usize) -> bool {
        if let Some(constant) = Constant::of(bound) {
            match operator {
                ">" => self.at_least(constant.floor().saturating_add(1)),
                ">=" => self.at_least(constant.ceil()),
                "<" => self.at_most(constant.ceil().saturating_sub(1)),
                "<=" => self.at_most(constant.floor()),
                "=" if constant.floor() == constant.ceil() => {
                    self.at_least(constant.floor());
                    self.at_most(constant.floor());
                }
                _ => return false,
            }
            return true;
        }
        let Some(column) = column(bound).filter(|column| *column < rank) else { return false };
        let less = match operator {
            "<" => 1,
            "<=" => 0,
            _ => return false,
        };
        self.column.replace(RankEnd::Column { column, less }).is_none()
    }

    fn at_least(&mut self, rank: i64) {
        self.start = Some(self.start.map_or(rank, |start| start.max(rank)));
    }

    fn at_most(&mut self, rank: i64) {
        self.end = Some(self.end.map_or(rank, |end| end.min(rank)));
    }

    /// The range, if there is a bound that a Top-N can keep.
    fn range(&self) -> Option<RankRange> {
        let start = self.start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0).max(1);
        let end = match (self.end, self.column) {
            (Some(end), None) => RankEnd::Constant(end),
            (None, Some(end)) => end,
            (None, None) if self.start.is_some() => RankEnd::Unbounded,
            _ => return None,
        };
        Some(RankRange { start, end })
    }
}

/// The column of whole numbers that an expression is, cast or not.
fn column(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column { index, data_type } => is_whole(data_type).then_some(*index),
        Expr::Cast { input, .. } => column(input),
        _ => None,
    }
}

fn is_whole(data_type: &DataType) -> bool {
    use TypeRoot::{BigInt, Int, SmallInt, TinyInt};
    matches!(data_type.root, TinyInt | SmallInt | Int | BigInt)
}

/// A constant bound: digits, and the power of ten that they are divided by.
struct Constant {
    digits: i128,
    divisor: i128,
}

impl Constant {
    fn of(expr: &Expr) -> Option<Self> {
        let Expr::Literal { value, data_type } = expr else { return None };
        match (value, &data_type.root) {
            (Value::Int(value), _) => Some(Self { digits: i128::from(*value), divisor: 1 }),
            (Value::Decimal(digits), TypeRoot::Decimal { scale, .. }) => {
                Some(Self { digits: *digits, divisor: 10i128.checked_pow(u32::from(*scale))? })
            }
            _ => None,
        }
    }

    fn floor(&self) -> i64 {
        clamp(self.digits.div_euclid(self.divisor))
    }

    fn ceil(&self) -> i64 {
        let whole = self.digits.div_euclid(self.divisor);
        clamp(whole + i128::from(self.digits.rem_euclid(self.divisor) != 0))
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}
