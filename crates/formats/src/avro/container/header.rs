//! What a file says of itself before its first block.

use std::sync::Arc;

use flott_catalog::connector::ConnectorError;

use super::super::defaults::{write_bytes, write_long};
use super::super::schema::AvroSchema;
use super::blocks::Input;
use super::codec::Codec;
use super::{MAGIC, Marker};

/// The schema of a file's records, and how its blocks lie.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) schema: Arc<AvroSchema>,
    pub(super) codec: Codec,
    pub(super) marker: Marker,
}

impl Header {
    pub(super) fn read(input: &mut Input) -> Result<Self, ConnectorError> {
        if input.bytes(MAGIC.len() as u64)? != MAGIC {
            return Err(ConnectorError::new(
                "this is not an Avro file, or it is damaged: it does not begin like one",
            )
            .hint("take the file out of the table's directory, or write it anew"));
        }
        let (mut schema, mut codec) = (None, None);
        loop {
            let entries = match input.long()? {
                0 => break,
                count if count < 0 => {
                    // The size in bytes is for those who skip.
                    input.long()?;
                    count.unsigned_abs()
                }
                count => count.unsigned_abs(),
            };
            for _ in 0..entries {
                let key = input.text()?;
                let value = input.sized_bytes()?;
                match key.as_slice() {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = Some(value),
                    _ => {}
                }
            }
        }
        let text = schema.map(String::from_utf8).and_then(Result::ok);
        let text = text.ok_or_else(|| input.damaged("it has no schema"))?;
        let codec =
            codec.map_or_else(|| "null".into(), |name| String::from_utf8_lossy(&name).into_owned());
        let codec = Codec::named(&codec).ok_or_else(|| {
            ConnectorError::new(format!("files compressed with {codec} cannot be read"))
                .hint("write them with null, deflate, snappy, bzip2 or zstandard")
        })?;
        let schema = AvroSchema::parse(&text).map_err(|error| {
            ConnectorError::new(format!("the file's schema is not sound: {error}"))
        })?;
        let marker = *input.bytes(16)?.first_chunk().ok_or_else(|| input.damaged("it ends"))?;
        Ok(Self { schema: Arc::new(schema), codec, marker })
    }

    /// The first bytes of a file.
    pub(super) fn write(schema: &str, codec: Codec, marker: &Marker) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let entries = [("avro.codec", codec.name()), ("avro.schema", schema)];
        write_long(&mut out, entries.len() as i64);
        for (key, value) in entries {
            write_bytes(&mut out, key.as_bytes());
            write_bytes(&mut out, value.as_bytes());
        }
        write_long(&mut out, 0);
        out.extend_from_slice(marker);
        out
    }
}
