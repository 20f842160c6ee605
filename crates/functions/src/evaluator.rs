//! Compiled expressions.
//!
//! An [`Expr`] is compiled once per query into a tree of kernels. AND, OR, CASE and COALESCE evaluate an
//! operand only for the rows that need it, unless the operand cannot fail, in which case computing
//! it for all rows is cheaper than choosing some.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder, UInt32Array, new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{interleave, kernels::zip::zip, take};
use flott_types::{DataType, Value, arrow_type};

use crate::expr::call_args;
use crate::{
    CastMode, Column, EvalContext, EvalError, Expr, Kernel, SessionSettings, SignatureError,
};

/// A compiled expression.
pub struct Evaluator {
    root: Node,
    data_type: DataType,
}

enum Node {
    Column(usize),
    Constant(Column),
    Call { kernel: Box<dyn Kernel>, args: Vec<Node>, fold: bool },
    Connective { args: Vec<Node>, decisive: bool },
    Case { branches: Vec<(Node, Node)>, otherwise: Box<Node> },
    Coalesce { args: Vec<Node> },
    Field { input: Box<Node>, index: usize },
}

impl Evaluator {
    /// Compiles an expression.
    pub fn new(expr: &Expr, settings: &SessionSettings) -> Result<Self, SignatureError> {
        Ok(Self { root: Node::compile(expr, settings)?, data_type: expr.data_type() })
    }

    /// The type of the results.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The position of the column, if the expression is just one.
    pub fn as_column(&self) -> Option<usize> {
        if let Node::Column(index) = self.root { Some(index) } else { None }
    }

    /// The results for all rows of `columns`, which must have `context.rows` rows each.
    pub fn evaluate(
        &self,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<ArrayRef, EvalError> {
        let input = Input { columns, selection: None, context: *context };
        self.root.evaluate(&input)?.into_array(context.rows)
    }

    /// The results, possibly as one constant for all rows.
    pub fn evaluate_column(
        &self,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<Column, EvalError> {
        self.root.evaluate(&Input { columns, selection: None, context: *context })
    }

    /// The rows for which a condition is TRUE: FALSE and NULL both give false, without nulls.
    pub fn evaluate_filter(
        &self,
        columns: &[ArrayRef],
        context: &EvalContext,
    ) -> Result<BooleanArray, EvalError> {
        let result = self.evaluate(columns, context)?;
        Ok(without_nulls(as_boolean(&result)?))
    }

    /// The value of an expression without columns.
    pub fn evaluate_constant(&self, now: i128) -> Result<Value, EvalError> {
        let array = self.evaluate(&[], &EvalContext::new(1, now))?;
        Ok(Value::from_array(&array, 0, &self.data_type))
    }
}

/// Rows to evaluate for: all rows of the columns, or the selected ones.
struct Input<'a> {
    columns: &'a [ArrayRef],
    selection: Option<UInt32Array>,
    context: EvalContext<'a>,
}

impl<'a> Input<'a> {
    fn rows(&self) -> usize {
        self.context.rows
    }

    /// What kernels are told: also which rows these are.
    fn context(&self) -> EvalContext<'_> {
        let selection = self.selection.as_ref().map(|rows| rows.values().as_ref());
        EvalContext { selection, ..self.context }
    }

    /// The input reduced to some of its rows, counted within it.
    fn select(&self, rows: &[u32]) -> Input<'a> {
        let selection = match &self.selection {
            None => UInt32Array::from(rows.to_vec()),
            Some(outer) => rows.iter().map(|row| outer.value(*row as usize)).collect(),
        };
        Input {
            columns: self.columns,
            selection: Some(selection),
            context: self.context.with_rows(rows.len()),
        }
    }
}

impl Node {
    fn compile(expr: &Expr, settings: &SessionSettings) -> Result<Self, SignatureError> {
        let compile_all = |args: &[Expr]| -> Result<Vec<Node>, SignatureError> {
            args.iter().map(|arg| Node::compile(arg, settings)).collect()
        };
        Ok(match expr {
            Expr::Column { index, .. } => Self::Column(*index),
            Expr::Literal { value, data_type } => {
                let array = Value::to_array(std::slice::from_ref(value), data_type)
                    .map_err(|error| SignatureError::Other(error.to_string()))?;
                Self::Constant(Column::constant(array))
            }
            Expr::Call { function, args, symbols, returning, data_type } => {
                let call = call_args(function.name, args, symbols, returning.clone());
                let kernel = (function.compile)(&call, data_type, settings)?;
                let fold = function.volatility == crate::Volatility::Immutable;
                Self::Call { kernel, args: compile_all(args)?, fold }
            }
            Expr::Cast { input, mode, data_type } => {
                let kernel = crate::cast::compile(
                    &input.data_type(),
                    data_type,
                    *mode == CastMode::Try,
                    settings,
                )?;
                Self::Call { kernel, args: vec![Node::compile(input, settings)?], fold: true }
            }
            Expr::And(args) => Self::Connective { args: compile_all(args)?, decisive: false },
            Expr::Or(args) => Self::Connective { args: compile_all(args)?, decisive: true },
            Expr::Case { branches, otherwise, .. } => Self::Case {
                branches: branches
                    .iter()
                    .map(|(condition, result)| {
                        Ok((Node::compile(condition, settings)?, Node::compile(result, settings)?))
                    })
                    .collect::<Result<_, SignatureError>>()?,
                otherwise: Box::new(Node::compile(otherwise, settings)?),
            },
            Expr::Coalesce { args, .. } => Self::Coalesce { args: compile_all(args)? },
            Expr::Field { input, index, .. } => {
                Self::Field { input: Box::new(Node::compile(input, settings)?), index: *index }
            }
        })
    }

    fn can_fail(&self) -> bool {
        match self {
            Self::Column(_) | Self::Constant(_) => false,
            Self::Call { kernel, args, .. } => kernel.can_fail() || args.iter().any(Node::can_fail),
            Self::Connective { args, .. } | Self::Coalesce { args } => {
                args.iter().any(Node::can_fail)
            }
            Self::Case { branches, otherwise } => {
                otherwise.can_fail() || branches.iter().any(|(c, r)| c.can_fail() || r.can_fail())
            }
            Self::Field { input, .. } => input.can_fail(),
        }
    }

    fn evaluate(&self, input: &Input) -> Result<Column, EvalError> {
        match self {
            Self::Column(index) => {
                let array = input.columns.get(*index).ok_or_else(|| {
                    EvalError::Internal(format!("no column {index} in the input"))
                })?;
                Ok(Column::rows(match &input.selection {
                    None => array.clone(),
                    Some(selection) => take(array, selection, None)?,
                }))
            }
            Self::Constant(column) => Ok(column.clone()),
            Self::Call { kernel, args, fold } => {
                let args =
                    args.iter().map(|arg| arg.evaluate(input)).collect::<Result<Vec<_>, _>>()?;
                if *fold && args.iter().all(Column::is_constant) && !input.columns.is_empty() {
                    let once = kernel.evaluate(&args, &input.context.with_rows(1))?;
                    return Ok(Column::constant(once));
                }
                Ok(Column::rows(kernel.evaluate(&args, &input.context())?))
            }
            Self::Connective { args, decisive } => connective(args, *decisive, input),
            Self::Case { branches, otherwise } => case(branches, otherwise, input),
            Self::Coalesce { args } => coalesce(args, input),
            Self::Field { input: row, index } => field(row.evaluate(input)?, *index),
        }
    }

    fn evaluate_rows(&self, input: &Input) -> Result<ArrayRef, EvalError> {
        self.evaluate(input)?.into_array(input.rows())
    }
}

/// AND (`decisive` false) and OR (`decisive` true): an operand that is `decisive` decides.
fn connective(args: &[Node], decisive: bool, input: &Input) -> Result<Column, EvalError> {
    let rows = input.rows();
    let mut result: Option<BooleanArray> = None;
    for arg in args {
        let next = match &result {
            Some(so_far) if arg.can_fail() => {
                let open: Vec<u32> = (0..rows)
                    .filter(|row| so_far.is_null(*row) || so_far.value(*row) != decisive)
                    .map(|row| row as u32)
                    .collect();
                if open.is_empty() {
                    break;
                }
                if open.len() == rows {
                    as_boolean(&arg.evaluate_rows(input)?)?.clone()
                } else {
                    let some = arg.evaluate_rows(&input.select(&open))?;
                    spread(as_boolean(&some)?, &open, rows)
                }
            }
            _ => as_boolean(&arg.evaluate_rows(input)?)?.clone(),
        };
        result = Some(match result {
            None => next,
            Some(so_far) if decisive => arrow::compute::or_kleene(&so_far, &next)?,
            Some(so_far) => arrow::compute::and_kleene(&so_far, &next)?,
        });
    }
    match result {
        Some(array) => Ok(Column::rows(Arc::new(array))),
        None => Ok(Column::constant(Arc::new(BooleanArray::from(vec![!decisive])))),
    }
}

/// Results of some rows at their places among `rows`; NULL, which decides nothing, elsewhere.
fn spread(some: &BooleanArray, places: &[u32], rows: usize) -> BooleanArray {
    let mut builder = BooleanBuilder::with_capacity(rows);
    let mut next = 0;
    for row in 0..rows as u32 {
        if places.get(next) == Some(&row) {
            builder.append_option(some.is_valid(next).then(|| some.value(next)));
            next += 1;
        } else {
            builder.append_null();
        }
    }
    builder.finish()
}

fn case(branches: &[(Node, Node)], otherwise: &Node, input: &Input) -> Result<Column, EvalError> {
    let rows = input.rows();
    if let [(condition, result)] = branches
        && !result.can_fail()
        && !otherwise.can_fail()
    {
        let condition = condition.evaluate_rows(input)?;
        let mask = without_nulls(as_boolean(&condition)?);
        let result = result.evaluate_rows(input)?;
        let otherwise = otherwise.evaluate_rows(input)?;
        return Ok(Column::rows(zip(&mask, &result, &otherwise)?));
    }
    let mut open: Vec<u32> = (0..rows as u32).collect();
    let mut pieces: Vec<ArrayRef> = Vec::with_capacity(branches.len() + 1);
    let mut places = vec![(0usize, 0usize); rows];
    for (condition, result) in branches {
        if open.is_empty() {
            break;
        }
        let narrowed = input.select(&open);
        let condition = condition.evaluate_rows(&narrowed)?;
        let condition = as_boolean(&condition)?;
        let (mut chosen, mut rest) = (Vec::new(), Vec::new());
        for (i, row) in open.iter().enumerate() {
            let is_true = condition.is_valid(i) && condition.value(i);
            if is_true { chosen.push(*row) } else { rest.push(*row) }
        }
        add_piece(&mut pieces, &mut places, &chosen, result, input)?;
        open = rest;
    }
    add_piece(&mut pieces, &mut places, &open, otherwise, input)?;
    gather(&pieces, &places, rows)
}

fn coalesce(args: &[Node], input: &Input) -> Result<Column, EvalError> {
    let rows = input.rows();
    let mut open: Vec<u32> = (0..rows as u32).collect();
    let mut pieces: Vec<ArrayRef> = Vec::with_capacity(args.len());
    let mut places = vec![(0usize, 0usize); rows];
    for arg in args {
        if open.is_empty() {
            break;
        }
        let values = arg.evaluate_rows(&input.select(&open))?;
        let mut rest = Vec::new();
        for (i, row) in open.iter().enumerate() {
            places[*row as usize] = (pieces.len(), i);
            if values.is_null(i) {
                rest.push(*row);
            }
        }
        pieces.push(values);
        open = rest;
    }
    gather(&pieces, &places, rows)
}

/// Evaluates a branch for the rows that chose it and notes where their results stand.
fn add_piece(
    pieces: &mut Vec<ArrayRef>,
    places: &mut [(usize, usize)],
    chosen: &[u32],
    branch: &Node,
    input: &Input,
) -> Result<(), EvalError> {
    if chosen.is_empty() {
        return Ok(());
    }
    let values = branch.evaluate_rows(&input.select(chosen))?;
    for (i, row) in chosen.iter().enumerate() {
        places[*row as usize] = (pieces.len(), i);
    }
    pieces.push(values);
    Ok(())
}

fn gather(
    pieces: &[ArrayRef],
    places: &[(usize, usize)],
    rows: usize,
) -> Result<Column, EvalError> {
    match pieces {
        [] => Ok(Column::rows(new_null_array(&arrow::datatypes::DataType::Null, rows))),
        [only] => Ok(Column::rows(only.clone())),
        _ => {
            let arrays: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
            Ok(Column::rows(interleave(&arrays, places)?))
        }
    }
}

/// A field of a row column; NULL where the row is.
fn field(rows: Column, index: usize) -> Result<Column, EvalError> {
    let structs = rows
        .array()
        .as_struct_opt()
        .ok_or_else(|| EvalError::Internal("field access on a column that holds no rows".into()))?;
    let column = structs
        .columns()
        .get(index)
        .ok_or_else(|| EvalError::Internal(format!("no field {index} in the row")))?;
    let masked = match structs.nulls() {
        None => column.clone(),
        Some(nulls) => mask(column, nulls)?,
    };
    Ok(if rows.is_constant() { Column::constant(masked) } else { Column::rows(masked) })
}

fn mask(column: &ArrayRef, nulls: &NullBuffer) -> Result<ArrayRef, EvalError> {
    let union = NullBuffer::union(column.nulls(), Some(nulls));
    let data = column.to_data().into_builder().nulls(union).build()?;
    Ok(arrow::array::make_array(data))
}

fn as_boolean(array: &ArrayRef) -> Result<&BooleanArray, EvalError> {
    array
        .as_boolean_opt()
        .ok_or_else(|| EvalError::Internal(format!("a condition of type {}", array.data_type())))
}

/// NULL as FALSE.
fn without_nulls(array: &BooleanArray) -> BooleanArray {
    match array.nulls() {
        None => array.clone(),
        Some(nulls) => BooleanArray::new(array.values() & nulls.inner(), None),
    }
}

/// An array of `rows` NULLs of a type.
pub(crate) fn nulls(ty: &DataType, rows: usize) -> ArrayRef {
    new_null_array(&arrow_type(ty), rows)
}
