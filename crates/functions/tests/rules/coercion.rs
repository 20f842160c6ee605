//! Common types and silent casts.

use flott_functions::coercion::{
    common_argument_type, common_type, decimal, implicit_cast_allowed,
};
use flott_types::{DataType, RowField, TypeRoot};

fn ty(root: TypeRoot) -> DataType {
    root.nullable()
}

#[test]
fn common_types() {
    let (float, double) = (ty(TypeRoot::Float), DataType::double());
    let (char, varchar) = (|n| ty(TypeRoot::Char(n)), |n| ty(TypeRoot::Varchar(n)));
    let (ts, ltz, dec) = (DataType::timestamp, DataType::timestamp_ltz, DataType::decimal);
    let date = ty(TypeRoot::Date);
    // Two types, what the validator makes of them, and what functions make of them.
    let cases = [
        (ty(TypeRoot::TinyInt), DataType::int(), Some(DataType::int()), Some(DataType::int())),
        (float.clone(), double.clone(), Some(float.clone()), Some(double.clone())),
        (double.clone(), float.clone(), Some(double.clone()), Some(double.clone())),
        (DataType::bigint(), float.clone(), Some(float.clone()), Some(float.clone())),
        (dec(6, 2), float.clone(), Some(double.clone()), Some(float.clone())),
        (float, dec(6, 2), Some(double.clone()), Some(double)),
        (dec(6, 2), DataType::bigint(), Some(dec(21, 2)), Some(dec(21, 2))),
        (dec(38, 10), dec(6, 4), Some(dec(38, 10)), Some(dec(38, 10))),
        (char(2), char(2), Some(char(2)), Some(char(2))),
        (char(2), char(3), Some(varchar(3)), Some(varchar(3))),
        (char(5), varchar(3), Some(varchar(5)), Some(varchar(5))),
        (ts(3), ts(6), Some(ts(6)), Some(ts(6))),
        (ts(3), ltz(3), Some(ts(3)), Some(ltz(3))),
        (ltz(3), ts(6), Some(ts(6)), Some(ltz(6))),
        (ts(6), ltz(3), Some(ltz(6)), Some(ltz(6))),
        (date.clone(), ts(3), None, Some(date)),
        (DataType::int(), DataType::string(), None, None),
        (DataType::boolean(), DataType::int(), None, None),
        (DataType::string(), DataType::bytes(), None, None),
        (
            DataType::array(DataType::int()),
            DataType::array(dec(3, 1)),
            Some(DataType::array(dec(11, 1))),
            Some(DataType::array(dec(11, 1))),
        ),
    ];
    for (a, b, validator, argument) in cases {
        let types = [a.clone(), b.clone()];
        assert_eq!(common_type(&types), validator, "{a} and {b}");
        assert_eq!(common_argument_type(&types), argument, "{a} and {b} as arguments");
    }
}

#[test]
fn nullability_follows_any_type() {
    let (int, not_null) = (DataType::int(), DataType::int().not_null());
    assert_eq!(common_type(&[not_null.clone(), not_null.clone()]), Some(not_null.clone()));
    assert_eq!(common_type(&[not_null.clone(), DataType::null()]), Some(int.clone()));
    assert_eq!(common_argument_type(&[not_null, int.clone()]), Some(int));
    assert_eq!(common_argument_type(&[DataType::null()]), None);
}

#[test]
fn decimal_arithmetic() {
    assert_eq!(decimal::sum((5, 2), (10, 0)), (13, 2));
    assert_eq!(decimal::sum((38, 37), (1, 1)), (38, 36));
    assert_eq!(decimal::product((20, 10), (20, 10)), (38, 17));
    assert_eq!(decimal::product((38, 18), (38, 18)), (38, 6));
    assert_eq!(decimal::quotient((5, 2), (10, 0)), (16, 13));
    assert_eq!(decimal::quotient((38, 0), (10, 0)), (38, 6));
    assert_eq!(decimal::modulo((10, 0), (5, 2)), (5, 2));
    assert_eq!(decimal::rounded((10, 4), 2), (9, 2));
    assert_eq!(decimal::rounded((10, 4), 5), (10, 4));
    assert_eq!(decimal::rounded((10, 4), -1), (7, 0));
}

#[test]
fn silent_casts() {
    let (int, bigint) = (DataType::int(), DataType::bigint());
    let row = |name: &str, ty: &DataType| DataType::row([RowField::new(name, ty.clone())]);
    assert!(implicit_cast_allowed(&int, &bigint));
    assert!(!implicit_cast_allowed(&bigint, &int));
    assert!(!implicit_cast_allowed(&int, &int.clone().not_null()));
    assert!(implicit_cast_allowed(&int.clone().not_null(), &int));
    assert!(implicit_cast_allowed(&DataType::null(), &int));
    assert!(implicit_cast_allowed(&ty(TypeRoot::Char(3)), &DataType::string()));
    assert!(!implicit_cast_allowed(&DataType::string(), &ty(TypeRoot::Char(3))));
    assert!(implicit_cast_allowed(&DataType::timestamp(3), &DataType::timestamp_ltz(6)));
    assert!(!implicit_cast_allowed(&int, &DataType::string()));
    assert!(implicit_cast_allowed(&row("a", &int), &row("b", &bigint)));
    assert!(!implicit_cast_allowed(&row("a", &bigint), &row("b", &int)));
}

#[test]
fn constructed_types_beside_an_untyped_null_go_by_assignment() {
    let array = |ty: DataType| DataType::array(ty);
    let map = |value: DataType| DataType::map(DataType::string(), value);
    let (int, bigint, text) = (DataType::int(), DataType::bigint(), DataType::string());
    let (char, dec) = (|length| ty(TypeRoot::Char(length)), DataType::decimal);
    let cases = [
        // The last type that the others can be assigned to.
        (array(int.clone()), array(bigint.clone()), Some(array(bigint.clone()))),
        (array(bigint.clone()), array(int.clone()), Some(array(bigint.clone()))),
        (array(DataType::double()), array(dec(2, 1)), Some(array(dec(2, 1)))),
        (array(char(3)), array(char(1)), Some(array(char(1)))),
        (array(text.clone()), array(char(1)), Some(array(text.clone()))),
        (array(text.clone()), array(int.clone()), None),
        // Maps can always.
        (map(bigint.clone()), map(int.clone()), Some(map(int.clone()))),
    ];
    for (a, b, wanted) in cases {
        let types = [a.clone(), DataType::null(), b.clone()];
        assert_eq!(common_type(&types), wanted, "{a}, NULL and {b}");
    }
    // Maps without a common type need no NULL for it.
    assert_eq!(common_type(&[map(text.clone()), map(int.clone())]), Some(map(int)));
}
