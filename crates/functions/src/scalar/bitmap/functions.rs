//! The functions of bitmaps.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow::datatypes::Int32Type;
use flott_types::{DataType, Family, TypeRoot};
use roaring::RoaringBitmap;

use super::{bitmap_text, decode, encode};
use crate::read::{Bytes, Lists};
use crate::{
    CallArgs, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    binary(
        "BITMAP_AND",
        &["BITMAP_AND(bitmap1, bitmap2)"],
        "The members that both bitmaps have.",
        &[(
            "BITMAP_TO_STRING(BITMAP_AND(BITMAP_BUILD(ARRAY[1, 2]), BITMAP_BUILD(ARRAY[2, 3])))",
            "{2}",
        )],
        |_, _, _| combine(|a, b| a & b),
    ),
    binary(
        "BITMAP_ANDNOT",
        &["BITMAP_ANDNOT(bitmap1, bitmap2)"],
        "The members that the first bitmap has and the second has not.",
        &[(
            "BITMAP_TO_STRING(BITMAP_ANDNOT(BITMAP_BUILD(ARRAY[1, 2]), BITMAP_BUILD(ARRAY[2])))",
            "{1}",
        )],
        |_, _, _| combine(|a, b| a - b),
    ),
    function(
        "BITMAP_BUILD",
        &["BITMAP_BUILD(array)"],
        "The bitmap of the integers in an array that are not NULL, taken as unsigned ones of 32 bits.",
        &[("BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[3, -1, 1]))", "{1,3,4294967295}")],
        resolve_build,
        |_, _, _| {
            Ok(kernel(|args, context| {
                let lists = Lists::new(&args[0]);
                bitmaps(context.rows, |row| {
                    let Some(items) = lists.get(row) else { return Ok(None) };
                    let items = items.as_primitive::<Int32Type>();
                    Ok(Some(items.iter().flatten().map(|item| item as u32).collect()))
                })
            }))
        },
    ),
    function(
        "BITMAP_CARDINALITY",
        &["BITMAP_CARDINALITY(bitmap)"],
        "The number of members of a bitmap.",
        &[("BITMAP_CARDINALITY(BITMAP_BUILD(ARRAY[1, 2, 2]))", "2")],
        |args| resolve_bitmap(args, DataType::bigint()),
        |_, _, _| {
            Ok(kernel(|args, context| {
                let bitmaps = Bytes::new(&args[0]);
                let mut results = Int64Builder::with_capacity(context.rows);
                for row in 0..context.rows {
                    let bitmap = bitmaps.get(row).map(decode).transpose()?;
                    results.append_option(bitmap.map(|bitmap| bitmap.len() as i64));
                }
                Ok(Arc::new(results.finish()))
            }))
        },
    ),
    function(
        "BITMAP_FROM_BYTES",
        &["BITMAP_FROM_BYTES(bytes)"],
        "The bitmap of bytes in the portable format of 32-bit Roaring bitmaps.",
        &[("BITMAP_TO_STRING(BITMAP_FROM_BYTES(X'3a3000000100000000000000100000000500'))", "{5}")],
        resolve_from_bytes,
        |_, _, _| {
            Ok(kernel(|args, context| {
                let bytes = Bytes::new(&args[0]);
                bitmaps(context.rows, |row| bytes.get(row).map(from_bytes).transpose())
            }))
        },
    ),
    binary(
        "BITMAP_OR",
        &["BITMAP_OR(bitmap1, bitmap2)"],
        "The members that either bitmap has.",
        &[("BITMAP_TO_STRING(BITMAP_OR(BITMAP_BUILD(ARRAY[1]), BITMAP_BUILD(ARRAY[2])))", "{1,2}")],
        |_, _, _| combine(|a, b| a | b),
    ),
    function(
        "BITMAP_TO_ARRAY",
        &["BITMAP_TO_ARRAY(bitmap)"],
        "The members of a bitmap as INTs, in their order as unsigned integers.",
        &[("BITMAP_TO_ARRAY(BITMAP_BUILD(ARRAY[-1, 5, 0]))", "[0, 5, -1]")],
        |args| resolve_bitmap(args, DataType::array(DataType::int())),
        |_, _, _| {
            Ok(kernel(|args, context| {
                let bitmaps = Bytes::new(&args[0]);
                let mut results = ListBuilder::new(Int32Builder::new());
                for row in 0..context.rows {
                    let bitmap = bitmaps.get(row).map(decode).transpose()?;
                    let members = bitmap.iter().flatten();
                    members.for_each(|member| results.values().append_value(member as i32));
                    results.append(bitmap.is_some());
                }
                Ok(Arc::new(results.finish()))
            }))
        },
    ),
    function(
        "BITMAP_TO_BYTES",
        &["BITMAP_TO_BYTES(bitmap)"],
        "A bitmap in the portable format of 32-bit Roaring bitmaps.",
        &[("TO_BASE64(BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[5])))", "OjAAAAEAAAAAAAAAEAAAAAUA")],
        |args| resolve_bitmap(args, DataType::bytes()),
        |_, _, _| Ok(kernel(|args, context| args[0].clone().into_array(context.rows))),
    ),
    function(
        "BITMAP_TO_STRING",
        &["BITMAP_TO_STRING(bitmap)"],
        "The members of a bitmap as text, in their order as unsigned integers. A text of more than half a \
         million characters is cut short and ends with `...}`.",
        &[("BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[3, 1, 2]))", "{1,2,3}")],
        |args| resolve_bitmap(args, DataType::string()),
        |_, _, _| {
            Ok(kernel(|args, context| {
                let bitmaps = Bytes::new(&args[0]);
                let mut results = StringBuilder::new();
                for row in 0..context.rows {
                    results.append_option(bitmaps.get(row).map(bitmap_text));
                }
                Ok(Arc::new(results.finish()))
            }))
        },
    ),
    binary(
        "BITMAP_XOR",
        &["BITMAP_XOR(bitmap1, bitmap2)"],
        "The members that one of the bitmaps has and the other has not.",
        &[(
            "BITMAP_TO_STRING(BITMAP_XOR(BITMAP_BUILD(ARRAY[1, 2]), BITMAP_BUILD(ARRAY[2, 3])))",
            "{1,3}",
        )],
        |_, _, _| combine(|a, b| a ^ b),
    ),
];

type Resolve = fn(&CallArgs) -> Result<Resolved, SignatureError>;

const fn function(
    name: &'static str,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [crate::Example],
    resolve: Resolve,
    compile: crate::Compile,
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve,
        compile,
        doc: FunctionDoc { syntax, text, examples },
    }
}

const fn binary(
    name: &'static str,
    syntax: &'static [&'static str],
    text: &'static str,
    examples: &'static [crate::Example],
    compile: crate::Compile,
) -> ScalarFunction {
    function(name, syntax, text, examples, resolve_binary, compile)
}

fn resolve_build(args: &CallArgs) -> Result<Resolved, SignatureError> {
    use TypeRoot::*;
    let [arg] = args.args.as_slice() else {
        return Err(args.no_match(&["BITMAP_BUILD(array <ARRAY<INT>>)"]));
    };
    let element = match &arg.data_type.root {
        Array(element) if matches!(element.root, TinyInt | SmallInt | Int) => element.nullable,
        Null => true,
        _ => return Err(args.no_match(&["BITMAP_BUILD(array <ARRAY<INT>>)"])),
    };
    let nullable = arg.data_type.nullable;
    Ok(Resolved {
        parameters: vec![
            DataType::array(DataType::int().with_nullable(element)).with_nullable(nullable),
        ],
        returns: Bitmap.nullable().with_nullable(nullable),
    })
}

fn resolve_from_bytes(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if matches!(arg.data_type.family(), Family::BinaryString | Family::Null) => {
            let parameter = match arg.data_type.root {
                TypeRoot::Null => DataType::bytes(),
                _ => arg.data_type.clone(),
            };
            let returns = TypeRoot::Bitmap.nullable().with_nullable(parameter.nullable);
            Ok(Resolved { parameters: vec![parameter], returns })
        }
        _ => Err(args.no_match(&["BITMAP_FROM_BYTES(bytes <BINARY_STRING>)"])),
    }
}

/// One bitmap in, a value of the type out.
fn resolve_bitmap(args: &CallArgs, returns: DataType) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [arg] if arg.data_type.root == TypeRoot::Bitmap => {
            Ok(Resolved::unchanged(args, returns.with_nullable(arg.data_type.nullable)))
        }
        _ => Err(args.no_match(&["(bitmap <BITMAP>)"])),
    }
}

fn resolve_binary(args: &CallArgs) -> Result<Resolved, SignatureError> {
    match args.args.as_slice() {
        [a, b] if [a, b].iter().all(|arg| arg.data_type.root == TypeRoot::Bitmap) => {
            let returns = TypeRoot::Bitmap.nullable().with_nullable(args.any_nullable());
            Ok(Resolved::unchanged(args, returns))
        }
        _ => Err(args.no_match(&["(bitmap1 <BITMAP>, bitmap2 <BITMAP>)"])),
    }
}

fn combine(
    op: fn(RoaringBitmap, RoaringBitmap) -> RoaringBitmap,
) -> Result<Box<dyn Kernel>, SignatureError> {
    Ok(kernel(move |args, context| {
        let (a, b) = (Bytes::new(&args[0]), Bytes::new(&args[1]));
        bitmaps(context.rows, |row| match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => Ok(Some(op(decode(a)?, decode(b)?))),
            _ => Ok(None),
        })
    }))
}

/// A bitmap, or NULL, for each row.
fn bitmaps(
    rows: usize,
    bitmap: impl Fn(usize) -> Result<Option<RoaringBitmap>, EvalError>,
) -> Result<ArrayRef, EvalError> {
    let mut results = BinaryBuilder::new();
    for row in 0..rows {
        results.append_option(bitmap(row)?.map(encode).transpose()?);
    }
    Ok(Arc::new(results.finish()))
}

fn from_bytes(bytes: &[u8]) -> Result<RoaringBitmap, EvalError> {
    RoaringBitmap::deserialize_from(bytes).map_err(|error| EvalError::Argument {
        function: "BITMAP_FROM_BYTES",
        reason: format!("not a bitmap in the portable format of 32-bit Roaring bitmaps: {error}"),
    })
}
