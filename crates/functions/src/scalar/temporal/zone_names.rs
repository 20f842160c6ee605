//! What time zones are called in English, as Java has it.
//!
//! `zone_names.tsv` is written by `scripts/zone-names/ZoneNames.java`.

use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::tz::TimeZone;

use super::names::strip_prefix_ignoring_case;

/// The names of a zone. The same names are often those of many zones.
#[derive(Debug)]
pub struct ZoneNames {
    /// Short and long standard name, then those of summer time.
    names: [&'static str; 4],
    /// The first zone of these names in Java's order.
    first: &'static str,
}

static TABLE: LazyLock<(Vec<ZoneNames>, HashMap<&'static str, usize>)> = LazyLock::new(|| {
    let (mut table, mut places) = (Vec::new(), HashMap::new());
    for line in include_str!("zone_names.tsv").lines() {
        let mut columns = line.split('\t');
        let names = [(); 4].map(|()| columns.next().unwrap_or_default());
        let mut ids = columns.next().unwrap_or_default().split(' ').peekable();
        let first = ids.peek().copied().unwrap_or_default();
        places.extend(ids.map(|id| (id, table.len())));
        table.push(ZoneNames { names, first });
    }
    (table, places)
});

impl ZoneNames {
    /// The names of a zone of the tz database.
    pub fn of(zone: &TimeZone) -> Option<&'static Self> {
        let (table, places) = &*TABLE;
        table.get(*places.get(zone.iana_name()?)?)
    }

    /// The name of standard or summer time.
    pub fn name(&self, in_summer: bool, long: bool) -> &'static str {
        self.names[2 * usize::from(in_summer) + usize::from(long)]
    }

    /// The name that a text begins with, letters compared without regard to case: which one, and the rest.
    fn strip<'a>(&self, text: &'a str) -> Option<(usize, &'a str)> {
        // Long names are looked for before short ones.
        let order = [1, 0, 3, 2].into_iter().filter(|at| !self.names[*at].is_empty());
        order.filter_map(|at| Some((at, strip_prefix_ignoring_case(text, self.names[at])?))).next()
    }
}

/// A zone that a text names.
#[derive(Debug, Clone)]
pub struct NamedZone {
    pub zone: TimeZone,
    /// Seconds that the name puts summer time ahead of standard time; `None` where the zone itself decides.
    pub summer: Option<i64>,
}

/// The zone whose name a text begins with, and the rest of the text: the zone at hand if it is called so, else the
/// first in Java's order.
pub fn named<'a>(text: &'a str, at_hand: &TimeZone) -> Option<(NamedZone, &'a str)> {
    if let Some(names) = ZoneNames::of(at_hand)
        && let Some((which, rest)) = names.strip(text)
    {
        return Some((named_zone(names, which, at_hand.clone()), rest));
    }
    let (names, (which, rest)) =
        TABLE.0.iter().find_map(|names| Some((names, names.strip(text)?)))?;
    let zone = super::zone_id::time_zone(names.first);
    Some((named_zone(names, which, zone), rest))
}

fn named_zone(names: &ZoneNames, which: usize, zone: TimeZone) -> NamedZone {
    let in_summer = which >= 2;
    let is_both = names.names[which % 2].eq_ignore_ascii_case(names.names[which % 2 + 2]);
    let saving = if in_summer { saving(&zone) } else { 0 };
    let decides = is_both && !in_summer || in_summer && saving == 0;
    NamedZone { zone, summer: (!decides).then_some(saving) }
}

/// The beginning of 2030.
const FUTURE: i64 = 1_893_456_000;

/// By how many seconds the clocks of a zone are put forward nowadays.
fn saving(zone: &TimeZone) -> i64 {
    match zone.iana_name() {
        Some("Australia/Lord_Howe" | "Australia/LHI") => 1_800,
        Some("Antarctica/Troll") => 7_200,
        _ => {
            let mut changes = zone.following(super::clock::clamped(FUTURE)).take(4);
            if changes.any(|change| change.dst().is_dst()) { 3_600 } else { 0 }
        }
    }
}

/// Whether a zone's clocks show summer time, as Java counts it: where the tz database has winter time as the exception, the
/// other half of the year is summer.
pub fn is_summer(zone: &TimeZone, second: i64) -> bool {
    let info = zone.to_offset_info(super::clock::clamped(second));
    match zone.iana_name() {
        Some("Europe/Dublin" | "Eire" | "Africa/Casablanca" | "Africa/El_Aaiun") => {
            info.offset().seconds() == 3_600
        }
        // From 1994 on, and Java has it so ever since.
        Some("Africa/Windhoek") => info.offset().seconds() == 7_200 && second >= 764_200_800,
        _ => info.dst().is_dst(),
    }
}

/// The names that a text may begin with.
pub fn all() -> impl Iterator<Item = &'static str> {
    TABLE.0.iter().flat_map(|names| names.names)
}

impl NamedZone {
    /// The instant at which the zone's clocks show a local time; both in seconds since the epoch.
    pub fn instant(&self, local: i64) -> i64 {
        let zone = super::simple_format::Zone::new(&self.zone);
        match self.summer {
            None => zone.instant(local),
            Some(summer) => {
                let instant = zone.instant(local);
                let offset = local - instant;
                let now = if is_summer(&self.zone, instant) { saving(&self.zone) } else { 0 };
                local.saturating_sub(offset - now + summer)
            }
        }
    }
}
