//! The events of the Nexmark benchmark: people, auctions and bids of an auction house.
//!
//! Each event is a pure function of its number, so that every run and every reader sees the same ones. Of
//! 50 events 1 is a person, 3 are auctions, 46 are bids. Half of the bids go to one auction of a hundred,
//! three of four bids and auctions are one person's of a hundred.

use std::fmt::Write;

use super::random::Random;

/// 2024-01-01 00:00:00 in milliseconds.
const BASE_TIME: i64 = 1_704_067_200_000;
const FIRST_ID: i64 = 1000;
/// Of so many events one is a person.
pub const CYCLE: u64 = 50;
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

/// How fast event time passes: so many events a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTime {
    /// Events a second.
    pub per_second: u64,
}

impl EventTime {
    /// The time of an event, in milliseconds since the epoch.
    pub fn of(self, event: i64) -> i64 {
        let per_second = i64::try_from(self.per_second.max(1)).unwrap_or(i64::MAX);
        // Divisions of 128 bits are dear, and only numbers that nobody counts to need them.
        let millis = match event.checked_mul(1000) {
            Some(millis) => millis / per_second,
            None => (i128::from(event) * 1000 / i128::from(per_second)) as i64,
        };
        BASE_TIME.saturating_add(millis)
    }
}

/// A kind of event, whose values are overwritten by [`fill`](Event::fill).
pub trait Event: Default {
    /// How many of 50 events are of this kind.
    const SHARE: u64;

    /// Becomes the `i`th event of its kind; without `text` only in its numbers and times, which take a
    /// small part of the time that the texts take.
    fn fill(&mut self, i: u64, time: EventTime, text: bool);
}

/// Someone who sells and bids.
#[derive(Debug, Default)]
#[allow(missing_docs)] // The fields are the columns.
pub struct Person {
    pub id: i64,
    pub name: String,
    pub email_address: String,
    pub credit_card: String,
    pub city: String,
    pub state: String,
    pub date_time: i64,
    pub extra: String,
}

/// A thing for sale.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Auction {
    pub id: i64,
    pub item_name: String,
    pub description: String,
    pub initial_bid: i64,
    pub reserve: i64,
    pub date_time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: String,
}

/// An offer for it.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub channel: String,
    pub url: String,
    pub date_time: i64,
    pub extra: String,
}

impl Event for Person {
    const SHARE: u64 = 1;

    fn fill(&mut self, i: u64, time: EventTime, text: bool) {
        let i = i as i64;
        let n = i * CYCLE as i64;
        self.id = FIRST_ID + i;
        self.date_time = time.of(n);
        if !text {
            return;
        }
        let mut random = Random::new(n);
        let (first, last) = (random.one_of(&FIRST_NAMES), random.one_of(&LAST_NAMES));
        set(&mut self.name, format_args!("{first} {last}"));
        self.email_address.clear();
        random.text(7, &mut self.email_address);
        self.email_address.push('@');
        random.text(5, &mut self.email_address);
        self.email_address.push_str(".com");
        self.credit_card.clear();
        for part in 0..4 {
            let space = if part == 0 { "" } else { " " };
            let _ = write!(self.credit_card, "{space}{}", 1000 + random.below(9000));
        }
        set(&mut self.city, format_args!("{}", random.one_of(&CITIES)));
        set(&mut self.state, format_args!("{}", random.one_of(&STATES)));
        let used = 8 + self.name.len() + self.email_address.len() + 19 + self.city.len() + 2;
        random.extra(used, 200, &mut self.extra);
    }
}

impl Event for Auction {
    const SHARE: u64 = 3;

    fn fill(&mut self, i: u64, time: EventTime, text: bool) {
        let i = i as i64;
        let n = i / 3 * CYCLE as i64 + 1 + i % 3;
        let mut random = Random::new(n);
        self.id = FIRST_ID + i;
        self.initial_bid = random.price();
        self.reserve = self.initial_bid + random.price();
        self.date_time = time.of(n);
        let horizon = time.of(n + IN_FLIGHT * CYCLE as i64 / 3) - self.date_time;
        self.expires = self.date_time + 1 + random.below((horizon * 2).max(1));
        let is_hot = random.below(4) > 0;
        let seller = if is_hot { last_person(n) / 100 * 100 } else { some_person(n, &mut random) };
        self.seller = FIRST_ID + seller;
        self.category = 10 + random.below(5);
        if !text {
            return;
        }
        let length = 5 + random.below(15) as usize;
        self.item_name.clear();
        random.text(length, &mut self.item_name);
        let length = 20 + random.below(80) as usize;
        self.description.clear();
        random.text(length, &mut self.description);
        let used = 8 * 6 + self.item_name.len() + self.description.len();
        random.extra(used, 500, &mut self.extra);
    }
}

impl Event for Bid {
    const SHARE: u64 = 46;

    fn fill(&mut self, i: u64, time: EventTime, text: bool) {
        let i = i as i64;
        let n = i / 46 * CYCLE as i64 + 4 + i % 46;
        let mut random = Random::new(n);
        let last = last_auction(n);
        let auction = if random.below(2) > 0 {
            last / HOT_AUCTION_RATIO * HOT_AUCTION_RATIO
        } else {
            let first = (last - IN_FLIGHT).max(0);
            first + random.below(last - first + 1 + LEAD)
        };
        self.auction = FIRST_ID + auction;
        let is_hot = random.below(4) > 0;
        let bidder =
            if is_hot { last_person(n) / 100 * 100 + 1 } else { some_person(n, &mut random) };
        self.bidder = FIRST_ID + bidder;
        self.price = random.price();
        self.date_time = time.of(n);
        if !text {
            return;
        }
        if random.below(2) > 0 {
            let k = random.below(4) as usize;
            let letter = ["a", "b", "c", "d"][k];
            set(&mut self.channel, format_args!("{}", CHANNELS[k]));
            let query = format_args!("item.htm?query=1&channel_id={k}");
            set(&mut self.url, format_args!("https://www.nexmark.com/{letter}/{query}"));
        } else {
            let k = random.below(10_000);
            set(&mut self.channel, format_args!("channel-{k}"));
            set(&mut self.url, format_args!("https://www.nexmark.com/"));
            random.text(5, &mut self.url);
            self.url.push('/');
            random.text(5, &mut self.url);
            self.url.push_str("/item.htm?query=1");
            if k % 10 != 0 {
                let _ = write!(self.url, "&channel_id={k}");
            }
        }
        random.extra(32, 100, &mut self.extra);
    }
}

fn set(text: &mut String, value: std::fmt::Arguments) {
    text.clear();
    let _ = text.write_fmt(value);
}

fn last_person(n: i64) -> i64 {
    n / CYCLE as i64
}

fn last_auction(n: i64) -> i64 {
    let (mut epoch, offset) = (n / CYCLE as i64, n % CYCLE as i64);
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
