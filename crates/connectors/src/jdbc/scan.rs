//! What a scan asks the database for.

use flott_catalog::connector::{ConnectorError, ScanColumn, ScanRequest};
use flott_types::{DataType, Schema, TypeRoot, Value};

use super::connection::{Column, Statement};
use super::predicate;
use super::split::TableSplit;
use super::statement::{Names, Sql, list_of};
use super::table::TableRef;
use super::text;

/// A scan of a table.
#[derive(Clone)]
pub(super) struct Scan {
    pub(super) table: TableRef,
    pub(super) request: ScanRequest,
    /// The column whose ranges are splits.
    pub(super) partition: Option<usize>,
    /// The columns of the query: those wanted, and behind them what of the key is not among them.
    pub(super) columns: Vec<usize>,
    /// How many of them are wanted.
    pub(super) wanted: usize,
    /// By position in `columns` the key in whose order rows come; empty without an order.
    pub(super) key: Vec<usize>,
}

impl Scan {
    /// Plans a scan. Rows come in the order of the primary key where a job may have to go on in the
    /// middle: not in batch mode.
    pub(super) fn new(
        table: &TableRef,
        request: &ScanRequest,
        partition: Option<usize>,
    ) -> Result<Self, ConnectorError> {
        let mut columns = physical(&request.columns)?;
        let wanted = columns.len();
        let primary = &table.context.primary_key;
        let sorts = !table.context.batch
            && primary.iter().all(|at| has_exact_text(&table.columns[*at].data_type));
        let mut key = Vec::new();
        for at in primary.iter().filter(|_| sorts) {
            let known = columns.iter().position(|column| column == at);
            key.push(known.unwrap_or_else(|| {
                columns.push(*at);
                columns.len() - 1
            }));
        }
        Ok(Self { table: table.clone(), request: request.clone(), partition, columns, wanted, key })
    }

    /// The columns of the query's result; one of numbers where nothing is wanted.
    pub(super) fn result_columns(&self) -> Vec<Column> {
        if self.columns.is_empty() {
            return vec![Column { name: "1".into(), data_type: DataType::bigint() }];
        }
        self.table.columns_at(&self.columns)
    }

    /// The schema of the columns wanted.
    pub(super) fn schema(&self) -> Schema {
        let fields = &self.table.context.schema.fields;
        Schema::new(self.columns[..self.wanted].iter().map(|at| fields[*at].clone()).collect())
    }

    /// The query for the rest of a split, and how many of its first rows are to be left out.
    pub(super) fn query(&self, names: &Names, split: &TableSplit) -> (Statement, u64) {
        let table = &self.table;
        let mut sql = Sql::select(table.dialect, names, &self.columns);
        let mut word = " WHERE ";
        if let (Some(column), Some((first, last))) = (self.partition, split.range) {
            sql.push(word).push(&names.columns[column]).push(" BETWEEN ");
            sql.value(Value::Int(first), &DataType::bigint()).push(" AND ");
            sql.value(Value::Int(last), &DataType::bigint());
            word = " AND ";
        }
        for pushed in &self.request.predicates {
            sql.push(word);
            predicate::render(&mut sql, names, table, &pushed.predicate);
            word = " AND ";
        }
        let key: Vec<usize> = self.key.iter().map(|at| self.columns[*at]).collect();
        let after = split.key.as_ref().filter(|last| last.len() == key.len() && !key.is_empty());
        if let Some(last) = after {
            sql.push(word);
            self.behind(&mut sql, names, &key, last);
        }
        if !key.is_empty() {
            sql.push(" ORDER BY ").push(&list_of(names, &key));
        }
        let skipped = if after.is_some() { 0 } else { split.rows };
        if let Some(limit) = self.request.limit {
            let rest = limit.saturating_sub(split.rows - skipped);
            sql.push(&format!(" LIMIT {rest}"));
        }
        (sql.finish(), skipped)
    }

    /// `(a, b) > (x, y)`, in words that every database uses an index for.
    fn behind(&self, sql: &mut Sql<'_>, names: &Names, key: &[usize], last: &[String]) {
        sql.push("(");
        for end in 0..key.len() {
            if end > 0 {
                sql.push(" OR ");
            }
            sql.push("(");
            for (i, at) in key.iter().enumerate().take(end + 1) {
                let column = &self.table.columns[*at];
                let value = text::parse(&last[i], &column.data_type, &self.table.login.zone);
                sql.push(if i > 0 { " AND " } else { "" }).push(&names.columns[*at]);
                sql.push(if i == end { " > " } else { " = " });
                sql.value(value.unwrap_or(Value::Null), &column.data_type);
            }
            sql.push(")");
        }
        sql.push(")");
    }
}

/// The physical columns of a request; the connector has no others.
pub(super) fn physical(columns: &[ScanColumn]) -> Result<Vec<usize>, ConnectorError> {
    let of = |column: &ScanColumn| match column {
        ScanColumn::Physical(at) => Ok(*at),
        ScanColumn::Metadata(key) => {
            Err(ConnectorError::new(format!("tables of databases have no metadata column '{key}'")))
        }
    };
    columns.iter().map(of).collect()
}

/// Whether the text of a value is all of it, also of the value that the database holds.
fn has_exact_text(data_type: &DataType) -> bool {
    let root = &data_type.root;
    root.is_integer()
        || matches!(root, TypeRoot::Varchar(_) | TypeRoot::Decimal { .. } | TypeRoot::Date)
}
