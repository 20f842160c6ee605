//! DECIMAL arithmetic against arbitrarily long integers.

use flott_functions::decimal;
use num_bigint::BigInt;
use num_bigint::Sign;
use proptest::prelude::*;

/// Digits and scale.
fn number() -> impl Strategy<Value = (i128, u8)> {
    (1u32..=38, any::<i128>(), 0u8..=38)
        .prop_map(|(length, digits, scale)| (digits % 10i128.pow(length), scale))
}

fn result_type() -> impl Strategy<Value = (u8, u8)> {
    (1u8..=38).prop_flat_map(|precision| (Just(precision), 0..=precision))
}

fn ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// `numerator / denominator`, rounded half away from zero.
fn half_up(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let negative = (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
    let (n, d) = (numerator.magnitude(), denominator.magnitude());
    let quotient = BigInt::from((n * 2u8 + d) / (d * 2u8));
    if negative { -quotient } else { quotient }
}

/// The value with the result's scale, `None` if it has too many digits.
fn fitted(digits: BigInt, from: u32, (precision, scale): (u8, u8)) -> Option<i128> {
    let scale = u32::from(scale);
    let moved = if scale >= from {
        digits * ten(scale - from)
    } else {
        half_up(&digits, &ten(from - scale))
    };
    if moved.magnitude() >= ten(precision.into()).magnitude() {
        return None;
    }
    i128::try_from(moved).ok()
}

proptest! {
    #[test]
    fn sums((a, s) in number(), (b, t) in number(), subtract: bool, to in result_type()) {
        let common = u32::from(s.max(t));
        let left = BigInt::from(a) * ten(common - u32::from(s));
        let right = BigInt::from(b) * ten(common - u32::from(t));
        let sum = if subtract { left - right } else { left + right };
        prop_assert_eq!(decimal::add((a, s), (b, t), subtract, to), fitted(sum, common, to));
    }

    #[test]
    fn products((a, s) in number(), (b, t) in number(), to in result_type()) {
        let product = BigInt::from(a) * BigInt::from(b);
        let expected = fitted(product, u32::from(s + t), to);
        prop_assert_eq!(decimal::multiply(a, b, s + t, to), expected);
    }

    #[test]
    fn quotients((a, s) in number(), (b, t) in number(), to in result_type()) {
        prop_assume!(b != 0);
        // Java's division rounds to 38 significant digits before the scale is set.
        let mut shift = 0u32;
        let (numerator, denominator) = (BigInt::from(a) * ten(38), BigInt::from(b) * ten(38));
        let digits = |n: &BigInt, shift: u32| {
            half_up(&(n * ten(shift)), &denominator)
        };
        let expected = if a == 0 {
            Some(0)
        } else {
            while digits(&numerator, shift).magnitude() < ten(38).magnitude() {
                shift += 1;
            }
            let significant = digits(&numerator, shift - 1);
            let scale = i64::from(s) - i64::from(t) + i64::from(shift) - 1;
            match u32::try_from(scale) {
                Ok(scale) => fitted(significant, scale, to),
                Err(_) => fitted(significant * ten(scale.unsigned_abs() as u32), 0, to),
            }
        };
        prop_assert_eq!(decimal::divide((a, s), (b, t), to), expected);
    }

    #[test]
    fn remainders((a, s) in number(), (b, t) in number(), to in result_type()) {
        prop_assume!(b != 0);
        let common = u32::from(s.max(t));
        let left = BigInt::from(a) * ten(common - u32::from(s));
        let right = BigInt::from(b) * ten(common - u32::from(t));
        let too_long = (&left / &right).magnitude() >= ten(38).magnitude();
        match decimal::remainder((a, s), (b, t), to) {
            Ok(rest) => {
                prop_assert!(!too_long);
                prop_assert_eq!(rest, fitted(left % right, common, to));
            }
            Err(_) => prop_assert!(too_long),
        }
    }

    #[test]
    fn doubles_keep_their_digits(value in any::<f64>()) {
        if let Some((digits, exponent)) = decimal::shortest_digits(value) {
            prop_assert_eq!(decimal::parse_f64(digits, exponent), value);
        } else {
            prop_assert!(!value.is_finite());
        }
    }

    #[test]
    fn decimals_become_the_nearest_double((digits, scale) in number()) {
        let exact: f64 = format!("{digits}e-{scale}").parse().expect("a number");
        prop_assert_eq!(decimal::to_f64(digits, 38, scale), exact);
    }
}

#[test]
fn digits_are_counted() {
    for (number, count) in [(0, 1), (9, 1), (10, 2), (-10, 2), (i128::MAX, 39), (i128::MIN, 39)] {
        assert_eq!(decimal::digit_count(number), count, "{number}");
    }
}
