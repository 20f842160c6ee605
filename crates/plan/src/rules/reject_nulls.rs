//! Whether a condition can be TRUE of a row whose columns of one side of a join are all NULL.
//!
//! Where it cannot, rows padded with NULLs are dropped at once, and the join need not make them.
//! Only functions of which Flink's planner knows that NULL makes them NULL count, so that the
//! changelog of a query is the one that Flink gives.

use flott_functions::{Expr, SessionSettings};
use flott_types::Value;

use super::fold;

/// What is known of an expression when some columns are NULL.
enum Known {
    /// It is NULL.
    Null,
    /// It is this constant.
    Constant(Expr),
    /// It is not TRUE.
    NotTrue,
    /// Anything.
    Unknown,
}

/// Whether a condition drops every row in which the columns that `padded` names are NULL.
pub(super) fn rejects(
    condition: &Expr,
    padded: &impl Fn(usize) -> bool,
    settings: &SessionSettings,
) -> bool {
    let reading = Reading { padded, settings };
    reading.of(condition).is_not_true()
}

impl Known {
    fn is_not_true(&self) -> bool {
        match self {
            Self::Null | Self::NotTrue => true,
            Self::Constant(constant) => !is_true(constant),
            Self::Unknown => false,
        }
    }

    fn is_true(&self) -> bool {
        matches!(self, Self::Constant(constant) if is_true(constant))
    }

    fn boolean(value: bool) -> Self {
        Self::Constant(Expr::boolean(value))
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal { value: Value::Boolean(true), .. })
}

struct Reading<'a, P> {
    padded: &'a P,
    settings: &'a SessionSettings,
}

impl<P: Fn(usize) -> bool> Reading<'_, P> {
    fn of(&self, expr: &Expr) -> Known {
        match expr {
            Expr::Column { index, .. } if (self.padded)(*index) => Known::Null,
            Expr::Column { .. } => Known::Unknown,
            Expr::Literal { value: Value::Null, .. } => Known::Null,
            Expr::Literal { .. } => Known::Constant(expr.clone()),
            Expr::Cast { input, .. } => self.strict(expr, &[input]),
            Expr::Field { input, .. } => self.strict(expr, &[input]),
            Expr::And(conjuncts) => {
                let known: Vec<Known> = conjuncts.iter().map(|c| self.of(c)).collect();
                if known.iter().any(Known::is_not_true) {
                    Known::NotTrue
                } else if known.iter().all(Known::is_true) {
                    Known::boolean(true)
                } else {
                    Known::Unknown
                }
            }
            Expr::Or(any) if is_search(any) => Known::Unknown,
            Expr::Or(any) => {
                let known: Vec<Known> = any.iter().map(|c| self.of(c)).collect();
                if known.iter().all(Known::is_not_true) {
                    Known::NotTrue
                } else if known.iter().any(Known::is_true) {
                    Known::boolean(true)
                } else {
                    Known::Unknown
                }
            }
            Expr::Case { branches, otherwise, .. } => {
                for (condition, result) in branches {
                    let known = self.of(condition);
                    if known.is_true() {
                        return self.of(result);
                    }
                    if !known.is_not_true() {
                        return Known::Unknown;
                    }
                }
                self.of(otherwise)
            }
            Expr::Coalesce { args, .. } => {
                for arg in args {
                    match self.of(arg) {
                        Known::Null => {}
                        other => return other,
                    }
                }
                Known::Null
            }
            Expr::Call { function, args, .. } => self.call(expr, function.name, args),
        }
    }

    fn call(&self, expr: &Expr, name: &str, args: &[Expr]) -> Known {
        const STRICT: [&str; 14] =
            ["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "NEGATE", "NOT", "LIKE"];
        if STRICT.contains(&name) {
            return self.strict(expr, &args.iter().collect::<Vec<_>>());
        }
        if let ("BETWEEN", [value, low, high]) = (name, args) {
            return self.between(value, low, high);
        }
        let [only] = args else { return Known::Unknown };
        let known = self.of(only);
        let (null, truth) = match &known {
            Known::Null => (true, false),
            Known::Constant(constant) => (false, is_true(constant)),
            Known::NotTrue if name == "IS TRUE" => (false, false),
            _ => return Known::Unknown,
        };
        match name {
            "IS NULL" | "IS UNKNOWN" => Known::boolean(null),
            "IS NOT NULL" | "IS NOT UNKNOWN" => Known::boolean(!null),
            "IS TRUE" => Known::boolean(truth),
            "IS NOT TRUE" => Known::boolean(!truth),
            "IS FALSE" => Known::boolean(!null && !truth),
            "IS NOT FALSE" => Known::boolean(null || truth),
            _ => Known::Unknown,
        }
    }

    /// Two comparisons; between constants, a search.
    fn between(&self, value: &Expr, low: &Expr, high: &Expr) -> Known {
        let is_constant = |expr: &Expr| matches!(expr, Expr::Literal { .. });
        if is_constant(low) && is_constant(high) {
            return Known::Unknown;
        }
        let compare = |name, bound: &Expr| Expr::builtin(name, vec![value.clone(), bound.clone()]);
        match (compare(">=", low), compare("<=", high)) {
            (Ok(above), Ok(below)) => self.of(&Expr::And(vec![above, below])),
            _ => Known::Unknown,
        }
    }

    /// A function that is NULL when an argument is.
    fn strict(&self, expr: &Expr, args: &[&Expr]) -> Known {
        let mut constants = Vec::new();
        let mut unknown = false;
        for arg in args {
            match self.of(arg) {
                Known::Null => return Known::Null,
                Known::Constant(constant) => constants.push(constant),
                Known::NotTrue | Known::Unknown => unknown = true,
            }
        }
        if unknown {
            return Known::Unknown;
        }
        let mut constants = constants.into_iter();
        let mut whole = expr.clone();
        match &mut whole {
            Expr::Call { args, .. } => {
                args.iter_mut().zip(&mut constants).for_each(|(a, c)| *a = c)
            }
            Expr::Cast { input, .. } | Expr::Field { input, .. } => {
                if let Some(constant) = constants.next() {
                    **input = constant;
                }
            }
            _ => return Known::Unknown,
        }
        match fold(whole, self.settings) {
            Expr::Literal { value: Value::Null, .. } => Known::Null,
            literal @ Expr::Literal { .. } => Known::Constant(literal),
            _ => Known::Unknown,
        }
    }
}

/// Comparisons of one expression with constants: Flink makes one search of them, and does not look into it.
fn is_search(any: &[Expr]) -> bool {
    let searched = |expr: &Expr| match expr {
        Expr::Call { function, args, .. }
            if matches!(function.name, "=" | "<>" | "<" | "<=" | ">" | ">=") =>
        {
            match args.as_slice() {
                [Expr::Literal { .. }, other] | [other, Expr::Literal { .. }] => {
                    Some(other.to_string())
                }
                _ => None,
            }
        }
        _ => None,
    };
    let Some(first) = any.first().and_then(searched) else { return false };
    any.iter().all(|expr| searched(expr).as_ref() == Some(&first))
}
