//! Views: their columns, and their query with every name written out, so that it means the same in
//! any session.

use flott_catalog::View;
use flott_sql::ast::{
    self, Expr, ExprKind, FunctionArgValue, GroupingElement, GroupingElementKind, Ident,
    JoinCondition, ObjectName, Query, QueryBody, QueryBodyKind, Select, SelectItem, TableAlias,
    TableArgInput, TableRef, TableRefKind, Window,
};
use flott_types::{Field, Schema};

use crate::bind::{Binder, Scope};
use crate::{PlanError, Result};

/// What CREATE VIEW or ALTER VIEW … AS says.
pub struct ViewDefinition<'a> {
    /// Names of the columns; empty to take the query's.
    pub columns: &'a [Ident],
    /// The comment.
    pub comment: Option<String>,
    /// The query.
    pub query: &'a Query,
}

impl Binder<'_> {
    /// The view of a definition.
    pub fn view_of(&mut self, definition: ViewDefinition) -> Result<View> {
        let schema = (*self.bind_query(definition.query)?.plan.schema).clone();
        let schema = rename(schema, definition.columns, definition.query.span)?;
        for (i, field) in schema.fields.iter().enumerate() {
            if schema.fields[..i].iter().any(|other| other.name == field.name) {
                return Err(PlanError::new(format!(
                    "A column with the same name `{}` has been defined",
                    field.name
                ))
                .at(definition.query.span)
                .hint("give one of them another name: … AS name"));
            }
        }
        let mut query = definition.query.clone();
        Expander { binder: self, ctes: Vec::new() }.query(&mut query)?;
        let text = query.to_string();
        Ok(View { schema, comment: definition.comment, query, text })
    }
}

fn rename(schema: Schema, names: &[Ident], span: ast::Span) -> Result<Schema> {
    if names.is_empty() {
        return Ok(schema);
    }
    if names.len() != schema.len() {
        return Err(PlanError::new(
            "VIEW definition and input fields not match: different number of columns",
        )
        .at(span));
    }
    let fields = schema.fields.into_iter().zip(names);
    Ok(Schema::new(
        fields.map(|(f, name)| Field { name: name.value.as_str().into(), ..f }).collect(),
    ))
}

/// Writes names out: tables by their full path, columns with their table, stars as columns.
struct Expander<'b, 'a> {
    binder: &'b mut Binder<'a>,
    /// Names of the common table expressions in scope; they are left as they are.
    ctes: Vec<String>,
}

impl Expander<'_, '_> {
    fn query(&mut self, query: &mut Query) -> Result<()> {
        let outer = self.ctes.len();
        if let Some(with) = &mut query.with {
            for cte in &mut with.ctes {
                self.query(&mut cte.query)?;
                self.ctes.push(cte.name.value.clone());
            }
        }
        self.body(&mut query.body)?;
        self.ctes.truncate(outer);
        Ok(())
    }

    fn body(&mut self, body: &mut QueryBody) -> Result<()> {
        match &mut body.kind {
            QueryBodyKind::Select(select) => self.select(select),
            QueryBodyKind::Nested(query) => self.query(query),
            QueryBodyKind::SetOperation { left, right, .. } => {
                self.body(left)?;
                self.body(right)
            }
            QueryBodyKind::Table(name) => {
                self.table_name(name);
                Ok(())
            }
            QueryBodyKind::Values(_) => Ok(()),
        }
    }

    fn select(&mut self, select: &mut Select) -> Result<()> {
        let scope = match &mut select.from {
            None => return Ok(()),
            Some(from) => {
                // Common table expressions of the view cannot be bound here by name alone; their
                // columns are left as written.
                let scope = if self.ctes.is_empty() {
                    Some(self.binder.bind_table_ref(from)?.scope)
                } else {
                    None
                };
                self.table_ref(from)?;
                scope
            }
        };
        let Some(scope) = scope else { return Ok(()) };
        select.items = self.items(std::mem::take(&mut select.items), &scope)?;
        let mut exprs: Vec<&mut Expr> =
            select.items.iter_mut().map(|item| &mut item.expr).collect();
        exprs.extend(&mut select.where_clause);
        exprs.extend(&mut select.having);
        exprs.extend(&mut select.qualify);
        for expr in exprs {
            self.expr(expr, &scope)?;
            super::canonical::mark(expr);
        }
        if let Some(group_by) = &mut select.group_by {
            for element in &mut group_by.elements {
                self.grouping(element, &scope)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, items: Vec<SelectItem>, scope: &Scope) -> Result<Vec<SelectItem>> {
        let mut expanded = Vec::new();
        for item in items {
            let table: &[Ident] = match &item.expr.kind {
                ExprKind::Star => &[],
                ExprKind::QualifiedStar(table) => table,
                _ => {
                    expanded.push(item);
                    continue;
                }
            };
            let Ok(columns) = scope.expand_star(table) else {
                expanded.push(item);
                continue;
            };
            for column in columns {
                let name = Ident::new(&*scope.fields[column].name);
                let expr = Expr { kind: ExprKind::Identifier(vec![name]), span: item.span };
                expanded.push(SelectItem { expr, alias: None, span: item.span });
            }
        }
        Ok(expanded)
    }

    fn grouping(&mut self, element: &mut GroupingElement, scope: &Scope) -> Result<()> {
        match &mut element.kind {
            GroupingElementKind::Expr(expr) => self.expr(expr, scope),
            GroupingElementKind::Set(exprs) => {
                exprs.iter_mut().try_for_each(|expr| self.expr(expr, scope))
            }
            GroupingElementKind::GroupingSets(elements)
            | GroupingElementKind::Cube(elements)
            | GroupingElementKind::Rollup(elements) => {
                elements.iter_mut().try_for_each(|element| self.grouping(element, scope))
            }
        }
    }

    fn table_ref(&mut self, table: &mut TableRef) -> Result<()> {
        match &mut table.kind {
            TableRefKind::Table { name, .. } => {
                let own = name.parts.last().cloned();
                self.table_name(name);
                if let (None, Some(own)) = (&table.alias, own) {
                    table.alias =
                        Some(TableAlias { name: own, columns: Vec::new(), span: table.span });
                }
                Ok(())
            }
            TableRefKind::Subquery { query, .. } => self.query(query),
            TableRefKind::Join(join) => {
                let on = match &join.condition {
                    Some(JoinCondition::On(_)) if self.ctes.is_empty() => {
                        let left = self.binder.bind_table_ref(&join.left)?.scope;
                        Some(left.join(self.binder.bind_table_ref(&join.right)?.scope))
                    }
                    _ => None,
                };
                self.table_ref(&mut join.left)?;
                self.table_ref(&mut join.right)?;
                match (&mut join.condition, on) {
                    (Some(JoinCondition::On(condition)), Some(scope)) => {
                        self.expr(condition, &scope)
                    }
                    _ => Ok(()),
                }
            }
            TableRefKind::Function { call, .. } => {
                for arg in &mut call.args {
                    if let FunctionArgValue::Table(table) = &mut arg.value {
                        match &mut table.input {
                            TableArgInput::Table(name) => self.table_name(name),
                            TableArgInput::Query(query) => self.query(query)?,
                        }
                    }
                }
                Ok(())
            }
            TableRefKind::Snapshot { input, .. } | TableRefKind::MatchRecognize { input, .. } => {
                self.table_ref(input)
            }
            _ => Ok(()),
        }
    }

    fn table_name(&self, name: &mut ObjectName) {
        if let Some(simple) = name.as_simple()
            && self.ctes.contains(&simple.value)
        {
            return;
        }
        let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
        let path = self.binder.catalog.qualify(&parts);
        name.parts = [path.catalog, path.database, path.object].map(Ident::new).to_vec();
    }

    /// Puts the table before every column name.
    fn expr(&mut self, expr: &mut Expr, scope: &Scope) -> Result<()> {
        if let ExprKind::Identifier(name) = &mut expr.kind {
            qualify(name, scope);
            return Ok(());
        }
        let mut queries = Vec::new();
        let mut children = Vec::new();
        parts(&mut expr.kind, &mut children, &mut queries);
        children.into_iter().try_for_each(|child| self.expr(child, scope))?;
        queries.into_iter().try_for_each(|query| self.query(query))
    }
}

/// `column` as `table.column`, where one table in scope has it.
fn qualify(name: &mut Vec<Ident>, scope: &Scope) {
    let [column, ..] = name.as_slice() else { return };
    let owners: Vec<_> = scope
        .relations
        .iter()
        .filter(|relation| {
            (relation.start..relation.end).any(|i| *scope.fields[i].name == *column.value)
        })
        .collect();
    let is_table = |part: &Ident| {
        scope.relations.iter().any(|relation| relation.path.last() == Some(&part.value))
    };
    if name.len() > 1 && is_table(&name[0]) {
        return;
    }
    if let [owner] = owners.as_slice()
        && let Some(table) = owner.path.last()
    {
        name.insert(0, Ident::new(table.as_str()));
    }
}

/// The expressions and queries directly inside an expression.
pub(super) fn parts<'e>(
    kind: &'e mut ExprKind,
    exprs: &mut Vec<&'e mut Expr>,
    queries: &mut Vec<&'e mut Query>,
) {
    match kind {
        ExprKind::Unary { operand, .. }
        | ExprKind::Is { operand, .. }
        | ExprKind::Cast { operand, .. }
        | ExprKind::Extract { operand, .. }
        | ExprKind::RoundTo { operand, .. }
        | ExprKind::IntervalOf { operand, .. }
        | ExprKind::Field { operand, .. } => exprs.push(operand),
        ExprKind::Binary { left, right, .. }
        | ExprKind::IsDistinctFrom { left, right, .. }
        | ExprKind::Difference { left, right, .. } => exprs.extend([&mut **left, &mut **right]),
        ExprKind::Logical { operands, .. } => exprs.extend(operands),
        ExprKind::Between { operand, low, high, .. } => {
            exprs.extend([&mut **operand, &mut **low, &mut **high]);
        }
        ExprKind::Like { operand, pattern, escape, .. } => {
            exprs.extend([&mut **operand, &mut **pattern]);
            exprs.extend(escape.iter_mut().map(|escape| &mut **escape));
        }
        ExprKind::InList { operand, list, .. } => {
            exprs.push(operand);
            exprs.extend(list);
        }
        ExprKind::InQuery { operand, query, .. } => {
            exprs.push(operand);
            queries.push(query);
        }
        ExprKind::Quantified { operand, target, .. } => {
            exprs.push(operand);
            match target {
                ast::QuantifiedTarget::List(list) => exprs.extend(list),
                ast::QuantifiedTarget::Query(query) => queries.push(query),
            }
        }
        ExprKind::Exists(query)
        | ExprKind::Subquery(query)
        | ExprKind::ArrayQuery(query)
        | ExprKind::MapQuery(query)
        | ExprKind::MultisetQuery(query) => queries.push(query),
        ExprKind::Case { operand, branches, otherwise } => {
            exprs.extend(operand.iter_mut().map(|operand| &mut **operand));
            for branch in branches {
                exprs.extend(&mut branch.conditions);
                exprs.push(&mut branch.result);
            }
            exprs.extend(otherwise.iter_mut().map(|otherwise| &mut **otherwise));
        }
        ExprKind::Function(call) => {
            for arg in &mut call.args {
                if let FunctionArgValue::Expr(expr) = &mut arg.value {
                    exprs.push(expr);
                }
            }
            exprs.extend(call.filter.iter_mut().map(|filter| &mut **filter));
            exprs.extend(call.within_group.iter_mut().map(|item| &mut item.expr));
            if let Some(Window::Spec(window)) = &mut call.over {
                exprs.extend(&mut window.partition_by);
                exprs.extend(window.order_by.iter_mut().map(|item| &mut item.expr));
            }
        }
        ExprKind::TimestampAdd { count, operand, .. } => {
            exprs.extend([&mut **count, &mut **operand]);
        }
        ExprKind::TimestampDiff { start, end, .. } => exprs.extend([&mut **start, &mut **end]),
        ExprKind::Trim { characters, operand, .. } => {
            exprs.extend([&mut **characters, &mut **operand]);
        }
        ExprKind::Json(json) => json_parts(json, exprs),
        ExprKind::Row { fields, .. } => exprs.extend(fields),
        ExprKind::Array(items) | ExprKind::Map(items) | ExprKind::Multiset(items) => {
            exprs.extend(items);
        }
        ExprKind::Element { operand, index } => exprs.extend([&mut **operand, &mut **index]),
        ExprKind::Literal(_)
        | ExprKind::Identifier(_)
        | ExprKind::Star
        | ExprKind::QualifiedStar(_)
        | ExprKind::Descriptor(_) => {}
    }
}

fn json_parts<'e>(json: &'e mut ast::JsonFunction, exprs: &mut Vec<&'e mut Expr>) {
    use ast::JsonFunction::*;
    match json {
        Exists { input, path, .. } | Query { input, path, .. } => exprs.extend([input, path]),
        Value { input, path, on_empty, on_error, .. } => {
            exprs.extend([input, path]);
            for behavior in [on_empty, on_error] {
                if let Some(ast::JsonValueBehavior::Default(value)) = behavior {
                    exprs.push(value);
                }
            }
        }
        Object { entries, .. } => {
            exprs.extend(entries.iter_mut().flat_map(|entry| [&mut entry.key, &mut entry.value]));
        }
        Array { elements, .. } => exprs.extend(elements),
        ObjectAgg { entry, .. } => exprs.extend([&mut entry.key, &mut entry.value]),
        ArrayAgg { element, order_by, .. } => {
            exprs.push(element);
            exprs.extend(order_by.iter_mut().map(|item| &mut item.expr));
        }
    }
}
