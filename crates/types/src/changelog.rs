//! Row kinds and the sets of them that an edge of a plan may carry.

use std::fmt;

/// What a row of a changelog does to the table it describes, Flink's `RowKind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert = 0,
    /// `-U`: the old version of a row that changes.
    UpdateBefore = 1,
    /// `+U`: the new version of a row that changes.
    UpdateAfter = 2,
    /// `-D`: a row that goes.
    Delete = 3,
}

impl RowKind {
    /// All kinds, by their number.
    pub const ALL: [RowKind; 4] =
        [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];

    /// The kind with this number, from the lowest two bits.
    pub fn from_u8(number: u8) -> Self {
        Self::ALL[(number & 3) as usize]
    }

    /// `+I` and `+U`: the row is there afterwards.
    pub fn adds(self) -> bool {
        matches!(self, Self::Insert | Self::UpdateAfter)
    }

    /// The text Flink prints: `+I`, `-U`, `+U`, `-D`.
    pub fn short(self) -> &'static str {
        ["+I", "-U", "+U", "-D"][self as usize]
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

/// A set of row kinds: what an edge carries, a source gives or a sink takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangelogMode(u8);

impl ChangelogMode {
    /// Only `+I`.
    pub const INSERT_ONLY: Self = Self(1);
    /// All four kinds.
    pub const ALL: Self = Self(0b1111);
    /// `+I`, `+U` and `-D`: updates without their old version, found by a key.
    pub const UPSERT: Self = Self(0b1101);

    /// The set of the kinds given.
    pub fn of(kinds: &[RowKind]) -> Self {
        Self(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    /// Whether the set holds a kind.
    pub fn contains(self, kind: RowKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether only `+I` may occur.
    pub fn is_insert_only(self) -> bool {
        self == Self::INSERT_ONLY
    }

    /// Whether updates may occur, with or without their old version.
    pub fn has_updates(self) -> bool {
        self.contains(RowKind::UpdateAfter) || self.contains(RowKind::UpdateBefore)
    }

    /// The set with one kind more.
    pub fn with(self, kind: RowKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// The set without one kind.
    pub fn without(self, kind: RowKind) -> Self {
        Self(self.0 & !(1 << kind as u8))
    }

    /// The kinds of either set.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every kind of `self` is in `other`.
    pub fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The kinds in the set.
    pub fn kinds(self) -> impl Iterator<Item = RowKind> {
        RowKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl fmt::Display for ChangelogMode {
    /// As `EXPLAIN CHANGELOG_MODE` prints it: `[I,UB,UA,D]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, kind) in self.kinds().enumerate() {
            let name = ["I", "UB", "UA", "D"][kind as usize];
            write!(f, "{}{name}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}
