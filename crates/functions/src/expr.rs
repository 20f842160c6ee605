//! Bound, typed expressions.

use std::fmt;
use std::sync::Arc;

use flott_types::text::value_to_string;
use flott_types::{DataType, Family, Value};
use jiff::tz::TimeZone;

use crate::{Arg, CallArgs, ScalarFunction, SignatureError, Volatility};

/// An expression whose names are resolved and whose types are known.
#[derive(Clone)]
pub enum Expr {
    /// A column of the input.
    Column {
        /// Its position.
        index: usize,
        /// Its type.
        data_type: DataType,
    },
    /// A constant.
    Literal {
        /// Its value.
        value: Value,
        /// Its type.
        data_type: DataType,
    },
    /// A call of a function or operator; arguments have the types its rule asked for.
    Call {
        /// The function.
        function: &'static ScalarFunction,
        /// The arguments.
        args: Vec<Expr>,
        /// Words of special syntax, see [`CallArgs::symbols`].
        symbols: Vec<Arc<str>>,
        /// The type of a RETURNING clause.
        returning: Option<DataType>,
        /// The type of the result.
        data_type: DataType,
    },
    /// A cast, written or implied.
    Cast {
        /// What is cast.
        input: Box<Expr>,
        /// Whether failures give NULL.
        mode: CastMode,
        /// The type wanted, with the nullability of the result.
        data_type: DataType,
    },
    /// Three-valued AND; later operands are not evaluated for rows that are FALSE already.
    And(Vec<Expr>),
    /// Three-valued OR; later operands are not evaluated for rows that are TRUE already.
    Or(Vec<Expr>),
    /// The result of the first condition that is TRUE; all results have the type of the whole.
    Case {
        /// Conditions and results, in order.
        branches: Vec<(Expr, Expr)>,
        /// The result when no condition is TRUE.
        otherwise: Box<Expr>,
        /// The type of the result.
        data_type: DataType,
    },
    /// The first argument that is not NULL; later ones are evaluated only where it is needed.
    Coalesce {
        /// The arguments, all of the type of the whole.
        args: Vec<Expr>,
        /// The type of the result.
        data_type: DataType,
    },
    /// A field of a row.
    Field {
        /// The row.
        input: Box<Expr>,
        /// The position of the field.
        index: usize,
        /// The type of the field, nullable when the row is.
        data_type: DataType,
    },
}

/// What a cast does with a value that has no counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastMode {
    /// `CAST`: fails.
    Strict,
    /// `TRY_CAST`: gives NULL.
    Try,
}

impl Expr {
    /// A column of the input.
    pub fn column(index: usize, data_type: DataType) -> Self {
        Self::Column { index, data_type }
    }

    /// A constant.
    pub fn literal(value: Value, data_type: DataType) -> Self {
        Self::Literal { value, data_type }
    }

    /// A NULL of a type.
    pub fn null(data_type: DataType) -> Self {
        Self::Literal { value: Value::Null, data_type: data_type.with_nullable(true) }
    }

    /// A BOOLEAN constant.
    pub fn boolean(value: bool) -> Self {
        Self::literal(Value::Boolean(value), DataType::boolean().not_null())
    }

    /// A string constant, of type `CHAR(n)`; n counts UTF-16 units, as Flink's literals do.
    pub fn string(text: &str) -> Self {
        let length = text.encode_utf16().count() as u32;
        Self::literal(Value::string(text), flott_types::TypeRoot::Char(length).not_null())
    }

    /// Types a call by the function's rule and casts its arguments as the rule asks.
    pub fn call(
        function: &'static ScalarFunction,
        args: Vec<Expr>,
        symbols: Vec<Arc<str>>,
        returning: Option<DataType>,
    ) -> Result<Self, SignatureError> {
        if let Some(expr) = crate::scalar::comparison::by_fields(function.name, &args)? {
            return Ok(expr);
        }
        let (args, symbols) = crate::scalar::json::mark_json(function.name, args, symbols);
        let call = call_args(function.name, &args, &symbols, returning.clone());
        let resolved = (function.resolve)(&call)?;
        let args = args
            .into_iter()
            .zip(resolved.parameters)
            .map(|(arg, wanted)| arg.cast_to(&wanted))
            .collect::<Result<Vec<_>, _>>()?;
        let rewritten =
            crate::scalar::conditional::rewrite(function.name, &args, &resolved.returns)?;
        if let Some(expr) = rewritten {
            return Ok(expr);
        }
        if let ("NEGATE", [Self::Literal { value, data_type }]) = (function.name, args.as_slice())
            && let Some(value) = negative(value)
        {
            return Ok(Self::literal(value, data_type.clone()));
        }
        Ok(Self::Call { function, args, symbols, returning, data_type: resolved.returns })
    }

    /// Calls a built-in by name. The name must exist.
    pub fn builtin(name: &str, args: Vec<Expr>) -> Result<Self, SignatureError> {
        let function = crate::scalar_function(name)
            .ok_or_else(|| SignatureError::Other(format!("no built-in function {name}")))?;
        Self::call(function, args, Vec::new(), None)
    }

    /// The expression as the type wanted: itself when the root is the same, else an implicit cast.
    /// Nullability follows the expression, not `wanted`.
    pub fn cast_to(self, wanted: &DataType) -> Result<Self, SignatureError> {
        let from = self.data_type();
        if from.same_root(wanted) {
            return Ok(self);
        }
        let target = wanted.clone().with_nullable(from.nullable);
        if let Self::Literal { value: Value::Null, .. } = self {
            return Ok(Self::null(wanted.clone()));
        }
        crate::cast::check(&from, &target)?;
        Ok(Self::Cast { input: Box::new(self), mode: CastMode::Strict, data_type: target })
    }

    /// The type of the result.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Column { data_type, .. }
            | Self::Literal { data_type, .. }
            | Self::Call { data_type, .. }
            | Self::Cast { data_type, .. }
            | Self::Case { data_type, .. }
            | Self::Coalesce { data_type, .. }
            | Self::Field { data_type, .. } => data_type.clone(),
            Self::And(args) | Self::Or(args) => {
                DataType::boolean().with_nullable(args.iter().any(|arg| arg.data_type().nullable))
            }
        }
    }

    /// The operands, in order.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Column { .. } | Self::Literal { .. } => Vec::new(),
            Self::Call { args, .. } | Self::And(args) | Self::Or(args) => args.iter().collect(),
            Self::Coalesce { args, .. } => args.iter().collect(),
            Self::Cast { input, .. } | Self::Field { input, .. } => vec![input],
            Self::Case { branches, otherwise, .. } => branches
                .iter()
                .flat_map(|(condition, result)| [condition, result])
                .chain([&**otherwise])
                .collect(),
        }
    }

    /// Rewrites every node from the leaves up.
    pub fn transform(self, rewrite: &mut impl FnMut(Expr) -> Expr) -> Expr {
        let result: Result<Expr, std::convert::Infallible> =
            self.try_transform(&mut |node| Ok(rewrite(node)));
        match result {
            Ok(expr) => expr,
        }
    }

    /// Rewrites every node from the leaves up, until one fails.
    pub fn try_transform<E>(
        self,
        rewrite: &mut impl FnMut(Expr) -> Result<Expr, E>,
    ) -> Result<Expr, E> {
        let mut many = |args: Vec<Expr>| -> Result<Vec<Expr>, E> {
            args.into_iter().map(|arg| arg.try_transform(rewrite)).collect()
        };
        let node = match self {
            leaf @ (Self::Column { .. } | Self::Literal { .. }) => leaf,
            Self::Call { function, args, symbols, returning, data_type } => {
                Self::Call { function, args: many(args)?, symbols, returning, data_type }
            }
            Self::And(args) => Self::And(many(args)?),
            Self::Or(args) => Self::Or(many(args)?),
            Self::Coalesce { args, data_type } => Self::Coalesce { args: many(args)?, data_type },
            Self::Cast { input, mode, data_type } => {
                Self::Cast { input: Box::new(input.try_transform(rewrite)?), mode, data_type }
            }
            Self::Field { input, index, data_type } => {
                Self::Field { input: Box::new(input.try_transform(rewrite)?), index, data_type }
            }
            Self::Case { branches, otherwise, data_type } => Self::Case {
                branches: branches
                    .into_iter()
                    .map(|(condition, result)| {
                        Ok((condition.try_transform(rewrite)?, result.try_transform(rewrite)?))
                    })
                    .collect::<Result<_, E>>()?,
                otherwise: Box::new(otherwise.try_transform(rewrite)?),
                data_type,
            },
        };
        rewrite(node)
    }

    /// Calls `visit` for every node, parents first.
    pub fn visit(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        for child in self.children() {
            child.visit(visit);
        }
    }

    /// The columns it reads, each once, in order.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        self.visit(&mut |node| {
            if let Self::Column { index, .. } = node {
                columns.push(*index);
            }
        });
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The same expression over moved columns.
    pub fn map_columns(self, position: &impl Fn(usize) -> usize) -> Expr {
        self.transform(&mut |node| match node {
            Self::Column { index, data_type } => Self::Column { index: position(index), data_type },
            other => other,
        })
    }

    /// The volatility of the least stable call in it.
    pub fn volatility(&self) -> Volatility {
        let mut worst = Volatility::Immutable;
        self.visit(&mut |node| {
            if let Self::Call { function, .. } = node {
                worst = match (worst, function.volatility) {
                    (Volatility::Volatile, _) | (_, Volatility::Volatile) => Volatility::Volatile,
                    (Volatility::Temporal, _) | (_, Volatility::Temporal) => Volatility::Temporal,
                    _ => Volatility::Immutable,
                };
            }
        });
        worst
    }

    /// The operands of nested ANDs; the expression itself when it is none.
    pub fn conjuncts(self) -> Vec<Expr> {
        match self {
            Self::And(args) => args.into_iter().flat_map(Expr::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// The AND of some conditions: TRUE for none, the condition itself for one.
    pub fn conjunction(mut conditions: Vec<Expr>) -> Expr {
        match conditions.len() {
            0 => Self::boolean(true),
            1 => conditions.remove(0),
            _ => Self::And(conditions),
        }
    }

    /// Prints the expression with names for its columns.
    pub fn display<'a>(&'a self, columns: &'a [String]) -> impl fmt::Display + 'a {
        Named { expr: self, columns }
    }
}

/// A constant with its sign changed: `-1` is one, too. `None` where the type may have no room.
fn negative(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Int(number) if *number >= 0 => Value::Int(-number),
        Value::Double(number) => Value::Double(-number),
        Value::Decimal(digits) => Value::Decimal(-digits),
        Value::Months(months) if *months >= 0 => Value::Months(-months),
        Value::Millis(millis) if *millis >= 0 => Value::Millis(-millis),
        _ => return None,
    })
}

/// The view of arguments that type rules and kernels get.
pub(crate) fn call_args(
    name: &str,
    args: &[Expr],
    symbols: &[Arc<str>],
    returning: Option<DataType>,
) -> CallArgs {
    CallArgs {
        name: name.into(),
        args: args
            .iter()
            .map(|arg| Arg {
                data_type: arg.data_type(),
                literal: match arg {
                    Expr::Literal { value, .. } => Some(value.clone()),
                    _ => None,
                },
            })
            .collect(),
        symbols: symbols.to_vec(),
        returning,
    }
}

impl PartialEq for Expr {
    /// Structural equality; literals of equal value and type are equal, NaN included.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Expr {
    /// With `$0`, `$1` … for columns: a digest that two expressions share only if they are equal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Named { expr: self, columns: &[] }, f)
    }
}

struct Named<'a> {
    expr: &'a Expr,
    columns: &'a [String],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |expr| Named { expr, columns: self.columns };
        let list = |f: &mut fmt::Formatter<'_>, args: &[Expr], separator: &str| {
            for (i, arg) in args.iter().enumerate() {
                let arg = Named { expr: arg, columns: self.columns };
                write!(f, "{}{arg}", if i > 0 { separator } else { "" })?;
            }
            Ok(())
        };
        match self.expr {
            Expr::Column { index, .. } => match self.columns.get(*index) {
                Some(name) => f.write_str(name),
                None => write!(f, "${index}"),
            },
            Expr::Literal { value, data_type } => write_literal(f, value, data_type),
            Expr::Call { function, args, symbols, returning, .. } => {
                let infix = !function.name.starts_with(|c: char| c.is_ascii_alphabetic());
                match (infix, args.as_slice()) {
                    (true, [left, right]) => {
                        write!(f, "({} {} {})", named(left), function.name, named(right))
                    }
                    _ => {
                        write!(f, "{}(", function.name)?;
                        list(f, args, ", ")?;
                        for symbol in symbols {
                            write!(f, ", FLAG({symbol})")?;
                        }
                        if let Some(ty) = returning {
                            write!(f, ", RETURNING {ty}")?;
                        }
                        f.write_str(")")
                    }
                }
            }
            Expr::Cast { input, mode, data_type } => {
                let name = if *mode == CastMode::Try { "TRY_CAST" } else { "CAST" };
                write!(f, "{name}({} AS {})", named(input), data_type.summary())
            }
            Expr::And(args) => {
                f.write_str("(")?;
                list(f, args, " AND ")?;
                f.write_str(")")
            }
            Expr::Or(args) => {
                f.write_str("(")?;
                list(f, args, " OR ")?;
                f.write_str(")")
            }
            Expr::Case { branches, otherwise, .. } => {
                f.write_str("CASE(")?;
                for (condition, result) in branches {
                    write!(f, "{}, {}, ", named(condition), named(result))?;
                }
                write!(f, "{})", named(otherwise))
            }
            Expr::Coalesce { args, .. } => {
                f.write_str("COALESCE(")?;
                list(f, args, ", ")?;
                f.write_str(")")
            }
            Expr::Field { input, index, .. } => {
                let ty = input.data_type();
                match ty.root.row_fields().and_then(|fields| fields.get(*index)) {
                    Some(field) => write!(f, "{}.{}", named(input), field.name),
                    None => write!(f, "{}.{index}", named(input)),
                }
            }
        }
    }
}

fn write_literal(f: &mut fmt::Formatter<'_>, value: &Value, ty: &DataType) -> fmt::Result {
    let text = || value_to_string(value, ty, &TimeZone::UTC);
    match (value, ty.family()) {
        (Value::Null, _) => write!(f, "null:{}", ty.summary()),
        (_, Family::CharacterString) => write!(f, "'{}'", text().replace('\'', "''")),
        (Value::Bytes(bytes), _) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
            f.write_str("'")
        }
        (_, Family::Boolean) => f.write_str(&text().to_lowercase()),
        (_, Family::Numeric) => match ty.root {
            flott_types::TypeRoot::Int => f.write_str(&text()),
            _ => write!(f, "{}:{}", text(), ty.root),
        },
        _ => write!(f, "{}:{}", text(), ty.root),
    }
}
