//! `docs/connectors.md` says of connectors and formats what their definitions say.
//!
//! `UPDATE_DOCS=1 cargo test --workspace --test reference` writes it anew.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use flott_catalog::connector::OptionDef;

const ABOUT: &str = "\
# Connectors and formats

Written from the definitions that also check the options of tables; `SHOW CONNECTORS`, `SHOW FORMATS`,
`DESCRIBE CONNECTOR 'name'` and `DESCRIBE FORMAT 'name'` tell the same. Keys and defaults are Flink's;
where Flink has no such option, `divergences.md` says so.

A key with `#` stands for any name there, as in `fields.#.kind`.
";

#[test]
fn the_reference_of_connectors_is_up_to_date() {
    let mut text = ABOUT.to_string();
    let mut connectors = flott_connectors::all();
    connectors.sort_by_key(|def| def.name);
    for def in connectors {
        let _ = write!(text, "\n## Connector `{}`\n\n{}. ", def.name, capital(def.help));
        let _ = writeln!(text, "Tables are: {}.", def.roles());
        if def.uses_format {
            text.push_str("Takes a `format` and the options of that format.\n");
        }
        options(&mut text, "", def.options);
    }
    let mut formats = flott_formats::all();
    formats.sort_by_key(|def| def.name);
    for def in formats {
        let _ = write!(text, "\n## Format `{}`\n\n{}. ", def.name, capital(def.help));
        let _ = writeln!(text, "Tables are: {}.", def.roles());
        if def.decoder.is_some() {
            let _ = writeln!(text, "Reading gives {}.", def.decodes);
        }
        if def.encoder.is_some() {
            let _ = writeln!(text, "Writing takes {}.", def.encodes);
        }
        if !def.metadata.is_empty() {
            text.push_str("\n| metadata | type |\n|---|---|\n");
            for (key, data_type) in def.metadata {
                let _ = writeln!(text, "| `{key}` | {} |", data_type());
            }
        }
        options(&mut text, &format!("{}.", def.name), def.options);
    }
    let mut formats = flott_formats::of_files();
    formats.sort_by_key(|def| def.name);
    for def in formats {
        let _ = write!(text, "\n## Format `{}` of files\n\n{}. ", def.name, capital(def.help));
        let _ = writeln!(text, "Tables are: {}.", def.roles());
        text.push_str("For the connector `filesystem`: a file is read and written as a whole.\n");
        options(&mut text, &format!("{}.", def.name), def.options);
    }
    compare("docs/connectors.md", &text);
}

#[test]
fn the_reference_of_session_options_is_up_to_date() {
    let mut text = "\
# Options of a session

What `SET 'key' = 'value'` (and `--set key=value`) changes. Keys and defaults are Flink's; any other
key can be set too and is ignored, as in Flink. Written from the definitions that the program reads.

| option | type | default | |
|---|---|---|---|
"
    .to_string();
    let mut all: Vec<&OptionDef> = flott::options().collect();
    all.sort_by_key(|option| option.key);
    all.into_iter().for_each(|option| line(&mut text, "", option));
    compare("docs/options.md", &text);
}

fn options(text: &mut String, prefix: &str, options: &[OptionDef]) {
    if options.is_empty() {
        return;
    }
    text.push_str("\n| option | type | default | |\n|---|---|---|---|\n");
    options.iter().for_each(|option| line(text, prefix, option));
}

fn line(text: &mut String, prefix: &str, option: &OptionDef) {
    let default = match (option.default, option.required) {
        (Some(value), _) => format!("`{}`", value.replace('\n', "\\n")),
        (None, true) => "required".to_string(),
        (None, false) => String::new(),
    };
    let kind = option.kind.to_string().replace('|', "\\|");
    let help = option.help.replace('|', "\\|");
    let _ = writeln!(text, "| `{prefix}{}` | {kind} | {default} | {help} |", option.key);
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "{file} is out of date: run `UPDATE_DOCS=1 cargo test --workspace --test reference`"
    );
}
