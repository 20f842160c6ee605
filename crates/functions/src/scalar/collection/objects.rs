//! Structured objects: OBJECT_OF and OBJECT_UPDATE.

use std::sync::Arc;

use arrow::array::{Array, AsArray, StructArray};
use arrow::datatypes::DataType as Arrow;
use flott_types::{DataType, RowField, TypeRoot, arrow_type};

use super::construct::struct_of;
use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings, SignatureError,
    Volatility, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "OBJECT_OF",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_of,
        compile: |_, returns, _| {
            let returns = returns.clone();
            Ok(total_kernel(move |args, context| {
                let values: Vec<_> = args.iter().skip(2).step_by(2).cloned().collect();
                struct_of(&values, &returns, context)
            }))
        },
        doc: FunctionDoc {
            syntax: &["OBJECT_OF('class', 'name', value, …)"],
            text: "A structured object of a class, with the fields given. Class and field names are \
                   constants.",
            examples: &[("OBJECT_OF('org.demo.Point', 'x', 1, 'y', 2)", "(1, 2)")],
        },
    },
    ScalarFunction {
        name: "OBJECT_UPDATE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: resolve_update,
        compile: compile_update,
        doc: FunctionDoc {
            syntax: &["OBJECT_UPDATE(object, 'name', value, …)"],
            text: "A structured object with other values in some of its fields, which take the types \
                   of the values.",
            examples: &[(
                "OBJECT_UPDATE(OBJECT_OF('org.demo.Point', 'x', 1, 'y', 2), 'y', 5)",
                "(1, 5)",
            )],
        },
    },
];

fn argument(args: &CallArgs, index: usize, reason: impl Into<String>) -> SignatureError {
    SignatureError::Argument { name: args.name.clone(), position: index + 1, reason: reason.into() }
}

/// Constant names and the types of their values, from the second argument on.
fn named_values(args: &CallArgs) -> Result<Vec<(Arc<str>, DataType)>, SignatureError> {
    let mut fields: Vec<(Arc<str>, DataType)> = Vec::new();
    for index in (1..args.len()).step_by(2) {
        let name = args
            .literal_str(index)
            .ok_or_else(|| argument(args, index, "a field name must be a constant string"))?;
        if fields.iter().any(|(known, _)| **known == *name) {
            return Err(argument(args, index, format!("the field '{name}' is repeated")));
        }
        let ty = args.data_type(index + 1).clone();
        if ty.root == TypeRoot::Null {
            return Err(argument(args, index + 1, "the type of NULL is not known"));
        }
        fields.push((name.into(), ty));
    }
    Ok(fields)
}

fn resolve_of(args: &CallArgs) -> Result<Resolved, SignatureError> {
    if args.len() % 2 != 1 {
        return Err(args.no_match(&["'class', 'name', <ANY>, …"]));
    }
    let class = args
        .literal_str(0)
        .ok_or_else(|| argument(args, 0, "the class name must be a constant string"))?;
    if !is_class_name(class) {
        return Err(argument(args, 0, format!("'{class}' is not the name of a class")));
    }
    let fields = named_values(args)?;
    let fields = fields.into_iter().map(|(name, ty)| RowField::new(name, ty)).collect();
    let returns = TypeRoot::Structured { class: class.into(), fields }.nullable();
    Ok(Resolved::unchanged(args, returns))
}

/// Java identifiers with dots between them.
fn is_class_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut chars = part.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    })
}

/// The fields of an updated object, each with the argument its value comes from, if it is new.
fn updated(args: &CallArgs) -> Result<Vec<(RowField, Option<usize>)>, SignatureError> {
    let TypeRoot::Structured { fields, .. } = &args.data_type(0).root else {
        return Err(argument(args, 0, "a structured object is needed, not any other value"));
    };
    let mut result: Vec<(RowField, Option<usize>)> =
        fields.iter().map(|field| (field.clone(), None)).collect();
    for (i, (name, ty)) in named_values(args)?.into_iter().enumerate() {
        let Some((field, source)) = result.iter_mut().find(|(field, _)| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
            let reason = format!("the object has no field '{name}' but {}", known.join(", "));
            return Err(argument(args, 2 * i + 1, reason));
        };
        field.data_type = ty;
        *source = Some(2 * i + 2);
    }
    Ok(result)
}

fn resolve_update(args: &CallArgs) -> Result<Resolved, SignatureError> {
    if args.len() % 2 != 1 {
        return Err(args.no_match(&["<STRUCTURED>, 'name', <ANY>, …"]));
    }
    let fields = updated(args)?.into_iter().map(|(field, _)| field).collect();
    let TypeRoot::Structured { class, .. } = &args.data_type(0).root else {
        return Err(args.no_match(&["<STRUCTURED>, 'name', <ANY>, …"]));
    };
    let returns = TypeRoot::Structured { class: Arc::clone(class), fields };
    Ok(Resolved::unchanged(args, returns.nullable().with_nullable(args.data_type(0).nullable)))
}

fn compile_update(
    args: &CallArgs,
    returns: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let sources: Vec<Option<usize>> =
        updated(args)?.into_iter().map(|(_, source)| source).collect();
    let Arrow::Struct(fields) = arrow_type(returns) else {
        return Err(SignatureError::Other(format!("{returns} is no object")));
    };
    Ok(total_kernel(move |args, context| {
        let array = args[0].clone().into_array(context.rows)?;
        let objects = array.as_struct();
        let columns = sources
            .iter()
            .enumerate()
            .map(|(index, source)| match source {
                Some(argument) => args[*argument].clone().into_array(context.rows),
                None => Ok(Arc::clone(objects.column(index))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let nulls = objects.nulls().cloned();
        let updated =
            StructArray::try_new_with_length(fields.clone(), columns, nulls, context.rows)?;
        Ok(Arc::new(updated))
    }))
}
