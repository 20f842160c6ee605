//! `nexmark`: the events of the Nexmark benchmark, made in the process.
//!
//! Two kinds of tables: that of all events, as Flink's Nexmark connector has it (`event_type INT, person
//! ROW<…>, auction ROW<…>, bid ROW<…>`), and with `'table' = 'bid'` the columns of one kind.

mod columns;
mod event;
mod random;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use flott_catalog::connector::{
    Boundedness, ConnectorDef, ConnectorError, OptionDef, OptionKind, ReaderContext, ScanColumn,
    ScanRequest, SourceReader, SplitEnumerator, TableContext, TableSource,
};
use flott_types::{ChangelogBatch, Schema};

use crate::common::{COMMON, SCAN_PARALLELISM, concat, invalid, parallelism, validate};
use crate::datagen::reader::{Make, PacedReader};
use crate::datagen::split::NumberedEnumerator;
use columns::{AllKinds, EventTable, OneKind, cells};
pub use event::{Auction, Bid, Event, EventTime, Person};

const EVENTS: OptionDef = OptionDef::new(
    "events.num",
    OptionKind::Int,
    "how many events there are, of all kinds together; 0: they never end",
)
.default("0");
const RATE: OptionDef = OptionDef::new(
    "next-event.rate",
    OptionKind::Int,
    "how many events of all kinds come in a second of event time",
)
.default("10000");
const LIMITED: OptionDef = OptionDef::new(
    "rate.limited",
    OptionKind::Bool,
    "whether they also come at that rate, rather than as fast as they are taken",
)
.default("false");
const TABLE: OptionDef = OptionDef::new(
    "table",
    OptionKind::Enum(&["events", "person", "auction", "bid"]),
    "which events the table has: all of them with their kind, or the columns of one kind (not in Flink)",
)
.default("events");
const OWN: &[OptionDef] = &[EVENTS, RATE, LIMITED, TABLE, SCAN_PARALLELISM];
static OPTIONS: [OptionDef; COMMON.len() + OWN.len()] = concat(&[COMMON, OWN]);

/// The connector `nexmark`.
pub(crate) static NEXMARK: ConnectorDef = ConnectorDef {
    name: "nexmark",
    help: "generates the events of the Nexmark benchmark",
    options: &OPTIONS,
    uses_format: false,
    source: Some(source),
    sink: None,
};

fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    validate(context, &NEXMARK)?;
    let options = &context.options;
    let per_second = options.int(&RATE)?.unwrap_or_default();
    let Some(per_second) = u64::try_from(per_second).ok().filter(|rate| *rate > 0) else {
        return Err(invalid(RATE.key, &per_second.to_string(), "a number from 1"));
    };
    let events = options.int(&EVENTS)?.unwrap_or_default().max(0) as u64;
    let table = match options.text(&TABLE).unwrap_or("events").to_ascii_lowercase().as_str() {
        "person" => Kind::Person,
        "auction" => Kind::Auction,
        "bid" => Kind::Bid,
        _ => Kind::All,
    };
    let limited = options.bool(&LIMITED)?;
    let source = NexmarkSource {
        table,
        schema: context.schema.clone(),
        time: EventTime { per_second },
        rows: (events > 0).then(|| table.rows(events)),
        rate: limited.then(|| per_second as f64 * table.share() / event::CYCLE as f64),
        parallelism: parallelism(options, &SCAN_PARALLELISM)?,
    };
    // Columns that do not fit show before anything runs.
    let _ = source.make(&context.schema)?;
    Ok(Arc::new(source))
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    All,
    Person,
    Auction,
    Bid,
}

impl Kind {
    /// How many of 50 events are of the kind.
    fn share(self) -> f64 {
        let share = match self {
            Self::All => event::CYCLE,
            Self::Person => Person::SHARE,
            Self::Auction => Auction::SHARE,
            Self::Bid => Bid::SHARE,
        };
        share as f64
    }

    /// How many of the first `events` are of the kind.
    fn rows(self, events: u64) -> u64 {
        let (cycles, rest) = (events / event::CYCLE, events % event::CYCLE);
        match self {
            Self::All => events,
            Self::Person => cycles + rest.min(1),
            Self::Auction => cycles * Auction::SHARE + rest.saturating_sub(1).min(Auction::SHARE),
            Self::Bid => cycles * Bid::SHARE + rest.saturating_sub(4),
        }
    }
}

struct NexmarkSource {
    table: Kind,
    schema: Schema,
    time: EventTime,
    rows: Option<u64>,
    /// Rows a second; `None`: as many as are taken.
    rate: Option<f64>,
    parallelism: Option<usize>,
}

impl NexmarkSource {
    /// What makes batches of these columns.
    fn make(&self, wanted: &Schema) -> Result<Make, ConnectorError> {
        match self.table {
            Kind::All => {
                let mut all = AllKinds::new(wanted, self.time)?;
                Ok(Box::new(move |rows| {
                    let batch = all.batch(rows.first, rows.stride, rows.count)?;
                    Ok(ChangelogBatch::inserts(batch))
                }))
            }
            Kind::Person => self.make_one::<Person>(wanted),
            Kind::Auction => self.make_one::<Auction>(wanted),
            Kind::Bid => self.make_one::<Bid>(wanted),
        }
    }

    fn make_one<E: EventTable + Send>(&self, wanted: &Schema) -> Result<Make, ConnectorError> {
        let names = wanted.fields.iter().map(|field| (&*field.name, &field.data_type));
        let mut one = OneKind::<E> {
            cells: cells(names)?,
            schema: wanted.to_arrow(),
            time: self.time,
            event: E::default(),
        };
        Ok(Box::new(move |rows| {
            Ok(ChangelogBatch::inserts(one.batch(rows.first, rows.stride, rows.count)?))
        }))
    }
}

impl TableSource for NexmarkSource {
    fn boundedness(&self) -> Boundedness {
        if self.rows.is_some() { Boundedness::Bounded } else { Boundedness::Unbounded }
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn enumerator(
        &self,
        request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let rows = self.rows.into_iter().chain(request.limit).min();
        Ok(Box::new(NumberedEnumerator::new(rows, state)?))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let wanted = request
            .columns
            .iter()
            .map(|column| match column {
                ScanColumn::Physical(position) => Ok(self.schema.fields[*position].clone()),
                ScanColumn::Metadata(key) => Err(ConnectorError::new(format!(
                    "the connector 'nexmark' has no metadata column '{key}'"
                ))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let make = self.make(&Schema::new(wanted))?;
        Ok(Box::new(PacedReader::new(make, self.rate, context.max_rows)))
    }
}
