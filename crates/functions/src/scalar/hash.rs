//! MD5 and the SHA family.

use std::fmt::Display;

use arrow::array::ArrayRef;
use flott_types::TypeRoot;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::string::rows::{Integers, TextOrBytes, texts, try_texts};
use super::string::signature::{Kind, immutable, resolve, strict};
use super::string::write_hex;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SignatureError, kernel, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "MD5",
        |args| resolve_hash(args, "MD5(<STRING>)", 32),
        |_, _, _| Ok(hash_kernel(write_hash::<Md5>)),
        FunctionDoc {
            syntax: &["MD5(string)"],
            text: "The MD5 hash of a string's UTF-8 bytes, or of a byte string, as 32 hexadecimal \
                   digits.",
            examples: &[("MD5('flow')", "cff5497121104c2b8e0cb41ed2083a9b")],
        },
    ),
    immutable(
        "SHA1",
        |args| resolve_hash(args, "SHA1(<STRING>)", 40),
        |_, _, _| Ok(hash_kernel(write_hash::<Sha1>)),
        FunctionDoc {
            syntax: &["SHA1(string)"],
            text: "The SHA-1 hash of a string's UTF-8 bytes, or of a byte string, as 40 hexadecimal \
                   digits.",
            examples: &[("SHA1('flow')", "d8f7e9c783be82328ffc2f348b0f257b671c1107")],
        },
    ),
    immutable(
        "SHA224",
        |args| resolve_hash(args, "SHA224(<STRING>)", 56),
        |_, _, _| Ok(hash_kernel(write_hash::<Sha224>)),
        FunctionDoc {
            syntax: &["SHA224(string)"],
            text: "The SHA-224 hash of a string's UTF-8 bytes, or of a byte string, as 56 \
                   hexadecimal digits.",
            examples: &[(
                "SHA224('flow')",
                "101e6a5886e9fcc84286fc85e51b2c7f6216e7a5268c58526010bd90",
            )],
        },
    ),
    immutable(
        "SHA256",
        |args| resolve_hash(args, "SHA256(<STRING>)", 64),
        |_, _, _| Ok(hash_kernel(write_hash::<Sha256>)),
        FunctionDoc {
            syntax: &["SHA256(string)"],
            text: "The SHA-256 hash of a string's UTF-8 bytes, or of a byte string, as 64 \
                   hexadecimal digits.",
            examples: &[(
                "SHA256('flow')",
                "3b21278178ed3463f3bde3a35f088caf6d99ff1b2f647d9a0c2b8de599ec3dc6",
            )],
        },
    ),
    immutable(
        "SHA384",
        |args| resolve_hash(args, "SHA384(<STRING>)", 96),
        |_, _, _| Ok(hash_kernel(write_hash::<Sha384>)),
        FunctionDoc {
            syntax: &["SHA384(string)"],
            text: "The SHA-384 hash of a string's UTF-8 bytes, or of a byte string, as 96 \
                   hexadecimal digits.",
            examples: &[("LEFT(SHA384('flow'), 16)", "9583b539756ab14a")],
        },
    ),
    immutable(
        "SHA512",
        |args| resolve_hash(args, "SHA512(<STRING>)", 128),
        |_, _, _| Ok(hash_kernel(write_hash::<Sha512>)),
        FunctionDoc {
            syntax: &["SHA512(string)"],
            text: "The SHA-512 hash of a string's UTF-8 bytes, or of a byte string, as 128 \
                   hexadecimal digits.",
            examples: &[("LEFT(SHA512('flow'), 16)", "8f0ae317a8b4d0c7")],
        },
    ),
    immutable(
        "SHA2",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::TextOrBytes, Kind::Integer]];
            resolve(args, forms, &["SHA2(<STRING>, <INTEGER>)"], |args| {
                strict(args, TypeRoot::Varchar(128))
            })
        },
        |args, _, _| match args.literal(1).and_then(|bits| bits.as_int()) {
            Some(bits) => match algorithm(bits).filter(|_| bits != 1) {
                Some(write) => Ok(hash_kernel(write)),
                None => Err(SignatureError::Argument {
                    name: args.name.clone(),
                    position: 2,
                    reason: unknown(bits),
                }),
            },
            None => Ok(kernel(sha2_of_rows)),
        },
        FunctionDoc {
            syntax: &["SHA2(string, bits)"],
            text: "The SHA-2 hash with 224, 256, 384 or 512 bits of a string's UTF-8 bytes, or of a \
                   byte string, in hexadecimal digits. Fails for other numbers of bits.",
            examples: &[("LEFT(SHA2('flow', 256), 16)", "3b21278178ed3463")],
        },
    ),
];

/// Appends the hexadecimal digits of the hash of bytes.
type WriteHash = fn(&[u8], &mut String);

fn write_hash<D: Digest>(bytes: &[u8], out: &mut String) {
    write_hex(&D::digest(bytes), b"0123456789abcdef", out);
}

/// A string or byte string in, CHAR out.
fn resolve_hash(
    args: &CallArgs,
    form: &'static str,
    digits: u32,
) -> Result<Resolved, SignatureError> {
    resolve(args, &[&[Kind::TextOrBytes]], &[form], |args| strict(args, TypeRoot::Char(digits)))
}

fn hash_kernel(write: WriteHash) -> Box<dyn Kernel> {
    total_kernel(move |args, context| {
        let value = TextOrBytes::new(&args[0]);
        // The second argument of SHA2 is literal here, and not NULL.
        texts(context.rows, |row, out| {
            write(value.get(row)?, out);
            Some(())
        })
    })
}

fn sha2_of_rows(args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
    let (value, bits) = (TextOrBytes::new(&args[0]), Integers::new(&args[1]));
    try_texts(context.rows, |row, out| {
        let Some((value, bits)) = value.get(row).zip(bits.get(row)) else { return Ok(None) };
        let write = algorithm(bits)
            .ok_or_else(|| EvalError::Argument { function: "SHA2", reason: unknown(bits) })?;
        write(value, out);
        Ok(Some(()))
    })
}

/// The hash of a number of bits; as in Flink, 1 stands for SHA-1 when it comes from data.
fn algorithm(bits: i64) -> Option<WriteHash> {
    Some(match bits {
        1 => write_hash::<Sha1>,
        224 => write_hash::<Sha224>,
        256 => write_hash::<Sha256>,
        384 => write_hash::<Sha384>,
        512 => write_hash::<Sha512>,
        _ => return None,
    })
}

fn unknown(bits: impl Display) -> String {
    format!("no SHA-2 hash has {bits} bits\nhint: use 224, 256, 384 or 512")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_lower_case_digits() {
        let digits = |write: WriteHash, text: &str| {
            let mut out = String::new();
            write(text.as_bytes(), &mut out);
            out
        };
        assert_eq!(digits(write_hash::<Md5>, "flow"), "cff5497121104c2b8e0cb41ed2083a9b");
        assert_eq!(digits(write_hash::<Sha1>, "flow"), "d8f7e9c783be82328ffc2f348b0f257b671c1107");
        let sha224 = "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f";
        assert_eq!(algorithm(224).map(|write| digits(write, "")).as_deref(), Some(sha224));
        assert!(algorithm(160).is_none());
    }
}
