//! From calendar fields to an instant, as Java's lenient `GregorianCalendar` resolves them: of
//! several ways to name a day the one that was set last counts.

use super::super::calendar::day_of_week;
use super::super::zone_names::NamedZone;
use super::calendar::days_by;
use super::print::Zone;

/// A field of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// 0 is BC, 1 is AD.
    Era,
    Year,
    WeekYear,
    /// From 1.
    Month,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    DayOfMonth,
    DayOfWeekInMonth,
    /// Sunday is 1.
    DayOfWeek,
    /// 0 is AM, 1 is PM.
    AmPm,
    Hour,
    HalfDayHour,
    Minute,
    Second,
    Millisecond,
}

const COUNT: usize = Field::Millisecond as usize + 1;

/// Fields that were read, each with the turn it was set in (0: not set).
#[derive(Debug, Clone, Default)]
pub struct Fields {
    values: [i64; COUNT],
    turns: [u32; COUNT],
    last: u32,
    /// Seconds ahead of UTC, when the text says so.
    pub offset: Option<i64>,
    /// The zone that was named.
    pub zone: Option<NamedZone>,
}

impl Fields {
    /// Sets a field, in place of an earlier value.
    pub fn set(&mut self, field: Field, value: i64) {
        self.last += 1;
        self.values[field as usize] = value;
        self.turns[field as usize] = self.last;
    }

    fn get(&self, field: Field) -> Option<i64> {
        (self.turn(field) > 0).then(|| self.values[field as usize])
    }

    fn value(&self, field: Field) -> i64 {
        self.values[field as usize]
    }

    fn turn(&self, field: Field) -> u32 {
        self.turns[field as usize]
    }

    /// When the later of two fields was set; 0 unless both were.
    fn turn_of_both(&self, first: Field, second: Field) -> u32 {
        match (self.turn(first), self.turn(second)) {
            (0, _) | (_, 0) => 0,
            (a, b) => a.max(b),
        }
    }

    /// The instant, in milliseconds since the epoch.
    pub fn to_millis(&self, zone: &Zone) -> i64 {
        let time = self.millis_of_day();
        let day_millis = 86_400_000;
        let days = self.days() + time.div_euclid(day_millis);
        let local = days.saturating_mul(day_millis).saturating_add(time.rem_euclid(day_millis));
        let second = local.div_euclid(1_000);
        let instant = match (self.offset, &self.zone) {
            (Some(offset), _) => second.saturating_sub(offset),
            (None, Some(named)) => named.instant(second),
            (None, None) => zone.instant(second),
        };
        instant.saturating_mul(1_000).saturating_add(local.rem_euclid(1_000))
    }

    fn millis_of_day(&self) -> i64 {
        let whole = self.turn(Field::Hour);
        let half = match self.turn_of_both(Field::HalfDayHour, Field::AmPm) {
            0 if whole == 0 => self.turn(Field::HalfDayHour).max(self.turn(Field::AmPm)),
            both => both,
        };
        let hour = if half > whole {
            self.value(Field::HalfDayHour) + 12 * self.value(Field::AmPm)
        } else {
            self.value(Field::Hour)
        };
        ((hour * 60 + self.value(Field::Minute)) * 60 + self.value(Field::Second)) * 1_000
            + self.value(Field::Millisecond)
    }

    fn days(&self) -> i64 {
        let day_of_week = self.get(Field::DayOfWeek);
        if self.turn(Field::WeekYear) > self.turn(Field::Year) {
            let year = self.value(Field::WeekYear);
            let week = self.get(Field::WeekOfYear).unwrap_or(1);
            // Days past the end of a week are counted on from Monday.
            let (week, day) = match day_of_week {
                Some(day) if !(1..=7).contains(&day) => {
                    (week + (day - 1).div_euclid(7), (day - 1).rem_euclid(7) + 2)
                }
                day => (week, day.unwrap_or(1)),
            };
            return days_by(year, 1, |first, _| on_or_before(first, 1) + 7 * (week - 1) + day - 1);
        }
        let year = match self.get(Field::Year).unwrap_or(1970) {
            year if self.get(Field::Era) == Some(0) => 1 - year,
            year => year,
        };
        let month = self.get(Field::Month).unwrap_or(1);
        match self.way() {
            Way::DayOfMonth => {
                let day = self.get(Field::DayOfMonth).unwrap_or(1);
                days_by(year, month, |first, _| first + day - 1)
            }
            Way::WeekOfMonth => {
                let week = self.value(Field::WeekOfMonth);
                days_by(year, month, |first, _| in_week(first, week, day_of_week))
            }
            Way::DayOfWeekInMonth => {
                let weekday = day_of_week.unwrap_or(1);
                let number = self.get(Field::DayOfWeekInMonth).unwrap_or(1);
                days_by(year, month, |first, length| match number {
                    0.. => on_or_before(first + 7 * number - 1, weekday),
                    _ => on_or_before(first + length + 7 * (number + 1) - 1, weekday),
                })
            }
            Way::DayOfYear => {
                let day = self.value(Field::DayOfYear);
                days_by(year, 1, |first, _| first + day - 1)
            }
            Way::WeekOfYear => {
                let week = self.value(Field::WeekOfYear);
                days_by(year, 1, |first, _| in_week(first, week, day_of_week))
            }
        }
    }

    /// Which fields name the day: those set last, a weekday counting only together with a week.
    fn way(&self) -> Way {
        let by_day_of_month = self.turn(Field::DayOfMonth);
        let weekday = Field::DayOfWeek;
        let mut ways = [
            (by_day_of_month, Way::DayOfMonth),
            (self.turn_of_both(Field::WeekOfMonth, weekday), Way::WeekOfMonth),
            (self.turn_of_both(Field::DayOfWeekInMonth, weekday), Way::DayOfWeekInMonth),
            (self.turn(Field::DayOfYear), Way::DayOfYear),
            (self.turn_of_both(Field::WeekOfYear, weekday), Way::WeekOfYear),
        ];
        if ways.iter().all(|(turn, _)| *turn == 0) {
            ways = [
                (0, Way::DayOfMonth),
                (self.turn(Field::WeekOfMonth), Way::WeekOfMonth),
                (self.turn(Field::DayOfWeekInMonth).max(self.turn(weekday)), Way::DayOfWeekInMonth),
                (0, Way::DayOfYear),
                (self.turn(Field::WeekOfYear), Way::WeekOfYear),
            ];
        }
        let latest = ways.iter().map(|(turn, _)| *turn).max().unwrap_or(0);
        let mut chosen = ways.iter().filter(|(turn, _)| *turn == latest).map(|(_, way)| *way);
        let first = chosen.next().unwrap_or(Way::DayOfMonth);
        // A weekday set last is shared by all weeks that are set: then the latest of those counts.
        let week = |way: &Way| match way {
            Way::WeekOfMonth => self.turn(Field::WeekOfMonth),
            Way::DayOfWeekInMonth => self.turn(Field::DayOfWeekInMonth),
            Way::WeekOfYear => self.turn(Field::WeekOfYear),
            _ => u32::MAX,
        };
        chosen.fold(first, |best, way| if week(&way) > week(&best) { way } else { best })
    }
}

/// A combination of fields that names a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    DayOfMonth,
    WeekOfMonth,
    DayOfWeekInMonth,
    DayOfYear,
    WeekOfYear,
}

/// A day of the week whose first is the one that has the day `first` in it; Sunday if none is named.
fn in_week(first: i64, week: i64, weekday: Option<i64>) -> i64 {
    let saturday = on_or_before(first, 1) + 6;
    on_or_before(saturday, weekday.unwrap_or(1)) + 7 * (week - 1)
}

/// The last day that is this weekday and not after a day.
fn on_or_before(days: i64, weekday: i64) -> i64 {
    days - (day_of_week(days) - weekday).rem_euclid(7)
}
