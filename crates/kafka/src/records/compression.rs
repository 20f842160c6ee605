//! Compression of record batches.

use std::io::{Read, Write};

use crate::{KafkaError, Result};

/// How the records of a batch are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip
    Gzip,
    /// snappy, in the frames of the Java client.
    Snappy,
    /// LZ4 frames
    Lz4,
    /// Zstandard
    Zstd,
}

/// What the Java client's snappy streams begin with: a magic text, a version and the version that
/// can read it.
const SNAPPY_STREAM: &[u8] = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";

impl Compression {
    /// The compression of this name, as `compression.type` takes it.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "none" => Self::None,
            "gzip" => Self::Gzip,
            "snappy" => Self::Snappy,
            "lz4" => Self::Lz4,
            "zstd" => Self::Zstd,
            _ => return None,
        })
    }

    /// The bits in a batch's attributes.
    pub(super) fn bits(self) -> i16 {
        self as i16
    }

    pub(super) fn of_bits(attributes: i16) -> Result<Self> {
        Ok(match attributes & 7 {
            0 => Self::None,
            1 => Self::Gzip,
            2 => Self::Snappy,
            3 => Self::Lz4,
            4 => Self::Zstd,
            other => return Err(KafkaError::Protocol(format!("compression {other} is not known"))),
        })
    }

    pub(super) fn compress(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |error: std::io::Error| failure("compress", error);
        match self {
            Self::None => out.extend_from_slice(bytes),
            Self::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(out, flate2::Compression::default());
                encoder
                    .write_all(bytes)
                    .and_then(|()| encoder.finish().map(drop))
                    .map_err(failed)?;
            }
            Self::Snappy => {
                let block = snap::raw::Encoder::new().compress_vec(bytes);
                let block = block.map_err(|error| failure("compress", error))?;
                out.extend_from_slice(SNAPPY_STREAM);
                out.extend_from_slice(&(block.len() as i32).to_be_bytes());
                out.extend_from_slice(&block);
            }
            Self::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(out);
                encoder.write_all(bytes).map_err(failed)?;
                encoder.finish().map_err(|error| failure("compress", error))?;
            }
            Self::Zstd => {
                let level = ruzstd::encoding::CompressionLevel::Fastest;
                out.extend_from_slice(&ruzstd::encoding::compress_to_vec(bytes, level));
            }
        }
        Ok(())
    }

    pub(super) fn decompress(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let failed = |error: std::io::Error| failure("decompress", error);
        match self {
            Self::None => out.extend_from_slice(bytes),
            Self::Gzip => {
                flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).map_err(failed)?;
            }
            Self::Snappy => match bytes.split_at_checked(SNAPPY_STREAM.len()) {
                Some((head, blocks)) if head[..8] == SNAPPY_STREAM[..8] => {
                    snappy_blocks(blocks, &mut out)?;
                }
                _ => snappy_block(bytes, &mut out)?,
            },
            Self::Lz4 => {
                lz4_flex::frame::FrameDecoder::new(bytes).read_to_end(&mut out).map_err(failed)?;
            }
            Self::Zstd => {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes)
                    .map_err(|error| failure("decompress", error))?;
                decoder.read_to_end(&mut out).map_err(failed)?;
            }
        }
        Ok(out)
    }
}

fn snappy_blocks(mut blocks: &[u8], out: &mut Vec<u8>) -> Result<()> {
    while let Some((len, rest)) = blocks.split_first_chunk() {
        let len = u32::from_be_bytes(*len) as usize;
        let Some((block, rest)) = rest.split_at_checked(len) else {
            return Err(failure("decompress", "a block is cut off"));
        };
        snappy_block(block, out)?;
        blocks = rest;
    }
    Ok(())
}

fn snappy_block(block: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let bytes = snap::raw::Decoder::new().decompress_vec(block);
    out.extend_from_slice(&bytes.map_err(|error| failure("decompress", error))?);
    Ok(())
}

fn failure(what: &str, error: impl std::fmt::Display) -> KafkaError {
    KafkaError::Protocol(format!("cannot {what} a record batch: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compression; 5] = [
        Compression::None,
        Compression::Gzip,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ];

    #[test]
    fn bytes_come_back() {
        for len in [0, 1, 100, 100_000] {
            let bytes: Vec<u8> = (0..len).map(|i: u32| (i % 251 * (i / 1000 + 1)) as u8).collect();
            for compression in ALL {
                let mut packed = Vec::new();
                compression.compress(&bytes, &mut packed).unwrap();
                assert_eq!(compression.decompress(&packed).unwrap(), bytes, "{compression:?}");
                assert_eq!(Compression::of_bits(compression.bits()).unwrap(), compression);
            }
        }
    }

    #[test]
    fn bare_snappy_blocks_and_damage() {
        let block = snap::raw::Encoder::new().compress_vec(b"hello hello").unwrap();
        assert_eq!(Compression::Snappy.decompress(&block).unwrap(), b"hello hello");
        for compression in &ALL[1..] {
            assert!(compression.decompress(b"no such thing").is_err(), "{compression:?}");
        }
    }
}
