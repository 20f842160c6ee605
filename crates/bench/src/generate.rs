//! Nexmark events as files. Each event is a pure function of its number, so that every run and every
//! engine sees the same ones. Of 50 events 1 is a person, 3 are auctions, 46 are bids; 10,000 events are
//! a second of event time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::BenchError;

/// 2024-01-01 00:00:00 in milliseconds.
const BASE_TIME: i64 = 1_704_067_200_000;
const FIRST_ID: i64 = 1000;
/// One auction of so many draws half of the bids.
const HOT_AUCTION_RATIO: i64 = 100;
/// Auctions that are bid on at a time.
const IN_FLIGHT: i64 = 100;
const ACTIVE_PEOPLE: i64 = 1000;
/// Ids that may be referred to before they exist.
const LEAD: i64 = 10;
const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
const CITIES: [&str; 10] = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
];
const FIRST_NAMES: [&str; 11] = [
    "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter",
];
const LAST_NAMES: [&str; 9] =
    ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];

/// Writes the files of all tables in both formats.
pub fn files(events: u64, out: &Path, stripes: u64) -> Result<(), BenchError> {
    let groups = (events / 50) as i64;
    type Event = fn(i64, &mut Row);
    let tables: [(&str, i64, Event); 3] =
        [("person", 1, person), ("auction", 3, auction), ("bid", 46, bid)];
    for json in [false, true] {
        let format = if json { "json" } else { "csv" };
        for (table, share, event) in tables {
            let folder = out.join(format).join(format!("p{stripes}")).join(table);
            std::fs::create_dir_all(&folder)?;
            let mut files = (0..stripes.max(1))
                .map(|k| {
                    File::create(folder.join(format!("part-{k}.{format}"))).map(BufWriter::new)
                })
                .collect::<Result<Vec<_>, _>>()?;
            let mut row = Row { text: String::new(), json };
            for i in 0..groups * share {
                row.text.clear();
                event(i, &mut row);
                row.end();
                let stripe = i as usize % files.len();
                files[stripe].write_all(row.text.as_bytes())?;
            }
            files.iter_mut().try_for_each(Write::flush)?;
            eprintln!("{}: {} rows", folder.display(), groups * share);
        }
    }
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

fn person(i: i64, row: &mut Row) {
    let n = i * 50;
    let mut random = Random::new(n);
    let name = format!("{} {}", random.one_of(&FIRST_NAMES), random.one_of(&LAST_NAMES));
    let email = format!("{}@{}.com", random.text(7), random.text(5));
    let card: Vec<String> = (0..4).map(|_| (1000 + random.below(9000)).to_string()).collect();
    let city = random.one_of(&CITIES);
    let state = random.one_of(&STATES);
    let extra = random.extra(8 + name.len() + email.len() + 19 + city.len() + 2, 200);
    row.int("id", FIRST_ID + i);
    row.string("name", &name);
    row.string("emailAddress", &email);
    row.string("creditCard", &card.join(" "));
    row.string("city", city);
    row.string("state", state);
    row.time("dateTime", time(n));
    row.string("extra", &extra);
}

fn auction(i: i64, row: &mut Row) {
    let n = i / 3 * 50 + 1 + i % 3;
    let mut random = Random::new(n);
    let initial = random.price();
    let reserve = initial + random.price();
    let horizon = time(n + IN_FLIGHT * 50 / 3) - time(n);
    let expires = time(n) + 1 + random.below((horizon * 2).max(1));
    let seller = FIRST_ID
        + if random.below(4) > 0 {
            last_person(n) / 100 * 100
        } else {
            some_person(n, &mut random)
        };
    let category = 10 + random.below(5);
    let item_length = 5 + random.below(15) as usize;
    let item = random.text(item_length);
    let description_length = 20 + random.below(80) as usize;
    let description = random.text(description_length);
    let extra = random.extra(8 * 6 + item.len() + description.len(), 500);
    row.int("id", FIRST_ID + i);
    row.string("itemName", &item);
    row.string("description", &description);
    row.int("initialBid", initial);
    row.int("reserve", reserve);
    row.time("dateTime", time(n));
    row.time("expires", expires);
    row.int("seller", seller);
    row.int("category", category);
    row.string("extra", &extra);
}

fn bid(i: i64, row: &mut Row) {
    let n = i / 46 * 50 + 4 + i % 46;
    let mut random = Random::new(n);
    let last = last_auction(n);
    let auction = if random.below(2) > 0 {
        last / HOT_AUCTION_RATIO * HOT_AUCTION_RATIO
    } else {
        let first = (last - IN_FLIGHT).max(0);
        first + random.below(last - first + 1 + LEAD)
    };
    let bidder = if random.below(4) > 0 {
        last_person(n) / 100 * 100 + 1
    } else {
        some_person(n, &mut random)
    };
    let price = random.price();
    let (channel, url) = if random.below(2) > 0 {
        let k = random.below(4) as usize;
        let letter = ["a", "b", "c", "d"][k];
        let url = format!("https://www.nexmark.com/{letter}/item.htm?query=1&channel_id={k}");
        (CHANNELS[k].to_string(), url)
    } else {
        let k = random.below(10_000);
        let path = format!("{}/{}", random.text(5), random.text(5));
        let id = if k % 10 == 0 { String::new() } else { format!("&channel_id={k}") };
        let url = format!("https://www.nexmark.com/{path}/item.htm?query=1{id}");
        (format!("channel-{k}"), url)
    };
    let extra = random.extra(32, 100);
    row.int("auction", FIRST_ID + auction);
    row.int("bidder", FIRST_ID + bidder);
    row.int("price", price);
    row.string("channel", &channel);
    row.string("url", &url);
    row.time("dateTime", time(n));
    row.string("extra", &extra);
}

fn time(n: i64) -> i64 {
    BASE_TIME + n / 10
}

fn last_person(n: i64) -> i64 {
    n / 50
}

fn last_auction(n: i64) -> i64 {
    let (mut epoch, offset) = (n / 50, n % 50);
    let within = match offset {
        0 => {
            epoch -= 1;
            2
        }
        1..=3 => offset - 1,
        _ => 2,
    };
    (epoch * 3 + within).max(0)
}

fn some_person(n: i64, random: &mut Random) -> i64 {
    let people = last_person(n) + 1;
    let active = people.min(ACTIVE_PEOPLE);
    people - active + random.below(active + LEAD)
}

/// A counter-based generator (splitmix64), seeded by an event's number.
struct Random(u64);

impl Random {
    fn new(n: i64) -> Self {
        Self(mix((n as u64).wrapping_add(0x632B_E59B_D9B4_E019)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    fn below(&mut self, n: i64) -> i64 {
        (self.next() % n.max(1) as u64) as i64
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as i64) as usize]
    }

    fn price(&mut self) -> i64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (10f64.powf(unit * 6.0) * 100.0).round() as i64
    }

    fn text(&mut self, length: usize) -> String {
        let mut letters = 0;
        (0..length)
            .map(|i| {
                if i % 12 == 0 {
                    letters = self.next() & (u64::MAX >> 1);
                }
                let letter = b'a' + (letters % 26) as u8;
                letters /= 26;
                char::from(letter)
            })
            .collect()
    }

    /// Filler that brings a row to about `average` bytes.
    fn extra(&mut self, used: usize, average: usize) -> String {
        if used >= average {
            return String::new();
        }
        let wanted = average - used;
        let delta = (wanted / 5).max(1);
        let length = wanted - delta + self.below(2 * delta as i64) as usize;
        self.text(length)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
