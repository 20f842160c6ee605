//! Format strings, read and checked by the rules of Java's `Formatter`.

/// A format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    pub(super) pieces: Vec<Piece>,
}

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// A specifier.
    Spec(Spec),
}

/// A format specifier: `%[index$][flags][width][.precision]conversion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    pub index: Index,
    pub flags: Flags,
    pub width: Option<usize>,
    pub precision: Option<usize>,
    pub conversion: Conversion,
    /// The conversion was an upper-case letter: so is the output.
    pub upper: bool,
}

/// Which object is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// The next of those without index.
    Next,
    /// The one of the specifier before.
    Last,
    /// The one at a place, from 0.
    At(usize),
}

/// How an object is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// `%b`
    Boolean,
    /// `%h`
    Hash,
    /// `%s`
    Text,
    /// `%c`
    Character,
    /// `%d`
    Decimal,
    /// `%o`
    Octal,
    /// `%x`
    Hex,
    /// `%e`
    Scientific,
    /// `%g`
    General,
    /// `%f`
    Fixed,
    /// `%a`
    HexFloat,
    /// `%n`
    Line,
    /// `%%`
    Percent,
    /// `%t` and a letter.
    Time(char),
}

/// The flags of a specifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// `-`
    pub left: bool,
    /// `#`
    pub alternate: bool,
    /// `+`
    pub plus: bool,
    /// A blank.
    pub space: bool,
    /// `0`
    pub zero: bool,
    /// `,`
    pub group: bool,
    /// `(`
    pub parentheses: bool,
}

impl Format {
    /// Reads a format string; `None` if it is invalid.
    pub fn parse(format: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut rest = format;
        while let Some((text, behind)) = rest.split_once('%') {
            if !text.is_empty() {
                pieces.push(Piece::Text(text.into()));
            }
            let mut scanner = Scanner { rest: behind };
            let spec = scanner.spec()?;
            spec.check()?;
            pieces.push(Piece::Spec(spec));
            rest = scanner.rest;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.into()));
        }
        Some(Self { pieces })
    }

    /// The greatest number of characters that a specifier asks for.
    pub fn width(&self) -> usize {
        let width = |piece: &Piece| match piece {
            Piece::Text(_) => 0,
            Piece::Spec(spec) => spec.width.max(spec.precision).unwrap_or(0),
        };
        self.pieces.iter().map(width).max().unwrap_or(0)
    }
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn spec(&mut self) -> Option<Spec> {
        let mut index = Index::Next;
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && self.rest[digits..].starts_with('$') {
            let place: usize = self.number(digits)?;
            index = Index::At(place.checked_sub(1)?);
            self.rest = &self.rest[1..];
        }
        let (flags, last) = self.flags()?;
        if last {
            index = Index::Last;
        }
        let width = self.digits()?;
        let mut precision = None;
        if let Some(behind) = self.rest.strip_prefix('.') {
            self.rest = behind;
            precision = Some(self.digits()??);
        }
        let letter = self.letter()?;
        let upper = letter.is_ascii_uppercase();
        let conversion = match letter {
            'b' | 'B' => Conversion::Boolean,
            'h' | 'H' => Conversion::Hash,
            's' | 'S' => Conversion::Text,
            'c' | 'C' => Conversion::Character,
            'd' => Conversion::Decimal,
            'o' => Conversion::Octal,
            'x' | 'X' => Conversion::Hex,
            'e' | 'E' => Conversion::Scientific,
            'g' | 'G' => Conversion::General,
            'f' => Conversion::Fixed,
            'a' | 'A' => Conversion::HexFloat,
            'n' => Conversion::Line,
            '%' => Conversion::Percent,
            't' | 'T' => Conversion::Time(self.letter()?),
            _ => return None,
        };
        Some(Spec { index, flags, width, precision, conversion, upper })
    }

    /// Flags, each at most once, and whether `<` is among them.
    fn flags(&mut self) -> Option<(Flags, bool)> {
        let (mut flags, mut last) = (Flags::default(), false);
        loop {
            let flag = match self.rest.bytes().next() {
                Some(b'-') => &mut flags.left,
                Some(b'#') => &mut flags.alternate,
                Some(b'+') => &mut flags.plus,
                Some(b' ') => &mut flags.space,
                Some(b'0') => &mut flags.zero,
                Some(b',') => &mut flags.group,
                Some(b'(') => &mut flags.parentheses,
                Some(b'<') => &mut last,
                _ => return Some((flags, last)),
            };
            if std::mem::replace(flag, true) {
                return None;
            }
            self.rest = &self.rest[1..];
        }
    }

    /// A number, if there is one; `None` if it is too big for Java.
    fn digits(&mut self) -> Option<Option<usize>> {
        match self.rest.bytes().take_while(u8::is_ascii_digit).count() {
            0 => Some(None),
            digits => self.number(digits).map(Some),
        }
    }

    fn number(&mut self, digits: usize) -> Option<usize> {
        let number: i32 = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        usize::try_from(number).ok()
    }

    fn letter(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }
}

impl Spec {
    /// Whether flags, width and precision fit the conversion; `None` if not.
    fn check(&self) -> Option<()> {
        let flags = &self.flags;
        let numeric = flags.plus || flags.space || flags.zero || flags.group || flags.parentheses;
        let has_width = self.width.is_some();
        let fits = match self.conversion {
            Conversion::Text | Conversion::Boolean | Conversion::Hash => {
                !flags.alternate && !numeric && (has_width || !flags.left)
            }
            Conversion::Character | Conversion::Time(_) => {
                let known = match self.conversion {
                    Conversion::Time(letter) => super::time::is_known(letter),
                    _ => true,
                };
                known
                    && self.precision.is_none()
                    && !flags.alternate
                    && !numeric
                    && (has_width || !flags.left)
            }
            Conversion::Decimal => self.is_number() && self.precision.is_none() && !flags.alternate,
            Conversion::Octal | Conversion::Hex => {
                self.is_number() && self.precision.is_none() && !flags.group
            }
            Conversion::Fixed => self.is_number(),
            Conversion::Scientific => self.is_number() && !flags.group,
            Conversion::General => self.is_number() && !flags.alternate,
            Conversion::HexFloat => self.is_number() && !flags.group && !flags.parentheses,
            Conversion::Percent => {
                self.precision.is_none()
                    && !numeric
                    && !flags.alternate
                    && (has_width || !flags.left)
            }
            Conversion::Line => {
                self.precision.is_none() && !has_width && *flags == Flags::default()
            }
        };
        fits.then_some(())
    }

    /// The rules all numbers share.
    fn is_number(&self) -> bool {
        let flags = &self.flags;
        let lacks_width = (flags.left || flags.zero) && self.width.is_none();
        let contradicts = (flags.plus && flags.space) || (flags.left && flags.zero);
        !lacks_width && !contradicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_order() {
        let Some(Format { pieces }) = Format::parse("a%2$-,10.3fb") else { panic!("valid") };
        let [Piece::Text(before), Piece::Spec(spec), Piece::Text(behind)] = pieces.as_slice()
        else {
            panic!("three pieces")
        };
        assert_eq!((before.as_str(), behind.as_str()), ("a", "b"));
        assert_eq!(spec.index, Index::At(1));
        assert_eq!((spec.width, spec.precision), (Some(10), Some(3)));
        assert!(spec.flags.left && spec.flags.group && !spec.flags.zero);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for format in [
            "%",
            "%q",
            "%ß",
            "%-d",
            "%0d",
            "%-05d",
            "%+ d",
            "%#d",
            "%.2d",
            "%08,d",
            "%,x",
            "%,e",
            "%#g",
            "%5n",
            "%#s",
            "%+s",
            "%05s",
            "%.1c",
            "%#c",
            "%--5d",
            "%  d",
            "%0$s",
            "%1$",
            "%$s",
            "%.s",
            "%.-1s",
            "%D",
            "%F",
            "%1$1$s",
            "%<1$d",
            "%99999999999d",
            "%t ",
            "%T",
            "%tX",
            "%.3tY",
            "%#h",
        ] {
            assert_eq!(Format::parse(format), None, "{format}");
        }
        for format in ["%5%|", "%-5%|", "%,08d", "%#x", "%<s", "%1s$", "%(05d", "%tY", "%.0s"] {
            assert!(Format::parse(format).is_some(), "{format}");
        }
    }
}
