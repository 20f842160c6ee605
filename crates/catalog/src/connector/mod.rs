//! What a connector and a format are to the rest of Flott: definitions as data, and the traits by which
//! the runtime reads, writes, decodes and encodes. Implementations live in `flott-connectors` and
//! `flott-formats`.

mod definition;
mod error;
mod file_format;
mod format;
mod lookup;
mod options;
mod predicate;
mod reload;
mod sink;
mod source;
mod split_filter;

pub use definition::{
    ConnectorDef, DecoderFactory, EncoderFactory, FormatDef, FormatMetadata, MetadataColumn,
    Registry, SinkFactory, SourceFactory, TableContext,
};
pub use error::ConnectorError;
pub use file_format::{
    FileEncoder, FileFormatContext, FileFormatDef, FileFormatReader, FileFormatWriter, FilePart,
    FileReaderFactory, FileRows, FileWriterFactory,
};
pub use format::{
    BadRecord, BadRecordHandler, DecodeContext, Decoder, EncodeContext, Encoder, FailOnBadRecord,
    RecordBuffer,
};
pub use lookup::{
    LOOKUP_OPTIONS, LookupCache, LookupReader, LookupRequest, LookupRows, LookupSource,
    OLD_LOOKUP_OPTIONS, PartialCache,
};
pub use options::{OptionDef, OptionKind, Options, parse_duration, parse_memory_size};
pub use predicate::{Comparison, Predicate, PredicateSupport, PushedPredicate};
pub use reload::Reload;
pub use sink::{Committable, Committer, SinkWriter, TableSink, WriterContext};
pub use source::{
    Boundedness, Discovery, ReaderContext, ScanColumn, ScanRequest, SourceEvent, SourceReader,
    Split, SplitEnumerator, TableSource,
};
pub use split_filter::{SplitFilter, SplitPredicate};
