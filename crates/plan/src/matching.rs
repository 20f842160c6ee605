//! MATCH_RECOGNIZE as the planner and the runtime see it: a row pattern, its conditions and measures.
//!
//! Conditions and measures do not look at a row but at a match, or the beginning of one. Each is an
//! ordinary expression over [slots](MatchSlot): values taken from the rows that the match holds.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use flott_functions::Expr;

use crate::logical::AggregateCall;

/// `MATCH_RECOGNIZE`: gives the partition's columns and the measures of each match.
#[derive(Clone)]
pub struct Match {
    /// The columns by which rows are told apart.
    pub partition: Vec<usize>,
    /// The order of rows; the first key is time, ascending.
    pub order: Vec<MatchOrder>,
    /// Whether the first key is event time; else rows are taken as they come.
    pub is_rowtime: bool,
    /// The pattern: variables that follow each other without gaps.
    pub variables: Vec<PatternVariable>,
    /// The most milliseconds between a match's first row and its last, this bound excluded.
    pub within: Option<i64>,
    /// Where the search goes on after a match.
    pub skip: MatchSkip,
    /// The measures.
    pub measures: Vec<MatchExpr>,
}

/// A key of the order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchOrder {
    /// The column.
    pub column: usize,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// A variable of the pattern and how many rows it takes.
#[derive(Clone)]
pub struct PatternVariable {
    /// Its name.
    pub name: Arc<str>,
    /// How many rows.
    pub quantifier: MatchQuantifier,
    /// Which rows; any, where it has no DEFINE.
    pub condition: Option<MatchExpr>,
}

/// How many rows a variable takes, as Flink sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchQuantifier {
    /// At least so many, from 1, if any at all.
    pub from: u32,
    /// At most so many; `None`: without limit.
    pub to: Option<u32>,
    /// Whether it may take none.
    pub optional: bool,
    /// Whether it takes all it can: the next variable gets no row that this one takes.
    pub greedy: bool,
}

/// Where the search goes on after a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchSkip {
    /// At the row after the match's first.
    ToNextRow,
    /// At the row after its last.
    PastLastRow,
    /// At the first row of a variable.
    ToFirst(usize),
    /// At the last row of a variable.
    ToLast(usize),
}

/// An expression whose columns are slots.
#[derive(Clone)]
pub struct MatchExpr {
    /// The expression; column `i` is `slots[i]`.
    pub expr: Expr,
    /// What it takes from the match.
    pub slots: Vec<MatchSlot>,
}

/// A value taken from a match.
#[derive(Clone)]
pub enum MatchSlot {
    /// A column of the row in question; only in conditions.
    Current(usize),
    /// A column of one of the match's rows, NULL if it has no such row.
    Row {
        /// Among which rows.
        rows: MatchRows,
        /// Counted from which end.
        end: MatchEnd,
        /// How many rows from there.
        offset: u32,
        /// The column.
        column: usize,
    },
    /// An aggregate over rows of the match.
    Aggregate {
        /// Over which rows.
        rows: MatchRows,
        /// The call; its arguments are over the columns of the input.
        call: Box<AggregateCall>,
    },
    /// The time of the match: that of the row with which it was given out.
    Time,
}

/// Rows of a match. In a condition the row in question counts as one of its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchRows {
    /// All of them.
    All,
    /// Those of one variable.
    Variable(usize),
}

/// From where rows are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchEnd {
    /// From the first.
    First,
    /// From the last.
    Last,
}

impl MatchRows {
    /// Whether rows of a variable are among them.
    pub fn covers(self, variable: usize) -> bool {
        match self {
            Self::All => true,
            Self::Variable(own) => own == variable,
        }
    }
}

impl MatchQuantifier {
    /// Exactly one row.
    pub const ONE: Self = Self { from: 1, to: Some(1), optional: false, greedy: false };
}

impl Match {
    /// The expressions of conditions and measures.
    pub fn exprs(&self) -> impl Iterator<Item = &MatchExpr> {
        let conditions = self.variables.iter().flat_map(|variable| &variable.condition);
        conditions.chain(&self.measures)
    }

    /// The columns of the input that it reads.
    pub fn columns(&self) -> BTreeSet<usize> {
        let mut columns: BTreeSet<usize> = self.partition.iter().copied().collect();
        columns.extend(self.order.iter().map(|key| key.column));
        for slot in self.exprs().flat_map(|expr| &expr.slots) {
            match slot {
                MatchSlot::Current(column) | MatchSlot::Row { column, .. } => {
                    columns.insert(*column);
                }
                MatchSlot::Aggregate { call, .. } => {
                    columns.extend(call.args.iter().flat_map(Expr::columns));
                }
                MatchSlot::Time => {}
            }
        }
        columns
    }

    /// The same over moved columns.
    pub fn map_columns(mut self, position: &impl Fn(usize) -> usize) -> Self {
        self.partition.iter_mut().for_each(|column| *column = position(*column));
        self.order.iter_mut().for_each(|key| key.column = position(key.column));
        let conditions = self.variables.iter_mut().flat_map(|variable| &mut variable.condition);
        for slot in conditions.chain(&mut self.measures).flat_map(|expr| &mut expr.slots) {
            match slot {
                MatchSlot::Current(column) | MatchSlot::Row { column, .. } => {
                    *column = position(*column);
                }
                MatchSlot::Aggregate { call, .. } => {
                    for arg in &mut call.args {
                        *arg = arg.clone().map_columns(position);
                    }
                }
                MatchSlot::Time => {}
            }
        }
        self
    }

    /// The most rows that a match can have; `None`: any number.
    pub fn longest(&self) -> Option<u64> {
        self.variables.iter().map(|variable| variable.quantifier.to.map(u64::from)).sum()
    }

    /// A text that two share only if they do the same.
    pub fn digest(&self) -> String {
        let mut text = format!("{} {:?}", self.search_digest(), self.skip);
        for measure in &self.measures {
            let ty = measure.expr.data_type();
            let _ = write!(text, ", {}: {ty}", self.display(measure, &[]));
        }
        text
    }

    /// A text that two share only if the same beginnings of matches are right for both.
    pub fn search_digest(&self) -> String {
        let columns: Vec<String> = Vec::new();
        let mut text =
            format!("{:?} {:?} {} {:?}", self.partition, self.order, self.is_rowtime, self.within);
        for variable in &self.variables {
            let _ = write!(text, " {} {:?}", variable.name, variable.quantifier);
            if let Some(condition) = &variable.condition {
                let _ = write!(text, " AS {}", self.display(condition, &columns));
            }
        }
        text
    }

    /// An expression with the names of variables and columns.
    pub fn display(&self, expr: &MatchExpr, columns: &[String]) -> String {
        let names: Vec<String> =
            expr.slots.iter().map(|slot| self.slot_text(slot, columns)).collect();
        expr.expr.display(&names).to_string()
    }

    fn slot_text(&self, slot: &MatchSlot, columns: &[String]) -> String {
        let name = |column: usize| match columns.get(column) {
            Some(name) => name.clone(),
            None => format!("${column}"),
        };
        match slot {
            MatchSlot::Current(column) => name(*column),
            MatchSlot::Row { rows, end, offset, column } => {
                let column = format!("{}{}", self.rows_text(*rows), name(*column));
                match (end, offset) {
                    (MatchEnd::Last, 0) => column,
                    (MatchEnd::Last, offset) => format!("LAST({column}, {offset})"),
                    (MatchEnd::First, offset) => format!("FIRST({column}, {offset})"),
                }
            }
            MatchSlot::Aggregate { rows, call } => {
                let args: Vec<String> = match call.args.as_slice() {
                    [] => vec!["*".to_string()],
                    args => args.iter().map(|arg| arg.display(columns).to_string()).collect(),
                };
                let rows = self.rows_text(*rows);
                let rows = rows.trim_end_matches('.');
                let of = if rows.is_empty() { String::new() } else { format!(" OF {rows}") };
                format!("{}({}{of})", call.function.name, args.join(", "))
            }
            MatchSlot::Time => "MATCH_ROWTIME()".to_string(),
        }
    }

    fn rows_text(&self, rows: MatchRows) -> String {
        match rows {
            MatchRows::All => String::new(),
            MatchRows::Variable(variable) => format!("{}.", self.variables[variable].name),
        }
    }

    /// The pattern as it is written.
    pub fn pattern_text(&self) -> String {
        let variable = |variable: &PatternVariable| {
            format!("{}{}", variable.name, quantifier_text(variable.quantifier))
        };
        self.variables.iter().map(variable).collect::<Vec<_>>().join(" ")
    }

    /// Where the search goes on, as it is written.
    pub fn skip_text(&self) -> String {
        let name = |variable: usize| &self.variables[variable].name;
        match self.skip {
            MatchSkip::ToNextRow => "SKIP TO NEXT ROW".to_string(),
            MatchSkip::PastLastRow => "SKIP PAST LAST ROW".to_string(),
            MatchSkip::ToFirst(variable) => format!("SKIP TO FIRST {}", name(variable)),
            MatchSkip::ToLast(variable) => format!("SKIP TO LAST {}", name(variable)),
        }
    }
}

fn quantifier_text(quantifier: MatchQuantifier) -> String {
    let MatchQuantifier { from, to, optional, greedy } = quantifier;
    let min = if optional { 0 } else { from };
    let text = match (min, to) {
        (1, Some(1)) => return String::new(),
        (0, Some(1)) => return "?".to_string(),
        (min, Some(to)) if min == to => return format!("{{{min}}}"),
        (0, None) if from == 1 => "*".to_string(),
        (1, None) => "+".to_string(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(to)) => format!("{{{min},{to}}}"),
    };
    if greedy { text } else { text + "?" }
}
