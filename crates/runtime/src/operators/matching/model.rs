//! Patterns by their definition, for tests: every way in which rows can be shared out to variables.

use std::sync::Arc;

use flott_functions::{Arg, CallArgs, Expr, aggregate_function};
use flott_plan::logical::AggregateCall;
use flott_plan::matching::{
    Match, MatchEnd, MatchExpr, MatchOrder, MatchQuantifier, MatchRows, MatchSkip, MatchSlot,
    PatternVariable,
};
use flott_types::{DataType, Value};

/// Columns of the input.
pub const KEY: usize = 0;
pub const ID: usize = 1;
pub const VALUE: usize = 2;
pub const TIME: usize = 3;

/// A row of one key, in its place by time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    pub id: i64,
    pub value: Option<i64>,
    pub time: i64,
}

/// What a variable asks of a row.
#[derive(Debug, Clone, Copy)]
pub enum Condition {
    Any,
    Below(i64),
    AtLeast(i64),
    /// More than the variable's row before, if there is one.
    Rising,
    /// The variable's rows sum up to less.
    SumBelow(i64),
    /// The match has fewer rows.
    Fewer(i64),
    /// No less than the first row of the first variable, if there is one before.
    NotBelowFirst,
    /// More than the last row of the whole match but this, and no more than 5.
    AboveLast,
}

#[derive(Debug, Clone, Copy)]
pub struct Variable {
    pub quantifier: MatchQuantifier,
    pub condition: Condition,
}

#[derive(Debug, Clone)]
pub struct Pattern {
    pub variables: Vec<Variable>,
    pub skip: MatchSkip,
    pub within: Option<i64>,
    /// Whether rows of one time are ordered by value, the largest first.
    pub ties: bool,
}

/// How many rows each variable has.
type Shares = Vec<usize>;

impl Pattern {
    /// The pattern as the planner gives it; measures are, of each variable, its first row's id and
    /// its number of rows.
    pub fn plan(&self) -> Match {
        let order = |column, descending| MatchOrder { column, descending, nulls_first: true };
        let mut keys = vec![order(TIME, false)];
        keys.extend(self.ties.then(|| order(VALUE, true)));
        let variables = self.variables.iter().enumerate().map(|(i, variable)| PatternVariable {
            name: format!("V{i}").into(),
            quantifier: variable.quantifier,
            condition: condition(variable.condition, i),
        });
        let measures = (0..self.variables.len()).flat_map(|variable| {
            let rows = MatchRows::Variable(variable);
            let first = MatchSlot::Row { rows, end: MatchEnd::First, offset: 0, column: ID };
            let count = MatchSlot::Aggregate { rows, call: call("COUNT", Some(ID)).into() };
            [first, count].map(|slot| MatchExpr { expr: slot_column(0), slots: vec![slot] })
        });
        Match {
            partition: vec![KEY],
            order: keys,
            is_rowtime: true,
            variables: variables.collect(),
            within: self.within,
            skip: self.skip,
            measures: measures.collect(),
        }
    }

    /// Whether matches of a key's rows up to `now` are those that there must be. A match is the
    /// number of rows of each variable and the id of the first row.
    pub fn check(&self, rows: &[Row], now: i64, found: &[(i64, Shares)]) -> Result<(), String> {
        let mut found = found.iter();
        let mut bound = 0;
        for start in 0..rows.len() {
            if start < bound {
                continue;
            }
            let mut search =
                Search { pattern: self, rows, start, matches: Vec::new(), open: false };
            search.go(None, 0, &mut Vec::new());
            let in_time = |within: i64| now.saturating_sub(rows[start].time) < within;
            let open = search.open && self.within.is_none_or(in_time);
            if search.matches.is_empty() {
                if open {
                    // What begins later has to wait.
                    break;
                }
                continue;
            }
            let Some((first, shares)) = found.next() else {
                return Err(format!("no match at row {start}, but {:?}", search.matches));
            };
            if *first != rows[start].id || !search.matches.contains(shares) {
                return Err(format!(
                    "{shares:?} from id {first} where row {start}, id {}, has {:?}",
                    rows[start].id, search.matches
                ));
            }
            let before = |variable: usize| shares[..variable].iter().sum::<usize>();
            bound = start
                + match self.skip {
                    MatchSkip::ToNextRow => 1,
                    MatchSkip::PastLastRow => before(shares.len()),
                    MatchSkip::ToFirst(variable) => before(variable),
                    MatchSkip::ToLast(variable) => before(variable + 1) - 1,
                };
        }
        match found.next() {
            None => Ok(()),
            Some(more) => Err(format!("{more:?} is no match, or too early")),
        }
    }

    fn is_last(&self, variable: usize) -> bool {
        self.variables[variable + 1..].iter().all(|variable| variable.quantifier.optional)
    }
}

/// The matches that begin with one row.
struct Search<'a> {
    pattern: &'a Pattern,
    rows: &'a [Row],
    start: usize,
    matches: Vec<Shares>,
    /// Whether a beginning waits for a row after the last.
    open: bool,
}

impl Search<'_> {
    /// Goes on from `count` rows of `variable`; `taken` has a variable for each row.
    fn go(&mut self, variable: Option<usize>, count: usize, taken: &mut Vec<usize>) {
        let Some(row) = self.rows.get(self.start + taken.len()) else {
            self.open = true;
            return;
        };
        let late = |within: i64| row.time - self.rows[self.start].time >= within;
        if self.pattern.within.is_some_and(late) {
            return;
        }
        let variables = &self.pattern.variables;
        let quantifier = |variable: usize| variables[variable].quantifier;
        if let Some(variable) = variable
            && quantifier(variable).to.is_none_or(|to| count < to as usize)
            && self.holds(variable, taken)
        {
            self.take(variable, count + 1, taken);
        }
        if variable.is_none_or(|variable| count >= quantifier(variable).from as usize) {
            let next = variable.map_or(0, |variable| variable + 1);
            for target in next..variables.len() {
                if !(next..target).all(|passed| quantifier(passed).optional) {
                    break;
                }
                if self.may_enter(next, target + 1, taken) && self.holds(target, taken) {
                    self.take(target, 1, taken);
                }
            }
        }
    }

    fn take(&mut self, variable: usize, count: usize, taken: &mut Vec<usize>) {
        let last = self.pattern.variables.len();
        let full = count >= self.pattern.variables[variable].quantifier.from as usize;
        let ends =
            full && self.pattern.is_last(variable) && self.may_enter(variable + 1, last, taken);
        taken.push(variable);
        if ends {
            let mut shares = vec![0; last];
            taken.iter().for_each(|variable| shares[*variable] += 1);
            self.matches.push(shares);
        }
        self.go_unless_over(variable, count, taken);
        taken.pop();
    }

    /// A last variable that has all its rows waits for none.
    fn go_unless_over(&mut self, variable: usize, count: usize, taken: &mut Vec<usize>) {
        let full = self.pattern.variables[variable].quantifier.to == Some(count as u32);
        if !(full && variable + 1 == self.pattern.variables.len()) {
            self.go(Some(variable), count, taken);
        }
    }

    /// Whether no greedy variable keeps the row from the first state of the variables behind it.
    fn may_enter(&self, from: usize, to: usize, taken: &[usize]) -> bool {
        (from..to).all(|entered| {
            let greedy = entered.checked_sub(1).filter(|before| {
                let quantifier = self.pattern.variables[*before].quantifier;
                quantifier.greedy && quantifier.to != Some(quantifier.from)
            });
            greedy.is_none_or(|greedy| !self.holds(greedy, taken))
        })
    }

    /// Whether the row behind those taken may be the variable's.
    fn holds(&self, variable: usize, taken: &[usize]) -> bool {
        let row = self.rows[self.start + taken.len()].value;
        let value = |at: usize| self.rows[self.start + at].value;
        let own: Vec<usize> = (0..taken.len()).filter(|at| taken[*at] == variable).collect();
        match self.pattern.variables[variable].condition {
            Condition::Any => true,
            Condition::Below(limit) => row.is_some_and(|row| row < limit),
            Condition::AtLeast(limit) => row.is_some_and(|row| row >= limit),
            Condition::Rising => match own.last().and_then(|at| value(*at)) {
                None => true,
                Some(before) => row.is_some_and(|row| row > before),
            },
            Condition::SumBelow(limit) => {
                let values: Vec<i64> = own.iter().filter_map(|at| value(*at)).chain(row).collect();
                !values.is_empty() && values.iter().sum::<i64>() < limit
            }
            Condition::Fewer(limit) => (taken.len() as i64 + 1) < limit,
            Condition::NotBelowFirst => {
                let first = match (0..taken.len()).find(|at| taken[*at] == 0) {
                    Some(at) => value(at),
                    None if variable == 0 => row,
                    None => None,
                };
                first.is_none_or(|first| row.is_some_and(|row| row >= first))
            }
            Condition::AboveLast => {
                let last = taken.len().checked_sub(1).and_then(value);
                row.is_some_and(|row| row <= 5)
                    && last.is_none_or(|last| row.is_some_and(|row| row > last))
            }
        }
    }
}

fn condition(condition: Condition, variable: usize) -> Option<MatchExpr> {
    let current = MatchSlot::Current(VALUE);
    let row = |rows, end, offset| MatchSlot::Row { rows, end, offset, column: VALUE };
    let own = MatchRows::Variable(variable);
    let or_null = |test: &str| {
        let null = builtin("IS NULL", vec![slot_column(1)]);
        Expr::Or(vec![null, builtin(test, vec![slot_column(0), slot_column(1)])])
    };
    let (expr, slots) = match condition {
        Condition::Any => return None,
        Condition::Below(limit) => (compare(0, "<", limit), vec![current]),
        Condition::AtLeast(limit) => (compare(0, ">=", limit), vec![current]),
        Condition::Rising => (or_null(">"), vec![current, row(own, MatchEnd::Last, 1)]),
        Condition::SumBelow(limit) => {
            let sum = MatchSlot::Aggregate { rows: own, call: call("SUM", Some(VALUE)).into() };
            (compare(0, "<", limit), vec![sum])
        }
        Condition::Fewer(limit) => {
            let rows = MatchRows::All;
            (
                compare(0, "<", limit),
                vec![MatchSlot::Aggregate { rows, call: call("COUNT", None).into() }],
            )
        }
        Condition::NotBelowFirst => {
            let first = row(MatchRows::Variable(0), MatchEnd::First, 0);
            (or_null(">="), vec![current, first])
        }
        Condition::AboveLast => {
            let last = row(MatchRows::All, MatchEnd::Last, 1);
            (Expr::And(vec![compare(0, "<=", 5), or_null(">")]), vec![current, last])
        }
    };
    Some(MatchExpr { expr, slots })
}

fn slot_column(slot: usize) -> Expr {
    Expr::column(slot, DataType::bigint())
}

fn compare(slot: usize, test: &str, limit: i64) -> Expr {
    let limit = Expr::literal(Value::Int(limit), DataType::bigint().not_null());
    builtin(test, vec![slot_column(slot), limit])
}

fn builtin(name: &str, args: Vec<Expr>) -> Expr {
    Expr::builtin(name, args).unwrap()
}

fn call(name: &str, column: Option<usize>) -> AggregateCall {
    let function = aggregate_function(name).unwrap();
    let args: Vec<Expr> = column.map(slot_column).into_iter().collect();
    let typed = CallArgs {
        name: name.into(),
        args: args.iter().map(|arg| Arg { data_type: arg.data_type(), literal: None }).collect(),
        symbols: Vec::new(),
        returning: None,
    };
    let data_type = (function.resolve)(&typed, true).unwrap().returns;
    let symbols: Vec<Arc<str>> = Vec::new();
    AggregateCall { function, args, symbols, distinct: false, filter: None, data_type }
}
