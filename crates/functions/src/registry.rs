//! Functions by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::ScalarFunction;
use crate::aggregate::{self, AggregateFunction};
use crate::scalar;

static SCALARS: LazyLock<HashMap<&'static str, &'static ScalarFunction>> = LazyLock::new(|| {
    scalar_functions()
        .flat_map(|function| {
            [function.name]
                .into_iter()
                .chain(function.aliases.iter().copied())
                .map(move |n| (n, function))
        })
        .collect()
});

static AGGREGATES: LazyLock<HashMap<&'static str, &'static AggregateFunction>> =
    LazyLock::new(|| {
        aggregate::FAMILIES
            .iter()
            .flat_map(|family| family.iter())
            .flat_map(|function| {
                [function.name]
                    .into_iter()
                    .chain(function.aliases.iter().copied())
                    .map(move |n| (n, function))
            })
            .collect()
    });

/// The built-in scalar function or operator of this name, in any case.
pub fn scalar_function(name: &str) -> Option<&'static ScalarFunction> {
    SCALARS.get(name).or_else(|| SCALARS.get(name.to_ascii_uppercase().as_str())).copied()
}

/// All built-in scalar functions and operators, family by family.
pub fn scalar_functions() -> impl Iterator<Item = &'static ScalarFunction> {
    scalar::SECTIONS.iter().flat_map(|section| section.tables).copied().flatten()
}

/// The built-in aggregate function of this name, in any case.
pub fn aggregate_function(name: &str) -> Option<&'static AggregateFunction> {
    AGGREGATES.get(name.to_ascii_uppercase().as_str()).copied()
}

/// All built-in aggregate functions, family by family.
pub fn aggregate_functions() -> impl Iterator<Item = &'static AggregateFunction> {
    aggregate::FAMILIES.iter().flat_map(|family| family.iter())
}
