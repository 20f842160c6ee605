//! Hints behind SELECT: STATE_TTL and LOOKUP say something of joins, STATE_TTL of the grouping of a single table,
//! too; the strategies of batch joins are checked and change nothing here.

use flott_catalog::connector::parse_duration;
use flott_sql::ast::{self, Hint, HintArg, Select, TableRef, TableRefKind};

use super::Binder;
use crate::logical::{JoinHints, LookupHint};
use crate::{PlanError, Result};

/// Hints whose arguments are tables.
const STRATEGIES: [&str; 5] =
    ["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN"];

/// What the hints of a SELECT say of the tables of its FROM, by their names there. They hold for
/// this block alone, not for its sub-queries.
#[derive(Debug, Clone, Default)]
pub(super) struct SelectHints {
    state_ttl: Vec<(String, u64)>,
    lookup: Vec<(String, LookupHint)>,
}

impl Binder<'_> {
    /// Reads the hints of a SELECT and binds with them.
    pub(super) fn with_hints<T>(
        &mut self,
        select: &Select,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let is_join = |from: &TableRef| matches!(from.kind, TableRefKind::Join(_));
        self.hints.push(read(select, select.from.as_ref().is_some_and(is_join))?);
        let bound = bind(self);
        self.hints.pop();
        bound
    }

    /// What hints say of a join of two items of FROM.
    pub(super) fn join_hints(&self, left: &TableRef, right: &TableRef) -> JoinHints {
        let Some(hints) = self.hints.last() else { return JoinHints::default() };
        let ttl = |table: &TableRef| {
            let name = name_of(table)?;
            hints.state_ttl.iter().find(|(of, _)| of == name).map(|(_, ttl)| *ttl)
        };
        let lookup = name_of(right).and_then(|name| hints.lookup.iter().find(|(of, _)| of == name));
        JoinHints { state_ttl: [ttl(left), ttl(right)], lookup: lookup.map(|(_, hint)| *hint) }
    }
}

/// How long the groups of a SELECT are kept: what STATE_TTL says of the only item of its FROM. Above a join the
/// hint is that of the join's sides.
pub(super) fn of_aggregate(select: &Select) -> Result<Option<u64>> {
    let Some(name) = select.from.as_ref().and_then(name_of) else { return Ok(None) };
    if select.hints.is_empty() {
        return Ok(None);
    }
    let hints = read(select, true)?;
    Ok(hints.state_ttl.into_iter().find(|(table, _)| table == name).map(|(_, ttl)| ttl))
}

/// The hints of a SELECT. As in Flink the tables of STATE_TTL are checked where there is a join or a grouping that it could
/// say something of; elsewhere it may name tables of sub-queries, and says nothing.
fn read(select: &Select, checked: bool) -> Result<SelectHints> {
    let mut hints = SelectHints::default();
    let mut names = Vec::new();
    if let Some(from) = &select.from {
        collect_names(from, &mut names);
    }
    for hint in &select.hints {
        let name = hint.name.value.to_ascii_uppercase();
        let known = |table: &str| match names.contains(&table) {
            true => Ok(()),
            false => Err(unmatched(table, &name, &names, hint)),
        };
        match name.as_str() {
            "STATE_TTL" => {
                let mut ttl = read_state_ttl(hint)?;
                ttl.iter_mut().for_each(|(table, _)| shorten(table, select, &names));
                if checked {
                    ttl.iter().try_for_each(|(table, _)| known(table))?;
                }
                // Of several hints the first counts, within one the last.
                for (table, ttl) in ttl {
                    if !hints.state_ttl.iter().any(|(of, _)| *of == table) {
                        hints.state_ttl.push((table, ttl));
                    }
                }
            }
            "LOOKUP" => {
                let (table, lookup) = read_lookup(hint)?;
                known(&table)?;
                hints.lookup.push((table, lookup));
            }
            strategy if STRATEGIES.contains(&strategy) => {
                for arg in &hint.args {
                    let table = match arg {
                        HintArg::Name(name) => name.parts.last().map(|part| part.value.as_str()),
                        HintArg::Text(text) => Some(text.value.as_str()),
                        _ => None,
                    };
                    known(table.unwrap_or_default())?;
                }
            }
            "OPTIONS" => {}
            _ => {
                return Err(PlanError::new(format!(
                    "Hint: {name} should be registered in the HintStrategyTable"
                ))
                .at(hint.span)
                .hint(format!(
                    "known hints are OPTIONS, STATE_TTL, LOOKUP, {}",
                    STRATEGIES.join(", ")
                )));
            }
        }
    }
    Ok(hints)
}

/// `STATE_TTL('table' = '1d', …)`; of a table named twice the last counts.
fn read_state_ttl(hint: &Hint) -> Result<Vec<(String, u64)>> {
    let mut all: Vec<(String, u64)> = Vec::new();
    for (key, value) in pairs(hint)? {
        let Some(ttl) = parse_duration(value) else {
            return Err(PlanError::new(format!(
                "Invalid STATE_TTL hint value: '{value}' is no duration"
            ))
            .at(hint.span)
            .hint("write '1 d', '12 h', '30 min'"));
        };
        all.retain(|(of, _)| of != key);
        all.push((key.to_string(), u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)));
    }
    Ok(all)
}

fn read_lookup(hint: &Hint) -> Result<(String, LookupHint)> {
    let invalid =
        |what: String| PlanError::new(format!("Invalid LOOKUP hint: {what}")).at(hint.span);
    let options = pairs(hint)?;
    let option =
        |name: &str| options.iter().rfind(|(key, _)| *key == name).map(|(_, value)| *value);
    let Some(table) = option("table") else {
        return Err(invalid("incomplete required option(s): 'table'".to_string()));
    };
    let retry = [
        option("retry-predicate"),
        option("retry-strategy"),
        option("fixed-delay"),
        option("max-attempts"),
    ];
    check_async(&option).map_err(invalid)?;
    let retry = match retry {
        [None, None, None, None] => None,
        [Some(predicate), Some(strategy), Some(delay), Some(attempts)] => {
            if !predicate.eq_ignore_ascii_case("lookup_miss") {
                return Err(invalid(format!(
                    "unsupported retry-predicate '{predicate}', only 'lookup_miss' can be \
                     configured"
                )));
            }
            if !strategy.eq_ignore_ascii_case("fixed_delay") {
                return Err(invalid(format!(
                    "unsupported retry-strategy '{strategy}', only 'fixed_delay' can be configured"
                )));
            }
            let delay = parse_duration(delay)
                .ok_or_else(|| invalid(format!("fixed-delay '{delay}' is no duration")))?;
            let attempts =
                attempts.parse::<u32>().ok().filter(|attempts| *attempts > 0).ok_or_else(|| {
                    invalid("max-attempts option must be positive integer".into())
                })?;
            Some((attempts, u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)))
        }
        _ => return Err(invalid("retry options can be both null or all not null".to_string())),
    };
    Ok((table.to_string(), LookupHint { retry }))
}

/// The options of asynchronous lookups. Keys of a batch are asked for together, whose rows keep their order, so
/// that they change nothing; what Flink refuses is refused.
fn check_async<'o>(option: &impl Fn(&str) -> Option<&'o str>) -> Result<(), String> {
    let is_one_of = |name: &str, words: &[&str]| match option(name) {
        Some(value) if !words.iter().any(|word| value.eq_ignore_ascii_case(word)) => {
            Err(format!("{name} '{value}' is none of {}", words.join(", ")))
        }
        _ => Ok(()),
    };
    is_one_of("async", &["true", "false"])?;
    is_one_of("output-mode", &["ordered", "allow_unordered"])?;
    if let Some(capacity) = option("capacity")
        && !capacity.parse::<u32>().is_ok_and(|capacity| capacity > 0)
    {
        return Err("capacity option must be positive integer".to_string());
    }
    if let Some(timeout) = option("timeout")
        && parse_duration(timeout).is_none()
    {
        return Err(format!("timeout '{timeout}' is no duration"));
    }
    is_one_of("shuffle", &["true", "false"])
}

fn pairs(hint: &Hint) -> Result<Vec<(&str, &str)>> {
    hint.args
        .iter()
        .map(|arg| match arg {
            HintArg::KeyValue { key, value } => Ok((key.value.as_str(), value.value.as_str())),
            _ => Err(PlanError::new(format!("{} takes 'key' = 'value' pairs", hint.name.value))
                .at(hint.span)),
        })
        .collect()
}

/// The name by which a block knows an item of FROM.
fn name_of(table: &TableRef) -> Option<&str> {
    if let Some(alias) = &table.alias {
        return Some(&alias.name.value);
    }
    match &table.kind {
        TableRefKind::Table { name, .. } => name.parts.last().map(|part| part.value.as_str()),
        TableRefKind::Snapshot { input, .. } => name_of(input),
        _ => None,
    }
}

/// A table may be named with its catalog and database, as it stands in FROM or in full.
fn shorten(table: &mut String, select: &Select, names: &[&str]) {
    let Some((_, last)) = table.rsplit_once('.') else { return };
    let has_alias = |of: &TableRef| of.alias.is_some();
    if names.contains(&last) && !select.from.as_ref().is_some_and(has_alias) {
        *table = last.to_string();
    }
}

fn collect_names<'t>(table: &'t TableRef, names: &mut Vec<&'t str>) {
    if let TableRefKind::Join(join) = &table.kind {
        let ast::Join { left, right, .. } = &**join;
        collect_names(left, names);
        collect_names(right, names);
    }
    names.extend(name_of(table));
}

fn unmatched(table: &str, hint: &str, names: &[&str], at: &Hint) -> PlanError {
    PlanError::new(format!(
        "The options of following hints cannot match the name of input tables or views: `{table}` \
         in `{hint}`"
    ))
    .at(at.span)
    .hint(format!("tables of this FROM are {}", names.join(", ")))
}
