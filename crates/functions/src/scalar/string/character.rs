//! CHAR_LENGTH, ASCII, CHR.

use flott_types::{DataType, TypeRoot};

use super::code_points::count;
use super::rows::{Integers, ints, texts};
use super::signature::{Kind, immutable, resolve, strict};
use crate::read::Strings;
use crate::{FunctionDoc, ScalarFunction, total_kernel};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        aliases: &["CHARACTER_LENGTH"],
        ..immutable(
            "CHAR_LENGTH",
            |args| {
                let form = "CHAR_LENGTH(<CHARACTER>)";
                resolve(args, &[&[Kind::Text]], &[form], |args| strict(args, TypeRoot::Int))
            },
            |_, _, _| {
                Ok(total_kernel(|args, context| {
                    let text = Strings::new(&args[0]);
                    Ok(ints(context.rows, |row| Some(count(text.get(row)?) as i32)))
                }))
            },
            FunctionDoc {
                syntax: &["CHAR_LENGTH(string)", "CHARACTER_LENGTH(string)"],
                text: "The number of characters (code points) of the string.",
                examples: &[("CHAR_LENGTH('héllo')", "5")],
            },
        )
    },
    immutable(
        "ASCII",
        |args| {
            let form = "ASCII(<CHARACTER>)";
            resolve(args, &[&[Kind::Text]], &[form], |args| strict(args, TypeRoot::Int))
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let text = Strings::new(&args[0]);
                Ok(ints(context.rows, |row| {
                    let first = text.get(row)?.bytes().next();
                    // Java's bytes are signed.
                    Some(first.map_or(0, |byte| i32::from(byte as i8)))
                }))
            }))
        },
        FunctionDoc {
            syntax: &["ASCII(string)"],
            text: "The first byte of the string, which is the code of its first character if that \
                   is ASCII, and negative if it is not; 0 for the empty string.",
            examples: &[("ASCII('A')", "65"), ("ASCII('')", "0")],
        },
    ),
    immutable(
        "CHR",
        |args| resolve(args, &[&[Kind::Integer]], &["CHR(<INTEGER>)"], |_| DataType::string()),
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let code = Integers::new(&args[0]);
                texts(context.rows, |row, out| {
                    let code = code.get(row)?;
                    if code >= 0 {
                        out.push(char::from(code as u8));
                    }
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["CHR(integer)"],
            text: "The character with this code modulo 256; the empty string if it is negative.",
            examples: &[("CHR(97)", "a"), ("CHR(353)", "a")],
        },
    ),
];
