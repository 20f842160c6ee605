//! Parts of URLs, and their encoding.

mod form;
mod parse;

use flott_types::DataType;

use super::string::rows::texts;
use super::string::signature::{Kind, immutable, resolve, resolve_with_null};
use crate::read::Strings;
use crate::{FunctionDoc, ScalarFunction, total_kernel};

use form::{decode, encode};
use parse::{Part, Url};

/// The functions of this family.
pub const FUNCTIONS: &[ScalarFunction] = &[
    immutable(
        "PARSE_URL",
        |args| {
            let forms: &[&[Kind]] = &[&[Kind::Text; 2], &[Kind::Text; 3]];
            let expected = [
                "PARSE_URL(<CHARACTER>, <CHARACTER>)",
                "PARSE_URL(<CHARACTER>, <CHARACTER>, <CHARACTER>)",
            ];
            resolve(args, forms, &expected, |_| DataType::string())
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let [url, part] = [0, 1].map(|i| Strings::new(&args[i]));
                let key = args.get(2).map(Strings::new);
                texts(context.rows, |row, out| {
                    let (url, part) = (url.get(row)?, Part::named(part.get(row)?));
                    let key = match key {
                        Some(key) => Some(key.get(row)?),
                        None => None,
                    };
                    let url = Url::parse(url)?;
                    match (part?, key) {
                        (part, None) => url.write(part, out),
                        (Part::Query, Some(key)) => {
                            out.push_str(url.query_value(key)?);
                            Some(())
                        }
                        _ => None,
                    }
                })
            }))
        },
        FunctionDoc {
            syntax: &["PARSE_URL(url, part[, key])"],
            text: "A part of the URL: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO, \
                   in upper case; with a key, its first value in the QUERY, as it stands there. \
                   NULL if there is no such part or the URL is invalid. The protocols are http, \
                   https, ftp, file, jar, jmod, jrt and mailto.",
            examples: &[
                ("PARSE_URL('http://flink.apache.org/p?k1=v1#ref', 'HOST')", "flink.apache.org"),
                ("PARSE_URL('http://h/p?k1=v1&k2=v2', 'QUERY', 'k2')", "v2"),
            ],
        },
    ),
    immutable(
        "URL_ENCODE",
        |args| {
            let form = "URL_ENCODE(<CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text]], &[form], |_| DataType::string())
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let text = Strings::new(&args[0]);
                texts(context.rows, |row, out| {
                    encode(text.get(row)?, out);
                    Some(())
                })
            }))
        },
        FunctionDoc {
            syntax: &["URL_ENCODE(string)"],
            text: "The string as `application/x-www-form-urlencoded` of its UTF-8 bytes.",
            examples: &[("URL_ENCODE('a b&c')", "a+b%26c")],
        },
    ),
    immutable(
        "URL_DECODE",
        |args| {
            let form = "URL_DECODE(<CHARACTER>)";
            resolve_with_null(args, &[&[Kind::Text]], &[form], |_| DataType::string())
        },
        |_, _, _| {
            Ok(total_kernel(|args, context| {
                let text = Strings::new(&args[0]);
                texts(context.rows, |row, out| decode(text.get(row)?, out))
            }))
        },
        FunctionDoc {
            syntax: &["URL_DECODE(string)"],
            text: "The string of an `application/x-www-form-urlencoded` text in UTF-8; NULL if a \
                   percent sign is not followed by two hexadecimal digits.",
            examples: &[("URL_DECODE('a+b%26c')", "a b&c"), ("URL_DECODE('%zz')", "NULL")],
        },
    ),
];
