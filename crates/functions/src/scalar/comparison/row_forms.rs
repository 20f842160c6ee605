//! Comparisons of rows whose fields are written out: `(a, b) = (1, 'x')` is `a = 1 AND b = 'x'`.
//!
//! Rows that come from elsewhere are compared as values, where a NULL field equals another, and so are all by `<>`.

use crate::{Expr, SignatureError};

/// The comparison field by field, if it is `=` or IN among rows that are written out.
pub(crate) fn by_fields(name: &str, args: &[Expr]) -> Result<Option<Expr>, SignatureError> {
    let rows: Option<Vec<&[Expr]>> = args.iter().map(fields).collect();
    let Some([left, items @ ..]) = rows.as_deref() else { return Ok(None) };
    if items.is_empty() || items.iter().any(|item| item.len() != left.len()) {
        return Ok(None);
    }
    match name {
        "=" => pairs("=", left, items[0]).map(Some),
        "IN" => {
            let mut tests =
                items.iter().map(|item| pairs("IN", left, item)).collect::<Result<Vec<_>, _>>()?;
            Ok(if tests.len() == 1 { tests.pop() } else { Some(Expr::Or(tests)) })
        }
        _ => Ok(None),
    }
}

fn fields(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Call { function, args, .. } if function.name == "ROW" => Some(args),
        _ => None,
    }
}

/// The operator between the fields of two rows of the same length, all of which must hold.
fn pairs(operator: &str, left: &[Expr], right: &[Expr]) -> Result<Expr, SignatureError> {
    let pairs = left.iter().zip(right);
    let tests = pairs.map(|(a, b)| Expr::builtin(operator, vec![a.clone(), b.clone()]));
    Ok(Expr::conjunction(tests.collect::<Result<_, _>>()?))
}
