//! MATCH_RECOGNIZE.

mod names;
mod pattern;

use flott_functions::Expr;
use flott_sql::ast::{self, MeasureSemantics, RowsPerMatch, SkipTo};
use flott_types::{Family, Field, Schema, TimeAttribute, TypeRoot, Value};

use super::expr::Context;
use super::query::{anonymous, sort_key};
use super::select::time_of;
use super::{Binder, Bound, Scope};
use crate::logical::{LogicalOp, LogicalPlan};
use crate::matching::{Match, MatchExpr, MatchOrder, MatchSkip, MatchSlot, PatternVariable};
use crate::{PlanError, Result};

pub use names::MatchContext;

impl Binder<'_> {
    /// Binds `input MATCH_RECOGNIZE (…)`.
    pub fn bind_match_recognize(
        &mut self,
        input: &ast::TableRef,
        clauses: &ast::MatchRecognize,
    ) -> Result<Bound> {
        let input = self.bind_table_ref(input)?;
        refuse(clauses)?;
        let scope = &input.scope;
        let partition = clauses
            .partition_by
            .iter()
            .map(|expr| self.match_column(expr, scope, "PARTITION BY"))
            .collect::<Result<Vec<_>>>()?;
        let (order, time) = self.match_order(clauses, scope)?;
        let elements = pattern::elements(&clauses.pattern)?;
        let names: Vec<String> = elements.iter().map(|element| element.name.clone()).collect();
        let skip = match_skip(clauses, &names)?;
        let within = clauses.within.as_ref().map(|within| self.match_within(within)).transpose()?;
        let time_column = order[0].column;
        let mut conditions =
            self.bind_definitions(&clauses.definitions, &names, time_column, scope)?;
        let least = elements.iter().map(|element| element.least()).collect();
        let matching = MatchContext::measures(&names, least, time_column);
        let (measures, fields) = self.bind_measures(&clauses.measures, &matching, scope)?;

        let of_partition = partition.iter().map(|column| scope.fields[*column].clone());
        let fields: Vec<Field> = of_partition.chain(fields).collect();
        check_names(&fields, clauses)?;
        let variables = elements
            .into_iter()
            .enumerate()
            .map(|(i, element)| PatternVariable {
                name: element.name.into(),
                quantifier: element.quantifier,
                condition: conditions[i].take(),
            })
            .collect();
        let is_rowtime = time != TimeAttribute::Proctime;
        let op = LogicalOp::Match(Match {
            partition,
            order,
            is_rowtime,
            variables,
            within,
            skip,
            measures,
        });
        let schema = Schema::new(fields);
        Ok(anonymous(LogicalPlan::spanned(op, vec![input.plan], schema, clauses.span)))
    }

    fn match_column(&mut self, expr: &ast::Expr, scope: &Scope, clause: &str) -> Result<usize> {
        match self.bind_scalar(expr, scope)? {
            Expr::Column { index, .. } => Ok(index),
            _ => Err(PlanError::new(format!("{clause} of MATCH_RECOGNIZE takes columns"))
                .at(expr.span)
                .hint("compute the value in a sub-query and name its column here")),
        }
    }

    fn match_order(
        &mut self,
        clauses: &ast::MatchRecognize,
        scope: &Scope,
    ) -> Result<(Vec<MatchOrder>, TimeAttribute)> {
        let batch = self.config.batch;
        let hint = "write ORDER BY and the column that WATERMARK FOR names, or one AS PROCTIME()";
        let Some(first) = clauses.order_by.first() else {
            return Err(PlanError::new(match batch {
                false => "You must specify either rowtime or proctime for order by.",
                true => "You must specify non-empty order by.",
            })
            .at(clauses.span)
            .hint(hint));
        };
        let mut order = Vec::new();
        for item in &clauses.order_by {
            let column = self.match_column(&item.expr, scope, "ORDER BY")?;
            let key = sort_key(Expr::column(column, scope.fields[column].data_type.clone()), item);
            let (descending, nulls_first) = (key.descending, key.nulls_first);
            order.push(MatchOrder { column, descending, nulls_first });
        }
        let field = &scope.fields[order[0].column];
        let time = match (field.time, &field.data_type.root) {
            (Some(time), _) => time,
            (None, TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_)) if batch => {
                TimeAttribute::Rowtime
            }
            _ => {
                return Err(PlanError::new(match batch {
                    false => {
                        "You must specify either rowtime or proctime for order by as the first one."
                    }
                    true => "You must specify time point for order by as the first one.",
                })
                .at(first.span)
                .hint(hint));
            }
        };
        if order[0].descending {
            return Err(PlanError::new(match batch {
                false => "Primary sort order of a streaming table must be ascending on time.",
                true => "Primary sort order of a table must be ascending on time.",
            })
            .at(first.span));
        }
        Ok((order, time))
    }

    fn match_within(&mut self, within: &ast::Expr) -> Result<i64> {
        match self.constant(within)? {
            Some((Value::Millis(millis), _)) => Ok(millis),
            _ => Err(PlanError::new(
                "Only constant intervals with millisecond resolution are supported as time \
                 constraints of patterns.",
            )
            .at(within.span)
            .hint("count days, not months, whose lengths differ: INTERVAL '30' DAY")),
        }
    }

    /// The condition of each variable, where it has one.
    fn bind_definitions(
        &mut self,
        definitions: &[ast::PatternDefinition],
        names: &[String],
        time_column: usize,
        scope: &Scope,
    ) -> Result<Vec<Option<MatchExpr>>> {
        // A variable that is only defined may be named as well: it has no rows.
        let mut all = names.to_vec();
        for definition in definitions {
            if !all.contains(&definition.name.value) {
                all.push(definition.name.value.clone());
            }
        }
        let mut conditions: Vec<Option<MatchExpr>> = names.iter().map(|_| None).collect();
        let mut defined: Vec<&str> = Vec::new();
        for definition in definitions {
            let name = definition.name.value.as_str();
            if defined.contains(&name) {
                return Err(PlanError::new(format!(
                    "Pattern variable '{name}' has already been defined"
                ))
                .at(definition.span));
            }
            defined.push(name);
            let variable = all.iter().position(|known| known == name).unwrap_or_default();
            let mut context = MatchContext::define(&all, variable, time_column).within(scope);
            let expr = self.bind_expr(&definition.condition, &mut context)?;
            if expr.data_type().family() != Family::Boolean {
                return Err(PlanError::new("DEFINE clause must be a condition")
                    .at(definition.condition.span)
                    .hint("compare it with something"));
            }
            let slots = slots_of(context);
            if let Some(condition) = conditions.get_mut(variable) {
                *condition = Some(MatchExpr { expr, slots });
            }
        }
        Ok(conditions)
    }

    fn bind_measures(
        &mut self,
        measures: &[ast::Measure],
        matching: &MatchContext,
        scope: &Scope,
    ) -> Result<(Vec<MatchExpr>, Vec<Field>)> {
        let mut exprs = Vec::new();
        let mut fields = Vec::new();
        for measure in measures {
            if measure.semantics == Some(MeasureSemantics::Running) {
                return Err(PlanError::new("Unsupported call: RUNNING")
                    .at(measure.span)
                    .hint("with ONE ROW PER MATCH a measure is that of the whole match"));
            }
            let mut context = matching.clone().within(scope);
            let expr = self.bind_expr(&measure.expr, &mut context)?;
            if expr.data_type().root == TypeRoot::Null {
                return Err(super::expr::illegal_null().at(measure.span));
            }
            let slots = slots_of(context);
            let time = measure_time(&expr, &slots, scope, self.config.batch);
            fields.push(Field::new(measure.name.value.as_str(), expr.data_type()).with_time(time));
            exprs.push(MatchExpr { expr, slots });
        }
        Ok((exprs, fields))
    }
}

/// What an expression took from the match.
fn slots_of(context: Context) -> Vec<MatchSlot> {
    context.matching.map(|matching| matching.slots).unwrap_or_default()
}

/// A measure that is just a row's time attribute, or the match's time, is one. In batch mode the time of
/// a row no longer is.
fn measure_time(
    expr: &Expr,
    slots: &[MatchSlot],
    scope: &Scope,
    batch: bool,
) -> Option<TimeAttribute> {
    match expr {
        Expr::Column { index, .. } => match &slots[*index] {
            MatchSlot::Time => Some(TimeAttribute::Rowtime),
            MatchSlot::Current(column) | MatchSlot::Row { column, .. } => scope.fields[*column]
                .time
                .filter(|time| !(batch && *time == TimeAttribute::Rowtime)),
            MatchSlot::Aggregate { .. } => None,
        },
        other => time_of(other, &Schema::default()),
    }
}

/// What Flink does not take, and what it takes without meaning anything by it.
fn refuse(clauses: &ast::MatchRecognize) -> Result<()> {
    if clauses.rows_per_match == Some(RowsPerMatch::All) {
        return Err(PlanError::new("All rows per match mode is not supported yet.")
            .at(clauses.span)
            .hint("write ONE ROW PER MATCH and measures for what you want of each match"));
    }
    if clauses.anchored_at_start || clauses.anchored_at_end {
        return Err(PlanError::new("anchors ^ and $ are not supported in PATTERN")
            .at(clauses.pattern.span)
            .hint("Flink passes over them; leave them out"));
    }
    if let Some(subset) = clauses.subsets.first() {
        return Err(PlanError::new("SUBSET is not supported").at(subset.span).hint(
            "Flink gives NULL for its variables; combine measures of each variable instead",
        ));
    }
    Ok(())
}

fn match_skip(clauses: &ast::MatchRecognize, names: &[String]) -> Result<MatchSkip> {
    let Some(after) = &clauses.after_match else { return Ok(MatchSkip::ToNextRow) };
    let variable = |name: &ast::Ident| {
        names.iter().position(|known| *known == name.value).ok_or_else(|| {
            PlanError::new(format!("Unknown pattern '{}'", name.value))
                .at(after.span)
                .hint(format!("the pattern's variables are {}", names.join(", ")))
        })
    };
    Ok(match &after.skip {
        SkipTo::NextRow => MatchSkip::ToNextRow,
        SkipTo::PastLastRow => MatchSkip::PastLastRow,
        SkipTo::First(name) => MatchSkip::ToFirst(variable(name)?),
        SkipTo::Last(name) => MatchSkip::ToLast(variable(name)?),
    })
}

fn check_names(fields: &[Field], clauses: &ast::MatchRecognize) -> Result<()> {
    if clauses.measures.is_empty() {
        return Err(PlanError::new("Columns ambiguously defined: {}")
            .at(clauses.span)
            .hint("add MEASURES: what to say of each match"));
    }
    let mut twice: Vec<&str> = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        if fields[..i].iter().any(|before| before.name == field.name) {
            twice.push(&field.name);
        }
    }
    if twice.is_empty() {
        return Ok(());
    }
    Err(PlanError::new(format!("Columns ambiguously defined: {{{}}}", twice.join(", ")))
        .at(clauses.span)
        .hint("give each measure a name of its own, different from the columns of PARTITION BY"))
}
