//! PATTERN: variables and quantifiers, with Flink's restrictions.

use flott_sql::ast::{Pattern, PatternKind, PatternQuantifier, Span};

use crate::matching::MatchQuantifier;
use crate::{PlanError, Result};

/// A variable as PATTERN names it.
pub(super) struct Element {
    pub name: String,
    pub quantifier: MatchQuantifier,
    pub span: Span,
}

impl Element {
    /// How many rows the variable has at least.
    pub fn least(&self) -> u32 {
        if self.quantifier.optional { 0 } else { self.quantifier.from }
    }
}

/// The variables of a pattern in order.
pub(super) fn elements(pattern: &Pattern) -> Result<Vec<Element>> {
    let mut elements = Vec::new();
    flatten(pattern, &mut elements)?;
    check(&elements, pattern.span)?;
    Ok(elements)
}

fn flatten(pattern: &Pattern, elements: &mut Vec<Element>) -> Result<()> {
    match &pattern.kind {
        PatternKind::Variable(name) => push(elements, &name.value, None, pattern.span),
        PatternKind::Concatenation(parts) => {
            parts.iter().try_for_each(|part| flatten(part, elements))
        }
        PatternKind::Group(inner) => flatten(inner, elements),
        PatternKind::Quantified(inner, quantifier) => match variable(inner) {
            Some(name) => push(elements, name, Some(quantifier), pattern.span),
            None => Err(PlanError::new(format!(
                "Expression not supported: ({inner}) Group patterns are not supported yet."
            ))
            .at(pattern.span)
            .hint("a quantifier stands behind a single variable")),
        },
        PatternKind::Alternation(_) => Err(PlanError::new(format!(
            "Expression not supported: {pattern}. Currently, CEP doesn't support branching patterns."
        ))
        .at(pattern.span)
        .hint("define one variable by A_condition OR B_condition, or write a query for each branch")),
        PatternKind::Permute(_) => Err(PlanError::new(format!(
            "Expression not supported: {pattern}. Currently, CEP doesn't support PERMUTE patterns."
        ))
        .at(pattern.span)
        .hint("write a query for each order")),
        PatternKind::Exclusion(_) => Err(PlanError::new(format!(
            "Expression not supported: {pattern}. Currently, CEP doesn't support '{{-' '-}}' patterns."
        ))
        .at(pattern.span)
        .hint("write the variable without braces and leave it out of MEASURES")),
    }
}

/// The name of a pattern that is a single variable, in parentheses or not.
fn variable(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Variable(name) => Some(&name.value),
        PatternKind::Group(inner) => variable(inner),
        _ => None,
    }
}

fn push(
    elements: &mut Vec<Element>,
    name: &str,
    written: Option<&PatternQuantifier>,
    span: Span,
) -> Result<()> {
    if elements.iter().any(|element| element.name == name) {
        return Err(PlanError::new(
            "Pattern variables must be unique. That might change in the future.",
        )
        .at(span)
        .hint(format!("give the second {name} a name and a DEFINE of its own")));
    }
    let quantifier = match written {
        None => MatchQuantifier::ONE,
        Some(written) => quantifier(written).map_err(|error| error.at(written.span))?,
    };
    let after_greedy = elements.last().is_some_and(|previous| previous.quantifier.greedy);
    // A range from 0 slips through in Flink, as nothing asks for what precedes it.
    let optional_by_sign = quantifier.optional && matches!(quantifier.to, None | Some(1));
    if after_greedy && optional_by_sign {
        return Err(PlanError::new("Optional pattern cannot be preceded by greedy pattern")
            .at(span)
            .hint("make the quantifier before it reluctant: A+? B*"));
    }
    elements.push(Element { name: name.to_string(), quantifier, span });
    Ok(())
}

fn quantifier(written: &PatternQuantifier) -> Result<MatchQuantifier> {
    let Some(min) = written.min else {
        return Err(PlanError::new("The from should be a positive number greater than 0.")
            .hint("write the lower bound: {0,3}"));
    };
    let is_optional = (min, written.max) == (0, Some(1));
    if is_optional && written.reluctant {
        return Err(PlanError::new("Reluctant optional variables are not supported yet.")
            .hint("write ? without a second one"));
    }
    let from = min.max(1);
    if let Some(max) = written.max
        && max < from
    {
        return Err(PlanError::new(format!(
            "The to should be a number greater than or equal to from: {from}."
        )));
    }
    Ok(MatchQuantifier {
        from,
        to: written.max,
        optional: min == 0,
        greedy: !written.reluctant && !is_optional && written.max != Some(min),
    })
}

fn check(elements: &[Element], span: Span) -> Result<()> {
    if elements.iter().all(|element| element.quantifier.optional) {
        return Err(PlanError::new(
            "Patterns that can produce empty matches are not supported. There must be at least one \
             non-optional state.",
        )
        .at(span)
        .hint("make one variable take a row at least: A+ in place of A*"));
    }
    match elements.last() {
        Some(last) if last.quantifier.greedy => Err(PlanError::new(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your \
             pattern with either a simple variable or reluctant quantifier.",
        )
        .at(last.span)
        .hint("add a variable that ends the match, or write the quantifier with a ? behind it")),
        _ => Ok(()),
    }
}
