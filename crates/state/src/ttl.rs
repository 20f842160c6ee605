//! How long idle state is kept.

/// The time after its last write at which state counts as absent, Flink's state TTL as SQL sets it:
/// writing renews it, reading does not, expired state is never seen, and the clock is processing time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttl {
    duration_ms: i64,
}

impl Ttl {
    /// A TTL of `millis` milliseconds; `None` when that is zero or less, by which Flink means forever.
    pub fn from_millis(millis: i64) -> Option<Self> {
        (millis > 0).then_some(Self { duration_ms: millis })
    }

    /// The duration in milliseconds.
    pub fn duration_ms(self) -> i64 {
        self.duration_ms
    }

    /// Whether state last written at `written` counts as absent at `now`.
    #[inline]
    pub fn is_expired(self, written: i64, now: i64) -> bool {
        written.saturating_add(self.duration_ms) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_expires_when_the_duration_has_passed() {
        let ttl = Ttl::from_millis(1000).unwrap();
        assert!(!ttl.is_expired(5000, 5999));
        assert!(ttl.is_expired(5000, 6000));
        assert!(!ttl.is_expired(i64::MAX - 1, 0));
        assert_eq!(Ttl::from_millis(0), None);
    }
}
