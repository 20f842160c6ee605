//! Checks of UTF-8 over many records at once.

/// How many bytes are looked at in one go.
const WINDOW: usize = 1 << 16;

/// Checks bytes from front to back, each once.
pub(crate) struct Utf8Check<'a> {
    bytes: &'a [u8],
    /// Up to here the bytes are looked at.
    checked: usize,
}

impl<'a> Utf8Check<'a> {
    /// Starts at `at`.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, checked: at }
    }

    /// Whether the record from `start` to `end` is sound; records must come in order.
    #[inline]
    pub(crate) fn sound(&mut self, start: usize, end: usize) -> bool {
        end <= self.checked || self.look(start, end)
    }

    fn look(&mut self, start: usize, end: usize) -> bool {
        let from = self.checked.max(start);
        let to = self.bytes.len().min(end.max(from + WINDOW));
        let window = &self.bytes[from..to];
        let sound_to = match simdutf8::basic::from_utf8(window) {
            Ok(_) => to,
            Err(_) => std::str::from_utf8(window).err().map_or(to, |e| from + e.valid_up_to()),
        };
        // What is wrong further on belongs to a later record, or is a character cut in two.
        self.checked = if sound_to >= end { sound_to } else { end };
        sound_to >= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_record_with_the_bad_byte_is_unsound() {
        let text = "aä\nb\u{FF}\nc\n".replace('\u{FF}', "?");
        let mut bytes = text.into_bytes();
        let bad = bytes.iter().position(|byte| *byte == b'?').unwrap();
        bytes[bad] = 0xFF;
        let mut check = Utf8Check::new(&bytes, 0);
        assert!(check.sound(0, 4));
        assert!(!check.sound(4, 7));
        assert!(check.sound(7, 9));
        let cut = "x\nä".as_bytes();
        assert!(Utf8Check::new(&cut[..3], 0).sound(0, 2));
    }
}
