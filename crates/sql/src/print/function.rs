//! Calls, windows and the JSON functions.

use super::{Maybe, comma};
use crate::ast::{
    FrameBound, FrameUnits, FunctionArg, FunctionArgValue, FunctionCall, JsonEntry,
    JsonExistsOnError, JsonFunction, JsonOnNull, JsonQueryBehavior, JsonValueBehavior, JsonWrapper,
    NullTreatment, NullsOrder, OrderItem, SetQuantifier, TableArg, TableArgInput, TypeName, Window,
    WindowFrame, WindowSpec,
};
use crate::lexer::Keyword;
use crate::parser::ORDERED_AGGREGATES;
use std::fmt::{self, Display, Formatter};

impl Display for FunctionCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let simple = self.name.as_simple().filter(|name| !name.quoted);
        match simple.map(|name| name.value.to_ascii_uppercase()) {
            Some(name) if is_nullary(&name) && self.args.is_empty() => f.write_str(&name)?,
            Some(name) => {
                f.write_str(&name)?;
                self.arguments(f, &name)?;
            }
            None => {
                self.name.fmt(f)?;
                self.arguments(f, "")?;
            }
        }
        match self.null_treatment {
            Some(NullTreatment::Respect) => f.write_str(" RESPECT NULLS")?,
            Some(NullTreatment::Ignore) => f.write_str(" IGNORE NULLS")?,
            None => {}
        }
        if !self.within_group.is_empty() && !self.orders_inside() {
            write!(f, " WITHIN GROUP (ORDER BY {})", comma(&self.within_group))?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " FILTER (WHERE {filter})")?;
        }
        write!(f, "{}", Maybe(" OVER ", self.over.as_ref(), ""))
    }
}

fn is_nullary(name: &str) -> bool {
    Keyword::from_word(name).is_some_and(Keyword::is_nullary_function)
}

impl FunctionCall {
    fn arguments(&self, f: &mut Formatter<'_>, name: &str) -> fmt::Result {
        let separators: [&str; 3] = match name {
            "POSITION" => [" IN ", " FROM ", ", "],
            "OVERLAY" => [" PLACING ", " FROM ", " FOR "],
            _ => [", "; 3],
        };
        f.write_str("(")?;
        match self.quantifier {
            Some(SetQuantifier::All) => f.write_str("ALL ")?,
            Some(SetQuantifier::Distinct) => f.write_str("DISTINCT ")?,
            None => {}
        }
        for (at, arg) in self.args.iter().enumerate() {
            if at > 0 {
                f.write_str(separators.get(at - 1).unwrap_or(&", "))?;
            }
            arg.fmt(f)?;
        }
        if self.orders_inside() {
            write!(f, " ORDER BY {}", comma(&self.within_group))?;
        }
        f.write_str(")")
    }

    /// Whether the order stands between the parentheses.
    fn orders_inside(&self) -> bool {
        !self.within_group.is_empty()
            && ORDERED_AGGREGATES.iter().any(|name| self.name.is_simple(name))
    }
}

impl Display for FunctionArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Maybe("", self.name.as_ref(), " => "), self.value)
    }
}

impl Display for FunctionArgValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expr(expr) => expr.fmt(f),
            Self::Star => f.write_str("*"),
            Self::Default => f.write_str("DEFAULT"),
            Self::Query(query) => query.fmt(f),
            Self::Table(table) => table.fmt(f),
            Self::Model(name) => write!(f, "MODEL {name}"),
        }
    }
}

impl Display for TableArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.input {
            TableArgInput::Table(name) => write!(f, "TABLE {name}")?,
            TableArgInput::Query(query) => write!(f, "({query})")?,
        }
        bracketed(f, " PARTITION BY ", &self.partition_by)?;
        bracketed(f, " ORDER BY ", &self.order_by)
    }
}

/// A list that stands in parentheses when it has several items.
fn bracketed<T: Display>(f: &mut Formatter<'_>, introduction: &str, items: &[T]) -> fmt::Result {
    match items {
        [] => Ok(()),
        [only] => write!(f, "{introduction}{only}"),
        _ => write!(f, "{introduction}({})", comma(items)),
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Spec(spec) => spec.fmt(f),
        }
    }
}

impl Display for WindowSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.base.as_ref().map(ToString::to_string));
        if !self.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", comma(&self.partition_by)));
        }
        if !self.order_by.is_empty() {
            parts.push(format!("ORDER BY {}", comma(&self.order_by)));
        }
        parts.extend(self.frame.as_ref().map(ToString::to_string));
        write!(f, "({})", parts.join(" "))
    }
}

impl Display for WindowFrame {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.units {
            FrameUnits::Rows => "ROWS ",
            FrameUnits::Range => "RANGE ",
        })?;
        match &self.end {
            Some(end) => write!(f, "BETWEEN {} AND {end}", self.start),
            None => self.start.fmt(f),
        }
    }
}

impl Display for FrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundedPreceding => f.write_str("UNBOUNDED PRECEDING"),
            Self::Preceding(distance) => write!(f, "{distance} PRECEDING"),
            Self::CurrentRow => f.write_str("CURRENT ROW"),
            Self::Following(distance) => write!(f, "{distance} FOLLOWING"),
            Self::UnboundedFollowing => f.write_str("UNBOUNDED FOLLOWING"),
        }
    }
}

impl Display for OrderItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let direction = if self.descending { " DESC" } else { "" };
        let nulls = match self.nulls {
            Some(NullsOrder::First) => " NULLS FIRST",
            Some(NullsOrder::Last) => " NULLS LAST",
            None => "",
        };
        write!(f, "{}{direction}{nulls}", self.expr)
    }
}

impl Display for JsonFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { input, path, on_error } => {
                let on_error = Maybe(" ", on_error.as_ref(), " ON ERROR");
                write!(f, "JSON_EXISTS({input}, {path}{on_error})")
            }
            Self::Value { input, path, returning, on_empty, on_error } => {
                let on_empty = Maybe(" ", on_empty.as_ref(), " ON EMPTY");
                let on_error = Maybe(" ", on_error.as_ref(), " ON ERROR");
                write!(f, "JSON_VALUE({input}, {path}{}{on_empty}{on_error})", Returning(returning))
            }
            Self::Query { input, path, returning, wrapper, on_empty, on_error } => {
                let returning = Returning(returning);
                write!(f, "JSON_QUERY({input}, {path}{returning} {wrapper} ")?;
                write!(f, "{on_empty} ON EMPTY {on_error} ON ERROR)")
            }
            Self::Object { entries, on_null } => {
                let space = if entries.is_empty() { "" } else { " " };
                write!(f, "JSON_OBJECT({}{space}{on_null})", comma(entries))
            }
            Self::Array { elements, on_null: JsonOnNull::Absent } if elements.is_empty() => {
                f.write_str("JSON_ARRAY()")
            }
            Self::Array { elements, on_null } => {
                let space = if elements.is_empty() { "" } else { " " };
                write!(f, "JSON_ARRAY({}{space}{on_null})", comma(elements))
            }
            Self::ObjectAgg { entry, on_null } => write!(f, "JSON_OBJECTAGG({entry} {on_null})"),
            Self::ArrayAgg { element, order_by, on_null } => {
                write!(f, "JSON_ARRAYAGG({element} {on_null})")?;
                if order_by.is_empty() {
                    return Ok(());
                }
                write!(f, " WITHIN GROUP (ORDER BY {})", comma(order_by))
            }
        }
    }
}

struct Returning<'a>(&'a Option<TypeName>);

impl Display for Returning<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Maybe(" RETURNING ", self.0.as_ref(), "").fmt(f)
    }
}

impl Display for JsonEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "KEY {} VALUE {}", self.key, self.value)
    }
}

impl Display for JsonExistsOnError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::True => "TRUE",
            Self::False => "FALSE",
            Self::Unknown => "UNKNOWN",
            Self::Error => "ERROR",
        })
    }
}

impl Display for JsonValueBehavior {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Error => f.write_str("ERROR"),
            Self::Default(value) => write!(f, "DEFAULT {value}"),
        }
    }
}

impl Display for JsonQueryBehavior {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "NULL",
            Self::Error => "ERROR",
            Self::EmptyArray => "EMPTY ARRAY",
            Self::EmptyObject => "EMPTY OBJECT",
        })
    }
}

impl Display for JsonWrapper {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Without => "WITHOUT ARRAY WRAPPER",
            Self::Conditional => "WITH CONDITIONAL ARRAY WRAPPER",
            Self::Unconditional => "WITH UNCONDITIONAL ARRAY WRAPPER",
        })
    }
}

impl Display for JsonOnNull {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "NULL ON NULL",
            Self::Absent => "ABSENT ON NULL",
        })
    }
}
