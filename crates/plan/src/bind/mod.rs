//! Binding: names to columns, calls to functions, syntax to a typed logical plan.
//!
//! The binder checks everything that needs no traits. One file a construct: [`expr`], [`call`],
//! [`query`], [`select`], [`aggregate`], [`group_window`], [`over`], [`table`] and [`join`] (FROM), [`window`],
//! [`matching`], [`insert`].

mod aggregate;
mod call;
mod cast;
mod changelog_function;
mod expr;
mod group_window;
mod hints;
mod insert;
mod interval;
mod join;
mod literal;
mod matching;
pub(crate) mod outer;
mod over;
mod query;
mod scope;
mod select;
mod select_group;
mod set_operation;
mod subquery;
mod table;
mod temporal;
mod types;
mod unnest;
mod window;

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::CatalogReader;
use flott_functions::{Evaluator, Expr, SessionSettings, Volatility};
use flott_sql::ast;

pub(crate) use join::split_condition;
pub use scope::{Relation, Scope};
pub(crate) use select::time_of;
pub(crate) use table::inline;
pub use types::resolve_type;
pub(crate) use unnest::table_call;

use crate::config::PlannerConfig;
use crate::logical::PlanRef;
use crate::{PlanError, Result};

/// What binding needs to know beside the syntax.
pub struct Binder<'a> {
    /// Where names are looked up.
    pub catalog: &'a dyn CatalogReader,
    /// The session's settings.
    pub settings: &'a SessionSettings,
    /// The session's options that decide plans.
    pub config: &'a PlannerConfig,
    ctes: Vec<HashMap<String, Cte>>,
    scans: HashMap<String, PlanRef>,
    view_depth: usize,
    /// Of the SELECTs around, innermost last.
    hints: Vec<hints::SelectHints>,
    /// The scopes of the queries around the one being bound, outermost first.
    outer: Vec<Scope>,
    /// The sub-queries of the expression being bound; `None` where they cannot stand.
    subqueries: Option<Vec<subquery::SubQuery>>,
    /// Sub-queries met so far.
    subquery_count: usize,
    /// The sub-queries among the keys of the SELECT being bound.
    key_queries: subquery::KeyQueries,
}

#[derive(Clone)]
struct Cte {
    plan: PlanRef,
}

/// A plan and the names of its columns.
#[derive(Clone)]
pub struct Bound {
    /// The plan.
    pub plan: PlanRef,
    /// What a surrounding query sees of it.
    pub scope: Scope,
}

impl<'a> Binder<'a> {
    /// A binder of one statement.
    pub fn new(
        catalog: &'a dyn CatalogReader,
        settings: &'a SessionSettings,
        config: &'a PlannerConfig,
    ) -> Self {
        Self {
            catalog,
            settings,
            config,
            ctes: Vec::new(),
            scans: HashMap::new(),
            view_depth: 0,
            hints: Vec::new(),
            outer: Vec::new(),
            subqueries: None,
            subquery_count: 0,
            key_queries: Default::default(),
        }
    }

    /// Binds an expression over the columns of a scope; aggregates are refused.
    pub fn bind_scalar(&mut self, expr: &ast::Expr, scope: &Scope) -> Result<Expr> {
        self.bind_expr(expr, &mut expr::Context::new(scope))
    }

    /// The value of an expression without columns, of the type wanted.
    fn constant(
        &mut self,
        expr: &ast::Expr,
    ) -> Result<Option<(flott_types::Value, flott_types::DataType)>> {
        let bound = self.bind_scalar(expr, &Scope::default())?;
        if bound.volatility() != Volatility::Immutable {
            return Ok(None);
        }
        let evaluator = Evaluator::new(&bound, self.settings)?;
        let value = evaluator
            .evaluate_constant(self.settings.query_start)
            .map_err(|error| PlanError::from(error).at(expr.span))?;
        Ok(Some((value, bound.data_type())))
    }

    fn cte(&self, name: &str) -> Option<&Cte> {
        self.ctes.iter().rev().find_map(|level| level.get(name))
    }
}

/// Names of a path as owned text.
fn path_parts(path: &flott_catalog::ObjectPath) -> Vec<String> {
    vec![path.catalog.clone(), path.database.clone(), path.object.clone()]
}

/// The parts of a name as text.
fn name_parts(name: &ast::ObjectName) -> Vec<&str> {
    name.parts.iter().map(|part| part.value.as_str()).collect()
}

/// Shares one allocation between equal symbols.
fn symbol(text: &str) -> Arc<str> {
    text.into()
}
