//! The zero and the number before each record, and the schemas that numbers stand for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flott_catalog::connector::ConnectorError;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::super::cursor::Broken;
use super::super::schema::AvroSchema;
use super::client::Client;
use crate::error::FormatError;

/// How long an unknown number stays unknown before the registry is asked again.
const RETRY: Duration = Duration::from_secs(30);

/// Why a message gives no rows.
pub(super) enum Trouble {
    /// It is a bad record.
    Record(Broken),
    /// Nothing can be read: the registry is down, say.
    Job(ConnectorError),
}

impl From<Broken> for Trouble {
    fn from(broken: Broken) -> Self {
        Self::Record(broken)
    }
}

/// The number of the schema, and the record behind it.
pub(super) fn split(message: &[u8]) -> Result<(u32, &[u8]), Broken> {
    let broken = |what: &str, at| Box::new(FormatError::Avro { what: what.into(), at });
    match message {
        [0, a, b, c, d, record @ ..] => Ok((u32::from_be_bytes([*a, *b, *c, *d]), record)),
        [0, ..] | [] => {
            Err(broken("the record ends before the number of its schema", message.len()))
        }
        _ => Err(broken("Unknown data format. Magic number does not match", 0)),
    }
}

/// Appends what stands before a record.
pub(super) fn write_head(out: &mut Vec<u8>, id: u32) {
    out.push(0);
    out.extend_from_slice(&id.to_be_bytes());
}

/// How the records of each writer are read.
pub(super) struct Writers<P> {
    client: Client,
    known: HashMap<u32, Writer<P>, FixedState>,
}

enum Writer<P> {
    Known(P),
    Unknown(FormatError, Instant),
}

impl<P> Writers<P> {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: HashMap::default() }
    }

    /// The plan for the writer of this number; `make` makes it of the writer's schema.
    #[inline]
    pub(super) fn plan(
        &mut self,
        id: u32,
        make: impl FnOnce(Arc<AvroSchema>) -> Result<P, FormatError>,
    ) -> Result<&P, Trouble> {
        let fresh = match self.known.get(&id) {
            Some(Writer::Known(_)) => true,
            Some(Writer::Unknown(_, since)) => since.elapsed() < RETRY,
            None => false,
        };
        if !fresh {
            let writer = match self.ask(id)?.and_then(make) {
                Ok(plan) => Writer::Known(plan),
                Err(error) => Writer::Unknown(error, Instant::now()),
            };
            self.known.insert(id, writer);
        }
        match self.known.get(&id) {
            Some(Writer::Known(plan)) => Ok(plan),
            Some(Writer::Unknown(error, _)) => Err(Trouble::Record(Box::new(error.clone()))),
            None => Err(Trouble::Record(Box::new(unknown(id, "it is not there")))),
        }
    }

    fn ask(&self, id: u32) -> Result<Result<Arc<AvroSchema>, FormatError>, Trouble> {
        Ok(match self.client.schema(id).map_err(Trouble::Job)? {
            Ok(schema) => AvroSchema::parse_with(&schema.references, &schema.text).map(Arc::new),
            Err(refusal) => Err(unknown(id, &refusal.message)),
        })
    }
}

fn unknown(id: u32, why: &str) -> FormatError {
    FormatError::Avro {
        what: format!("Could not find schema with id {id} in registry: {why}"),
        at: 1,
    }
}
