//! Proleptic Gregorian calendar arithmetic on days since 1970-01-01.

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// Astronomical year: 0 is 1 BC.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// The calendar day that is `days` after 1970-01-01.
pub fn civil_from_days(days: i64) -> Civil {
    // Years start in March here, so that the leap day ends them: an era is 400 such years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * march_month + 2) / 5 + 1) as u32;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u32;
    let year = (year_of_era + era * 400 + i64::from(month <= 2)) as i32;
    Civil { year, month, day }
}

/// Days from 1970-01-01 to a calendar day; `month` and `day` must be in range.
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let march_month = i64::from((month + 9) % 12);
    let day_of_year = (153 * march_month + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_civil_dates_are_inverse() {
        for days in (-800_000..3_000_000).step_by(37) {
            let date = civil_from_days(days);
            assert_eq!(days_from_civil(date.year, date.month, date.day), days);
        }
        assert_eq!(civil_from_days(0), Civil { year: 1970, month: 1, day: 1 });
        assert_eq!(days_from_civil(2000, 2, 29), 11_016);
    }
}
