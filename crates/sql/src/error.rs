//! What is wrong with a text, where, and what to do about it.

use crate::ast::{Position, Span};
use std::fmt;

/// Why a text is no Flink SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// The text that is wrong.
    pub span: Span,
    /// Where that is, counted from the start of the text given to the parser.
    pub position: Position,
    /// What could have stood there, if that is known: `"FROM"`, `<IDENTIFIER>`.
    pub expected: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SQL parse failed. {} at {}.", self.kind, self.position)?;
        match self.expected.as_slice() {
            [] => Ok(()),
            [only] => write!(f, "\nWas expecting:\n    {only} ..."),
            several => {
                f.write_str("\nWas expecting one of:")?;
                several.iter().try_for_each(|expected| write!(f, "\n    {expected} ..."))
            }
        }
    }
}

/// What can be wrong with a text. The words are Flink's where Flink has some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// Something stands where it cannot.
    #[error("Encountered \"{0}\"")]
    Unexpected(String),
    /// A reserved word stands where a name could.
    #[error("Incorrect syntax near the keyword '{0}'")]
    ReservedWord(String),
    /// A character begins no token.
    #[error("Lexical error: encountered {0:?}")]
    UnknownCharacter(char),
    /// A string or quoted name does not end.
    #[error("Lexical error: encountered <EOF>, the quote opened here is not closed")]
    OpenQuote,
    /// A comment does not end.
    #[error("Lexical error: encountered <EOF>, the comment opened here is not closed")]
    OpenComment,
    /// Parts are nested too deeply, or too many operators follow each other.
    #[error("Expression or query nested too deeply")]
    TooDeep,
    /// A value alone is no statement.
    #[error("Non-query expression encountered in illegal context")]
    NonQuery,
    /// `!=`
    #[error("Bang equal '!=' is not allowed under the current SQL conformance level")]
    BangEqual,
    /// `MINUS`
    #[error("MINUS is not allowed under the current SQL conformance level")]
    Minus,
    /// `CROSS APPLY`, `OUTER APPLY`
    #[error("APPLY operator is not allowed under the current SQL conformance level")]
    Apply,
    /// `LIMIT start, count`
    #[error("'LIMIT start, count' is not allowed under the current SQL conformance level")]
    LimitStartCount,
    /// `OFFSET start LIMIT count`
    #[error("'OFFSET start LIMIT count' is not allowed under the current SQL conformance level")]
    OffsetLimit,
    /// `SELECT a 'b'`
    #[error("Expecting alias, found character literal")]
    CharacterAlias,
    /// `FROM (t)`
    #[error("Expected query or join")]
    ParenthesizedTable,
    /// `FROM (a JOIN b) AS c`
    #[error("Join expression encountered in illegal context")]
    AliasedJoin,
    /// `f(a ORDER BY b)` of a function that knows no order.
    #[error("ORDER BY unexpected")]
    OrderByUnexpected,
    /// `(a + b) DAY`
    #[error("Illegal expression. Was expecting \"(DATETIME - DATETIME) INTERVALQUALIFIER\"")]
    NoDifference,
    /// `EXTRACT(FOO FROM t)`
    #[error("'{0}' is not a valid time frame")]
    TimeFrame(String),
    /// `X'G'`
    #[error("Binary literal string must contain only characters '0' - '9', 'A' - 'F'")]
    BinaryDigits,
    /// `X'1'`
    #[error("Binary literal string must contain an even number of hexits")]
    BinaryLength,
    /// `U&'\1'`
    #[error("Unicode escape sequence starting at character {place} is not exactly four hex digits")]
    UnicodeEscape {
        /// The offset of the escape in the string.
        place: usize,
    },
    /// `UESCAPE 'ab'`
    #[error("UESCAPE '{0}' must be exactly one character")]
    EscapeLength(String),
    /// `UESCAPE '+'`
    #[error("UESCAPE '{0}' may not be hex digit, whitespace, plus sign, or double quote")]
    EscapeCharacter(String),
    /// `_foo'a'`
    #[error("Unknown character set '{0}'")]
    CharacterSet(String),
    /// `'a' 'b'` on one line.
    #[error("String literal continued on same line")]
    ContinuedOnSameLine,
    /// A number that does not fit or is none.
    #[error("Literal '{literal}' can not be parsed to type '{data_type}'")]
    Literal {
        /// The literal.
        literal: String,
        /// What it should be.
        data_type: &'static str,
    },
    /// An identifier of more than 256 characters.
    #[error("Length of identifier '{0}' must be less than or equal to 256 characters")]
    LongIdentifier(String),
    /// Two WATERMARK clauses.
    #[error("Multiple WATERMARK declarations are not supported yet")]
    MultipleWatermarks,
    /// `CREATE TABLE t (a, b)` without AS.
    #[error(
        "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only"
    )]
    ColumnsWithoutTypes,
    /// `INTO 2.5 BUCKETS`
    #[error("Bucket count must be a positive integer")]
    BucketCount,
    /// `CREATE SYSTEM …`
    #[error(
        "CREATE SYSTEM {0} is not supported, they can only be registered as temporary objects, \
         you can use CREATE TEMPORARY SYSTEM {0} instead"
    )]
    PermanentSystemObject(&'static str),
    /// `LANGUAGE PYTHON USING JAR …`
    #[error("CREATE FUNCTION USING JAR/ARTIFACT syntax is not applicable to {0} language")]
    ResourceLanguage(&'static str),
    /// A statement in a form that Flink reads only to refuse it.
    #[error("{0} is not supported")]
    NotSupported(&'static str),
    /// `FRESHNESS = 5`
    #[error("MATERIALIZED TABLE only supports define interval type FRESHNESS")]
    Freshness,
    /// `START_MODE = FROM_NOW(5)`
    #[error("START_MODE literal must be an interval for FROM_NOW and RESUME_OR_FROM_NOW modes")]
    StartModeInterval,
    /// `EXPLAIN CREATE TABLE t (a INT)`
    #[error(
        "Unsupported CREATE OR REPLACE statement for EXPLAIN. The statement must define a query \
         using the AS clause (i.e. CTAS/RTAS statements)"
    )]
    ExplainCreate,
    /// `EXPLAIN CHANGELOG_MODE, CHANGELOG_MODE …`
    #[error("Duplicate EXPLAIN DETAIL is not allowed")]
    DuplicateDetail,
    /// `STOP JOB 'x' WITH DRAIN`
    #[error("WITH DRAIN could only be used after WITH SAVEPOINT")]
    DrainWithoutSavepoint,
    /// `SHOW DATABASES FROM a.b`
    #[error(
        "Show databases from/in identifier format error, catalog must be a single part identifier"
    )]
    ShowDatabasesFrom,
}
