//! The JSON functions, whose clauses no ordinary call has.

use super::{Expr, OrderItem, TypeName};

/// A JSON function with its clauses. Where one of JSON_EXISTS or JSON_VALUE is absent it is `None`;
/// the other functions have their default filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JsonFunction {
    /// `JSON_EXISTS(input, path [{TRUE|FALSE|UNKNOWN|ERROR} ON ERROR])`
    Exists {
        /// The document.
        input: Expr,
        /// The path.
        path: Expr,
        /// What an error gives.
        on_error: Option<JsonExistsOnError>,
    },
    /// `JSON_VALUE(input, path [RETURNING t] [… ON EMPTY] [… ON ERROR])`
    Value {
        /// The document.
        input: Expr,
        /// The path.
        path: Expr,
        /// The type of the result.
        returning: Option<TypeName>,
        /// What a missing value gives.
        on_empty: Option<JsonValueBehavior>,
        /// What an error gives.
        on_error: Option<JsonValueBehavior>,
    },
    /// `JSON_QUERY(input, path [RETURNING t] [wrapper] [… ON EMPTY] [… ON ERROR])`
    Query {
        /// The document.
        input: Expr,
        /// The path.
        path: Expr,
        /// The type of the result.
        returning: Option<TypeName>,
        /// Whether the result is wrapped in an array; by default not.
        wrapper: JsonWrapper,
        /// What a missing value gives; by default NULL.
        on_empty: JsonQueryBehavior,
        /// What an error gives; by default NULL.
        on_error: JsonQueryBehavior,
    },
    /// `JSON_OBJECT([KEY] k VALUE v, … [… ON NULL])`
    Object {
        /// The entries.
        entries: Vec<JsonEntry>,
        /// What becomes of NULL values; by default they stay.
        on_null: JsonOnNull,
    },
    /// `JSON_ARRAY(e, … [… ON NULL])`
    Array {
        /// The elements.
        elements: Vec<Expr>,
        /// What becomes of NULL elements; by default they are left out.
        on_null: JsonOnNull,
    },
    /// `JSON_OBJECTAGG([KEY] k VALUE v [… ON NULL])`, an aggregate.
    ObjectAgg {
        /// Key and value of each row's entry.
        entry: JsonEntry,
        /// What becomes of NULL values; by default they stay.
        on_null: JsonOnNull,
    },
    /// `JSON_ARRAYAGG(e [ORDER BY …] [… ON NULL])`, an aggregate.
    ArrayAgg {
        /// The element of each row.
        element: Expr,
        /// The order of elements; empty if absent.
        order_by: Vec<OrderItem>,
        /// What becomes of NULL elements; by default they are left out.
        on_null: JsonOnNull,
    },
}

/// An entry of a JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JsonEntry {
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
}

/// What JSON_EXISTS gives on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonExistsOnError {
    /// `TRUE ON ERROR`
    True,
    /// `FALSE ON ERROR`
    False,
    /// `UNKNOWN ON ERROR`
    Unknown,
    /// `ERROR ON ERROR`
    Error,
}

/// What JSON_VALUE gives where there is no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JsonValueBehavior {
    /// `NULL ON …`
    Null,
    /// `ERROR ON …`
    Error,
    /// `DEFAULT e ON …`
    Default(Box<Expr>),
}

/// What JSON_QUERY gives where there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonQueryBehavior {
    /// `NULL ON …`
    Null,
    /// `ERROR ON …`
    Error,
    /// `EMPTY ARRAY ON …`
    EmptyArray,
    /// `EMPTY OBJECT ON …`
    EmptyObject,
}

/// Whether JSON_QUERY wraps its result in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonWrapper {
    /// `WITHOUT [ARRAY] WRAPPER`
    Without,
    /// `WITH CONDITIONAL [ARRAY] WRAPPER`
    Conditional,
    /// `WITH [UNCONDITIONAL] [ARRAY] WRAPPER`
    Unconditional,
}

/// What becomes of NULLs in a JSON object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonOnNull {
    /// `NULL ON NULL`
    Null,
    /// `ABSENT ON NULL`
    Absent,
}
