//! Events are what their numbers say.

use super::event::{Auction, Bid, Event, EventTime, Person};
use super::*;

const TIME: EventTime = EventTime { per_second: 10_000 };

#[test]
fn events_are_functions_of_their_numbers() {
    let (mut person, mut auction, mut bid) =
        (Person::default(), Auction::default(), Bid::default());
    for i in [0, 1, 999, 12_345] {
        let (mut again, mut other) = (Bid::default(), Auction::default());
        bid.fill(i, TIME, true);
        again.fill(i, TIME, true);
        assert_eq!(format!("{bid:?}"), format!("{again:?}"));
        person.fill(i, TIME, true);
        auction.fill(i, TIME, true);
        other.fill(i, TIME, true);
        assert_eq!(format!("{auction:?}"), format!("{other:?}"));
        assert_eq!((person.id, auction.id), (1000 + i as i64, 1000 + i as i64));
        assert!(auction.expires > auction.date_time && auction.reserve > auction.initial_bid);
        other.fill(i + 1, TIME, true);
        other.fill(i, TIME, false);
        let numbers =
            |auction: &Auction| (auction.id, auction.reserve, auction.seller, auction.expires);
        assert_eq!(numbers(&auction), numbers(&other));
        assert!(bid.url.starts_with("https://www.nexmark.com/") && bid.price >= 100);
    }
    // Event 4 of each 50 is the first bid, at 10,000 events a second 5 ms after that of the last cycle.
    bid.fill(46, TIME, true);
    let second = bid.date_time;
    bid.fill(0, TIME, true);
    assert_eq!(second - bid.date_time, 5);
}

#[test]
fn kinds_share_the_events() {
    for events in [0, 1, 2, 4, 5, 49, 50, 51, 1_000, 12_345] {
        let of = |kind: Kind| kind.rows(events);
        assert_eq!(of(Kind::Person) + of(Kind::Auction) + of(Kind::Bid), events);
        assert_eq!(of(Kind::All), events);
    }
    assert_eq!(
        [Kind::Person, Kind::Auction, Kind::Bid].map(|kind| kind.rows(1_000)),
        [20, 60, 920]
    );
}
