//! Tables and views as SHOW CREATE and DESCRIBE print them.

use std::fmt::Write;

use flott_types::Schema;

use crate::{Column, ColumnKind, ObjectPath, Table, View};

/// `SHOW CREATE TABLE`, in Flink's layout; options are sorted by key.
pub fn create_table(path: &ObjectPath, table: &Table, temporary: bool) -> String {
    let mut parts: Vec<String> = table.columns.iter().map(column).collect();
    if let Some(watermark) = &table.watermark {
        parts.push(format!(
            "WATERMARK FOR {} AS {}",
            quote(&watermark.column),
            watermark.definition.text
        ));
    }
    if let Some(key) = &table.primary_key {
        parts.push(format!(
            "CONSTRAINT {} PRIMARY KEY ({}) NOT ENFORCED",
            quote(&key.name),
            quote_all(&key.columns)
        ));
    }
    let temporary = if temporary { "TEMPORARY " } else { "" };
    let mut out =
        format!("CREATE {temporary}TABLE {} (\n  {}\n)\n", path.quoted(), parts.join(",\n  "));
    if let Some(comment) = table.comment.as_deref().filter(|comment| !comment.is_empty()) {
        let _ = writeln!(out, "COMMENT {}", text(comment));
    }
    if let Some(distribution) = &table.distribution {
        let _ = writeln!(out, "{distribution}");
    }
    if !table.partition_keys.is_empty() {
        let _ = writeln!(out, "PARTITIONED BY ({})", quote_all(&table.partition_keys));
    }
    let mut options: Vec<_> = table.options.iter().collect();
    options.sort_unstable();
    if !options.is_empty() {
        let pair = |(key, value): (&str, &str)| format!("  {} = {}", text(key), text(value));
        let pairs: Vec<String> = options.into_iter().map(pair).collect();
        let _ = writeln!(out, "WITH (\n{}\n)", pairs.join(",\n"));
    }
    out
}

/// `SHOW CREATE VIEW`.
pub fn create_view(path: &ObjectPath, view: &View, temporary: bool) -> String {
    let temporary = if temporary { "TEMPORARY " } else { "" };
    let columns: Vec<String> = view.schema.fields.iter().map(|f| quote(&f.name)).collect();
    let mut out =
        format!("CREATE {temporary}VIEW {} (\n  {}\n)\n", path.quoted(), columns.join(",\n  "));
    if let Some(comment) = view.comment.as_deref().filter(|comment| !comment.is_empty()) {
        let _ = writeln!(out, "COMMENT {}", text(comment));
    }
    let _ = writeln!(out, "AS {}", view.text);
    out
}

fn column(column: &Column) -> String {
    let mut out = format!("{} ", quote(&column.name));
    match &column.kind {
        ColumnKind::Physical => out.push_str(&column.data_type.to_string()),
        ColumnKind::Metadata { .. } => {
            let _ = write!(out, "{} {}", column.data_type, extras(column).unwrap_or_default());
        }
        ColumnKind::Computed(definition) => {
            let _ = write!(out, "AS {}", definition.text);
        }
    }
    if let Some(comment) = column.comment.as_deref().filter(|comment| !comment.is_empty()) {
        let _ = write!(out, " COMMENT {}", text(comment));
    }
    out
}

/// What DESCRIBE prints under `extras`.
pub fn extras(column: &Column) -> Option<String> {
    match &column.kind {
        ColumnKind::Physical => None,
        ColumnKind::Metadata { key, is_virtual } => {
            let mut out = String::from("METADATA");
            if let Some(key) = key {
                let _ = write!(out, " FROM {}", text(key));
            }
            if *is_virtual {
                out.push_str(" VIRTUAL");
            }
            Some(out)
        }
        ColumnKind::Computed(definition) => Some(format!("AS {}", definition.text)),
    }
}

/// A line of DESCRIBE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The column's name.
    pub name: String,
    /// Its type without NOT NULL, with the mark of a time attribute.
    pub data_type: String,
    /// Whether it takes NULL.
    pub nullable: bool,
    /// `PRI(…)` of key columns.
    pub key: Option<String>,
    /// How it is computed, or which metadata it is.
    pub extras: Option<String>,
    /// Of the rowtime column: the watermark.
    pub watermark: Option<String>,
    /// Its comment.
    pub comment: Option<String>,
}

/// The lines of DESCRIBE for a table.
pub fn describe_table(table: &Table) -> Vec<Description> {
    let mut lines = describe_schema(&table.schema());
    for (line, column) in lines.iter_mut().zip(&table.columns) {
        line.comment.clone_from(&column.comment);
        line.extras = extras(column);
        if let Some(key) = &table.primary_key
            && key.columns.contains(&column.name)
        {
            line.key = Some(format!("PRI({})", key.columns.join(", ")));
        }
        if let Some(watermark) = &table.watermark
            && watermark.column == column.name
        {
            line.watermark = Some(watermark.definition.text.clone());
        }
    }
    lines
}

/// The lines of DESCRIBE for the columns of a view.
pub fn describe_schema(schema: &Schema) -> Vec<Description> {
    let line = |field: &flott_types::Field| {
        let nullable = flott_types::Field {
            data_type: field.data_type.clone().with_nullable(true),
            ..field.clone()
        };
        Description {
            name: field.name.to_string(),
            data_type: nullable.type_summary(),
            nullable: field.data_type.nullable,
            key: None,
            extras: None,
            watermark: None,
            comment: None,
        }
    };
    schema.fields.iter().map(line).collect()
}

/// A name in back-quotes.
pub fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn quote_all(names: &[String]) -> String {
    names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Whether a name fits a LIKE pattern of SHOW: `%` any text, `_` any character, `\` makes the next
/// character plain.
pub fn is_like(name: &str, pattern: &str, ignore_case: bool) -> bool {
    let fold = |text: &str| if ignore_case { text.to_lowercase() } else { text.to_string() };
    let name: Vec<char> = fold(name).chars().collect();
    let mut tokens = Vec::new();
    let mut chars = fold(pattern).chars().collect::<Vec<_>>().into_iter();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '%' => Token::Any,
            '_' => Token::One,
            '\\' => Token::Plain(chars.next().unwrap_or('\\')),
            plain => Token::Plain(plain),
        });
    }
    // reached[i]: the first i characters of the name fit the tokens so far.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for token in tokens {
        match token {
            Token::Any => {
                let first = reached.iter().position(|r| *r).unwrap_or(reached.len());
                reached.iter_mut().skip(first).for_each(|r| *r = true);
            }
            Token::One | Token::Plain(_) => {
                for i in (0..name.len()).rev() {
                    let fits = match token {
                        Token::Plain(c) => name[i] == c,
                        _ => true,
                    };
                    reached[i + 1] = reached[i] && fits;
                }
                reached[0] = false;
            }
        }
    }
    reached[name.len()]
}

enum Token {
    Any,
    One,
    Plain(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_sql() {
        assert!(is_like("apple", "a_p%", false));
        assert!(!is_like("apricot", "a_p%", false));
        assert!(is_like("a%b", r"a\%b", false));
        assert!(!is_like("axb", r"a\%b", false));
        assert!(is_like("Banana", "b%", true));
        assert!(is_like("", "%", false));
        assert!(!is_like("", "_", false));
    }
}
