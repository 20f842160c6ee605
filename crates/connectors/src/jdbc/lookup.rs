//! Rows asked for by key, many keys in one query.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use flott_catalog::connector::{
    ConnectorError, LookupReader, LookupRequest, LookupRows, LookupSource, PushedPredicate,
};
use flott_types::{DataType, Schema, Value};

use super::connection::{DatabaseError, Statement};
use super::predicate;
use super::scan::physical;
use super::statement::{Names, Sql};
use super::table::{Session, TableRef};

/// How many keys a query asks for at most.
const KEYS: usize = 1000;

/// Fetches rows of a table by key.
pub(super) struct TableLookup {
    pub(super) table: TableRef,
    /// `lookup.max-retries`
    pub(super) retries: u32,
}

impl LookupSource for TableLookup {
    fn reader(&self, request: &LookupRequest) -> Result<Box<dyn LookupReader>, ConnectorError> {
        Ok(Box::new(TableLookupReader {
            table: self.table.clone(),
            retries: self.retries,
            columns: physical(&request.columns)?,
            keys: request.keys.clone(),
            predicates: request.predicates.clone(),
            session: None,
        }))
    }
}

struct TableLookupReader {
    table: TableRef,
    retries: u32,
    /// Of the rows, as positions in the table.
    columns: Vec<usize>,
    /// The key, as positions in `columns`.
    keys: Vec<usize>,
    predicates: Vec<PushedPredicate>,
    session: Option<Session>,
}

impl LookupReader for TableLookupReader {
    fn lookup(&mut self, keys: &RecordBatch) -> Result<LookupRows, ConnectorError> {
        let types: Vec<DataType> = self.keys.iter().map(|at| self.type_of(*at)).collect();
        let key = |row: usize| -> Vec<Value> {
            let columns = keys.columns().iter().zip(&types);
            columns.map(|(column, ty)| Value::from_array(column, row, ty)).collect()
        };
        let keys: Vec<Vec<Value>> = (0..keys.num_rows()).map(key).collect();
        let mut found: Vec<Vec<Value>> = vec![Vec::new(); self.columns.len()];
        let widest = self.table.dialect.max_parameters() / (2 * self.keys.len().max(1));
        for part in keys.chunks(KEYS.min(widest)) {
            let rows = self.ask(part).map_err(|error| self.table.failed(error))?;
            found.iter_mut().zip(rows).for_each(|(all, rows)| all.extend(rows));
        }
        self.assign(&keys, &found)
    }
}

impl TableLookupReader {
    fn type_of(&self, column: usize) -> DataType {
        self.table.columns[self.columns[column]].data_type.clone()
    }

    /// The rows of some keys, by column.
    fn ask(&mut self, keys: &[Vec<Value>]) -> Result<Vec<Vec<Value>>, DatabaseError> {
        let mut session = self.session.take();
        let columns = self.table.columns_at(&self.columns);
        let found = self.table.retried(&mut session, self.retries, |session| {
            let query = self.query(&session.names, keys);
            let mut found: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
            session.connection.query(&query, &columns, usize::MAX, &mut |rows| {
                found.iter_mut().zip(rows).for_each(|(all, rows)| all.extend(rows));
                Ok(true)
            })?;
            Ok(found)
        });
        self.session = session;
        found
    }

    fn query(&self, names: &Names, keys: &[Vec<Value>]) -> Statement {
        let table = &self.table;
        let mut sql = Sql::select(table.dialect, names, &self.columns);
        sql.push(" WHERE (");
        let places: Vec<usize> = self.keys.iter().map(|at| self.columns[*at]).collect();
        // `k IN (…)` where one column is the key, else the keys one by one.
        if let [at] = places.as_slice() {
            sql.push(&names.columns[*at]).push(" IN (");
            for (i, key) in keys.iter().enumerate() {
                sql.push(if i > 0 { ", " } else { "" });
                sql.value(key[0].clone(), &table.columns[*at].data_type);
            }
            sql.push(")");
        } else {
            for (i, key) in keys.iter().enumerate() {
                sql.push(if i > 0 { " OR (" } else { "(" });
                for (j, (value, at)) in key.iter().zip(&places).enumerate() {
                    sql.push(if j > 0 { " AND " } else { "" });
                    sql.push(&names.columns[*at]).push(" = ");
                    sql.value(value.clone(), &table.columns[*at].data_type);
                }
                sql.push(")");
            }
        }
        sql.push(")");
        for pushed in &self.predicates {
            sql.push(" AND ");
            predicate::render(&mut sql, names, table, &pushed.predicate);
        }
        sql.finish()
    }

    /// The rows in the order of their keys. Rows of other keys, which a database that does not regard
    /// case gives as well, are left out.
    fn assign(
        &self,
        keys: &[Vec<Value>],
        found: &[Vec<Value>],
    ) -> Result<LookupRows, ConnectorError> {
        let text = |key: &[&Value]| format!("{key:?}");
        let known: HashMap<String, u32> = keys
            .iter()
            .zip(0..)
            .map(|(key, at)| (text(&key.iter().collect::<Vec<_>>()), at))
            .collect();
        let count = found.first().map_or(0, Vec::len);
        let mut places: Vec<(u32, u32)> = (0..count)
            .filter_map(|row| {
                let key: Vec<&Value> = self.keys.iter().map(|at| &found[*at][row]).collect();
                Some((*known.get(&text(&key))?, row as u32))
            })
            .collect();
        places.sort_by_key(|(key, _)| *key);
        let fields = &self.table.context.schema.fields;
        let schema = Schema::new(self.columns.iter().map(|at| fields[*at].clone()).collect());
        let failed = |error: String| ConnectorError::new(error);
        let columns = found
            .iter()
            .enumerate()
            .map(|(at, values)| Value::to_array(values, &self.type_of(at)))
            .collect::<Result<_, _>>()
            .map_err(|error| failed(error.to_string()))?;
        let rows = RecordBatch::try_new(Arc::clone(&schema.to_arrow()), columns)
            .map_err(|error| failed(error.to_string()))?;
        let order = UInt32Array::from_iter_values(places.iter().map(|(_, row)| *row));
        let rows = take_record_batch(&rows, &order).map_err(|error| failed(error.to_string()))?;
        Ok(LookupRows { rows, keys: places.into_iter().map(|(key, _)| key).collect() })
    }
}
