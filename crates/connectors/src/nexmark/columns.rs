//! Events as Arrow columns.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int32Array, Int64Array, StringBuilder, StructArray, TimestampMillisecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as Arrow, Schema as ArrowSchema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::ConnectorError;
use flott_types::{DataType, Family, Schema, TypeRoot};

use super::event::{Auction, Bid, CYCLE, Event, EventTime, Person};

/// A column of a kind of event.
pub(super) enum Cell<E> {
    Int(fn(&E) -> i64),
    Text(fn(&E) -> &str),
    Time(fn(&E) -> i64),
}

impl<E> Clone for Cell<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Cell<E> {}

/// A kind of event as a table.
pub(super) trait EventTable: Event + 'static {
    /// The columns, by name.
    const COLUMNS: &'static [(&'static str, Cell<Self>)];
}

impl EventTable for Person {
    const COLUMNS: &'static [(&'static str, Cell<Self>)] = &[
        ("id", Cell::Int(|e| e.id)),
        ("name", Cell::Text(|e| &e.name)),
        ("emailAddress", Cell::Text(|e| &e.email_address)),
        ("creditCard", Cell::Text(|e| &e.credit_card)),
        ("city", Cell::Text(|e| &e.city)),
        ("state", Cell::Text(|e| &e.state)),
        ("dateTime", Cell::Time(|e| e.date_time)),
        ("extra", Cell::Text(|e| &e.extra)),
    ];
}

impl EventTable for Auction {
    const COLUMNS: &'static [(&'static str, Cell<Self>)] = &[
        ("id", Cell::Int(|e| e.id)),
        ("itemName", Cell::Text(|e| &e.item_name)),
        ("description", Cell::Text(|e| &e.description)),
        ("initialBid", Cell::Int(|e| e.initial_bid)),
        ("reserve", Cell::Int(|e| e.reserve)),
        ("dateTime", Cell::Time(|e| e.date_time)),
        ("expires", Cell::Time(|e| e.expires)),
        ("seller", Cell::Int(|e| e.seller)),
        ("category", Cell::Int(|e| e.category)),
        ("extra", Cell::Text(|e| &e.extra)),
    ];
}

impl EventTable for Bid {
    const COLUMNS: &'static [(&'static str, Cell<Self>)] = &[
        ("auction", Cell::Int(|e| e.auction)),
        ("bidder", Cell::Int(|e| e.bidder)),
        ("price", Cell::Int(|e| e.price)),
        ("channel", Cell::Text(|e| &e.channel)),
        ("url", Cell::Text(|e| &e.url)),
        ("dateTime", Cell::Time(|e| e.date_time)),
        ("extra", Cell::Text(|e| &e.extra)),
    ];
}

/// The wanted columns of a kind of event, by the names and types that a table gives them.
pub(super) fn cells<'a, E: EventTable>(
    wanted: impl Iterator<Item = (&'a str, &'a DataType)>,
) -> Result<Vec<Cell<E>>, ConnectorError> {
    let cell = |(name, ty): (&str, &DataType)| {
        let known = E::COLUMNS.iter().find(|(known, _)| *known == name);
        let Some((_, cell)) = known else {
            let names: Vec<&str> = E::COLUMNS.iter().map(|(name, _)| *name).collect();
            return Err(ConnectorError::new(format!("Nexmark has no column '{name}' here"))
                .hint(format!("the columns are {}", names.join(", "))));
        };
        let (fits, takes) = match cell {
            Cell::Int(_) => (ty.root == TypeRoot::BigInt, "BIGINT"),
            Cell::Text(_) => (ty.family() == Family::CharacterString, "STRING"),
            Cell::Time(_) => {
                let fits =
                    matches!(ty.root, TypeRoot::Timestamp(0..=3) | TypeRoot::TimestampLtz(0..=3));
                (fits, "TIMESTAMP(3)")
            }
        };
        if fits {
            return Ok(*cell);
        }
        Err(ConnectorError::new(format!("Nexmark's column '{name}' is no {}", ty.summary()))
            .hint(format!("declare it as {takes}")))
    };
    wanted.map(cell).collect()
}

fn has_text<E>(cells: &[Cell<E>]) -> bool {
    cells.iter().any(|cell| matches!(cell, Cell::Text(_)))
}

/// Columns under construction.
struct Columns<'c, E> {
    cells: &'c [Cell<E>],
    builders: Vec<Builder>,
}

enum Builder {
    Int(Vec<i64>),
    Text(StringBuilder),
    Time(Vec<i64>),
}

impl<'c, E> Columns<'c, E> {
    fn new(cells: &'c [Cell<E>], rows: usize) -> Self {
        let builder = |cell: &Cell<E>| match cell {
            Cell::Int(_) => Builder::Int(Vec::with_capacity(rows)),
            Cell::Text(_) => Builder::Text(StringBuilder::with_capacity(rows, rows * 16)),
            Cell::Time(_) => Builder::Time(Vec::with_capacity(rows)),
        };
        Self { cells, builders: cells.iter().map(builder).collect() }
    }

    fn append(&mut self, event: Option<&E>) {
        for (cell, builder) in self.cells.iter().zip(&mut self.builders) {
            match (cell, builder) {
                (Cell::Int(of), Builder::Int(values)) | (Cell::Time(of), Builder::Time(values)) => {
                    values.push(event.map_or(0, of));
                }
                (Cell::Text(of), Builder::Text(values)) => {
                    values.append_value(event.map_or("", of));
                }
                // Builders are made of the cells.
                _ => {}
            }
        }
    }

    fn finish(self) -> Vec<ArrayRef> {
        let finish = |builder: Builder| -> ArrayRef {
            match builder {
                Builder::Int(values) => Arc::new(Int64Array::from(values)),
                Builder::Time(values) => Arc::new(TimestampMillisecondArray::from(values)),
                Builder::Text(mut values) => Arc::new(values.finish()),
            }
        };
        self.builders.into_iter().map(finish).collect()
    }
}

/// Batches of one kind of event.
pub(super) struct OneKind<E> {
    pub cells: Vec<Cell<E>>,
    pub schema: SchemaRef,
    pub time: EventTime,
    pub event: E,
}

impl<E: EventTable> OneKind<E> {
    /// The events `first`, `first + stride`, ….
    pub fn batch(
        &mut self,
        first: u64,
        stride: u64,
        count: usize,
    ) -> Result<RecordBatch, ConnectorError> {
        let mut columns = Columns::new(&self.cells, count);
        let text = has_text(&self.cells);
        for row in 0..count as u64 {
            if !self.cells.is_empty() {
                self.event.fill(first.wrapping_add(row.wrapping_mul(stride)), self.time, text);
            }
            columns.append(Some(&self.event));
        }
        record_batch(&self.schema, columns.finish(), count)
    }
}

/// A column of the table of all events.
enum Part {
    Kind,
    Person(Vec<Cell<Person>>),
    Auction(Vec<Cell<Auction>>),
    Bid(Vec<Cell<Bid>>),
}

/// Batches of all events: their kind, and a row of the kind.
pub(super) struct AllKinds {
    parts: Vec<Part>,
    schema: SchemaRef,
    time: EventTime,
    person: Person,
    auction: Auction,
    bid: Bid,
}

impl AllKinds {
    /// Batches of the columns of `schema`: `event_type` (0: person, 1: auction, 2: bid), `person`,
    /// `auction`, `bid`.
    pub fn new(schema: &Schema, time: EventTime) -> Result<Self, ConnectorError> {
        let part = |field: &flott_types::Field| {
            let rows = field.data_type.root.row_fields();
            let wanted = || rows.unwrap_or_default().iter().map(|f| (&*f.name, &f.data_type));
            match (&*field.name, rows.is_some()) {
                ("event_type", false) if field.data_type.root == TypeRoot::Int => Ok(Part::Kind),
                ("person", true) => cells(wanted()).map(Part::Person),
                ("auction", true) => cells(wanted()).map(Part::Auction),
                ("bid", true) => cells(wanted()).map(Part::Bid),
                (name, _) => Err(ConnectorError::new(format!(
                    "Nexmark has no column '{name}' of type {}",
                    field.data_type.summary()
                ))
                .hint(
                    "the table of all events has event_type INT, person ROW<…>, auction ROW<…>, \
                     bid ROW<…>; 'table' = 'bid' gives the columns of one kind",
                )),
            }
        };
        Ok(Self {
            parts: schema.fields.iter().map(part).collect::<Result<_, _>>()?,
            schema: schema.to_arrow(),
            time,
            person: Person::default(),
            auction: Auction::default(),
            bid: Bid::default(),
        })
    }

    /// The events `first`, `first + stride`, ….
    pub fn batch(
        &mut self,
        first: u64,
        stride: u64,
        count: usize,
    ) -> Result<RecordBatch, ConnectorError> {
        let Self { parts, schema, time, person, auction, bid } = self;
        let numbers = || (0..count as u64).map(|row| first.wrapping_add(row.wrapping_mul(stride)));
        let columns = parts
            .iter()
            .zip(schema.fields())
            .map(|(part, field)| match part {
                Part::Kind => {
                    let kinds = numbers().map(|event| kind_of(event).0);
                    Ok(Arc::new(Int32Array::from_iter_values(kinds)) as ArrayRef)
                }
                Part::Person(cells) => rows(person, cells, 0, numbers(), *time, field.data_type()),
                Part::Auction(cells) => {
                    rows(auction, cells, 1, numbers(), *time, field.data_type())
                }
                Part::Bid(cells) => rows(bid, cells, 2, numbers(), *time, field.data_type()),
            })
            .collect::<Result<_, _>>()?;
        record_batch(schema, columns, count)
    }
}

/// The kind of an event, and which of its kind it is.
fn kind_of(event: u64) -> (i32, u64) {
    match (event / CYCLE, event % CYCLE) {
        (cycle, 0) => (0, cycle),
        (cycle, at @ 1..=3) => (1, cycle * Auction::SHARE + at - 1),
        (cycle, at) => (2, cycle * Bid::SHARE + at - 4),
    }
}

/// The events of one kind as a column of rows, NULL for others.
fn rows<E: EventTable>(
    event: &mut E,
    cells: &[Cell<E>],
    kind: i32,
    numbers: impl Iterator<Item = u64>,
    time: EventTime,
    ty: &Arrow,
) -> Result<ArrayRef, ConnectorError> {
    let mut columns = Columns::new(cells, numbers.size_hint().0);
    let text = has_text(cells);
    let mut valid = Vec::new();
    for number in numbers {
        let (found, i) = kind_of(number);
        valid.push(found == kind);
        if found == kind {
            event.fill(i, time, text);
            columns.append(Some(event));
        } else {
            columns.append(None);
        }
    }
    let Arrow::Struct(fields) = ty else {
        return Err(ConnectorError::new("a ROW column that is no row"));
    };
    let nulls = Some(NullBuffer::from(valid));
    StructArray::try_new(fields.clone(), columns.finish(), nulls)
        .map(|rows| Arc::new(rows) as ArrayRef)
        .map_err(mismatch)
}

fn record_batch(
    schema: &Arc<ArrowSchema>,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ConnectorError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(mismatch)
}

fn mismatch(error: arrow::error::ArrowError) -> ConnectorError {
    ConnectorError::new(format!("nexmark made columns that do not fit: {error}"))
}
