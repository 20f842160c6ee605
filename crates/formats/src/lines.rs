//! Records that are lines.

use flott_catalog::connector::ConnectorError;
use memchr::memchr;

use crate::utf8::Utf8Check;

/// A decoder of records that a file holds one a line.
pub(crate) trait LineDecoder {
    /// Decodes one record; `place` names it.
    fn decode_record(
        &mut self,
        record: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError>;

    /// Decodes one line of many; `sound` looks whether it is UTF-8, which costs less for many lines at once.
    fn decode_line(
        &mut self,
        line: &[u8],
        _sound: impl FnOnce() -> bool,
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        self.decode_record(line, place)
    }

    /// How many rows have gathered.
    fn rows(&self) -> usize;

    /// Decodes lines until `max_rows` rows have gathered, as
    /// [`Decoder::decode_stream`](flott_catalog::connector::Decoder::decode_stream) says. A carriage
    /// return before the line feed belongs to neither.
    fn decode_lines(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        let mut utf8 = Utf8Check::new(bytes, 0);
        let mut at = 0;
        while self.rows() < max_rows && at < bytes.len() {
            let rest = &bytes[at..];
            let (line, used) = match memchr(b'\n', rest) {
                Some(end) => (&rest[..end], end + 1),
                None if last => (rest, rest.len()),
                None => break,
            };
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.decode_line(line, || utf8.sound(at, at + line.len()), &|| place(at))?;
            at += used;
        }
        Ok(at)
    }
}
