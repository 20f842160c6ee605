//! MATCH_RECOGNIZE.

use super::{Joined, comma};
use crate::ast::{
    AfterMatch, MatchRecognize, Measure, MeasureSemantics, Pattern, PatternDefinition, PatternKind,
    PatternQuantifier, PatternSubset, RowsPerMatch, SkipTo,
};
use std::fmt::{self, Display, Formatter};

impl Display for MatchRecognize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("MATCH_RECOGNIZE(")?;
        if !self.partition_by.is_empty() {
            write!(f, "\nPARTITION BY {}", comma(&self.partition_by))?;
        }
        if !self.order_by.is_empty() {
            write!(f, "\nORDER BY {}", comma(&self.order_by))?;
        }
        if !self.measures.is_empty() {
            write!(f, "\nMEASURES {}", comma(&self.measures))?;
        }
        match self.rows_per_match {
            Some(RowsPerMatch::One) => f.write_str("\nONE ROW PER MATCH")?,
            Some(RowsPerMatch::All) => f.write_str("\nALL ROWS PER MATCH")?,
            None => {}
        }
        if let Some(AfterMatch { skip, .. }) = &self.after_match {
            write!(f, "\nAFTER MATCH SKIP {skip}")?;
        }
        let start = if self.anchored_at_start { "^ " } else { "" };
        let end = if self.anchored_at_end { " $" } else { "" };
        write!(f, "\nPATTERN ({start}{}{end})", self.pattern)?;
        if let Some(within) = &self.within {
            write!(f, " WITHIN {within}")?;
        }
        if !self.subsets.is_empty() {
            write!(f, "\nSUBSET {}", comma(&self.subsets))?;
        }
        write!(f, "\nDEFINE {})", comma(&self.definitions))
    }
}

impl Display for Measure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let semantics = match self.semantics {
            Some(MeasureSemantics::Final) => "FINAL ",
            Some(MeasureSemantics::Running) => "RUNNING ",
            None => "",
        };
        write!(f, "{semantics}{} AS {}", self.expr, self.name)
    }
}

impl Display for SkipTo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NextRow => f.write_str("TO NEXT ROW"),
            Self::PastLastRow => f.write_str("PAST LAST ROW"),
            Self::First(variable) => write!(f, "TO FIRST {variable}"),
            Self::Last(variable) => write!(f, "TO LAST {variable}"),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PatternKind::Variable(name) => name.fmt(f),
            PatternKind::Concatenation(parts) => Joined(parts, " ").fmt(f),
            PatternKind::Alternation(branches) => Joined(branches, " | ").fmt(f),
            PatternKind::Group(pattern) => write!(f, "({pattern})"),
            PatternKind::Quantified(pattern, quantifier) => write!(f, "{pattern} {quantifier}"),
            PatternKind::Permute(parts) => write!(f, "PERMUTE ({})", comma(parts)),
            PatternKind::Exclusion(pattern) => write!(f, "{{- {pattern} -}}"),
        }
    }
}

impl Display for PatternQuantifier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (None | Some(0), None) => f.write_str("*")?,
            (Some(1), None) => f.write_str("+")?,
            (Some(0), Some(1)) => f.write_str("?")?,
            (Some(min), None) => write!(f, "{{ {min}, }}")?,
            (None, Some(max)) => write!(f, "{{ , {max} }}")?,
            (Some(min), Some(max)) if min == max => write!(f, "{{ {min} }}")?,
            (Some(min), Some(max)) => write!(f, "{{ {min}, {max} }}")?,
        }
        if self.reluctant { f.write_str(" ?") } else { Ok(()) }
    }
}

impl Display for PatternSubset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ({})", self.name, comma(&self.variables))
    }
}

impl Display for PatternDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} AS {}", self.name, self.condition)
    }
}
