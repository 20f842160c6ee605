//! Top-N, deduplication and sorting as Flink prints them.

use flott_types::{ChangelogMode, Schema};

use super::{column_names, names};
use crate::logical::{RankEnd, RankRange};
use crate::physical::{
    BatchSort, Deduplicate, OrderColumn, PhysicalOp, Rank, RankOrigin, RankStrategy, RowOrder,
    TemporalSort, WindowRank,
};

pub(super) fn rank(rank: &Rank, below: &Schema, given: &Schema) -> String {
    let order = order_by(&rank.order, below);
    let strategy = match &rank.strategy {
        RankStrategy::AppendFast => "AppendFastStrategy".to_string(),
        RankStrategy::Retract => "RetractStrategy".to_string(),
        RankStrategy::UpdateFast { key } => {
            let key: Vec<String> = key.iter().map(usize::to_string).collect();
            format!("UpdateFastStrategy[{}]", key.join(","))
        }
    };
    let start = rank.range.start;
    let limit = match rank.range.end {
        RankEnd::Constant(end) => {
            let before = start.saturating_sub(1);
            let fetch = u64::try_from(end).unwrap_or(0).saturating_sub(before);
            format!("offset=[{before}], fetch=[{fetch}]")
        }
        _ => String::new(),
    };
    match rank.origin {
        RankOrigin::Limit => format!("Limit({limit})"),
        RankOrigin::SortLimit => {
            format!("SortLimit(orderBy=[{order}], {limit}, strategy=[{strategy}])")
        }
        RankOrigin::Rank => {
            let how =
                if rank.final_only { String::new() } else { format!("strategy=[{strategy}], ") };
            format!(
                "Rank({how}rankType=[{}], rankRange=[{}], partitionBy=[{}], orderBy=[{order}], \
                 select=[{}])",
                rank.function.name(),
                range(rank.range, below),
                names(below, &rank.partition),
                column_names(given).join(", ")
            )
        }
    }
}

pub(super) fn deduplicate(
    deduplicate: &Deduplicate,
    below: &Schema,
    changelog: ChangelogMode,
) -> String {
    let order = if deduplicate.rowtime.is_some() { "ROWTIME" } else { "PROCTIME" };
    format!(
        "Deduplicate(keep=[{}], key=[{}], order=[{order}], outputInsertOnly=[{}])",
        deduplicate.keep.name(),
        names(below, &deduplicate.key),
        changelog.is_insert_only()
    )
}

pub(super) fn window_rank(rank: &WindowRank, below: &Schema, given: &Schema) -> String {
    let bounds = [rank.window_start, rank.window_end];
    let window = format!(
        "win_start=[{}], win_end=[{}]",
        below.fields[bounds[0]].name, below.fields[bounds[1]].name
    );
    let keys: Vec<usize> =
        rank.partition.iter().copied().filter(|column| !bounds.contains(column)).collect();
    let keys = names(below, &keys);
    if let (Some(keep), [time]) = (rank.keep, rank.order.columns.as_slice()) {
        return format!(
            "WindowDeduplicate(window=[{window}], keep=[{}], partitionKeys=[{keys}], \
             orderKey=[{}], order=[ROWTIME])",
            keep.name(),
            below.fields[time.column].name
        );
    }
    format!(
        "WindowRank(window=[{window}], rankType=[{}], rankRange=[{}], partitionBy=[{keys}], \
         orderBy=[{}], select=[{}])",
        rank.function.name(),
        range(rank.range, below),
        order_by(&rank.order, below),
        column_names(given).join(", ")
    )
}

pub(super) fn temporal_sort(sort: &TemporalSort, below: &Schema) -> String {
    let first = match sort.rowtime {
        Some(column) => format!("{} ASC", below.fields[column].name),
        None => "PROCTIME ASC".to_string(),
    };
    let rest = sort.order.iter().map(|key| order_column(key, below));
    let keys: Vec<String> = [first].into_iter().chain(rest).collect();
    format!("TemporalSort(orderBy=[{}])", keys.join(", "))
}

pub(super) fn sort(sort: &BatchSort, below: &Schema) -> String {
    let keys: Vec<String> = sort
        .keys
        .iter()
        .map(|(column, descending, nulls_first)| {
            let key =
                OrderColumn { column: *column, descending: *descending, nulls_first: *nulls_first };
            order_column(&key, below)
        })
        .collect();
    let keys = keys.join(", ");
    match sort.fetch {
        None => format!("Sort(orderBy=[{keys}])"),
        Some(fetch) => {
            format!("SortLimit(orderBy=[{keys}], offset=[{}], fetch=[{fetch}])", sort.offset)
        }
    }
}

/// What Flink would refuse in an operator.
pub(super) fn not_in_flink(op: &PhysicalOp) -> Option<String> {
    match op {
        PhysicalOp::Rank(rank) => rank.not_in_flink(),
        PhysicalOp::WindowRank(rank) => rank.not_in_flink(),
        _ => None,
    }
}

fn range(range: RankRange, below: &Schema) -> String {
    let end = match range.end {
        RankEnd::Constant(end) => format!("rankEnd={end}"),
        RankEnd::Column { column, less: 0 } => format!("rankEnd={}", below.fields[column].name),
        RankEnd::Column { column, less } => {
            format!("rankEnd={} - {less}", below.fields[column].name)
        }
        RankEnd::Unbounded => "rankEnd=unbounded".to_string(),
    };
    format!("rankStart={}, {end}", range.start)
}

fn order_by(order: &RowOrder, below: &Schema) -> String {
    let mut keys: Vec<String> = order.columns.iter().map(|key| order_column(key, below)).collect();
    if order.newest_first {
        keys.push("PROCTIME DESC".to_string());
    }
    keys.join(", ")
}

fn order_column(key: &OrderColumn, below: &Schema) -> String {
    let direction = if key.descending { "DESC" } else { "ASC" };
    // By default NULL is the smallest value.
    let nulls = match (key.descending, key.nulls_first) {
        (false, false) => " NULLS LAST",
        (true, true) => " NULLS FIRST",
        _ => "",
    };
    format!("{} {direction}{nulls}", below.fields[key.column].name)
}
