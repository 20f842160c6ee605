//! Nexmark events as files: those of the connector `nexmark`, 10,000 of them a second of event time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flott_connectors::nexmark::{Auction, Bid, Event, EventTime, Person};

use crate::BenchError;

/// Events of event time a second.
const TIME: EventTime = EventTime { per_second: 10_000 };

/// Writes the files of all tables in both formats.
pub fn files(events: u64, out: &Path, stripes: u64) -> Result<(), BenchError> {
    for json in [false, true] {
        let format = if json { "json" } else { "csv" };
        let folder = out.join(format).join(format!("p{stripes}"));
        table::<Person>(&folder.join("person"), json, events, stripes)?;
        table::<Auction>(&folder.join("auction"), json, events, stripes)?;
        table::<Bid>(&folder.join("bid"), json, events, stripes)?;
    }
    Ok(())
}

fn table<E: Record>(
    folder: &Path,
    json: bool,
    events: u64,
    stripes: u64,
) -> Result<(), BenchError> {
    std::fs::create_dir_all(folder)?;
    let format = if json { "json" } else { "csv" };
    let file = |k| File::create(folder.join(format!("part-{k}.{format}"))).map(BufWriter::new);
    let mut files = (0..stripes.max(1)).map(file).collect::<Result<Vec<_>, _>>()?;
    let rows = events / 50 * E::SHARE;
    let (mut event, mut row) = (E::default(), Row { text: String::new(), json });
    for i in 0..rows {
        row.text.clear();
        event.fill(i, TIME, true);
        event.write(&mut row);
        row.end();
        let stripe = i as usize % files.len();
        files[stripe].write_all(row.text.as_bytes())?;
    }
    files.iter_mut().try_for_each(Write::flush)?;
    eprintln!("{}: {rows} rows", folder.display());
    Ok(())
}

/// A row of a file under construction.
struct Row {
    text: String,
    json: bool,
}

impl Row {
    fn name(&mut self, name: &str) {
        let first = self.text.is_empty();
        if self.json {
            let _ = write!(self.text, "{}\"{name}\":", if first { '{' } else { ',' });
        } else if !first {
            self.text.push(',');
        }
    }

    fn int(&mut self, name: &str, value: i64) {
        self.name(name);
        let _ = write!(self.text, "{value}");
    }

    fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        let quote = if self.json { "\"" } else { "" };
        let _ = write!(self.text, "{quote}{value}{quote}");
    }

    fn time(&mut self, name: &str, millis: i64) {
        self.name(name);
        let quote = if self.json { "\"" } else { "" };
        self.text.push_str(quote);
        let value = flott::Value::Timestamp(i128::from(millis) * 1_000_000);
        let ty = flott::DataType::timestamp(3);
        self.text.push_str(&flott::value_text(&value, &ty, &flott::utc()));
        self.text.push_str(quote);
    }

    fn end(&mut self) {
        self.text.push_str(if self.json { "}\n" } else { "\n" });
    }
}

/// A kind of event as a row of a file.
trait Record: Event {
    /// Writes the columns.
    fn write(&self, row: &mut Row);
}

impl Record for Person {
    fn write(&self, row: &mut Row) {
        row.int("id", self.id);
        row.string("name", &self.name);
        row.string("emailAddress", &self.email_address);
        row.string("creditCard", &self.credit_card);
        row.string("city", &self.city);
        row.string("state", &self.state);
        row.time("dateTime", self.date_time);
        row.string("extra", &self.extra);
    }
}

impl Record for Auction {
    fn write(&self, row: &mut Row) {
        row.int("id", self.id);
        row.string("itemName", &self.item_name);
        row.string("description", &self.description);
        row.int("initialBid", self.initial_bid);
        row.int("reserve", self.reserve);
        row.time("dateTime", self.date_time);
        row.time("expires", self.expires);
        row.int("seller", self.seller);
        row.int("category", self.category);
        row.string("extra", &self.extra);
    }
}

impl Record for Bid {
    fn write(&self, row: &mut Row) {
        row.int("auction", self.auction);
        row.int("bidder", self.bidder);
        row.int("price", self.price);
        row.string("channel", &self.channel);
        row.string("url", &self.url);
        row.time("dateTime", self.date_time);
        row.string("extra", &self.extra);
    }
}
