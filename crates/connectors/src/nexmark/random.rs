//! Random numbers that follow from an event's number.

/// A counter-based generator (splitmix64), seeded by an event's number.
pub(super) struct Random(u64);

impl Random {
    /// The numbers of an event.
    pub fn new(event: i64) -> Self {
        Self(mix((event as u64).wrapping_add(0x632B_E59B_D9B4_E019)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number from 0 to before `n`.
    pub fn below(&mut self, n: i64) -> i64 {
        (self.next() % n.max(1) as u64) as i64
    }

    /// One of some words.
    pub fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as i64) as usize]
    }

    /// A price in cents, from 1 to a million dollars, small ones more often.
    pub fn price(&mut self) -> i64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (10f64.powf(unit * 6.0) * 100.0).round() as i64
    }

    /// Appends small letters: 12 from each number, of which they are the digits to base 26, lowest first.
    pub fn text(&mut self, length: usize, out: &mut String) {
        let mut left = length;
        while left > 0 {
            let mut number = self.next() & (u64::MAX >> 1);
            let mut letters = [b'a'; 12];
            for three in letters.as_chunks_mut().0 {
                *three = THREE_LETTERS[(number % COMBINATIONS as u64) as usize];
                number /= COMBINATIONS as u64;
            }
            let taken = left.min(letters.len());
            out.push_str(str::from_utf8(&letters[..taken]).unwrap_or_default());
            left -= taken;
        }
    }

    /// Filler that brings a row of `used` bytes to about `average`.
    pub fn extra(&mut self, used: usize, average: usize, out: &mut String) {
        out.clear();
        if used >= average {
            return;
        }
        let wanted = average - used;
        let delta = (wanted / 5).max(1);
        let length = wanted - delta + self.below(2 * delta as i64) as usize;
        self.text(length, out);
    }
}

/// How many sequences of three letters there are.
const COMBINATIONS: usize = 26 * 26 * 26;

/// The three letters that are a number's lowest digits to base 26, lowest first: a division gives
/// three of them instead of one.
static THREE_LETTERS: [[u8; 3]; COMBINATIONS] = {
    let mut all = [[0; 3]; COMBINATIONS];
    let mut number = 0;
    while number < COMBINATIONS {
        let (first, second, third) = (number % 26, number / 26 % 26, number / 676);
        all[number] = [b'a' + first as u8, b'a' + second as u8, b'a' + third as u8];
        number += 1;
    }
    all
};

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_digits_of_numbers() {
        for (event, length) in [(0, 0), (1, 1), (2, 11), (3, 12), (4, 13), (5, 100)] {
            let mut text = String::new();
            Random::new(event).text(length, &mut text);
            let (mut random, mut number) = (Random::new(event), 0);
            let letter = |i| {
                if i % 12 == 0 {
                    number = random.next() & (u64::MAX >> 1);
                }
                let digit = (number % 26) as u8;
                number /= 26;
                char::from(b'a' + digit)
            };
            assert_eq!(text, (0..length).map(letter).collect::<String>());
        }
    }
}
