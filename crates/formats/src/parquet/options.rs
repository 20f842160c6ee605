//! The options of the format: Flink's own, and those of Parquet's writer under their names in Hadoop.

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};
use jiff::tz::TimeZone;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use crate::error::FormatError;

const UTC_TIMEZONE: OptionDef = OptionDef::new(
    "utc-timezone",
    OptionKind::Bool,
    "whether timestamps in files are in UTC; else they are instants whose local time, in the time zone of \
     the program, is the table's",
)
.default("false");
const TIMESTAMP_UNIT: OptionDef = OptionDef::new(
    "timestamp.time.unit",
    OptionKind::Enum(&["nanos", "micros", "millis"]),
    "the unit of timestamps that are written as INT64",
)
.default("micros");
const WRITE_INT64: OptionDef = OptionDef::new(
    "write.int64.timestamp",
    OptionKind::Bool,
    "whether timestamps are written as INT64 rather than INT96",
)
.default("false");
const COMPRESSION: OptionDef = OptionDef::new(
    "compression",
    OptionKind::Enum(&["UNCOMPRESSED", "SNAPPY", "GZIP", "LZ4", "LZ4_RAW", "ZSTD"]),
    "how pages are compressed",
)
.default("SNAPPY");
const ZSTD_LEVEL: OptionDef = OptionDef::new(
    "compression.codec.zstd.level",
    OptionKind::Int,
    "how hard ZSTD compresses, 1 to 22",
)
.default("3");
const BLOCK_SIZE: OptionDef = OptionDef::new(
    "block.size",
    OptionKind::MemorySize,
    "how much is gathered before a row group is written",
)
.default("134217728");
const PAGE_SIZE: OptionDef =
    OptionDef::new("page.size", OptionKind::MemorySize, "how great pages become")
        .default("1048576");
const PAGE_ROWS: OptionDef =
    OptionDef::new("page.row.count.limit", OptionKind::Int, "how many rows a page has at most")
        .default("20000");
const DICTIONARY: OptionDef = OptionDef::new(
    "enable.dictionary",
    OptionKind::Bool,
    "whether values that repeat are written once",
)
.default("true");
const DICTIONARY_SIZE: OptionDef =
    OptionDef::new("dictionary.page.size", OptionKind::MemorySize, "how great dictionaries become")
        .default("1048576");
const VERSION: OptionDef = OptionDef::new(
    "writer.version",
    OptionKind::Enum(&["PARQUET_1_0", "v1", "PARQUET_2_0", "v2"]),
    "the version of pages and encodings",
)
.default("PARQUET_1_0");
const BLOOM_FILTERS: OptionDef = OptionDef::new(
    "bloom.filter.enabled",
    OptionKind::Bool,
    "whether Bloom filters of all columns are written",
)
.default("false");

pub(super) const OPTIONS: &[OptionDef] = &[
    UTC_TIMEZONE,
    TIMESTAMP_UNIT,
    WRITE_INT64,
    OptionDef::new(
        "batch-size",
        OptionKind::Int,
        "accepted for Flink's sake; batches are as great as everywhere",
    )
    .default("2048"),
    COMPRESSION,
    ZSTD_LEVEL,
    BLOCK_SIZE,
    PAGE_SIZE,
    PAGE_ROWS,
    DICTIONARY,
    DICTIONARY_SIZE,
    VERSION,
    BLOOM_FILTERS,
    ignored("validation"),
    ignored("writer.max-padding"),
    ignored("memory.pool.ratio"),
    ignored("memory.min.chunk.size"),
    ignored("page.size.row.check.min"),
    ignored("page.size.row.check.max"),
    ignored("page.size.check.estimate"),
    ignored("page.write-checksum.enabled"),
];

const fn ignored(key: &'static str) -> OptionDef {
    OptionDef::new(
        key,
        OptionKind::Text,
        "accepted for the sake of tables made for Flink; does nothing",
    )
}

/// How timestamps lie in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimestampUnit {
    /// In 12 bytes: the day, and nanoseconds of it.
    Int96,
    Nanos,
    Micros,
    Millis,
}

/// The unit in which timestamps are written.
pub(super) fn written_unit(options: &Options) -> Result<TimestampUnit, ConnectorError> {
    let unit = options.text(&TIMESTAMP_UNIT).unwrap_or_default();
    TIMESTAMP_UNIT.check(TIMESTAMP_UNIT.key, unit)?;
    Ok(match unit.trim().to_ascii_lowercase().as_str() {
        _ if !options.bool(&WRITE_INT64)? => TimestampUnit::Int96,
        "nanos" => TimestampUnit::Nanos,
        "millis" => TimestampUnit::Millis,
        _ => TimestampUnit::Micros,
    })
}

/// The zone whose local time the table's timestamps are, given instants in files. Flink takes that of the
/// JVM, not the session's, so that it is the program's here.
pub(super) fn zone(options: &Options) -> Result<TimeZone, ConnectorError> {
    Ok(if options.bool(&UTC_TIMEZONE)? { TimeZone::UTC } else { TimeZone::system() })
}

/// How great a row group becomes.
pub(super) fn block_bytes(options: &Options) -> Result<u64, ConnectorError> {
    positive(options, &BLOCK_SIZE)
}

/// What the options say to the writer.
pub(super) fn writer_properties(
    options: &Options,
) -> Result<WriterPropertiesBuilder, ConnectorError> {
    let version = options.text(&VERSION).unwrap_or_default().trim();
    let version = match version.eq_ignore_ascii_case("v2") || version == "PARQUET_2_0" {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let rows = options.int(&PAGE_ROWS)?.and_then(|rows| usize::try_from(rows).ok());
    let rows = rows.filter(|rows| *rows > 0).ok_or_else(|| wrong(options, &PAGE_ROWS))?;
    Ok(WriterProperties::builder()
        .set_created_by(format!("flott version {}", env!("CARGO_PKG_VERSION")))
        .set_writer_version(version)
        .set_compression(compression(options)?)
        .set_data_page_size_limit(size(options, &PAGE_SIZE)?)
        .set_data_page_row_count_limit(rows)
        .set_dictionary_enabled(options.bool(&DICTIONARY)?)
        .set_dictionary_page_size_limit(size(options, &DICTIONARY_SIZE)?)
        .set_bloom_filter_enabled(options.bool(&BLOOM_FILTERS)?))
}

fn compression(options: &Options) -> Result<Compression, ConnectorError> {
    let name = options.text(&COMPRESSION).unwrap_or_default();
    COMPRESSION.check(COMPRESSION.key, name)?;
    Ok(match name.trim().to_ascii_uppercase().as_str() {
        "UNCOMPRESSED" => Compression::UNCOMPRESSED,
        "GZIP" => Compression::GZIP(GzipLevel::default()),
        "LZ4" => Compression::LZ4,
        "LZ4_RAW" => Compression::LZ4_RAW,
        "ZSTD" => {
            let level = options.int(&ZSTD_LEVEL)?.unwrap_or(3);
            let level = i32::try_from(level).ok().and_then(|level| ZstdLevel::try_new(level).ok());
            Compression::ZSTD(level.ok_or_else(|| wrong(options, &ZSTD_LEVEL))?)
        }
        _ => Compression::SNAPPY,
    })
}

fn size(options: &Options, def: &OptionDef) -> Result<usize, ConnectorError> {
    Ok(usize::try_from(positive(options, def)?).unwrap_or(usize::MAX))
}

fn positive(options: &Options, def: &OptionDef) -> Result<u64, ConnectorError> {
    let value = options.memory_size(def)?.filter(|value| *value > 0);
    value.ok_or_else(|| wrong(options, def))
}

fn wrong(options: &Options, def: &OptionDef) -> ConnectorError {
    FormatError::Option {
        option: format!("parquet.{}", def.key),
        value: options.text(def).unwrap_or_default().into(),
        wanted: def.help.into(),
    }
    .into()
}
