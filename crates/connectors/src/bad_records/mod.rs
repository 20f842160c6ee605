//! What becomes of records that cannot be decoded. The options are ours, not Flink's: there a format
//! either fails or drops such records unseen (`ignore-parse-errors`).
//!
//! | `on-error` | handler |
//! |---|---|
//! | `fail` | [`FailOnBadRecord`](flott_catalog::connector::FailOnBadRecord): the job ends |
//! | `skip` | [`SkipBadRecords`]: counted and logged |
//! | `dead-letter` | [`DeadLetters`]: written to the table that `on-error.table` names |

mod dead_letter;
mod skip;

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};

pub use dead_letter::DeadLetters;
pub use skip::SkipBadRecords;

/// What becomes of a record that cannot be decoded.
pub const ON_ERROR: OptionDef = OptionDef::new(
    "on-error",
    OptionKind::Enum(&["fail", "skip", "dead-letter"]),
    "what becomes of a record that cannot be decoded: the job fails, it is skipped and counted, \
     or it goes to the table of 'on-error.table'",
)
.default("fail");

/// The table that takes such records.
pub const ON_ERROR_TABLE: OptionDef = OptionDef::new(
    "on-error.table",
    OptionKind::Text,
    "the table that takes records that cannot be decoded, in its columns 'raw' (BYTES or STRING), \
     'place', 'error' (STRING) and 'at' (TIMESTAMP_LTZ)",
);

/// The options that every connector with a format takes.
pub const OPTIONS: &[OptionDef] = &[ON_ERROR, ON_ERROR_TABLE];

/// What a table's options say about bad records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRecordPolicy {
    /// The first one ends the job.
    Fail,
    /// They are counted and logged.
    Skip,
    /// They go to the table of this name, as written in the option.
    DeadLetter(String),
}

impl BadRecordPolicy {
    /// Reads the options; an error when `on-error.table` is missing or without use.
    pub fn of(options: &Options) -> Result<Self, ConnectorError> {
        let action = options.text(&ON_ERROR).unwrap_or("fail").trim();
        ON_ERROR.check(ON_ERROR.key, action)?;
        let table = options.text(&ON_ERROR_TABLE);
        if action.eq_ignore_ascii_case("dead-letter") {
            return match table {
                Some(table) => Ok(Self::DeadLetter(table.into())),
                None => Err(ConnectorError::new(
                    "'on-error' = 'dead-letter' needs the option 'on-error.table', which is missing",
                )
                .hint("add 'on-error.table' = '…' with the name of the table for bad records")),
            };
        }
        match table {
            Some(_) => Err(ConnectorError::new(format!(
                "'on-error.table' has no meaning with 'on-error' = '{action}'"
            ))
            .hint("set 'on-error' = 'dead-letter', or remove 'on-error.table'")),
            None if action.eq_ignore_ascii_case("skip") => Ok(Self::Skip),
            None => Ok(Self::Fail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(pairs: &[(&str, &str)]) -> Result<BadRecordPolicy, ConnectorError> {
        let pairs = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        BadRecordPolicy::of(&Options::new(pairs))
    }

    #[test]
    fn options_name_the_policy() {
        assert_eq!(policy(&[]), Ok(BadRecordPolicy::Fail));
        assert_eq!(policy(&[("on-error", "Skip")]), Ok(BadRecordPolicy::Skip));
        assert_eq!(
            policy(&[("on-error", "dead-letter"), ("on-error.table", "bad")]),
            Ok(BadRecordPolicy::DeadLetter("bad".into()))
        );
        assert!(policy(&[("on-error", "dead-letter")]).is_err());
        assert!(policy(&[("on-error.table", "bad")]).is_err());
        assert!(policy(&[("on-error", "ignore")]).is_err());
    }
}
