//! The function reference: every entry as Markdown.

use std::fmt::Write;

use crate::scalar::{SECTIONS, special};
use crate::{FunctionDoc, aggregate_functions};

/// `docs/functions.md`: all functions by section, with their forms, meaning and examples.
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    for section in SECTIONS {
        heading(&mut page, section.title);
        for function in section.tables.iter().copied().flatten() {
            entry(&mut page, function.name, function.aliases, &function.doc);
        }
        for form in special::FORMS.iter().filter(|form| form.section == section.title) {
            entry(&mut page, form.name, &[], &form.doc);
        }
    }
    heading(&mut page, special::AGGREGATE);
    for function in aggregate_functions().filter(|function| !function.doc.syntax.is_empty()) {
        entry(&mut page, function.name, function.aliases, &function.doc);
    }
    for form in special::FORMS.iter().filter(|form| form.section == special::AGGREGATE) {
        entry(&mut page, form.name, &[], &form.doc);
    }
    page
}

const INTRODUCTION: &str = "\
# Functions

All built-in functions and operators. Unless said otherwise a function gives NULL when an argument is NULL, and its
result can be NULL only if an argument can. The right column of an example is what its cast to STRING prints.

This page is made of the functions' own entries, and its examples are run as tests:
`UPDATE_DOCS=1 cargo test --workspace --test functions` writes it anew.
";

fn heading(page: &mut String, title: &str) {
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {title}\n");
}

fn entry(page: &mut String, name: &str, aliases: &[&str], doc: &FunctionDoc) {
    let _ = write!(page, "\n### {}\n\n```text\n", name.replace('|', "\\|").replace('*', "\\*"));
    for form in doc.syntax {
        let _ = writeln!(page, "{form}");
    }
    let _ = write!(page, "```\n\n{}\n", doc.text);
    if !aliases.is_empty() {
        let _ = write!(page, "\nAlso called {}.\n", aliases.join(", "));
    }
    if !doc.examples.is_empty() {
        let _ = write!(page, "\n| example | gives |\n| --- | --- |\n");
        for (expression, result) in doc.examples {
            let (expression, result) = (cell(expression), cell(result));
            let _ = writeln!(page, "| {expression} | {result} |");
        }
    }
}

/// A text as code within a table.
fn cell(text: &str) -> String {
    match text {
        "" => "(empty)".into(),
        _ => format!("`{}`", text.replace('|', "\\|").replace('\n', "⏎")),
    }
}
