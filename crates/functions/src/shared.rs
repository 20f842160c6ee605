//! Parts that stand in several expressions and are computed once.
//!
//! `SELECT f(x), g(f(x)) … WHERE f(x) > 1` calls `f` once a row: its result becomes a column that all
//! three read. A part is shared only where it would be computed for every row anyway, so that nothing
//! is called for a row from which CASE, AND, OR or COALESCE keeps it: it may fail there.

use std::collections::HashMap;

use crate::{Expr, Volatility};

/// Where columns are counted from that stand for parts, far behind any column.
const PART: usize = 1 << 40;

/// A condition and the expressions computed from rows that fulfil it, with their common parts apart.
///
/// Columns from the width of the input on are the parts: first those of `before`, then those of `after`.
#[derive(Debug, PartialEq)]
pub struct SharedParts {
    /// Parts computed for all rows; each may read those in front of it.
    pub before: Vec<Expr>,
    /// The condition.
    pub condition: Option<Expr>,
    /// Parts computed for the rows that fulfil the condition.
    pub after: Vec<Expr>,
    /// What is computed from these rows.
    pub projection: Vec<Expr>,
}

impl SharedParts {
    /// Takes the common parts out of expressions over an input of `width` columns.
    pub fn of(condition: Option<&Expr>, projection: &[Expr], width: usize) -> Self {
        let mut parts = Parts::default();
        let condition = condition.map(|expr| parts.add(expr));
        let projection: Vec<_> = projection.iter().map(|expr| parts.add(expr)).collect();

        let first = Uses::of(&parts, condition.iter(), &[]);
        let all = Uses::of(&parts, condition.iter().chain(&projection), &[]);
        let mut places = Places { of_part: vec![None; parts.nodes.len()], next: width };
        let before =
            places.give(|part| parts.worth[part] && first.always[part] && all.count[part] > 1);
        let before = parts.definitions(before, &places);
        let condition = condition.map(|root| parts.expand(root, &places));

        // The condition is computed before these have a place.
        let given: Vec<bool> = places.of_part.iter().map(Option::is_some).collect();
        let then = Uses::of(&parts, projection.iter(), &given);
        let after = places.give(|part| {
            !given[part] && parts.worth[part] && then.always[part] && then.count[part] > 1
        });
        Self {
            before,
            condition,
            after: parts.definitions(after, &places),
            projection: projection.into_iter().map(|root| parts.expand(root, &places)).collect(),
        }
    }
}

/// Which column a part is, if it is one.
struct Places {
    of_part: Vec<Option<usize>>,
    /// The next column.
    next: usize,
}

impl Places {
    /// Gives the wanted parts columns, and tells which they are.
    fn give(&mut self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let chosen: Vec<usize> = (0..self.of_part.len()).filter(|part| wanted(*part)).collect();
        for part in &chosen {
            self.of_part[*part] = Some(self.next);
            self.next += 1;
        }
        chosen
    }
}

/// Expressions as a graph: equal parts are one node, whose operands are columns from [`PART`] on.
#[derive(Default)]
struct Parts {
    nodes: Vec<Expr>,
    /// Whether a part gives the same each time it is computed from the same row.
    stable: Vec<bool>,
    /// Whether it is stable, and computing it costs more than reading a column.
    worth: Vec<bool>,
    known: HashMap<String, usize>,
}

impl Parts {
    /// Adds an expression with all its parts; what it gives stands for the whole.
    fn add(&mut self, expr: &Expr) -> Expr {
        expr.clone().transform(&mut |node| match node {
            leaf @ (Expr::Column { .. } | Expr::Literal { .. }) => leaf,
            node => self.intern(node),
        })
    }

    fn intern(&mut self, node: Expr) -> Expr {
        let data_type = node.data_type();
        let part = *self.known.entry(node.to_string()).or_insert_with(|| {
            let columns = node.columns();
            let stable = node.volatility() == Volatility::Immutable
                && columns
                    .iter()
                    .filter_map(|column| part_at(*column))
                    .all(|part| self.stable[part]);
            // A field is taken out of its row for nothing; what reads no column is computed once.
            let cheap = matches!(node, Expr::Field { .. }) || columns.is_empty();
            self.stable.push(stable);
            self.worth.push(stable && !cheap);
            self.nodes.push(node);
            self.nodes.len() - 1
        });
        Expr::column(PART + part, data_type)
    }

    /// The parts that a node has as operands.
    fn operands(&self, part: usize) -> impl Iterator<Item = usize> {
        self.nodes[part].children().into_iter().filter_map(part_of)
    }

    /// The operands that are computed for every row for which the node is.
    fn certain_operands(&self, part: usize) -> impl Iterator<Item = usize> {
        let node = &self.nodes[part];
        let certain = match node {
            Expr::And(_) | Expr::Or(_) | Expr::Coalesce { .. } | Expr::Case { .. } => 1,
            _ => usize::MAX,
        };
        node.children().into_iter().take(certain).filter_map(part_of)
    }

    /// How parts are computed.
    fn definitions(&self, chosen: Vec<usize>, places: &Places) -> Vec<Expr> {
        let define = |part: usize| self.expand_operands(self.nodes[part].clone(), places);
        chosen.into_iter().map(define).collect()
    }

    /// The expression itself: parts that have a place are read there, others are written out.
    fn expand(&self, expr: Expr, places: &Places) -> Expr {
        match part_of(&expr) {
            None => expr,
            Some(part) => match places.of_part[part] {
                Some(column) => Expr::column(column, expr.data_type()),
                None => self.expand_operands(self.nodes[part].clone(), places),
            },
        }
    }

    fn expand_operands(&self, node: Expr, places: &Places) -> Expr {
        node.transform(&mut |leaf| match leaf {
            leaf @ Expr::Column { .. } => self.expand(leaf, places),
            other => other,
        })
    }
}

/// The part that a column stands for.
fn part_at(column: usize) -> Option<usize> {
    column.checked_sub(PART)
}

fn part_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column { index, .. } => part_at(*index),
        _ => None,
    }
}

/// How some expressions use the parts.
struct Uses {
    /// In how many places a part stands, counted once for each part that holds it.
    count: Vec<usize>,
    /// Whether it is computed for every row.
    always: Vec<bool>,
}

impl Uses {
    /// The uses in `roots`, without what is below the parts that are `given`.
    fn of<'a>(parts: &Parts, roots: impl Iterator<Item = &'a Expr>, given: &[bool]) -> Self {
        let is_given = |part: &usize| given.get(*part).copied().unwrap_or(false);
        let roots: Vec<usize> = roots.filter_map(part_of).filter(|part| !is_given(part)).collect();
        let mut count = vec![0; parts.nodes.len()];
        let mut open = roots.clone();
        while let Some(part) = open.pop() {
            count[part] += 1;
            if count[part] == 1 {
                open.extend(parts.operands(part).filter(|part| !is_given(part)));
            }
        }
        let mut always = vec![false; parts.nodes.len()];
        let mut open = roots;
        while let Some(part) = open.pop() {
            if !std::mem::replace(&mut always[part], true) {
                open.extend(parts.certain_operands(part).filter(|part| !is_given(part)));
            }
        }
        Self { count, always }
    }
}

#[cfg(test)]
mod tests {
    use flott_types::DataType;

    use super::*;

    fn text(index: usize) -> Expr {
        Expr::column(index, DataType::string())
    }

    fn upper(of: Expr) -> Expr {
        Expr::builtin("UPPER", vec![of]).unwrap()
    }

    fn is_a(of: Expr) -> Expr {
        Expr::builtin("=", vec![of, Expr::column(1, DataType::string())]).unwrap()
    }

    fn shown(exprs: &[Expr]) -> Vec<String> {
        exprs.iter().map(Expr::to_string).collect()
    }

    #[test]
    fn what_the_condition_computes_the_projection_reads() {
        let parts = SharedParts::of(Some(&is_a(upper(text(0)))), &[upper(text(0)), text(0)], 2);
        assert_eq!(shown(&parts.before), ["UPPER($0)"]);
        assert_eq!(parts.condition.unwrap().to_string(), "($2 = $1)");
        assert_eq!(shown(&parts.projection), ["$2", "$0"]);
        assert!(parts.after.is_empty());
    }

    #[test]
    fn parts_of_the_projection_alone_are_computed_for_the_rows_that_are_left() {
        let lower = Expr::builtin("LOWER", vec![upper(text(0))]).unwrap();
        let all = [lower.clone(), upper(text(0)), is_a(lower)];
        let parts = SharedParts::of(Some(&is_a(text(0))), &all, 2);
        assert!(parts.before.is_empty());
        assert_eq!(shown(&parts.after), ["UPPER($0)", "LOWER($2)"]);
        assert_eq!(shown(&parts.projection), ["$3", "$2", "($3 = $1)"]);
    }

    #[test]
    fn nothing_is_computed_for_rows_that_are_kept_from_it() {
        let guarded = |result: Expr| Expr::Case {
            branches: vec![(is_a(text(0)), result)],
            otherwise: Box::new(Expr::null(DataType::string())),
            data_type: DataType::string(),
        };
        let all = [guarded(upper(text(0))), guarded(upper(upper(text(0))))];
        let parts = SharedParts::of(None, &all, 2);
        assert_eq!(shown(&parts.after), ["($0 = $1)"]);
        let condition = Expr::And(vec![is_a(text(0)), is_a(upper(text(0)))]);
        let parts = SharedParts::of(Some(&condition), &[upper(text(0))], 2);
        assert_eq!((parts.before.len(), parts.after.len()), (0, 0));
        assert_eq!(parts.condition, Some(condition.clone()));
        // What the projection shares is no column yet when the condition is computed.
        let twice = [upper(text(0)), is_a(upper(text(0)))];
        let parts = SharedParts::of(Some(&condition), &twice, 2);
        assert_eq!(shown(&parts.after), ["UPPER($0)"]);
        assert_eq!(parts.condition, Some(condition));
    }

    #[test]
    fn what_differs_each_time_is_called_each_time() {
        let random = || Expr::builtin("RAND", vec![]).unwrap();
        let all = [random(), random(), Expr::builtin("SIN", vec![random()]).unwrap()];
        let parts = SharedParts::of(None, &all, 0);
        assert_eq!((shown(&parts.projection), parts.after.len()), (shown(&all), 0));
    }
}
