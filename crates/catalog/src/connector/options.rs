//! Options as data: one definition gives parsing, validation, error text and the reference page.

use std::time::Duration;

use indexmap::IndexMap;

use super::ConnectorError;

/// One option of a connector, a format or the session.
#[derive(Debug, Clone, Copy)]
pub struct OptionDef {
    /// The key, Flink's where Flink has one. A `#` stands for any name between dots
    /// (`fields.#.kind`), a trailing `.*` for any rest (`properties.*`).
    pub key: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// The value when absent, as one would write it.
    pub default: Option<&'static str>,
    /// Whether a table without it is refused.
    pub required: bool,
    /// One line for the reference page.
    pub help: &'static str,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Double,
    /// `10 s`, `5min`; a bare number is milliseconds.
    Duration,
    /// `64 kb`, `1 gb`; a bare number is bytes.
    MemorySize,
    /// One of these words, in any case.
    Enum(&'static [&'static str]),
}

impl std::fmt::Display for OptionKind {
    /// The name of the type as Flink's reference has it; of words, all of them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text => f.write_str("String"),
            Self::Bool => f.write_str("Boolean"),
            Self::Int => f.write_str("Integer"),
            Self::Double => f.write_str("Double"),
            Self::Duration => f.write_str("Duration"),
            Self::MemorySize => f.write_str("MemorySize"),
            Self::Enum(words) => f.write_str(&words.join(" | ")),
        }
    }
}

impl OptionDef {
    /// An optional option without a default.
    pub const fn new(key: &'static str, kind: OptionKind, help: &'static str) -> Self {
        Self { key, kind, default: None, required: false, help }
    }

    /// The same option with a default.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// The same option, required.
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Whether `key` is this option's, wildcards considered.
    pub fn matches(&self, key: &str) -> bool {
        match (self.key.strip_suffix(".*"), self.key.split_once('#')) {
            (Some(prefix), _) => {
                key.strip_prefix(prefix).is_some_and(|rest| rest.len() > 1 && rest.starts_with('.'))
            }
            (None, Some((head, tail))) => {
                key.len() > head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail)
            }
            (None, None) => self.key == key,
        }
    }

    /// Checks that `text` is a value of the option.
    pub fn check(&self, key: &str, text: &str) -> Result<(), ConnectorError> {
        let fail = |wanted: String| {
            Err(ConnectorError::new(format!("invalid value '{text}' for option '{key}'"))
                .hint(format!("'{key}' takes {wanted}")))
        };
        match self.kind {
            OptionKind::Text => Ok(()),
            OptionKind::Bool => match parse_bool(text) {
                Some(_) => Ok(()),
                None => fail("true or false".into()),
            },
            OptionKind::Int => match text.trim().parse::<i64>() {
                Ok(_) => Ok(()),
                Err(_) => fail("a whole number".into()),
            },
            OptionKind::Double => match text.trim().parse::<f64>() {
                Ok(_) => Ok(()),
                Err(_) => fail("a number".into()),
            },
            OptionKind::Duration => match parse_duration(text) {
                Some(_) => Ok(()),
                None => fail("a duration such as '500 ms', '10 s', '5 min' or '1 h'".into()),
            },
            OptionKind::MemorySize => match parse_memory_size(text) {
                Some(_) => Ok(()),
                None => fail("a size such as '64 kb', '128 mb' or '1 gb'".into()),
            },
            OptionKind::Enum(words) => {
                if words.iter().any(|word| word.eq_ignore_ascii_case(text.trim())) {
                    Ok(())
                } else {
                    fail(format!("one of {}", words.join(", ")))
                }
            }
        }
    }
}

/// The options of a table or a format in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(IndexMap<String, String>);

impl Options {
    /// Options from pairs; the last of two equal keys wins.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// The value as written.
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Sets a value; a key that is there keeps its place.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// Removes a key; false when it was not there.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.shift_remove(key).is_some()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The options whose key starts with `prefix`, without it: a format's own options.
    pub fn with_prefix_removed(&self, prefix: &str) -> Options {
        Self(
            self.0
                .iter()
                .filter_map(|(k, v)| Some((k.strip_prefix(prefix)?.to_string(), v.clone())))
                .collect(),
        )
    }

    /// The text of an option, or its default.
    pub fn text<'a>(&'a self, def: &'a OptionDef) -> Option<&'a str> {
        self.raw(def.key).or(def.default)
    }

    /// A BOOLEAN option; an absent one without default is false.
    pub fn bool(&self, def: &OptionDef) -> Result<bool, ConnectorError> {
        self.parsed(def, parse_bool).map(|value| value.unwrap_or(false))
    }

    /// A whole number, or the default.
    pub fn int(&self, def: &OptionDef) -> Result<Option<i64>, ConnectorError> {
        self.parsed(def, |text| text.trim().parse().ok())
    }

    /// A number, or the default.
    pub fn double(&self, def: &OptionDef) -> Result<Option<f64>, ConnectorError> {
        self.parsed(def, |text| text.trim().parse().ok())
    }

    /// A duration, or the default.
    pub fn duration(&self, def: &OptionDef) -> Result<Option<Duration>, ConnectorError> {
        self.parsed(def, parse_duration)
    }

    /// A size in bytes, or the default.
    pub fn memory_size(&self, def: &OptionDef) -> Result<Option<u64>, ConnectorError> {
        self.parsed(def, parse_memory_size)
    }

    fn parsed<T>(
        &self,
        def: &OptionDef,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConnectorError> {
        let Some(text) = self.text(def) else { return Ok(None) };
        def.check(def.key, text)?;
        Ok(parse(text))
    }

    /// Checks all options against the definitions: unknown keys (naming the nearest known one),
    /// missing required ones, and values of the wrong kind. `owner` names what they belong to.
    pub fn validate(&self, owner: &str, known: &[OptionDef]) -> Result<(), ConnectorError> {
        for (key, value) in &self.0 {
            match known.iter().find(|def| def.matches(key)) {
                Some(def) => def.check(key, value)?,
                None => return Err(unsupported(owner, key, known)),
            }
        }
        match known.iter().find(|def| def.required && !self.0.contains_key(def.key)) {
            Some(def) => Err(ConnectorError::new(format!(
                "{owner} needs the option '{}', which is missing",
                def.key
            ))
            .hint(format!("add '{}' = '…' to the WITH clause: {}", def.key, def.help))),
            None => Ok(()),
        }
    }
}

fn unsupported(owner: &str, key: &str, known: &[OptionDef]) -> ConnectorError {
    let error = ConnectorError::new(format!("unsupported option '{key}' for {owner}"));
    let nearest = known
        .iter()
        .map(|def| (edit_distance(key, def.key), def.key))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(2))
        .min();
    match nearest {
        Some((_, name)) => error.hint(format!("did you mean '{name}'?")),
        None => {
            let keys: Vec<_> = known.iter().map(|def| def.key).collect();
            error.hint(format!("supported options: {}", keys.join(", ")))
        }
    }
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.trim() {
        t if t.eq_ignore_ascii_case("true") => Some(true),
        t if t.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads a duration as Flink writes them: `10 s`, `1min`, `500` (milliseconds); units ns, us, ms,
/// s, min, h, d and their long names.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    let nanos: u64 = match unit.as_str() {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1,
        "us" | "µs" | "micro" | "micros" | "microsecond" | "microseconds" => 1_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "m" | "min" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hour" | "hours" => 3_600_000_000_000,
        "d" | "day" | "days" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(nanos).map(Duration::from_nanos)
}

/// Reads a size as Flink writes them: `64 kb`, `1gb`, `512` (bytes).
pub fn parse_memory_size(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text)?;
    let bytes: u64 = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "kb" | "kibibytes" => 1 << 10,
        "m" | "mb" | "mebibytes" => 1 << 20,
        "g" | "gb" | "gibibytes" => 1 << 30,
        "t" | "tb" | "tebibytes" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(bytes)
}

fn split_unit(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim().to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[OptionDef] = &[
        OptionDef::new("path", OptionKind::Text, "where").required(),
        OptionDef::new("rows", OptionKind::Int, "how many").default("10"),
        OptionDef::new("fields.#.kind", OptionKind::Enum(&["random", "sequence"]), "how"),
        OptionDef::new("properties.*", OptionKind::Text, "passed on"),
    ];

    fn options(pairs: &[(&str, &str)]) -> Options {
        Options::new(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())))
    }

    #[test]
    fn validation_names_the_culprit_and_the_cure() {
        let check = |pairs| options(pairs).validate("connector 'x'", KNOWN);
        assert!(
            check(&[("path", "a"), ("fields.id.kind", "SEQUENCE"), ("properties.a.b", "")]).is_ok()
        );
        let error = check(&[("pth", "a")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unsupported option 'pth' for connector 'x'\nhint: did you mean 'path'?"
        );
        assert!(check(&[]).unwrap_err().message.contains("'path'"));
        assert!(check(&[("path", "a"), ("rows", "many")]).is_err());
        assert!(check(&[("path", "a"), ("fields.id.kind", "odd")]).is_err());
    }

    #[test]
    fn durations_and_sizes_read_as_in_flink() {
        assert_eq!(parse_duration("500"), Some(Duration::from_millis(500)));
        assert_eq!(parse_duration("10 s"), Some(Duration::from_secs(10)));
        assert_eq!(parse_duration("1min"), Some(Duration::from_secs(60)));
        assert_eq!(parse_duration("soon"), None);
        assert_eq!(parse_memory_size("64 kb"), Some(65536));
        assert_eq!(parse_memory_size("3 apples"), None);
    }
}
