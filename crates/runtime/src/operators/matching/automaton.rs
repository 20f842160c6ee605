//! A row pattern as an automaton.
//!
//! States and their order of transitions are those of Flink's, so that matches of one beginning come
//! out in its order. A greedy variable forbids the state behind it every row that it takes itself,
//! whether it has taken one yet or not; that is why `A+ B` finds nothing where each B is an A, too.

use flott_plan::matching::{MatchQuantifier, PatternVariable};

/// The state in which a match is complete.
pub(super) const FINAL: u16 = 0;

/// The states of a pattern.
pub(super) struct Automaton {
    states: Vec<Vec<Transition>>,
    start: u16,
}

/// A way out of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transition {
    /// Where it leads.
    pub target: u16,
    /// The variable that takes the row; `None` passes on to the target with the same row.
    pub takes: Option<u16>,
    /// What must hold of the row, in this order.
    pub tests: Vec<Test>,
}

/// That a variable's condition holds of a row, or that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    pub variable: u16,
    pub holds: bool,
}

impl Automaton {
    /// The automaton of variables that follow each other.
    pub fn new(variables: &[PatternVariable]) -> Self {
        let mut automaton = Self { states: vec![Vec::new()], start: FINAL };
        // From the end: each state leads to one that is there already.
        for (i, variable) in variables.iter().enumerate().rev() {
            automaton.start = automaton.variable(i as u16, variable.quantifier, automaton.start);
        }
        automaton
    }

    /// Where matches begin. No transition leads back to it.
    pub fn start(&self) -> u16 {
        self.start
    }

    /// Whether there is such a state.
    pub fn has_state(&self, state: u16) -> bool {
        usize::from(state) < self.states.len()
    }

    /// The ways out of a state.
    pub fn transitions(&self, state: u16) -> &[Transition] {
        &self.states[state as usize]
    }

    /// The states of a variable before `next`; gives the first of them.
    fn variable(&mut self, variable: u16, quantifier: MatchQuantifier, next: u16) -> u16 {
        let MatchQuantifier { from, to, optional, greedy } = quantifier;
        let mut behind = next;
        match to {
            None => behind = self.looping(variable, next, greedy),
            Some(to) => {
                if greedy && from != to {
                    self.forbid(next, variable);
                }
                for _ in from..to {
                    behind = self.single(variable, behind, Some(next));
                }
            }
        }
        for _ in 1..from {
            behind = self.single(variable, behind, None);
        }
        self.single(variable, behind, optional.then_some(next))
    }

    /// A state that takes one row, or may be passed by.
    fn single(&mut self, variable: u16, target: u16, pass: Option<u16>) -> u16 {
        let mut transitions = vec![take(variable, target)];
        transitions.extend(pass.map(proceed));
        self.push(transitions)
    }

    /// A state that takes any number of rows.
    fn looping(&mut self, variable: u16, next: u16, greedy: bool) -> u16 {
        if greedy {
            self.forbid(next, variable);
        }
        let own = self.states.len() as u16;
        self.push(vec![proceed(next), take(variable, own)])
    }

    /// Keeps rows that a variable takes away from a state.
    fn forbid(&mut self, state: u16, variable: u16) {
        for transition in &mut self.states[state as usize] {
            transition.tests.push(Test { variable, holds: false });
        }
    }

    fn push(&mut self, transitions: Vec<Transition>) -> u16 {
        self.states.push(transitions);
        self.states.len() as u16 - 1
    }
}

fn take(variable: u16, target: u16) -> Transition {
    Transition { target, takes: Some(variable), tests: vec![Test { variable, holds: true }] }
}

fn proceed(target: u16) -> Transition {
    Transition { target, takes: None, tests: Vec::new() }
}
