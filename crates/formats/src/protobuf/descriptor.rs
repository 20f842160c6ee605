//! Finds the message that a table names.

use std::path::Path;

use flott_catalog::connector::{ConnectorError, Options};
use prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::Compiler;

use super::{CLASS_NAME, SCHEMA_FILE, SCHEMA_INCLUDES};

/// The message of a table's options.
pub(super) fn message(options: &Options) -> Result<MessageDescriptor, ConnectorError> {
    let required = |key: &str, text: Option<&str>| match text {
        Some(text) if !text.trim().is_empty() => Ok(text.trim().to_string()),
        _ => Err(ConnectorError::new(format!(
            "format 'protobuf' needs the option '{key}', which is missing"
        ))),
    };
    let file = required(SCHEMA_FILE.key, options.text(&SCHEMA_FILE))?;
    let name = required(CLASS_NAME.key, options.text(&CLASS_NAME))?;
    let includes = options.text(&SCHEMA_INCLUDES).unwrap_or_default();
    find(&pool(Path::new(&file), includes)?, &name)
}

/// All messages of a file and what it imports.
fn pool(file: &Path, includes: &str) -> Result<DescriptorPool, ConnectorError> {
    let failed = |error: &dyn std::fmt::Display| {
        ConnectorError::new(format!("'protobuf.schema-file': {}: {error}", file.display()))
    };
    if file.extension().is_some_and(|extension| extension == "proto") {
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let more = includes.split(';').map(str::trim).filter(|folder| !folder.is_empty());
        let folders = std::iter::once(folder).chain(more.map(Path::new));
        let mut compiler = Compiler::new(folders).map_err(|error| failed(&error))?;
        compiler.include_imports(true);
        compiler.open_file(file).map_err(|error| failed(&error))?;
        return Ok(compiler.descriptor_pool());
    }
    let bytes = std::fs::read(file).map_err(|error| failed(&error))?;
    DescriptorPool::decode(&bytes[..]).map_err(|error| {
        failed(&error).hint(
            "write a descriptor set by 'protoc --include_imports --descriptor_set_out=FILE', or name a file \
             that ends in .proto",
        )
    })
}

/// A message by its name or its Java class, or by the last part of either where that is the only one.
fn find(pool: &DescriptorPool, name: &str) -> Result<MessageDescriptor, ConnectorError> {
    let dotted = name.replace('$', ".");
    if let Some(message) = pool.get_message_by_name(&dotted) {
        return Ok(message);
    }
    let messages = || pool.all_messages().filter(|message| !message.is_map_entry());
    let last = dotted.rsplit('.').next().unwrap_or(&dotted);
    let of_class = |message: &MessageDescriptor| {
        let package = message.package_name();
        let within = message.full_name().strip_prefix(package).unwrap_or(message.full_name());
        let file = message.parent_file();
        let options = file.file_descriptor_proto().options.as_ref();
        let java = options.and_then(|options| options.java_package.as_deref()).unwrap_or(package);
        // With or without the class that stands round all messages of a file.
        dotted.ends_with(&format!(".{}", within.trim_start_matches('.')))
            && dotted.starts_with(java)
    };
    let mut found: Vec<_> = messages().filter(of_class).collect();
    if found.len() != 1 {
        found = messages().filter(|message| message.name() == last).collect();
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => {
            let mut names: Vec<_> =
                messages().map(|message| message.full_name().to_string()).collect();
            names.sort_unstable();
            names.truncate(20);
            Err(ConnectorError::new(format!("there is no message '{name}', or more than one"))
                .hint(format!("'protobuf.message-class-name' takes one of {}", names.join(", "))))
        }
    }
}
