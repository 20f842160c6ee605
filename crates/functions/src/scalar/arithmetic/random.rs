//! RAND, RAND_INTEGER and UUID.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow::array::{Float64Builder, Int32Builder, StringBuilder};
use arrow::datatypes::Int32Type;
use flott_types::{DataType, TypeRoot};

use crate::read::Primitives;
use crate::{
    CallArgs, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SignatureError, Volatility,
    kernel, total_kernel,
};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "RAND",
        aliases: &[],
        volatility: Volatility::Volatile,
        resolve: |args| integers(args, 0..=1, TypeRoot::Double, &["", "<INTEGER>"]),
        compile: |args, _, _| Ok(rand(args)),
        doc: FunctionDoc {
            syntax: &["RAND()", "RAND(seed)"],
            text: "A pseudo-random number from 0 up to but not including 1. The same seed gives \
                   the same sequence of numbers.",
            examples: &[("RAND(1)", "0.7308781907032909")],
        },
    },
    ScalarFunction {
        name: "RAND_INTEGER",
        aliases: &[],
        volatility: Volatility::Volatile,
        resolve: |args| {
            integers(args, 1..=2, TypeRoot::Int, &["<INTEGER>", "<INTEGER>, <INTEGER>"])
        },
        compile: |args, _, _| Ok(rand_integer(args)),
        doc: FunctionDoc {
            syntax: &["RAND_INTEGER(bound)", "RAND_INTEGER(seed, bound)"],
            text: "A pseudo-random integer from 0 up to but not including the bound, which must \
                   be positive. The same seed gives the same sequence of numbers.",
            examples: &[("RAND_INTEGER(5, 1000)", "487")],
        },
    },
    ScalarFunction {
        name: "UUID",
        aliases: &[],
        volatility: Volatility::Volatile,
        resolve: |args| match args.is_empty() {
            true => Ok(Resolved::unchanged(args, TypeRoot::Char(36).not_null())),
            false => Err(args.no_match(&[""])),
        },
        compile: |_, _, _| Ok(uuid()),
        doc: FunctionDoc {
            syntax: &["UUID()"],
            text: "A random UUID of RFC 4122, version 4.",
            examples: &[("CHAR_LENGTH(UUID())", "36")],
        },
    },
];

fn integers(
    args: &CallArgs,
    count: std::ops::RangeInclusive<usize>,
    returns: TypeRoot,
    forms: &[&'static str],
) -> Result<Resolved, SignatureError> {
    let is_int = |ty: &DataType| ty.root.is_integer() && ty.root != TypeRoot::BigInt;
    if !count.contains(&args.len()) || !args.args.iter().all(|arg| is_int(&arg.data_type)) {
        return Err(args.no_match(forms));
    }
    Ok(Resolved {
        parameters: vec![DataType::int(); args.len()],
        returns: returns.nullable().with_nullable(args.any_nullable()),
    })
}

/// Numbers in the sequence of Java's `java.util.Random`, so that seeds mean what they do in Flink.
struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        Self((seed as u64 ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn unseeded() -> Self {
        Self::new(RandomState::new().hash_one(0u8) as i64)
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        (self.0 >> (48 - bits)) as i32
    }

    fn next_double(&mut self) -> f64 {
        let high = i64::from(self.next(26)) << 27;
        let low = i64::from(self.next(27));
        (high + low) as f64 / (1i64 << 53) as f64
    }

    /// Below a positive bound, every number equally often.
    fn next_below(&mut self, bound: i32) -> i32 {
        let bits = self.next(31);
        if bound & (bound - 1) == 0 {
            return ((i64::from(bound) * i64::from(bits)) >> 31) as i32;
        }
        let mut bits = bits;
        loop {
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
            bits = self.next(31);
        }
    }
}

/// One sequence for all rows, or, if the seed differs by row, a fresh one for each.
struct Source {
    sequence: Mutex<JavaRandom>,
    seed_of_row: bool,
}

impl Source {
    /// The source for calls whose seed is the argument at `seed`.
    fn new(args: &CallArgs, seed: Option<usize>) -> Self {
        let constant = seed.and_then(|seed| args.literal(seed)).and_then(|value| value.as_int());
        let sequence = constant.map_or_else(JavaRandom::unseeded, JavaRandom::new);
        Self { sequence: Mutex::new(sequence), seed_of_row: seed.is_some() && constant.is_none() }
    }

    fn draw<T>(&self, seed: Option<i32>, draw: impl FnOnce(&mut JavaRandom) -> T) -> T {
        match seed {
            Some(seed) if self.seed_of_row => draw(&mut JavaRandom::new(seed.into())),
            _ => draw(&mut self.sequence.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

fn rand(args: &CallArgs) -> Box<dyn Kernel> {
    let seeded = args.len() == 1;
    let source = Source::new(args, seeded.then_some(0));
    total_kernel(move |args, context| {
        let seeds = args.first().map(Primitives::<Int32Type>::new);
        let mut values = Float64Builder::with_capacity(context.rows);
        for row in 0..context.rows {
            match seeds.as_ref().map(|seeds| seeds.get(row)) {
                Some(None) => values.append_null(),
                seed => values.append_value(source.draw(seed.flatten(), JavaRandom::next_double)),
            }
        }
        Ok(Arc::new(values.finish()))
    })
}

fn rand_integer(args: &CallArgs) -> Box<dyn Kernel> {
    let seeded = args.len() == 2;
    let source = Source::new(args, seeded.then_some(0));
    kernel(move |args, context| {
        let (seeds, bounds) = match args {
            [bound] => (None, bound),
            [seed, bound] => (Some(Primitives::<Int32Type>::new(seed)), bound),
            _ => return Err(EvalError::Internal("RAND_INTEGER takes one or two arguments".into())),
        };
        let bounds = Primitives::<Int32Type>::new(bounds);
        let mut values = Int32Builder::with_capacity(context.rows);
        for row in 0..context.rows {
            let seed = seeds.as_ref().map(|seeds| seeds.get(row));
            let (Some(bound), false) = (bounds.get(row), seed == Some(None)) else {
                values.append_null();
                continue;
            };
            if bound <= 0 {
                return Err(EvalError::Argument {
                    function: "RAND_INTEGER",
                    reason: format!("the bound must be positive, but is {bound}"),
                });
            }
            values.append_value(source.draw(seed.flatten(), |random| random.next_below(bound)));
        }
        Ok(Arc::new(values.finish()))
    })
}

/// Bits come of a hash with keys of the operating system, applied to a counter.
fn uuid() -> Box<dyn Kernel> {
    let (high_keys, low_keys) = (RandomState::new(), RandomState::new());
    let counter = AtomicU64::new(0);
    total_kernel(move |_, context| {
        let mut texts = StringBuilder::with_capacity(context.rows, context.rows * 36);
        let first = counter.fetch_add(context.rows as u64, Ordering::Relaxed);
        for row in 0..context.rows as u64 {
            let number = first.wrapping_add(row);
            let (high, low) = (high_keys.hash_one(number), low_keys.hash_one(number));
            texts.append_value(uuid_text(high, low, &mut [0; 36]));
        }
        Ok(Arc::new(texts.finish()))
    })
}

fn uuid_text(high: u64, low: u64, buffer: &mut [u8; 36]) -> &str {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bits = u128::from(high) << 64 | u128::from(low);
    let version = bits & !(0xF << 76) | 0x4 << 76;
    let bits = version & !(0x3 << 62) | 0x2 << 62;
    let mut digits = (0..32).rev().map(|place| HEX[(bits >> (4 * place) & 0xF) as usize]);
    for (place, byte) in buffer.iter_mut().enumerate() {
        *byte = match place {
            8 | 13 | 18 | 23 => b'-',
            _ => digits.next().unwrap_or(b'0'),
        };
    }
    std::str::from_utf8(buffer).unwrap_or_default()
}
