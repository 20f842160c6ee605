//! Precision and scale of results of DECIMAL arithmetic, after SQL Server's rules as Hive and Flink
//! have them: beyond 38 digits the scale gives way, but keeps six digits.

use crate::decimal::MAX_PRECISION;

/// Precision and scale.
pub type DecimalType = (u8, u8);

/// Of a sum or a difference.
pub fn sum((p1, s1): DecimalType, (p2, s2): DecimalType) -> DecimalType {
    let scale = s1.max(s2);
    adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale)
}

/// Of a product.
pub fn product((p1, s1): DecimalType, (p2, s2): DecimalType) -> DecimalType {
    adjusted(p1 + p2 + 1, s1 + s2)
}

/// Of a quotient.
pub fn quotient((p1, s1): DecimalType, (p2, s2): DecimalType) -> DecimalType {
    let scale = (s1 + p2 + 1).max(6);
    adjusted(p1 - s1 + s2 + scale, scale)
}

/// Of a remainder.
pub fn modulo((p1, s1): DecimalType, (p2, s2): DecimalType) -> DecimalType {
    let scale = s1.max(s2);
    adjusted((p1 - s1).min(p2 - s2) + scale, scale)
}

/// Of a value rounded to `places` digits after the point. One digit more may be needed before it.
pub fn rounded((precision, scale): DecimalType, places: i64) -> DecimalType {
    let whole = 1 + precision - scale;
    if places >= i64::from(scale) {
        (precision, scale)
    } else if places < 0 {
        (whole.min(MAX_PRECISION), 0)
    } else {
        // `places` is below the scale, and so the sum at most 38.
        (whole + places as u8, places as u8)
    }
}

/// Of values of both types side by side; digits before the point have precedence.
pub fn common((p1, s1): DecimalType, (p2, s2): DecimalType) -> DecimalType {
    let whole = (p1 - s1).max(p2 - s2);
    let scale = s1.max(s2).min(MAX_PRECISION - whole);
    (whole + scale, scale)
}

fn adjusted(precision: u8, scale: u8) -> DecimalType {
    if precision <= MAX_PRECISION {
        return (precision, scale);
    }
    let whole = precision - scale;
    (MAX_PRECISION, MAX_PRECISION.saturating_sub(whole).max(scale.min(6)))
}
