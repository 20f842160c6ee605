//! What looks like a function and is none: forms with rules of their own, documented beside the others.

use crate::FunctionDoc;

/// A form with rules of its own.
pub struct SpecialForm {
    /// Its name in upper case.
    pub name: &'static str,
    /// The title of the [section](super::SECTIONS) it belongs to, or [`AGGREGATE`].
    pub section: &'static str,
    /// As of a function.
    pub doc: FunctionDoc,
}

/// The title of the section of aggregate functions.
pub const AGGREGATE: &str = "Aggregate functions";

/// All of them.
pub const FORMS: &[SpecialForm] = &[
    SpecialForm {
        name: "AND",
        section: "Logic",
        doc: FunctionDoc {
            syntax: &["boolean1 AND boolean2"],
            text: "TRUE if both are TRUE, FALSE if one is FALSE, else UNKNOWN. The second is not \
                   computed where the first is FALSE.",
            examples: &[
                ("TRUE AND CAST(NULL AS BOOLEAN)", "NULL"),
                ("FALSE AND CAST(NULL AS BOOLEAN)", "FALSE"),
            ],
        },
    },
    SpecialForm {
        name: "OR",
        section: "Logic",
        doc: FunctionDoc {
            syntax: &["boolean1 OR boolean2"],
            text: "TRUE if one is TRUE, FALSE if both are FALSE, else UNKNOWN. The second is not \
                   computed where the first is TRUE.",
            examples: &[("TRUE OR CAST(NULL AS BOOLEAN)", "TRUE")],
        },
    },
    SpecialForm {
        name: "CASE",
        section: "Conditions",
        doc: FunctionDoc {
            syntax: &[
                "CASE WHEN condition THEN result [WHEN …]* [ELSE otherwise] END",
                "CASE value WHEN item [, item]* THEN result [WHEN …]* [ELSE otherwise] END",
            ],
            text: "The result of the first condition that is TRUE, else that of ELSE, which is NULL \
                   unless given. Results are cast to their common type; those not chosen are not \
                   computed.",
            examples: &[
                ("CASE WHEN 1 > 2 THEN 'more' ELSE 'less' END", "less"),
                ("CASE 3 WHEN 1, 2 THEN 'few' WHEN 3 THEN 'three' END", "three"),
            ],
        },
    },
    SpecialForm {
        name: "COALESCE",
        section: "Conditions",
        doc: FunctionDoc {
            syntax: &["COALESCE(value1, value2, …)"],
            text: "The first value that is not NULL, in the common type of all; later ones are not \
                   computed where it is not needed.",
            examples: &[("COALESCE(CAST(NULL AS INT), 5, 1 / 0)", "5")],
        },
    },
    SpecialForm {
        name: "CAST",
        section: "Types and session",
        doc: FunctionDoc {
            syntax: &["CAST(value AS type)"],
            text: "The value as one of another type. A text that is no value of it ends the job; integers \
                   wrap, and a DECIMAL without room is NULL.",
            examples: &[("CAST('42' AS INT)", "42"), ("CAST(300 AS TINYINT)", "44")],
        },
    },
    SpecialForm {
        name: "TRY_CAST",
        section: "Types and session",
        doc: FunctionDoc {
            syntax: &["TRY_CAST(value AS type)"],
            text: "As CAST, but NULL where that would fail.",
            examples: &[("TRY_CAST('many' AS INT)", "NULL")],
        },
    },
    SpecialForm {
        name: "GROUPING",
        section: AGGREGATE,
        doc: FunctionDoc {
            syntax: &["GROUPING(key1 [, key2]*)", "GROUPING_ID(key1 [, key2]*)"],
            text: "Which of the keys the row's grouping set leaves out: a bit for each, the last one \
                   lowest.",
            examples: &[
                ("GROUPING(a) FROM (VALUES (1), (1)) AS t(a) GROUP BY GROUPING SETS ((a))", "0"),
                ("GROUPING_ID(a) FROM (VALUES (1), (1)) AS t(a) GROUP BY GROUPING SETS ((a))", "0"),
            ],
        },
    },
    SpecialForm {
        name: "GROUP_ID",
        section: AGGREGATE,
        doc: FunctionDoc {
            syntax: &["GROUP_ID()"],
            text: "How many grouping sets before the row's are the same: 0 unless sets repeat.",
            examples: &[("GROUP_ID() FROM (VALUES (1), (1)) AS t(a) GROUP BY a", "0")],
        },
    },
];
