//! Compressed files, told by their extension as in Flink.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, Read};

use flott_catalog::connector::ConnectorError;
use ruzstd::decoding::StreamingDecoder;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// `.gz`, `.gzip`, of one or more members.
    Gzip,
    /// `.deflate`: a zlib stream.
    Zlib,
    /// `.bz2`
    Bzip2,
    /// `.zst`, `.zstd`
    Zstandard,
    /// `.xz`: known, but not readable.
    Xz,
}

impl Compression {
    /// What the extension of a path says; `None` for plain files.
    pub(super) fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Self::Gzip,
            "deflate" => Self::Zlib,
            "bz2" => Self::Bzip2,
            "zst" | "zstd" => Self::Zstandard,
            "xz" => Self::Xz,
            _ => return None,
        })
    }

    /// The decompressed content of a file.
    pub(super) fn reader(
        self,
        file: File,
        path: &str,
    ) -> Result<Box<dyn Read + Send>, ConnectorError> {
        let input = BufReader::with_capacity(128 << 10, file);
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zlib => Box::new(flate2::bufread::ZlibDecoder::new(input)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Self::Zstandard => Box::new(ZstandardFrames::Between(input)),
            Self::Xz => {
                return Err(ConnectorError::new("files compressed with xz cannot be read")
                    .at(path)
                    .hint("compress with gzip, bzip2 or zstd, or not at all"));
            }
        })
    }
}

/// The content of all frames of a Zstandard file, one after the other.
enum ZstandardFrames {
    Within(Box<StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>>),
    Between(BufReader<File>),
    Ended,
}

impl Read for ZstandardFrames {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, Self::Ended) {
                Self::Ended => return Ok(0),
                Self::Between(mut input) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    Self::Within(Box::new(StreamingDecoder::new(input).map_err(Error::other)?))
                }
                Self::Within(mut decoder) => match decoder.read(out)? {
                    0 if !out.is_empty() => Self::Between(decoder.into_inner()),
                    count => {
                        *self = Self::Within(decoder);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(name: &str, content: &[u8]) -> Result<Vec<u8>, Error> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join(name);
        std::fs::write(&path, content)?;
        let compression = Compression::of(name).expect("an extension of compressed files");
        let mut out = Vec::new();
        let file = File::open(&path)?;
        compression.reader(file, name).map_err(Error::other)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(content: &[u8]) -> Vec<u8> {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        compress_to_vec(content, CompressionLevel::Fastest)
    }

    #[test]
    fn each_extension_has_its_decoder() {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(b"abc").unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(b"abc").unwrap();
        assert_eq!(read("a.GZ", &gzip(b"abc")).unwrap(), b"abc");
        assert_eq!(read("a.gzip", &[gzip(b"ab"), gzip(b"c")].concat()).unwrap(), b"abc");
        assert_eq!(read("a.csv.deflate", &zlib.finish().unwrap()).unwrap(), b"abc");
        assert_eq!(read("a.bz2", &bzip2.finish().unwrap()).unwrap(), b"abc");
        let frames = [zstandard(b"ab"), zstandard(b"c")].concat();
        assert_eq!(read("a.zst", &frames).unwrap(), b"abc");
        assert_eq!(Compression::of("a.csv"), None);
    }

    #[test]
    fn damage_is_an_error() {
        for name in ["a.gz", "a.zst", "a.bz2", "a.deflate", "a.xz"] {
            assert!(read(name, b"no such thing at all").is_err(), "{name}");
        }
        let whole = gzip(&[7; 1000]);
        assert!(read("a.gz", &whole[..whole.len() - 4]).is_err());
    }
}
