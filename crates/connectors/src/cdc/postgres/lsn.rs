//! Places in the write-ahead log.

use std::fmt;

/// A log sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Lsn(pub(super) u64);

impl Lsn {
    /// Reads `16/B374D848`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (high, low) = text.split_once('/')?;
        let part = |text| u32::from_str_radix(text, 16).ok().map(u64::from);
        Some(Self(part(high)? << 32 | part(low)?))
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_two_numbers() {
        let lsn = Lsn::parse("16/B374D848").unwrap();
        assert_eq!(lsn.0, 0x16_B374_D848);
        assert_eq!(lsn.to_string(), "16/B374D848");
        assert_eq!(Lsn::parse("16"), None);
        assert_eq!(Lsn::parse("16/x"), None);
    }
}
