//! Decimal digits of other scripts, which Java's number parsers read as well as ASCII's.

/// The zeros of the scripts within 16 bits; nine digits follow each.
const ZEROS: [u16; 36] = [
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

/// What a character is as a decimal digit, as `Character.digit` says; of characters beyond 16 bits
/// Java's parsers see halves, which are none.
pub(crate) fn digit_value(character: char) -> Option<u8> {
    if character.is_ascii() {
        return character.to_digit(10).map(|digit| digit as u8);
    }
    let unit = u16::try_from(u32::from(character)).ok()?;
    let script = ZEROS.partition_point(|zero| *zero <= unit).checked_sub(1)?;
    let digit = unit - ZEROS[script];
    (digit < 10).then_some(digit as u8)
}

/// The text with the digits of all scripts as those of ASCII.
pub(crate) fn with_ascii_digits(text: &str) -> String {
    text.chars().map(|c| digit_value(c).map_or(c, |digit| char::from(b'0' + digit))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts_have_values() {
        assert!(ZEROS.is_sorted());
        for (character, value) in [
            ('7', Some(7)),
            ('١', Some(1)),
            ('９', Some(9)),
            ('९', Some(9)),
            ('x', None),
            ('Ⅷ', None),
        ] {
            assert_eq!(digit_value(character), value, "{character}");
        }
        assert_eq!(digit_value('𝟏'), None, "beyond 16 bits");
        assert_eq!(with_ascii_digits("-１.５"), "-1.5");
    }
}
