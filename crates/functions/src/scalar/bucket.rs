//! `$BUCKET`: values spread over so many buckets. Plans put it where DISTINCT aggregates are split; no
//! query can name it.

use std::sync::Arc;

use arrow::array::Int32Array;
use flott_types::{DataType, TypeRoot};

use super::string::rows::TextOrBytes;
use crate::{FunctionDoc, Resolved, ScalarFunction, SignatureError, Volatility, total_kernel};

/// `$BUCKET(text, buckets)`: a number from 0 to before the number of buckets. Equal texts, and NULLs,
/// have equal ones, in every version: state is kept by them.
pub static BUCKET: ScalarFunction = ScalarFunction {
    name: "$BUCKET",
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve: |args| {
        if args.len() != 2 {
            return Err(args.no_match(&["$BUCKET(<STRING>, <INT>)"]));
        }
        Ok(Resolved {
            parameters: vec![
                DataType::string().with_nullable(args.data_type(0).nullable),
                DataType::int().not_null(),
            ],
            returns: TypeRoot::Int.not_null(),
        })
    },
    compile: |args, _, _| {
        let buckets = args.literal(1).and_then(|buckets| buckets.as_int()).filter(|n| *n > 0);
        let Some(buckets) = buckets.and_then(|buckets| u64::try_from(buckets).ok()) else {
            return Err(SignatureError::Argument {
                name: args.name.clone(),
                position: 2,
                reason: "a number of buckets is needed".to_string(),
            });
        };
        Ok(total_kernel(move |args, context| {
            let texts = TextOrBytes::new(&args[0]);
            let bucket = |row| texts.get(row).map_or(0, |text| (hash(text) % buckets) as i32);
            Ok(Arc::new(Int32Array::from_iter_values((0..context.rows).map(bucket))))
        }))
    },
    doc: FunctionDoc { syntax: &["$BUCKET(text, buckets)"], text: "", examples: &[] },
};

/// FNV-1a, then mixed, so that its low bits are as good as its high ones.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    fnv ^ fnv >> 32
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn buckets_are_those_of_every_version() {
        assert_eq!(hash(b""), 0xCBF2_9CE4_8422_2325 ^ 0xCBF2_9CE4);
        assert_eq!(hash(b"a"), 0xAF63_DC4C_8601_EC8C ^ 0xAF63_DC4C);
    }
}
