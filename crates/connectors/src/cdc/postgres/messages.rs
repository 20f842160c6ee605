//! The messages of `pgoutput`, protocol version 1.

use super::connection::PgError;
use super::lsn::Lsn;

/// Milliseconds between 1970 and PostgreSQL's epoch.
const EPOCH: i64 = 946_684_800_000;

/// What a message says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// A transaction begins, whose commit is at `commit`.
    Begin { commit: Lsn, at: i64, xid: u32 },
    /// It ends; the log goes on at `end`.
    Commit { end: Lsn },
    /// A relation's columns are told.
    Relation,
    /// A row of relation `relation` comes.
    Insert { relation: u32, new: Tuple<'a> },
    /// A row changes; `old` as far as it is told.
    Update { relation: u32, old: Option<Old<'a>>, new: Tuple<'a> },
    /// A row goes.
    Delete { relation: u32, old: Old<'a> },
    /// All rows go.
    Truncate { relations: Vec<u32> },
    /// Something that changes no row.
    Other,
}

/// A row as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Old<'a> {
    pub(super) tuple: Tuple<'a>,
    /// Whether only the columns of the replica identity are told.
    pub(super) key_only: bool,
}

/// The values of a row, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tuple<'a> {
    bytes: &'a [u8],
    columns: usize,
}

/// Where a value of a row is among the bytes of its tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Null,
    /// A large value that did not change and is not told.
    Unchanged,
    Text {
        from: usize,
        to: usize,
    },
}

/// A relation as the log last described it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) schema: String,
    pub(super) name: String,
    /// Names, and whether they are part of the replica identity.
    pub(super) columns: Vec<(String, bool)>,
}

/// Reads a message; a relation that it describes is handed to `described` with its number.
pub(super) fn read<'a>(
    message: &'a [u8],
    described: &mut impl FnMut(u32, Relation),
) -> Result<Change<'a>, PgError> {
    let mut reader = Reader(message);
    Ok(match reader.u8()? {
        b'B' => {
            let commit = Lsn(reader.u64()?);
            let at = EPOCH + (reader.u64()? as i64).div_euclid(1000);
            Change::Begin { commit, at, xid: reader.u32()? }
        }
        b'C' => {
            reader.take(1 + 8)?;
            Change::Commit { end: Lsn(reader.u64()?) }
        }
        b'R' => {
            let number = reader.u32()?;
            let (schema, name) = (reader.text()?, reader.text()?);
            reader.u8()?;
            let mut columns = Vec::new();
            for _ in 0..reader.u16()? {
                let key = reader.u8()? & 1 != 0;
                columns.push((reader.text()?, key));
                reader.take(8)?;
            }
            // The schema pg_catalog is sent as nothing.
            let schema = if schema.is_empty() { "pg_catalog".into() } else { schema };
            described(number, Relation { schema, name, columns });
            Change::Relation
        }
        b'I' => {
            let relation = reader.u32()?;
            reader.u8()?;
            Change::Insert { relation, new: reader.tuple()? }
        }
        b'U' => {
            let relation = reader.u32()?;
            let old = match reader.u8()? {
                kind @ (b'K' | b'O') => {
                    let old = Old { tuple: reader.tuple()?, key_only: kind == b'K' };
                    reader.u8()?;
                    Some(old)
                }
                _ => None,
            };
            Change::Update { relation, old, new: reader.tuple()? }
        }
        b'D' => {
            let relation = reader.u32()?;
            let key_only = reader.u8()? == b'K';
            Change::Delete { relation, old: Old { tuple: reader.tuple()?, key_only } }
        }
        b'T' => {
            let count = reader.u32()?;
            reader.u8()?;
            let relations = (0..count).map(|_| reader.u32()).collect::<Result<_, _>>()?;
            Change::Truncate { relations }
        }
        _ => Change::Other,
    })
}

impl<'a> Tuple<'a> {
    /// Puts where the values are into `places`, whose content goes.
    pub(super) fn places(&self, places: &mut Vec<Place>) {
        places.clear();
        let mut reader = Reader(self.bytes);
        let at = |reader: &Reader<'_>| self.bytes.len() - reader.0.len();
        // That the bytes are whole was found out when the tuple was read.
        places.extend((0..self.columns).map_while(|_| match reader.field() {
            Ok(Field::Null) => Some(Place::Null),
            Ok(Field::Unchanged) => Some(Place::Unchanged),
            Ok(Field::Text(text)) => {
                let to = at(&reader);
                Some(Place::Text { from: to - text.len(), to })
            }
            Err(_) => None,
        }));
    }

    /// The bytes of a value.
    pub(super) fn text(&self, from: usize, to: usize) -> &'a [u8] {
        &self.bytes[from..to]
    }
}

enum Field<'a> {
    Null,
    Unchanged,
    Text(&'a [u8]),
}

/// Reads numbers and texts in order.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], PgError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PgError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, PgError> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, PgError> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, PgError> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, PgError> {
        self.array().map(u64::from_be_bytes)
    }

    fn text(&mut self) -> Result<String, PgError> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or(SHORT)?;
        let text = self.take(end)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    fn tuple(&mut self) -> Result<Tuple<'a>, PgError> {
        let columns = usize::from(self.u16()?);
        let bytes = self.0;
        for _ in 0..columns {
            self.field()?;
        }
        Ok(Tuple { bytes: &bytes[..bytes.len() - self.0.len()], columns })
    }

    fn field(&mut self) -> Result<Field<'a>, PgError> {
        Ok(match self.u8()? {
            b'n' => Field::Null,
            b'u' => Field::Unchanged,
            b't' => {
                let length = self.u32()? as usize;
                Field::Text(self.take(length)?)
            }
            _ => return Err(PgError::Protocol("a value of an unknown form")),
        })
    }
}

const SHORT: PgError = PgError::Protocol("a message that ends too soon");

#[cfg(test)]
mod tests {
    use super::*;

    fn text(out: &mut Vec<u8>, text: &str) {
        out.push(b't');
        out.extend((text.len() as u32).to_be_bytes());
        out.extend(text.as_bytes());
    }

    #[test]
    fn an_update_has_its_rows() {
        let mut message = b"U\0\0\0\x07O\0\x02".to_vec();
        text(&mut message, "1");
        message.push(b'n');
        message.extend(b"N\0\x02");
        text(&mut message, "1");
        message.push(b'u');
        let Change::Update { relation: 7, old: Some(old), new } =
            read(&message, &mut |_, _| ()).unwrap()
        else {
            panic!("no update");
        };
        assert!(!old.key_only);
        let mut places = vec![Place::Null];
        old.tuple.places(&mut places);
        assert_eq!(places, [Place::Text { from: 5, to: 6 }, Place::Null]);
        assert_eq!(old.tuple.text(5, 6), b"1");
        new.places(&mut places);
        assert_eq!(places, [Place::Text { from: 5, to: 6 }, Place::Unchanged]);
        for end in 0..message.len() {
            assert!(read(&message[..end], &mut |_, _| ()).is_err(), "{end}");
        }
    }

    #[test]
    fn a_relation_is_described() {
        let message = b"R\0\0\0\x07public\0t\0d\0\x02\x01id\0\0\0\0\x17\xff\xff\xff\xff\0v\0\0\0\0\x19\xff\xff\xff\xff";
        let mut found = None;
        let change = read(message, &mut |number, relation| found = Some((number, relation)));
        assert_eq!(change.unwrap(), Change::Relation);
        let columns = vec![("id".into(), true), ("v".into(), false)];
        let relation = Relation { schema: "public".into(), name: "t".into(), columns };
        assert_eq!(found, Some((7, relation)));
    }
}
