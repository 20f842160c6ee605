//! Keywords, and which of them are reserved.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Defines [`Keyword`] from lists of words.
macro_rules! keywords {
    (
        reserved: $($reserved:ident)*;
        callable: $($callable:ident)*;
        both: $($both:ident)*;
        nullary: $($nullary:ident)*;
        free: $($free:ident)*;
    ) => {
        /// The words that the grammar knows. Those that are reserved are Flink 2.3's; of the
        /// others only those that this parser looks for are listed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        pub(crate) enum Keyword { $($reserved,)* $($callable,)* $($both,)* $($nullary,)* $($free,)* }

        impl Keyword {
            /// The keyword in capitals.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$reserved => stringify!($reserved),)*
                    $(Self::$callable => stringify!($callable),)*
                    $(Self::$both => stringify!($both),)*
                    $(Self::$nullary => stringify!($nullary),)*
                    $(Self::$free => stringify!($free),)*
                }
            }

            /// Whether it must be quoted to be an identifier.
            pub(crate) const fn is_reserved(self) -> bool {
                !matches!(self, $(Self::$free)|*)
            }

            /// Whether it is reserved, yet names a function before a parenthesis.
            pub(crate) const fn is_reserved_function(self) -> bool {
                matches!(self, $(Self::$callable)|* | $(Self::$both)|*)
            }

            /// Whether it is a function that needs no parentheses.
            pub(crate) const fn is_nullary_function(self) -> bool {
                matches!(self, $(Self::$nullary)|* | $(Self::$both)|*)
            }
        }

        const ALL: &[Keyword] = &[
            $(Keyword::$reserved,)*
            $(Keyword::$callable,)*
            $(Keyword::$both,)*
            $(Keyword::$nullary,)*
            $(Keyword::$free,)*
        ];
    };
}

keywords! {
    reserved:
        ALL ALLOCATE ALLOW ALTER AND ANY ARE ARRAY ARRAY_CONCAT_AGG ARRAY_MAX_CARDINALITY AS
        ASENSITIVE ASYMMETRIC AT ATOMIC AUTHORIZATION BEGIN BEGIN_FRAME BEGIN_PARTITION BETWEEN
        BIGINT BINARY BIT BITMAP BLOB BOOLEAN BOTH BUCKETS BY BYTES CALL CALLED CASCADED CASE CAST
        CATALOGS CHARACTER CHECK CLOB CLOSE COLLATE COLUMN COMMENT COMMIT CONDITION CONNECT
        CONNECTIONS CONSTRAINT CONTAINS CONTINUOUS CORR CORRESPONDING CREATE CROSS CUBE CURRENT
        CURRENT_ROW CURRENT_TRANSFORM_GROUP_FOR_TYPE CURSOR CYCLE DATABASES DAY DEALLOCATE DEC
        DECIMAL DECLARE DEFAULT DEFINE DELETE DEREF DESCRIBE DETERMINISTIC DISALLOW DISCONNECT
        DISTINCT DISTRIBUTED DISTRIBUTION DOT DOUBLE DROP DYNAMIC EACH ELSE EMPTY END END_FRAME
        END_PARTITION EQUALS ESCAPE EXCEPT EXEC EXECUTE EXISTS EXPLAIN EXTEND EXTENDED EXTERNAL
        EXTRACT FALSE FETCH FILTER FLOAT FOR FOREIGN FRAME_ROW FREE FRESHNESS FRIDAY FROM FULL
        FUNCTION FUNCTIONS GET GLOBAL GRANT GROUP GROUPS GROUP_CONCAT HASH HAVING HOLD IDENTITY
        ILIKE IMPORT IN INCLUDE INDICATOR INITIAL INNER INOUT INSENSITIVE INSERT INT INTEGER
        INTERSECT INTERVAL INTO IS JOIN JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT
        JSON_OBJECTAGG JSON_QUERY JSON_SCOPE JSON_VALUE LANGUAGE LARGE LATERAL LEADING LIKE
        LIKE_REGEX LIMIT LOCAL MATCH MATCHES MATCH_RECOGNIZE MATERIALIZED MEASURES MEMBER MERGE
        METHOD MINUS MODELS MODIFIES MODIFY MODULE MODULES MONDAY MULTISET NATIONAL NATURAL NCHAR
        NCLOB NEW NO NONE NORMALIZE NOT NULL NUMERIC OCCURRENCES_REGEX OF OFFSET OLD OMIT ON ONE
        ONLY OPEN OR ORDER ORDINAL OUT OUTER OVER OVERLAPS OVERLAY PARAMETER PARTITION PATTERN PER
        PERCENT PERIOD PERMUTE PIVOT PORTION POSITION POSITION_REGEX PRECEDES PRECISION PREPARE
        PRIMARY PROCEDURE PROCEDURES QUALIFY QUARTERS RANGE RAW READS REAL RECURSIVE REF
        REFERENCES REFERENCING REFRESH REFRESH_MODE REGR_AVGX REGR_AVGY REGR_INTERCEPT REGR_R2
        REGR_SLOPE REGR_SXY RELEASE RENAME RESET RESULT RESUME RETURN RETURNS REVOKE RLIKE
        ROLLBACK ROLLUP ROW ROWS RUNNING SAFE_CAST SAFE_OFFSET SAFE_ORDINAL SATURDAY SAVEPOINT
        SCALA SCOPE SCROLL SEARCH SEEK SELECT SENSITIVE SEPARATOR SET SHOW SIMILAR SKIP SMALLINT
        SPECIFIC SPECIFICTYPE SQL SQLEXCEPTION SQLSTATE SQLWARNING START STATEMENT STATIC STREAM
        STRING STRING_AGG STRUCTURED SUBMULTISET SUBSET SUBSTRING_REGEX SUCCEEDS SUNDAY SUSPEND
        SYMMETRIC SYSTEM SYSTEM_TIME TABLE TABLES TABLESAMPLE THEN THURSDAY TIMESTAMP_LTZ
        TIMEZONE_HOUR TIMEZONE_MINUTE TINYINT TO TRAILING TRANSLATE_REGEX TRANSLATION TREAT
        TRIGGER TRIM TRIM_ARRAY TRUE TRY_CAST TUESDAY UESCAPE UNION UNIQUE UNKNOWN UNNEST UNPIVOT
        UPDATE UPSERT USE USING VALUE VALUES VALUE_OF VARBINARY VARCHAR VARIANT VARYING VERSIONING
        VIEWS WATERMARK WATERMARKS WEDNESDAY WEEKS WHEN WHENEVER WHERE WIDTH_BUCKET WINDOW WITH
        WITHIN WITHOUT;
    callable:
        ABS AVG CARDINALITY CEIL CEILING CHAR CHARACTER_LENGTH CHAR_LENGTH CLASSIFIER COALESCE
        COLLECT CONTAINS_SUBSTR CONVERT COUNT COVAR_POP COVAR_SAMP CUME_DIST DATE DATETIME
        DATETIME_TRUNC DATE_TRUNC DENSE_RANK ELEMENT EVERY EXP FIRST_VALUE FLOOR FUSION GROUPING
        HOUR INTERSECTION LAG LAST_VALUE LEAD LEFT LN LOWER MATCH_NUMBER MAX MIN MINUTE MOD MONTH
        NEXT NTH_VALUE NTILE NULLIF OCTET_LENGTH PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK
        POWER PREV RANK REGR_COUNT REGR_SXX REGR_SYY RIGHT ROW_NUMBER SECOND SOME SQRT STDDEV_POP
        STDDEV_SAMP SUBSTRING SUM TIME TIMESTAMP TIMESTAMP_DIFF TIMESTAMP_TRUNC TIME_DIFF
        TIME_TRUNC TRANSLATE TRUNCATE UPPER VAR_POP VAR_SAMP YEAR;
    both:
        CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP USER;
    nullary:
        CURRENT_CATALOG CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA
        CURRENT_USER SESSION_USER SYSTEM_USER;
    free:
        ABSENT ADD AFTER ANALYZE ARRAY_AGG ARTIFACT ASC BERNOULLI CASCADE CATALOG CENTURY
        CHANGELOG_MODE COLUMNS COMPILE COMPUTE CONDITIONAL CONFLICT CONNECTION CONNECTOR CONNECTORS CONSTRAINTS
        DATABASE DAYOFWEEK DAYOFYEAR DAYS DECADE DEDUPLICATE DESC DESCRIPTOR DO DOW DOY DRAIN
        ENFORCED EPOCH ERROR ESTIMATED_COST EXCLUDING FINAL FIRST FOLLOWING FORMAT FORMATS FRAC_SECOND
        FROM_BEGINNING FROM_NOW FROM_TIMESTAMP GENERATED HOURS IF IGNORE INCLUDING INPUT ISODOW
        ISOYEAR JAR JARS JAVA JOB JOBS JSON JSON_EXECUTION_PLAN KEY LAST LOAD MAP METADATA
        MICROSECOND MILLENNIUM MILLISECOND MINUTES MODEL MONTHS NANOSECOND NOTHING NULLS OBJECT
        OPTIONS ORDINALITY OUTPUT OVERWRITE OVERWRITING PARTITIONED PARTITIONS PASSING PAST
        PLACING PLAN PLAN_ADVICE PRECEDING PYTHON QUARTER REMOVE REPEATABLE REPLACE RESPECT
        RESTRICT RESUME_OR_FROM_BEGINNING RESUME_OR_FROM_NOW RESUME_OR_FROM_TIMESTAMP RETURNING
        SCALAR SECONDS SETS SQL_TSI_DAY SQL_TSI_FRAC_SECOND SQL_TSI_HOUR SQL_TSI_MICROSECOND
        SQL_TSI_MINUTE SQL_TSI_MONTH SQL_TSI_QUARTER SQL_TSI_SECOND SQL_TSI_WEEK SQL_TSI_YEAR
        START_MODE STATISTICS STOP TEMPORARY TIES TIMESTAMPADD TIMESTAMPDIFF UNBOUNDED
        UNCONDITIONAL UNLOAD VIEW VIRTUAL WEEK WRAPPER YEARS ZONE;
}

/// The length of the longest keyword.
const MAX_LENGTH: usize = 32;

static BY_TEXT: LazyLock<HashMap<&'static str, Keyword>> =
    LazyLock::new(|| ALL.iter().map(|&keyword| (keyword.text(), keyword)).collect());

impl Keyword {
    /// The keyword that `word` is, in whatever case.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let mut buffer = [0; MAX_LENGTH];
        let capitals = buffer.get_mut(..word.len())?;
        capitals.copy_from_slice(word.as_bytes());
        capitals.make_ascii_uppercase();
        std::str::from_utf8(capitals).ok().and_then(|text| BY_TEXT.get(text).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_ignores_case() {
        assert_eq!(Keyword::from_word("sElEcT"), Some(Keyword::SELECT));
        assert_eq!(Keyword::from_word("selec"), None);
        assert_eq!(Keyword::from_word(&"x".repeat(99)), None);
        assert_eq!(Keyword::from_word("sélect"), None);
    }

    #[test]
    fn every_keyword_is_found() {
        for &keyword in ALL {
            assert_eq!(Keyword::from_word(keyword.text()), Some(keyword));
        }
        assert_eq!(ALL.len(), BY_TEXT.len(), "a keyword is listed twice");
        assert_eq!(ALL.iter().map(|keyword| keyword.text().len()).max(), Some(MAX_LENGTH));
    }

    #[test]
    fn classes() {
        let is_reserved = |word| Keyword::from_word(word).is_some_and(Keyword::is_reserved);
        assert!(is_reserved("value") && is_reserved("Day") && is_reserved("CURRENT_DATE"));
        assert!(!is_reserved("week") && !is_reserved("json") && !is_reserved("anything"));
        assert!(Keyword::LEFT.is_reserved_function() && !Keyword::DAY.is_reserved_function());
        assert!(Keyword::CURRENT_DATE.is_nullary_function());
    }
}
