//! Dates and timestamps against jiff's calendar.

use flott_functions::Expr;
use flott_types::{DataType, TypeRoot, Value};
use jiff::civil::{Date, DateTime, date};
use jiff::{SpanRound, ToSpan, Unit};
use proptest::prelude::*;

use crate::{call, value};

const EPOCH: Date = date(1970, 1, 1);

/// A date and time of day between the years 1000 and 9000, to the millisecond.
fn moment() -> impl Strategy<Value = DateTime> {
    (1000i16..9000, 1i8..=12, 1i8..=28, 0i8..24, 0i8..60, 0i8..60, 0i32..1000).prop_map(
        |(year, month, day, hour, minute, second, milli)| {
            date(year, month, day).at(hour, minute, second, milli * 1_000_000)
        },
    )
}

fn timestamp(moment: DateTime) -> Expr {
    let since = moment.duration_since(EPOCH.at(0, 0, 0, 0));
    let ty = TypeRoot::Timestamp(3).not_null();
    Expr::literal(Value::Timestamp(since.as_nanos()), ty)
}

fn int(number: i64) -> Expr {
    Expr::literal(Value::Int(number), TypeRoot::Int.not_null())
}

fn text(text: &str) -> Expr {
    Expr::literal(Value::string(text), DataType::string().not_null())
}

fn of_unit(name: &str, unit: &str, args: Vec<Expr>) -> String {
    let function = flott_functions::scalar_function(name).unwrap();
    value(Expr::call(function, args, vec![unit.into()], None).unwrap()).unwrap()
}

fn printed(moment: DateTime) -> String {
    moment.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

proptest! {
    #[test]
    fn timestamps_move_by_units(moment in moment(), count in -500i64..500) {
        let spans = [
            ("YEAR", count.years()),
            ("QUARTER", (count * 3).months()),
            ("MONTH", count.months()),
            ("WEEK", count.weeks()),
            ("DAY", count.days()),
            ("HOUR", count.hours()),
            ("MINUTE", count.minutes()),
            ("SECOND", count.seconds()),
        ];
        for (unit, span) in spans {
            let moved = of_unit("TIMESTAMPADD", unit, vec![int(count), timestamp(moment)]);
            prop_assert_eq!(moved, printed(moment.checked_add(span).unwrap()), "{}", unit);
        }
    }

    #[test]
    fn whole_units_lie_between_timestamps(from in moment(), to in moment()) {
        let millis = to.duration_since(from).as_millis() as i64;
        let sizes =
            [("SECOND", 1_000), ("MINUTE", 60_000), ("HOUR", 3_600_000), ("DAY", 86_400_000)];
        for (unit, size) in sizes {
            let count = of_unit("TIMESTAMPDIFF", unit, vec![timestamp(from), timestamp(to)]);
            // The result is an INT that wraps.
            prop_assert_eq!(count, ((millis / size) as i32).to_string(), "{}", unit);
        }
    }

    #[test]
    fn parts_are_extracted(moment in moment()) {
        let week = moment.date().iso_week_date();
        let parts = [
            ("YEAR", i64::from(moment.year())),
            ("QUARTER", i64::from((moment.month() - 1) / 3 + 1)),
            ("MONTH", i64::from(moment.month())),
            ("WEEK", i64::from(week.week())),
            ("ISOYEAR", i64::from(week.year())),
            ("DAY", i64::from(moment.day())),
            ("DOY", i64::from(moment.day_of_year())),
            ("DOW", i64::from(moment.weekday().to_sunday_one_offset())),
            ("ISODOW", i64::from(moment.weekday().to_monday_one_offset())),
            ("HOUR", i64::from(moment.hour())),
            ("MINUTE", i64::from(moment.minute())),
            ("SECOND", i64::from(moment.second())),
            ("EPOCH", moment.duration_since(EPOCH.at(0, 0, 0, 0)).as_millis().div_euclid(1_000) as i64),
        ];
        for (unit, wanted) in parts {
            let part = of_unit("EXTRACT", unit, vec![timestamp(moment)]);
            // Flink's weeks and seconds before 1970 are checked elsewhere.
            if moment.year() >= 1970 {
                prop_assert_eq!(part, wanted.to_string(), "{}", unit);
            }
        }
    }

    #[test]
    fn timestamps_are_rounded_down_and_up(moment in moment()) {
        let start_of_month = moment.date().first_of_month().at(0, 0, 0, 0);
        let next_month = start_of_month.checked_add(1.month()).unwrap();
        let hour = moment.date().at(moment.hour(), 0, 0, 0);
        // As in Flink the time of day does not count where a month is rounded up.
        let in_first_day = moment.date() == start_of_month.date();
        for (unit, low, up) in [
            ("MONTH", start_of_month, if in_first_day { start_of_month } else { next_month }),
            ("HOUR", hour, if moment == hour { hour } else { hour.checked_add(1.hour()).unwrap() }),
        ] {
            prop_assert_eq!(of_unit("FLOOR", unit, vec![timestamp(moment)]), printed(low));
            prop_assert_eq!(of_unit("CEIL", unit, vec![timestamp(moment)]), printed(up));
        }
    }

    #[test]
    fn formats_print_and_read(moment in moment()) {
        let format = text("yyyy-MM-dd HH:mm:ss.SSS");
        let shown = call("DATE_FORMAT", vec![timestamp(moment), format.clone()]);
        prop_assert_eq!(value(shown.clone()).unwrap(), printed(moment));
        let read = call("TO_TIMESTAMP", vec![shown, format]);
        prop_assert_eq!(value(read).unwrap(), printed(moment));
        let other = call("DATE_FORMAT", vec![timestamp(moment), text("EEE, d MMM yyyy h:mm a, DDD")]);
        let wanted = moment.strftime("%a, %-d %b %Y %-I:%M %p, %j").to_string();
        prop_assert_eq!(value(other).unwrap(), wanted);
    }

    #[test]
    fn differences_and_sums_cancel(from in moment(), to in moment()) {
        let difference = to.duration_since(from);
        let span = difference.as_millis() as i64;
        let interval = Expr::literal(Value::Millis(span), TypeRoot::IntervalDayTime.not_null());
        prop_assert_eq!(value(call("+", vec![timestamp(from), interval.clone()])).unwrap(), printed(to));
        prop_assert_eq!(value(call("-", vec![timestamp(to), interval])).unwrap(), printed(from));
        let whole = from.until((Unit::Month, to)).unwrap().round(SpanRound::new().largest(Unit::Month).relative(from));
        prop_assert!(whole.is_ok());
    }
}
