//! BIN, HEX and UNHEX: numbers and texts in other notations.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BinaryBuilder, StringArray, StringBuilder};
use arrow::datatypes::Int64Type;
use flott_types::{DataType, Family};

use super::kernels::spread;
use crate::{CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, Volatility, total_kernel};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "BIN",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.args.as_slice() {
            [arg] if arg.data_type.root.is_integer() => Ok(text_of(args, DataType::bigint())),
            _ => Err(args.no_match(&["<INTEGER>"])),
        },
        compile: |_, _, _| Ok(of_numbers(|out, number| write!(out, "{number:b}"))),
        doc: FunctionDoc {
            syntax: &["BIN(integer)"],
            text: "The number in binary, without leading zeros; all 64 bits of a negative one.",
            examples: &[("BIN(12)", "1100")],
        },
    },
    ScalarFunction {
        name: "HEX",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.args.as_slice() {
            [arg] if arg.data_type.root.is_integer() => Ok(text_of(args, DataType::bigint())),
            [arg] if arg.data_type.family() == Family::CharacterString => {
                Ok(text_of(args, arg.data_type.clone()))
            }
            _ => Err(args.no_match(&["<INTEGER>", "<CHARACTER>"])),
        },
        compile: |args, _, _| match args.data_type(0).family() {
            Family::CharacterString => Ok(hex_of_texts()),
            _ => Ok(of_numbers(|out, number| write!(out, "{number:X}"))),
        },
        doc: FunctionDoc {
            syntax: &["HEX(integer)", "HEX(string)"],
            text: "The number, or the UTF-8 bytes of the text, in upper-case hexadecimal; all 64 \
                   bits of a negative number.",
            examples: &[("HEX(255)", "FF"), ("HEX('é')", "C3A9")],
        },
    },
    ScalarFunction {
        name: "UNHEX",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| match args.args.as_slice() {
            [arg] if arg.data_type.family() == Family::CharacterString => {
                Ok(Resolved::unchanged(args, DataType::bytes()))
            }
            [arg] if arg.data_type.family() == Family::Null => {
                Ok(Resolved { parameters: vec![DataType::string()], returns: DataType::bytes() })
            }
            _ => Err(args.no_match(&["<CHARACTER_STRING>"])),
        },
        compile: |_, _, _| Ok(unhex()),
        doc: FunctionDoc {
            syntax: &["UNHEX(string)"],
            text: "The bytes of a hexadecimal text; NULL where it is none. The first byte is \
                   zero, if the number of digits is odd.",
            examples: &[("CAST(UNHEX('466C696E6B') AS STRING)", "Flink")],
        },
    },
];

fn text_of(args: &CallArgs, parameter: DataType) -> Resolved {
    Resolved {
        parameters: vec![parameter],
        returns: DataType::string().with_nullable(args.any_nullable()),
    }
}

fn of_numbers(write: fn(&mut StringBuilder, i64) -> std::fmt::Result) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let numbers = args[0].array().as_primitive::<Int64Type>();
        let mut texts = StringBuilder::with_capacity(numbers.len(), numbers.len() * 16);
        for number in numbers.iter() {
            match number {
                // Writing to a builder cannot fail.
                Some(number) => {
                    let _ = write(&mut texts, number);
                    texts.append_value("");
                }
                None => texts.append_null(),
            }
        }
        spread(&args[0], Arc::new(texts.finish()), context.rows)
    })
}

fn hex_of_texts() -> Box<dyn Kernel> {
    total_kernel(|args, context| {
        let texts: &StringArray = args[0].array().as_string();
        let mut digits = StringBuilder::with_capacity(texts.len(), texts.value_data().len() * 2);
        for text in texts.iter() {
            match text {
                Some(text) => {
                    for byte in text.bytes() {
                        let _ = write!(digits, "{byte:02X}");
                    }
                    digits.append_value("");
                }
                None => digits.append_null(),
            }
        }
        spread(&args[0], Arc::new(digits.finish()), context.rows)
    })
}

fn unhex() -> Box<dyn Kernel> {
    total_kernel(|args, context| {
        let texts: &StringArray = args[0].array().as_string();
        let mut values = BinaryBuilder::with_capacity(texts.len(), texts.value_data().len() / 2);
        let mut bytes = Vec::new();
        for text in texts.iter() {
            match text.and_then(|text| decode(text.as_bytes(), &mut bytes)) {
                Some(()) => values.append_value(&bytes),
                None => values.append_null(),
            }
        }
        spread(&args[0], Arc::new(values.finish()), context.rows)
    })
}

/// Flink checks the first of an odd number of digits, but does not take it in.
fn decode(text: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    bytes.clear();
    let (odd, pairs) = text.split_at(text.len() % 2);
    if let [first] = odd {
        digit(*first)?;
        bytes.push(0);
    }
    for pair in pairs.chunks_exact(2) {
        bytes.push(digit(pair[0])? << 4 | digit(pair[1])?);
    }
    Some(())
}
