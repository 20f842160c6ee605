//! The format `avro` of files: Avro object container files, whose blocks of records may be compressed and
//! end with a marker by which readers find the next one.

mod blocks;
mod codec;
mod header;
mod read;
mod write;

use flott_catalog::connector::{FileFormatDef, OptionDef, OptionKind};

use super::{ENCODING, LEGACY};

/// The format `avro` of files.
pub(crate) static AVRO_FILES: FileFormatDef = FileFormatDef {
    name: "avro",
    help: "Avro container files, columns by name",
    // Files are binary, whatever the encoding says; Flink ignores it too.
    options: &[CODEC, ENCODING, LEGACY],
    reader: Some(read::reader),
    writer: Some(write::writer),
};

const CODEC: OptionDef = OptionDef::new(
    "codec",
    OptionKind::Enum(&["null", "deflate", "snappy", "bzip2", "zstandard"]),
    "how blocks are compressed; what files that are read say themselves",
)
.default("snappy");

/// What container files begin with.
const MAGIC: &[u8; 4] = b"Obj\x01";

/// The marker of a file, which follows each of its blocks.
type Marker = [u8; 16];
