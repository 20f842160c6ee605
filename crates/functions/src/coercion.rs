//! Which types go together: the common type of several, and what is cast without being asked.

use flott_types::{DataType, Family, RowField, TypeRoot};

/// The type that all of `types` have in common (CASE, COALESCE, UNION, IN, VALUES, array elements),
/// nullable when one of them is; `None` when there is none.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    let nullable = types.iter().any(|ty| ty.nullable || ty.root == TypeRoot::Null);
    let mut known = types.iter().filter(|ty| ty.root != TypeRoot::Null);
    let Some(first) = known.next() else { return types.first().cloned() };
    let root = known.try_fold(first.root.clone(), |so_far, ty| common_root(&so_far, &ty.root))?;
    Some(root.nullable().with_nullable(nullable))
}

fn common_root(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    use TypeRoot::*;
    if left == right {
        return Some(left.clone());
    }
    Some(match (left, right) {
        (Char(a) | Varchar(a), Char(b) | Varchar(b)) => {
            // Literals of different lengths meet in the longer CHAR only when both are CHAR.
            let length = *a.max(b);
            if matches!((left, right), (Char(_), Char(_))) { Char(length) } else { Varchar(length) }
        }
        (Binary(a) | Varbinary(a), Binary(b) | Varbinary(b)) => Varbinary(*a.max(b)),
        _ if left.family() == Family::Numeric && right.family() == Family::Numeric => {
            common_numeric(left, right)?
        }
        (Time(a), Time(b)) => Time(*a.max(b)),
        (Timestamp(a), Timestamp(b)) => Timestamp(*a.max(b)),
        (TimestampLtz(a) | Timestamp(a), TimestampLtz(b) | Timestamp(b)) => TimestampLtz(*a.max(b)),
        (Date, Timestamp(p)) | (Timestamp(p), Date) => Timestamp(*p),
        (Date, TimestampLtz(p)) | (TimestampLtz(p), Date) => TimestampLtz(*p),
        (Array(a), Array(b)) => Array(common_type(&[(**a).clone(), (**b).clone()])?.into()),
        (Multiset(a), Multiset(b)) => {
            Multiset(common_type(&[(**a).clone(), (**b).clone()])?.into())
        }
        (Map(ka, va), Map(kb, vb)) => Map(
            common_type(&[(**ka).clone(), (**kb).clone()])?.into(),
            common_type(&[(**va).clone(), (**vb).clone()])?.into(),
        ),
        (Row(a), Row(b)) if a.len() == b.len() => Row(a
            .iter()
            .zip(b.iter())
            .map(|(x, y)| {
                let ty = common_type(&[x.data_type.clone(), y.data_type.clone()])?;
                Some(RowField::new(x.name.clone(), ty))
            })
            .collect::<Option<Vec<_>>>()?
            .into()),
        _ => return None,
    })
}

fn common_numeric(left: &TypeRoot, right: &TypeRoot) -> Option<TypeRoot> {
    use TypeRoot::*;
    if left.is_approximate() || right.is_approximate() {
        return Some(if matches!((left, right), (Float, Float)) { Float } else { Double });
    }
    if left.is_integer() && right.is_integer() {
        let rank = |root: &TypeRoot| root.as_decimal().map(|(precision, _)| precision);
        return Some(if rank(left) >= rank(right) { left.clone() } else { right.clone() });
    }
    let ((p1, s1), (p2, s2)) = (left.as_decimal()?, right.as_decimal()?);
    let scale = s1.max(s2);
    let precision = ((p1 - s1).max(p2 - s2) + scale).min(38);
    Some(Decimal { precision, scale: scale.min(precision) })
}

/// temp
pub fn implicit_cast_allowed(from: &DataType, to: &DataType) -> bool {
    from.root == TypeRoot::Null || common_root(&from.root, &to.root).is_some()
}
