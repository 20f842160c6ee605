//! Planning: syntax is bound to a typed [`logical`] plan, [`rules`] rewrite it, [`traits`] are derived, and
//! a [`physical`] plan comes out that the runtime translates into operators.
//!
//! This crate opens no file and runs nothing but constant expressions.

pub mod bind;
mod config;
pub mod ddl;
mod decorrelate;
mod error;
pub mod explain;
pub mod logical;
mod lower;
pub mod matching;
pub mod physical;
pub mod rules;
pub mod traits;

use flott_catalog::CatalogReader;
use flott_functions::SessionSettings;
use flott_sql::ast::{Insert, Query};

pub use config::{
    AggPhase, EmitOptions, Enforcement, KeyedShuffle, LengthEnforcer, MiniBatch, NestedEnforcer,
    NotNullEnforcer, PlannerConfig, UpsertMaterialize,
};
pub use error::{PlanError, Result};

use bind::Binder;
use logical::PlanRef;
use physical::PhysicalPlan;

/// Plans a query whose rows are handed to whoever runs it.
pub fn plan_query(
    query: &Query,
    catalog: &dyn CatalogReader,
    settings: &SessionSettings,
    config: &PlannerConfig,
) -> Result<PhysicalPlan> {
    let root = Binder::new(catalog, settings, config).bind_collect(query)?;
    plan(vec![root], settings, config)
}

/// Plans some INSERTs as one job; what they read in common is read once.
pub fn plan_inserts(
    inserts: &[Insert],
    catalog: &dyn CatalogReader,
    settings: &SessionSettings,
    config: &PlannerConfig,
) -> Result<PhysicalPlan> {
    let mut binder = Binder::new(catalog, settings, config);
    let roots =
        inserts.iter().map(|insert| binder.bind_insert(insert)).collect::<Result<Vec<_>>>()?;
    plan(roots, settings, config)
}

fn plan(
    roots: Vec<PlanRef>,
    settings: &SessionSettings,
    config: &PlannerConfig,
) -> Result<PhysicalPlan> {
    roots.iter().try_for_each(bind::outer::check_closed)?;
    let roots = rules::optimize(roots, settings)?;
    let roots = traits::time::settle(roots, settings)?;
    lower::lower(&roots, settings, config)
}
