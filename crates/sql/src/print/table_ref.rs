//! What stands in FROM.

use super::query::Columns;
use super::{Maybe, comma, flag};
use crate::ast::{Join, JoinCondition, JoinKind, TableAlias, TableRef, TableRefKind};
use std::fmt::{self, Display, Formatter};

impl Display for TableRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let lateral = |lateral| flag(lateral, "LATERAL ");
        match &self.kind {
            TableRefKind::Table { name, hints } => {
                name.fmt(f)?;
                if !hints.is_empty() {
                    write!(f, "\n/*+ {} */", comma(hints))?;
                }
            }
            TableRefKind::Subquery { lateral: is_lateral, query } => {
                write!(f, "{}({query})", lateral(*is_lateral))?;
            }
            TableRefKind::Function { lateral: is_lateral, call } => {
                write!(f, "{}TABLE({call})", lateral(*is_lateral))?;
            }
            TableRefKind::Unnest { collections, with_ordinality } => {
                let ordinality = flag(*with_ordinality, " WITH ORDINALITY");
                write!(f, "UNNEST({}){ordinality}", comma(collections))?;
            }
            TableRefKind::Join(join) => join.fmt(f)?,
            TableRefKind::Snapshot { input, period } => {
                write!(f, "{input} FOR SYSTEM_TIME AS OF {period}")?;
            }
            TableRefKind::Sample { input, is_bernoulli, percentage, seed } => {
                let method = if *is_bernoulli { "BERNOULLI" } else { "SYSTEM" };
                write!(f, "{input} TABLESAMPLE {method}({})", percentage.value)?;
                let seed = seed.as_ref().map(|seed| &seed.value);
                Maybe(" REPEATABLE(", seed, ")").fmt(f)?;
            }
            TableRefKind::MatchRecognize { input, clause } => write!(f, "{input} {clause}")?,
        }
        Maybe(" AS ", self.alias.as_ref(), "").fmt(f)
    }
}

impl Display for TableAlias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, Columns(&self.columns))
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.left.fmt(f)?;
        let natural = flag(self.natural, "NATURAL ");
        let kind = match self.kind {
            JoinKind::Inner => "INNER JOIN ",
            JoinKind::Left => "LEFT JOIN ",
            JoinKind::Right => "RIGHT JOIN ",
            JoinKind::Full => "FULL JOIN ",
            JoinKind::Cross => "CROSS JOIN ",
            JoinKind::Comma => "",
        };
        let comma_before = flag(self.kind == JoinKind::Comma, ",");
        write!(f, "{comma_before}\n{natural}{kind}")?;
        match self.right.kind {
            TableRefKind::Join(_) => write!(f, "({})", self.right)?,
            _ => self.right.fmt(f)?,
        }
        match &self.condition {
            Some(JoinCondition::On(condition)) => write!(f, " ON {condition}"),
            Some(JoinCondition::Using(columns)) => write!(f, " USING ({})", comma(columns)),
            None => Ok(()),
        }
    }
}
