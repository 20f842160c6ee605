use flott_plan::{Enforcement, LengthEnforcer, NestedEnforcer, NotNullEnforcer};
use flott_types::{ChangelogBatch, DataType, Field, RowField, Schema, TypeRoot, Value};

use super::ConstraintEnforcer;
use crate::testing::OperatorHarness;

const TRIM: Enforcement = Enforcement {
    not_null: NotNullEnforcer::Error,
    length: LengthEnforcer::TrimPad,
    nested: NestedEnforcer::Rows,
};
const ERROR: Enforcement = Enforcement {
    not_null: NotNullEnforcer::Error,
    length: LengthEnforcer::Error,
    nested: NestedEnforcer::RowsAndCollections,
};

fn run(ty: DataType, values: &[Value], enforcement: Enforcement) -> Result<Vec<Value>, String> {
    let schema = Schema::new(vec![Field::new("c", ty.clone())]);
    let column = Value::to_array(values, &ty).unwrap();
    let rows = arrow::record_batch::RecordBatch::try_new(schema.to_arrow(), vec![column]).unwrap();
    let enforcer = ConstraintEnforcer::new(&schema, enforcement).unwrap();
    let mut harness = OperatorHarness::new(enforcer, 1, None).unwrap();
    harness.batch(0, ChangelogBatch::inserts(rows)).map_err(|error| error.to_string())?;
    let batches = harness.take_batches();
    let value = |batch: &ChangelogBatch, row| Value::from_array(&**batch.column(0), row, &ty);
    Ok(batches.iter().flat_map(|b| (0..b.len()).map(move |row| value(b, row))).collect())
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn char3() -> DataType {
    TypeRoot::Char(3).nullable()
}

fn varchar(length: u32) -> DataType {
    TypeRoot::Varchar(length).nullable()
}

fn row(x: DataType) -> DataType {
    DataType::row(vec![RowField::new("x", x)])
}

#[test]
fn texts_are_cut_and_padded_by_characters() {
    let given = [text("abcd"), text("ä"), Value::Null, text("😀😀😀😀")];
    let padded = run(char3(), &given, TRIM).unwrap();
    assert_eq!(padded, [text("abc"), text("ä  "), Value::Null, text("😀😀😀")]);
    let cut = run(varchar(3), &given, TRIM).unwrap();
    assert_eq!(cut, [text("abc"), text("ä"), Value::Null, text("😀😀😀")]);
}

#[test]
fn fields_of_rows_are_cut_where_asked_for() {
    let given = [Value::Row(vec![text("abcd")]), Value::Null];
    let cut = run(row(varchar(2)), &given, TRIM).unwrap();
    assert_eq!(cut, [Value::Row(vec![text("ab")]), Value::Null]);
    let schema = Schema::new(vec![Field::new("c", row(varchar(2)))]);
    let flat = Enforcement { nested: NestedEnforcer::Ignore, ..TRIM };
    assert!(ConstraintEnforcer::new(&schema, flat).is_none());
}

#[test]
fn lengths_are_refused_by_name() {
    let wrong = |ty: DataType, value: Value| run(ty, &[Value::Null, value], ERROR).unwrap_err();
    assert!(
        wrong(char3(), text("x"))
            .contains("Column 'c' is CHAR(3), however, a string of length 1 is being written")
    );
    assert!(wrong(varchar(3), text("äöüä")).contains("VARCHAR(3)"));
    let list = Value::Array(vec![text("a"), text("abc")]);
    assert!(wrong(DataType::array(varchar(2)), list).contains("'c[]' is VARCHAR(2)"));
    assert!(run(varchar(3), &[text("äöü")], ERROR).is_ok());
}

#[test]
fn nulls_inside_of_rows_are_found_only_where_the_row_is_there() {
    let ty = row(DataType::int().not_null());
    let one = Value::Row(vec![Value::Int(1)]);
    let none = Value::Row(vec![Value::Null]);
    let good = [one.clone(), Value::Null];
    assert_eq!(run(ty.clone(), &good, ERROR).unwrap(), good);
    let error = run(ty.clone(), &[one.clone(), none.clone()], ERROR).unwrap_err();
    assert!(error.contains("Column 'c.x' is NOT NULL"), "{error}");
    let drop = Enforcement { not_null: NotNullEnforcer::Drop, ..ERROR };
    assert_eq!(run(ty, &[none, one.clone(), Value::Null], drop).unwrap(), [one, Value::Null]);
}
