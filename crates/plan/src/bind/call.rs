//! Function calls, JSON functions included.

use std::sync::Arc;

use flott_functions::{Expr, SignatureError, aggregate_function, coercion, scalar_function};
use flott_sql::ast::{
    self, FunctionArgValue, JsonExistsOnError, JsonFunction, JsonOnNull, JsonQueryBehavior,
    JsonValueBehavior, JsonWrapper,
};
use flott_types::{DataType, TimeAttribute};

use super::Binder;
use super::aggregate::AggregateSyntax;
use super::expr::Context;
use super::over::needs_over;
use super::types::resolve_type;
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a call of a scalar or an aggregate function.
    pub fn bind_call(&mut self, call: &ast::FunctionCall, context: &mut Context) -> Result<Expr> {
        let Some(name) = call.name.as_simple() else {
            return Err(self.no_function(call));
        };
        let upper = name.value.to_ascii_uppercase();
        if context.matching.is_some()
            && let Some(bound) = self.bind_match_call(call, context)?
        {
            return Ok(bound);
        }
        if let Some(window) = &call.over {
            return self.bind_over(&upper, call, window, context);
        }
        if needs_over(&upper) {
            return Err(PlanError::new(format!("{upper} stands only before OVER"))
                .at(call.span)
                .hint(format!("write {upper}(…) OVER (PARTITION BY … ORDER BY …)")));
        }
        if let Some(bound) = self.bind_auxiliary(call, context)? {
            return Ok(bound);
        }
        if matches!(upper.as_str(), "GROUPING" | "GROUPING_ID" | "GROUP_ID") {
            if call.args.is_empty() != (upper == "GROUP_ID") {
                return Err(self.no_function(call));
            }
            return self.bind_grouping(call, context);
        }
        if let Some(function) = aggregate_function(&upper) {
            return self.bind_aggregate(function, AggregateSyntax::of(call)?, context);
        }
        if call.quantifier.is_some() || call.filter.is_some() || !call.within_group.is_empty() {
            return Err(PlanError::new(format!("{upper} is not an aggregate function"))
                .at(call.span)
                .hint("DISTINCT, FILTER and WITHIN GROUP go with aggregate functions"));
        }
        let args = self.positional_args(call, context)?;
        if upper == "CURRENT_WATERMARK" {
            self.check_rowtime(&args, context).map_err(|error| error.at(call.span))?;
        }
        if upper == "COALESCE" {
            return coalesce(args);
        }
        let function = scalar_function(&upper).filter(|function| function.is_called_by(&upper));
        let Some(function) = function else { return Err(self.no_function(call)) };
        Ok(Expr::call(function, args, Vec::new(), None)?)
    }

    /// CURRENT_WATERMARK says which watermark is meant by a column that carries it.
    fn check_rowtime(&self, args: &[Expr], context: &Context) -> Result<()> {
        let is_rowtime = |index: usize| {
            let field = context.scope.fields.get(index);
            field.is_some_and(|field| field.time == Some(TimeAttribute::Rowtime))
        };
        match args {
            [Expr::Column { index, .. }] if is_rowtime(*index) => Ok(()),
            [arg] => Err(PlanError::new(format!(
                "The argument of CURRENT_WATERMARK() must be a rowtime attribute, but was '{}'.",
                arg.data_type().summary()
            ))
            .hint("name a column that a watermark is declared for")),
            // The function's own rule says what is wrong.
            _ => Ok(()),
        }
    }

    fn positional_args(
        &mut self,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Vec<Expr>> {
        call.args
            .iter()
            .map(|arg| match arg.as_positional() {
                Some(expr) => self.bind_expr(expr, context),
                None => {
                    Err(PlanError::new("this function takes its arguments by position")
                        .at(arg.span))
                }
            })
            .collect()
    }

    fn no_function(&self, call: &ast::FunctionCall) -> PlanError {
        let parts: Vec<_> = call.name.parts.iter().map(|part| part.value.as_str()).collect();
        if let Some(class) = self.catalog.find_function(&self.catalog.qualify(&parts)) {
            return PlanError::new(format!(
                "Cannot instantiate user-defined function '{}' of class {class}",
                parts.join(".")
            ))
            .at(call.span)
            .hint("classes need a JVM, which Flott does without: use built-in functions");
        }
        let name = parts.join(".");
        let upper = name.to_ascii_uppercase();
        let near = flott_functions::scalar_functions()
            .map(|function| function.name)
            .find(|known| known.starts_with(&upper) || upper.starts_with(known));
        let error =
            PlanError::new(format!("No match found for function signature {name}")).at(call.span);
        match near {
            Some(near) if near.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                error.hint(format!("did you mean {near}?"))
            }
            _ => error.hint("SHOW FUNCTIONS lists what there is"),
        }
    }

    /// Binds a JSON function.
    pub fn bind_json(&mut self, json: &JsonFunction, context: &mut Context) -> Result<Expr> {
        match json {
            JsonFunction::Exists { input, path, on_error } => {
                let args = vec![self.bind_expr(input, context)?, self.bind_expr(path, context)?];
                let on_error = match on_error {
                    None => "",
                    Some(JsonExistsOnError::True) => "TRUE",
                    Some(JsonExistsOnError::False) => "FALSE",
                    Some(JsonExistsOnError::Unknown) => "UNKNOWN",
                    Some(JsonExistsOnError::Error) => "ERROR",
                };
                json_call("JSON_EXISTS", args, &[on_error], None)
            }
            JsonFunction::Value { input, path, returning, on_empty, on_error } => {
                let mut args =
                    vec![self.bind_expr(input, context)?, self.bind_expr(path, context)?];
                let mut symbols = Vec::new();
                for behavior in [on_empty, on_error] {
                    let (symbol, default) = match behavior {
                        None | Some(JsonValueBehavior::Null) => ("NULL", None),
                        Some(JsonValueBehavior::Error) => ("ERROR", None),
                        Some(JsonValueBehavior::Default(value)) => {
                            ("DEFAULT", Some(self.bind_expr(value, context)?))
                        }
                    };
                    symbols.push(symbol);
                    args.push(default.unwrap_or_else(|| Expr::null(DataType::string())));
                }
                let returning = returning.as_ref().map(resolve_type).transpose()?;
                json_call("JSON_VALUE", args, &symbols, returning)
            }
            JsonFunction::Query { input, path, returning, wrapper, on_empty, on_error } => {
                let args = vec![self.bind_expr(input, context)?, self.bind_expr(path, context)?];
                let wrapper = match wrapper {
                    JsonWrapper::Without => "WITHOUT",
                    JsonWrapper::Conditional => "CONDITIONAL",
                    JsonWrapper::Unconditional => "UNCONDITIONAL",
                };
                let returning = returning.as_ref().map(resolve_type).transpose()?;
                let symbols = [wrapper, query_behavior(*on_empty), query_behavior(*on_error)];
                json_call("JSON_QUERY", args, &symbols, returning)
            }
            JsonFunction::Object { entries, on_null } => {
                let mut args = Vec::new();
                for entry in entries {
                    args.push(self.bind_expr(&entry.key, context)?);
                    args.push(self.bind_expr(&entry.value, context)?);
                }
                json_call("JSON_OBJECT", args, &[null_symbol(*on_null)], None)
            }
            JsonFunction::Array { elements, on_null } => {
                let args = elements
                    .iter()
                    .map(|element| self.bind_expr(element, context))
                    .collect::<Result<_>>()?;
                json_call("JSON_ARRAY", args, &[null_symbol(*on_null)], None)
            }
            JsonFunction::ObjectAgg { entry, on_null } => {
                let symbols = aggregate_symbols(*on_null, &entry.value);
                let syntax = AggregateSyntax::plain(vec![&entry.key, &entry.value], symbols);
                self.bind_named_aggregate("JSON_OBJECTAGG", syntax, context)
            }
            JsonFunction::ArrayAgg { element, order_by, on_null } => {
                if let Some(item) = order_by.first() {
                    return Err(PlanError::new("JSON_ARRAYAGG with ORDER BY is not supported")
                        .at(item.span));
                }
                let symbols = aggregate_symbols(*on_null, element);
                let syntax = AggregateSyntax::plain(vec![element], symbols);
                self.bind_named_aggregate("JSON_ARRAYAGG", syntax, context)
            }
        }
    }

    fn bind_named_aggregate(
        &mut self,
        name: &str,
        syntax: AggregateSyntax,
        context: &mut Context,
    ) -> Result<Expr> {
        let function = aggregate_function(name)
            .ok_or_else(|| PlanError::new(format!("no aggregate function {name}")))?;
        self.bind_aggregate(function, syntax, context)
    }
}

fn coalesce(args: Vec<Expr>) -> Result<Expr> {
    let types: Vec<DataType> = args.iter().map(Expr::data_type).collect();
    if args.is_empty() {
        return Err(PlanError::new("COALESCE needs at least one argument"));
    }
    if types.iter().all(|ty| ty.root == flott_types::TypeRoot::Null) {
        return Err(super::expr::illegal_null());
    }
    let common = coercion::common_argument_type(&types)
        .ok_or_else(|| PlanError::from(SignatureError::NoCommonType { types: types.clone() }))?;
    let nullable = types.iter().all(|ty| ty.nullable);
    Ok(Expr::Coalesce {
        args: args.into_iter().map(|arg| arg.cast_to(&common)).collect::<Result<_, _>>()?,
        data_type: common.with_nullable(nullable),
    })
}

fn json_call(
    name: &str,
    args: Vec<Expr>,
    symbols: &[&str],
    returning: Option<DataType>,
) -> Result<Expr> {
    let function = scalar_function(name)
        .ok_or_else(|| PlanError::new(format!("no built-in function {name}")))?;
    let symbols: Vec<Arc<str>> = symbols.iter().map(|text| Arc::from(*text)).collect();
    Ok(Expr::call(function, args, symbols, returning)?)
}

fn query_behavior(behavior: JsonQueryBehavior) -> &'static str {
    match behavior {
        JsonQueryBehavior::Null => "NULL",
        JsonQueryBehavior::Error => "ERROR",
        JsonQueryBehavior::EmptyArray => "EMPTY ARRAY",
        JsonQueryBehavior::EmptyObject => "EMPTY OBJECT",
    }
}

fn null_symbol(on_null: JsonOnNull) -> &'static str {
    match on_null {
        JsonOnNull::Null => "NULL",
        JsonOnNull::Absent => "ABSENT",
    }
}

/// The symbols of a JSON aggregate: what JSON_OBJECT and JSON_ARRAY give is JSON already.
fn aggregate_symbols(on_null: JsonOnNull, value: &ast::Expr) -> Vec<Arc<str>> {
    let mut symbols = vec![null_symbol(on_null).into()];
    if let ast::ExprKind::Json(json) = &value.kind
        && matches!(**json, JsonFunction::Object { .. } | JsonFunction::Array { .. })
    {
        symbols.push("FORMAT JSON".into());
    }
    symbols
}

/// The positional expression arguments of a call, `*` as none.
pub fn call_exprs(call: &ast::FunctionCall) -> Result<Vec<&ast::Expr>> {
    let mut exprs = Vec::new();
    for arg in &call.args {
        match &arg.value {
            FunctionArgValue::Expr(expr) if arg.name.is_none() => exprs.push(expr),
            FunctionArgValue::Star if call.args.len() == 1 => {}
            _ => {
                return Err(
                    PlanError::new("this function takes its arguments by position").at(arg.span)
                );
            }
        }
    }
    Ok(exprs)
}
