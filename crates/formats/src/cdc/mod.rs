//! Change-log formats: JSON messages that say what happened to rows.

mod canal;
mod debezium;
mod decode;
mod encode;
mod envelope;
mod maxwell;
mod metadata;
mod ogg;
mod upsert;

pub(crate) use canal::CANAL;
pub(crate) use debezium::DEBEZIUM;
pub(crate) use maxwell::MAXWELL;
pub(crate) use ogg::OGG;
pub(crate) use upsert::UPSERT;
