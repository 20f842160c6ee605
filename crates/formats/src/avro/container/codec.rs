//! How blocks are compressed.

use std::io::{Error, ErrorKind, Read, Result};

/// A codec of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Null,
    Deflate,
    Snappy,
    Bzip2,
    Zstandard,
}

/// A block that grows beyond this is damaged, or made to harm.
const MAX_BLOCK_BYTES: u64 = 1 << 30;

impl Codec {
    /// The codec of a name in a file's header.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "deflate" => Self::Deflate,
            "snappy" => Self::Snappy,
            "bzip2" => Self::Bzip2,
            "zstandard" => Self::Zstandard,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Bzip2 => "bzip2",
            Self::Zstandard => "zstandard",
        }
    }

    /// The records of a block.
    pub(super) fn decompress(self, block: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::Null => Ok(block),
            Self::Deflate => all(flate2::read::DeflateDecoder::new(block.as_slice())),
            Self::Bzip2 => all(bzip2::read::MultiBzDecoder::new(block.as_slice())),
            Self::Zstandard => all(zstd::stream::read::Decoder::new(block.as_slice())?),
            Self::Snappy => {
                let damaged = |what: &str| Error::new(ErrorKind::InvalidData, what);
                let (data, sum) =
                    block.split_last_chunk::<4>().ok_or_else(|| damaged("a block is too short"))?;
                let length = snap::raw::decompress_len(data).map_err(Error::other)?;
                if length as u64 > MAX_BLOCK_BYTES {
                    return Err(damaged("a block is too long"));
                }
                let records =
                    snap::raw::Decoder::new().decompress_vec(data).map_err(Error::other)?;
                if crc32(&records).to_be_bytes() != *sum {
                    return Err(damaged("a block's checksum differs"));
                }
                Ok(records)
            }
        }
    }

    /// A block of records.
    pub(super) fn compress(self, records: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Null => Ok(records.to_vec()),
            Self::Deflate => {
                // As hard as Flink does it.
                let level = flate2::Compression::default();
                all(flate2::read::DeflateEncoder::new(records, level))
            }
            Self::Bzip2 => all(bzip2::read::BzEncoder::new(records, bzip2::Compression::best())),
            Self::Zstandard => zstd::stream::encode_all(records, 0),
            Self::Snappy => {
                let mut block =
                    snap::raw::Encoder::new().compress_vec(records).map_err(Error::other)?;
                block.extend_from_slice(&crc32(records).to_be_bytes());
                Ok(block)
            }
        }
    }
}

fn all(reader: impl Read) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let read = reader.take(MAX_BLOCK_BYTES + 1).read_to_end(&mut out)?;
    if read as u64 > MAX_BLOCK_BYTES {
        return Err(Error::new(ErrorKind::InvalidData, "a block is too long"));
    }
    Ok(out)
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
