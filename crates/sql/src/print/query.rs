//! Queries.

use super::{Joined, Maybe, comma, flag};
use crate::ast::{
    Cte, GroupBy, GroupingElement, GroupingElementKind, Hint, HintArg, Ident, NamedWindow, Query,
    QueryBody, QueryBodyKind, Select, SelectItem, SetOp, SetQuantifier, ValuesRow, With,
};
use std::fmt::{self, Display, Formatter};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Maybe("", self.with.as_ref(), " "), self.body)?;
        if !self.order_by.is_empty() {
            write!(f, "\nORDER BY {}", comma(&self.order_by))?;
        }
        Maybe("\nOFFSET ", self.offset.as_ref(), " ROWS").fmt(f)?;
        Maybe("\nFETCH NEXT ", self.fetch.as_ref(), " ROWS ONLY").fmt(f)
    }
}

impl Display for With {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "WITH {}{}", flag(self.recursive, "RECURSIVE "), comma(&self.ctes))
    }
}

impl Display for Cte {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} AS ({})", self.name, Columns(&self.columns), self.query)
    }
}

/// ` (column, …)`, if there are any.
pub(super) struct Columns<'a>(pub(super) &'a [Ident]);

impl Display for Columns<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", comma(self.0)) }
    }
}

/// How tightly a set operator binds.
fn power(op: SetOp) -> u8 {
    if op == SetOp::Intersect { 2 } else { 1 }
}

impl Display for QueryBody {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            QueryBodyKind::Select(select) => select.fmt(f),
            QueryBodyKind::SetOperation { left, op, all, right } => {
                set_operand(f, left, power(*op))?;
                let name = match op {
                    SetOp::Union => "UNION",
                    SetOp::Intersect => "INTERSECT",
                    SetOp::Except => "EXCEPT",
                };
                write!(f, "\n{name}{}\n", flag(*all, " ALL"))?;
                set_operand(f, right, power(*op) + 1)
            }
            QueryBodyKind::Values(rows) => write!(f, "VALUES {}", Joined(rows, ",\n")),
            QueryBodyKind::Table(name) => write!(f, "TABLE {name}"),
            QueryBodyKind::Nested(query) => write!(f, "({query})"),
        }
    }
}

/// An operand of a set operator; in parentheses if it binds less than `least` itself.
fn set_operand(f: &mut Formatter<'_>, operand: &QueryBody, least: u8) -> fmt::Result {
    let bare = match &operand.kind {
        QueryBodyKind::SetOperation { op, .. } => power(*op) >= least,
        QueryBodyKind::Select(_) | QueryBodyKind::Nested(_) => true,
        QueryBodyKind::Values(_) | QueryBodyKind::Table(_) => false,
    };
    if bare { operand.fmt(f) } else { write!(f, "({operand})") }
}

impl Display for ValuesRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ROW({})", comma(&self.values))
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT")?;
        if self.hints.is_empty() {
            f.write_str(" ")?;
        } else {
            write!(f, "\n/*+ {} */\n", comma(&self.hints))?;
        }
        write!(f, "{}{}", Quantified(self.quantifier), comma(&self.items))?;
        Maybe("\nFROM ", self.from.as_ref(), "").fmt(f)?;
        Maybe("\nWHERE ", self.where_clause.as_ref(), "").fmt(f)?;
        Maybe("\nGROUP BY ", self.group_by.as_ref(), "").fmt(f)?;
        Maybe("\nHAVING ", self.having.as_ref(), "").fmt(f)?;
        if !self.windows.is_empty() {
            write!(f, "\nWINDOW {}", Joined(&self.windows, ",\n"))?;
        }
        Maybe("\nQUALIFY ", self.qualify.as_ref(), "").fmt(f)
    }
}

struct Quantified(Option<SetQuantifier>);

impl Display for Quantified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(SetQuantifier::All) => "ALL ",
            Some(SetQuantifier::Distinct) => "DISTINCT ",
            None => "",
        })
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, Maybe(" AS ", self.alias.as_ref(), ""))
    }
}

impl Display for GroupBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Quantified(self.quantifier).fmt(f)?;
        for (at, element) in self.elements.iter().enumerate() {
            f.write_str(flag(at > 0, ", "))?;
            match &element.kind {
                // In the list itself the set is a row.
                GroupingElementKind::Set(columns) if !columns.is_empty() => {
                    write!(f, "ROW({})", comma(columns))?;
                }
                _ => element.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Display for GroupingElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            GroupingElementKind::Expr(expr) => expr.fmt(f),
            // Parentheses round one column would be none.
            GroupingElementKind::Set(columns) if columns.len() == 1 => {
                write!(f, "ROW({})", comma(columns))
            }
            GroupingElementKind::Set(columns) => write!(f, "({})", comma(columns)),
            GroupingElementKind::GroupingSets(sets) => {
                write!(f, "GROUPING SETS({})", comma(sets))
            }
            GroupingElementKind::Cube(sets) => write!(f, "CUBE({})", comma(sets)),
            GroupingElementKind::Rollup(sets) => write!(f, "ROLLUP({})", comma(sets)),
        }
    }
}

impl Display for NamedWindow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} AS {}", self.name, self.spec)
    }
}

impl Display for Hint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        if self.args.is_empty() { Ok(()) } else { write!(f, "({})", comma(&self.args)) }
    }
}

impl Display for HintArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Number(number) => f.write_str(&number.value),
            Self::Text(text) => text.fmt(f),
            Self::KeyValue { key, value } => write!(f, "{key} = {value}"),
        }
    }
}
