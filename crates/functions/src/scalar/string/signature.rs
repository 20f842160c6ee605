//! Type rules that functions on strings share.

use flott_types::{DataType, Family, TypeRoot};

use crate::{
    CallArgs, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings, SignatureError,
    Volatility,
};

/// The longest VARCHAR.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

/// A type rule, see [`ScalarFunction::resolve`].
pub type Resolve = fn(&CallArgs) -> Result<Resolved, SignatureError>;

/// A compilation, see [`ScalarFunction::compile`].
pub type Compile =
    fn(&CallArgs, &DataType, &SessionSettings) -> Result<Box<dyn Kernel>, SignatureError>;

/// An entry for a function that depends on its arguments alone.
pub const fn immutable(
    name: &'static str,
    resolve: Resolve,
    compile: Compile,
    doc: FunctionDoc,
) -> ScalarFunction {
    ScalarFunction { name, aliases: &[], volatility: Volatility::Immutable, resolve, compile, doc }
}

/// What an argument may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// CHAR or VARCHAR.
    Text,
    /// BINARY or VARBINARY.
    Bytes,
    /// Either of the two.
    TextOrBytes,
    /// TINYINT to BIGINT.
    Integer,
}

impl Kind {
    fn accepts(self, ty: &DataType) -> bool {
        match self {
            Self::Text => ty.family() == Family::CharacterString,
            Self::Bytes => ty.family() == Family::BinaryString,
            Self::TextOrBytes => {
                matches!(ty.family(), Family::CharacterString | Family::BinaryString)
            }
            Self::Integer => ty.root.is_integer(),
        }
    }

    /// The type an untyped NULL takes in this place.
    fn of_null(self) -> DataType {
        match self {
            Self::Text | Self::TextOrBytes => DataType::string(),
            Self::Bytes => DataType::bytes(),
            Self::Integer => DataType::int(),
        }
    }
}

/// Resolves a call that fits one of `forms`; arguments stay as they are. An untyped NULL is refused,
/// as Flink refuses it for its older functions.
pub fn resolve(
    args: &CallArgs,
    forms: &[&[Kind]],
    expected: &[&'static str],
    returns: impl FnOnce(&CallArgs) -> DataType,
) -> Result<Resolved, SignatureError> {
    let fits = |form: &&&[Kind]| {
        form.len() == args.len()
            && form.iter().zip(&args.args).all(|(kind, arg)| kind.accepts(&arg.data_type))
    };
    match forms.iter().find(fits) {
        Some(_) => Ok(Resolved::unchanged(args, returns(args))),
        None => Err(args.no_match(expected)),
    }
}

/// Resolves a call as [`resolve`] does, but lets an untyped NULL stand for any argument.
pub fn resolve_with_null(
    args: &CallArgs,
    forms: &[&[Kind]],
    expected: &[&'static str],
    returns: impl FnOnce(&CallArgs) -> DataType,
) -> Result<Resolved, SignatureError> {
    let parameter = |kind: &Kind, ty: &DataType| match ty.root {
        TypeRoot::Null => Some(kind.of_null()),
        _ => kind.accepts(ty).then(|| ty.clone()),
    };
    let parameters = forms.iter().filter(|form| form.len() == args.len()).find_map(|form| {
        let typed = form.iter().zip(&args.args);
        typed.map(|(kind, arg)| parameter(kind, &arg.data_type)).collect::<Option<Vec<_>>>()
    });
    match parameters {
        Some(parameters) => Ok(Resolved { parameters, returns: returns(args) }),
        None => Err(args.no_match(expected)),
    }
}

/// The type, nullable when an argument is: the rule of functions that give NULL for NULL.
pub fn strict(args: &CallArgs, root: TypeRoot) -> DataType {
    root.nullable().with_nullable(args.any_nullable())
}

/// STRING, nullable when an argument is.
pub fn strict_string(args: &CallArgs) -> DataType {
    DataType::string().with_nullable(args.any_nullable())
}

/// The VARCHAR as long as a string type.
pub fn varying(ty: &DataType) -> TypeRoot {
    TypeRoot::Varchar(text_length(ty))
}

/// The length in a string type.
pub fn text_length(ty: &DataType) -> u32 {
    match ty.root {
        TypeRoot::Char(length) | TypeRoot::Varchar(length) => length,
        _ => MAX_LENGTH,
    }
}
