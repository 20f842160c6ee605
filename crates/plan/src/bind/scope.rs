//! Which names an expression can see.

use flott_functions::Expr;
use flott_sql::ast::Ident;
use flott_types::{DataType, Field, Schema};

use crate::{PlanError, Result};

/// The columns in scope, and under which table names they can be found.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The columns, in the order of the plan's schema.
    pub fields: Vec<Field>,
    /// The tables, in the order of FROM.
    pub relations: Vec<Relation>,
}

/// A table in scope.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its alias alone, or its full path; any tail of the path names it.
    pub path: Vec<String>,
    /// Its columns in `Scope::fields`.
    pub start: usize,
    /// One past its last column.
    pub end: usize,
    /// Columns of it that `*` leaves out, because USING or NATURAL merged them.
    pub hidden: Vec<usize>,
}

impl Scope {
    /// The scope of one table.
    pub fn of(path: Vec<String>, schema: &Schema) -> Self {
        let end = schema.len();
        Self {
            fields: schema.fields.clone(),
            relations: vec![Relation { path, start: 0, end, hidden: Vec::new() }],
        }
    }

    /// The scope without names: columns of a set operation, say.
    pub fn anonymous(schema: &Schema) -> Self {
        Self::of(Vec::new(), schema)
    }

    /// The scope of two inputs side by side.
    pub fn join(mut self, right: Scope) -> Self {
        let shift = self.fields.len();
        self.fields.extend(right.fields);
        self.relations.extend(right.relations.into_iter().map(|relation| Relation {
            start: relation.start + shift,
            end: relation.end + shift,
            hidden: relation.hidden.iter().map(|column| column + shift).collect(),
            ..relation
        }));
        self
    }

    /// The columns as a schema.
    pub fn schema(&self) -> Schema {
        Schema::new(self.fields.clone())
    }

    /// The column or nested field that a compound name stands for.
    pub fn resolve(&self, name: &[Ident]) -> Result<Expr> {
        self.find(name)?.ok_or_else(|| {
            let span = name.iter().map(|p| p.span).reduce(|a, b| a.cover(b)).unwrap_or_default();
            let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
            self.not_found(&parts).at(span)
        })
    }

    /// The column or nested field that a compound name stands for, if it is one of this scope.
    pub fn find(&self, name: &[Ident]) -> Result<Option<Expr>> {
        let span = name.iter().map(|part| part.span).reduce(|a, b| a.cover(b)).unwrap_or_default();
        let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
        // The longest table name wins, as in Calcite; what follows the column are nested fields.
        for qualifiers in (0..parts.len()).rev() {
            let (table, rest) = parts.split_at(qualifiers);
            let Some((column, fields)) = rest.split_first() else { continue };
            let mut found = self.matching(table, column);
            found.dedup();
            match found.as_slice() {
                [] => {}
                [only] => {
                    let expr = Expr::column(*only, self.fields[*only].data_type.clone());
                    return fields
                        .iter()
                        .try_fold(expr, |expr, field| field_access(expr, field))
                        .map(Some)
                        .map_err(|error| error.at(span));
                }
                _ => {
                    return Err(PlanError::new(format!("Column '{column}' is ambiguous"))
                        .at(span)
                        .hint(format!("write the table before it: t.{column}")));
                }
            }
        }
        Ok(None)
    }

    fn matching(&self, table: &[&str], column: &str) -> Vec<usize> {
        self.relations
            .iter()
            .filter(|relation| relation.is_named(table))
            .flat_map(|relation| {
                (relation.start..relation.end).filter(|index| !relation.hidden.contains(index))
            })
            .filter(|index| &*self.fields[*index].name == column)
            .collect()
    }

    fn not_found(&self, parts: &[&str]) -> PlanError {
        let (column, table) = match parts {
            [column] => (*column, None),
            [table, .., column] => (*column, Some(*table)),
            [] => ("", None),
        };
        if let Some(table) = table
            && !self.relations.iter().any(|relation| relation.is_named(&[table]))
            && !self.fields.iter().any(|field| &*field.name == table)
        {
            return PlanError::new(format!("Table '{table}' not found"));
        }
        let error = match table {
            None => PlanError::new(format!("Column '{column}' not found in any table")),
            Some(table) => {
                PlanError::new(format!("Column '{column}' not found in table '{table}'"))
            }
        };
        let folded = column.to_lowercase();
        let near = self.fields.iter().find(|field| field.name.to_lowercase() == folded);
        match near {
            Some(field) => {
                error.hint(format!("did you mean '{}'? Names are case-sensitive", field.name))
            }
            None if self.fields.is_empty() => error,
            None => {
                let names: Vec<_> = self.fields.iter().map(|field| &*field.name).collect();
                error.hint(format!("columns in scope: {}", names.join(", ")))
            }
        }
    }

    /// The columns that `*` or `t.*` stands for.
    pub fn expand_star(&self, table: &[Ident]) -> Result<Vec<usize>> {
        let parts: Vec<&str> = table.iter().map(|part| part.value.as_str()).collect();
        let mut columns = Vec::new();
        let mut any = false;
        for relation in self.relations.iter().filter(|r| parts.is_empty() || r.is_named(&parts)) {
            any = true;
            let visible = relation.start..relation.end;
            columns.extend(visible.filter(|column| !relation.hidden.contains(column)));
        }
        if any || parts.is_empty() {
            return Ok(columns);
        }
        let span = table.iter().map(|part| part.span).reduce(|a, b| a.cover(b)).unwrap_or_default();
        Err(PlanError::new(format!("Unknown identifier '{}'", parts.join("."))).at(span))
    }
}

impl Relation {
    /// Whether `name` is a tail of the table's path; the empty name fits any table.
    fn is_named(&self, name: &[&str]) -> bool {
        name.len() <= self.path.len()
            && self.path[self.path.len() - name.len()..].iter().zip(name).all(|(a, b)| a == b)
    }
}

/// `column.field` within a name.
pub fn field_access(row: Expr, name: &str) -> Result<Expr> {
    field_of(row, name, |field| field == name)
}

/// `(row).field` of any expression: the first field of this name in any case, as Flink has it.
pub fn dotted_field(row: Expr, name: &str) -> Result<Expr> {
    field_of(row, name, |field| field.eq_ignore_ascii_case(name))
}

fn field_of(row: Expr, name: &str, is_named: impl Fn(&str) -> bool) -> Result<Expr> {
    let ty = row.data_type();
    let Some(fields) = ty.root.row_fields() else {
        return Err(PlanError::new(format!("Column '{name}' not found in any table"))
            .hint(format!("a value of type {} has no fields", ty.summary())));
    };
    let Some(index) = fields.iter().position(|field| is_named(&field.name)) else {
        let names: Vec<_> = fields.iter().map(|field| &*field.name).collect();
        return Err(PlanError::new(format!("Column '{name}' not found in any table"))
            .hint(format!("the row has the fields {}", names.join(", "))));
    };
    let field: &DataType = &fields[index].data_type;
    let data_type = field.clone().with_nullable(field.nullable || ty.nullable);
    Ok(Expr::Field { input: Box::new(row), index, data_type })
}
