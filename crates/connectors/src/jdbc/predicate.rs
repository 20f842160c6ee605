//! Conditions that the database evaluates.

use flott_catalog::connector::{Comparison, Predicate, PredicateSupport};
use flott_types::{DataType, TypeRoot, Value};

use super::statement::{Names, Sql};
use super::table::Table;

/// What the database makes of a condition.
pub(super) fn support(table: &Table, predicate: &Predicate) -> PredicateSupport {
    let of_all = |parts: &[Predicate]| {
        let parts: Vec<_> = parts.iter().map(|part| support(table, part)).collect();
        if parts.contains(&PredicateSupport::None) {
            PredicateSupport::None
        } else if parts.contains(&PredicateSupport::Narrows) {
            PredicateSupport::Narrows
        } else {
            PredicateSupport::Decides
        }
    };
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => of_all(parts),
        // A backslash escapes in some databases, and in Flink nothing does.
        Predicate::Like { pattern, .. } if pattern.contains('\\') => PredicateSupport::None,
        other => table.dialect.predicate_support(other, &table.context.schema),
    }
}

/// Writes a condition with its values as parameters.
pub(super) fn render(sql: &mut Sql<'_>, names: &Names, table: &Table, predicate: &Predicate) {
    match predicate {
        Predicate::And(parts) => joined(sql, names, table, parts, " AND ", "1 = 1"),
        Predicate::Or(parts) => joined(sql, names, table, parts, " OR ", "1 = 0"),
        Predicate::IsNull { column, negated } => {
            let test = if *negated { " IS NOT NULL" } else { " IS NULL" };
            sql.push(&names.columns[*column]).push(test);
        }
        Predicate::Like { column, pattern } => {
            sql.push(&names.columns[*column]).push(" LIKE ");
            sql.value(Value::String(pattern.clone()), &DataType::string());
        }
        Predicate::Compare { column, op, value, .. } => {
            let name = &names.columns[*column];
            let data_type = &table.columns[*column].data_type;
            match (value, &data_type.root) {
                (Value::Timestamp(at), TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p)) => {
                    moment(sql, name, *op, (*at, *p), data_type);
                }
                _ => compare(sql, name, op.sql(), value.clone(), &type_of(predicate, data_type)),
            }
        }
    }
}

/// The type in which a value is written: its own, as it need not be one of the column's.
fn type_of<'a>(predicate: &'a Predicate, column: &'a DataType) -> DataType {
    match predicate {
        Predicate::Compare { data_type, .. } => data_type.clone(),
        _ => column.clone(),
    }
}

fn joined(
    sql: &mut Sql<'_>,
    names: &Names,
    table: &Table,
    parts: &[Predicate],
    word: &str,
    of_none: &str,
) {
    if parts.is_empty() {
        sql.push(of_none);
        return;
    }
    sql.push("(");
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            sql.push(word);
        }
        render(sql, names, table, part);
    }
    sql.push(")");
}

fn compare(sql: &mut Sql<'_>, name: &str, op: &str, value: Value, data_type: &DataType) {
    sql.push(name).push(" ").push(op).push(" ");
    sql.value(value, data_type);
}

/// Compares moments as the job sees them: the database may hold digits that the column's type cuts off.
fn moment(
    sql: &mut Sql<'_>,
    name: &str,
    op: Comparison,
    (at, precision): (i128, u8),
    data_type: &DataType,
) {
    let step = 10i128.pow(9 - u32::from(precision.min(9)));
    let (this, next) = (Value::Timestamp(at), Value::Timestamp(at + step));
    let mut one = |op: &str, value: Value| compare(sql, name, op, value, data_type);
    match op {
        Comparison::Less => one("<", this),
        Comparison::LessOrEqual => one("<", next),
        Comparison::Greater => one(">=", next),
        Comparison::GreaterOrEqual => one(">=", this),
        Comparison::Equal => {
            one(">=", this);
            sql.push(" AND ");
            compare(sql, name, "<", next, data_type);
        }
        Comparison::NotEqual => {
            sql.push("(");
            compare(sql, name, "<", this, data_type);
            sql.push(" OR ");
            compare(sql, name, ">=", next, data_type);
            sql.push(")");
        }
    }
}
