//! The matches of one key: what has begun, what is complete, what waits for its turn.

use std::collections::VecDeque;

use arrow::array::ArrayRef;
use flott_functions::{EvalContext, RecordTimes, SessionSettings};
use flott_plan::matching::{Match, MatchEnd, MatchRows, MatchSkip};
use flott_types::DataType;

use super::automaton::{Automaton, FINAL};
use super::buffer::{Buffer, NO_NODE};
use super::conditions::{Conditions, Question};
use super::queue::{NOT_BEGUN, Partial, PartialQueue};
use super::running::{Running, condition_calls};
use super::skip_error::SkipError;
use crate::{Result, RuntimeError};

/// The state of one key.
#[derive(Debug, Default)]
pub(super) struct KeyMatches {
    /// Matches that have begun, and the place where the next one may.
    pub partials: PartialQueue,
    /// Matches that are complete but may yet be skipped for one that began earlier.
    pub complete: PartialQueue,
    /// Rows whose time has not come, by time.
    pub pending: VecDeque<(i64, u32)>,
    /// The number of the next row.
    pub next_number: u64,
    /// Timers that will call for this key.
    pub timers: u32,
    /// Whether a match has begun since the key was called last.
    pub begun: bool,
}

/// A match to be given out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Its last node, held until it is given out.
    pub node: u32,
    /// The time with which it is given out.
    pub time: i64,
}

/// A pattern at work.
pub(super) struct Matcher {
    automaton: Automaton,
    conditions: Conditions,
    pub buffer: Buffer,
    pub running: Running,
    names: Vec<String>,
    skip: MatchSkip,
    /// The most milliseconds of a match; 0 or less: any.
    within: i64,
    scratch: Scratch,
}

/// Space that is used again for every row.
#[derive(Default)]
struct Scratch {
    partials: PartialQueue,
    complete: PartialQueue,
    next: Vec<Partial>,
    states: Vec<u16>,
    takes: Vec<(u16, u16)>,
}

impl KeyMatches {
    /// The state of a key that has seen no row.
    pub fn new(start: u16) -> Self {
        let mut new = Self::default();
        new.partials.push(begin(start));
        new
    }

    /// Whether it is as if the key had seen no row.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
            && self.timers == 0
            && self.complete.is_empty()
            && self.partials.len() == 1
    }

    /// Puts a row that waits in its place: behind all of its time. Gives whether it is the first of
    /// its time.
    pub fn wait(&mut self, time: i64, event: u32) -> bool {
        let behind = self.pending.iter().rev().take_while(|(other, _)| *other > time).count();
        let at = self.pending.len() - behind;
        let is_first = at == 0 || self.pending[at - 1].0 != time;
        self.pending.insert(at, (time, event));
        is_first
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.partials.memory()
            + self.complete.memory()
            + self.pending.capacity() * size_of::<(i64, u32)>()
    }
}

/// The place where a match may begin.
pub(super) fn begin(state: u16) -> Partial {
    Partial { state, node: NO_NODE, start: NOT_BEGUN, start_time: i64::MIN }
}

impl Matcher {
    /// A matcher of rows of these types.
    pub fn new(pattern: &Match, types: &[DataType], settings: &SessionSettings) -> Result<Self> {
        let mut calls = condition_calls(pattern, settings)?;
        let conditions = Conditions::new(pattern, &mut calls, settings)?;
        Ok(Self {
            automaton: Automaton::new(&pattern.variables),
            conditions,
            buffer: Buffer::new(types),
            running: Running::new(calls)?,
            names: pattern.variables.iter().map(|variable| variable.name.to_string()).collect(),
            skip: pattern.skip,
            within: pattern.within.unwrap_or(0),
            scratch: Scratch::default(),
        })
    }

    /// What each row passes by itself, see [`Conditions::of_rows`].
    pub fn bits(&self, columns: &[ArrayRef], times: &RecordTimes) -> Vec<(u64, u64)> {
        self.conditions.of_rows(columns, times)
    }

    /// The state in which matches begin.
    pub fn start(&self) -> u16 {
        self.automaton.start()
    }

    /// The number of states.
    pub fn has_state(&self, state: u16) -> bool {
        self.automaton.has_state(state)
    }

    /// The most milliseconds of a match, if there is a bound.
    pub fn within(&self) -> Option<i64> {
        (self.within > 0).then_some(self.within)
    }

    /// The columns of a row, where a condition wants more than its bits.
    pub fn columns(&self, event: u32) -> Result<Vec<ArrayRef>> {
        if self.conditions.needs_columns() || !self.running.is_empty() {
            Ok(self.buffer.rows().gather(&[self.buffer.row_of(event)])?)
        } else {
            Ok(Vec::new())
        }
    }

    /// Takes a row whose turn has come, and gives it up.
    pub fn process(
        &mut self,
        key: &mut KeyMatches,
        event: u32,
        now: i128,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        self.buffer.event_mut(event).number = key.next_number;
        key.next_number += 1;
        let columns = self.columns(event)?;
        let question = Question { event, columns: &columns, now };
        let mut partials = std::mem::take(&mut self.scratch.partials);
        let mut complete = std::mem::take(&mut self.scratch.complete);
        let mut next = std::mem::take(&mut self.scratch.next);
        partials.clear();
        complete.clear();
        for index in 0..key.partials.len() {
            next.clear();
            let partial = key.partials.get(index);
            self.advance(partial, &question, &mut next)?;
            key.begun |= partial.start == NOT_BEGUN && next.len() > 1;
            for partial in &next {
                if partial.state == FINAL {
                    complete.push(*partial);
                } else {
                    partials.push(*partial);
                }
            }
        }
        complete.iter().for_each(|partial| key.complete.push(*partial));
        key.partials.copy_from(&partials);
        self.scratch.partials = partials;
        self.scratch.complete = complete;
        self.scratch.next = next;
        let time = self.buffer.event(event).time;
        self.give_out(key, time, found)?;
        self.buffer.release_event(event);
        Ok(())
    }

    /// Lets go of matches that began too long before `time`.
    pub fn advance_time(
        &mut self,
        key: &mut KeyMatches,
        time: i64,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        if self.within <= 0 {
            return Ok(());
        }
        let within = self.within;
        let is_over = |partial: &Partial| {
            partial.start != NOT_BEGUN
                && i128::from(time) - i128::from(partial.start_time) >= i128::from(within)
        };
        if !key.partials.first().is_some_and(|first| is_over(&first)) {
            return Ok(());
        }
        let mut partials = std::mem::take(&mut self.scratch.partials);
        partials.clear();
        for index in 0..key.partials.len() {
            let partial = key.partials.get(index);
            if is_over(&partial) {
                self.release(partial.node);
            } else {
                partials.push(partial);
            }
        }
        key.partials.copy_from(&partials);
        self.scratch.partials = partials;
        self.give_out(key, time, found)
    }

    /// Where a beginning goes with a row: none, one or several ways. The beginning is given up.
    fn advance(
        &mut self,
        partial: Partial,
        question: &Question,
        next: &mut Vec<Partial>,
    ) -> Result<()> {
        let node = (partial.node != NO_NODE).then_some(partial.node);
        let mut states = std::mem::take(&mut self.scratch.states);
        let mut takes = std::mem::take(&mut self.scratch.takes);
        states.clear();
        takes.clear();
        states.push(partial.state);
        while let Some(state) = states.pop() {
            for index in 0..self.automaton.transitions(state).len() {
                if !self.may_go(state, index, node, question)? {
                    continue;
                }
                let transition = &self.automaton.transitions(state)[index];
                match transition.takes {
                    Some(variable) => takes.push((transition.target, variable)),
                    None => states.push(transition.target),
                }
            }
        }
        for (target, variable) in &takes {
            let taken = self.take(partial.node, *variable, question)?;
            let (start, start_time) = match partial.start {
                NOT_BEGUN => {
                    let event = self.buffer.event(question.event);
                    (event.number, event.time)
                }
                start => (start, partial.start_time),
            };
            next.push(Partial { state: *target, node: taken, start, start_time });
            if *target != FINAL && self.may_end(*target, node, question, &mut states)? {
                self.buffer.retain_node(taken);
                next.push(Partial { state: FINAL, node: taken, start, start_time });
            }
        }
        if partial.start == NOT_BEGUN {
            next.push(partial);
        }
        self.scratch.states = states;
        self.scratch.takes = takes;
        self.running.next_question();
        self.release(partial.node);
        Ok(())
    }

    fn may_go(
        &mut self,
        state: u16,
        transition: usize,
        node: Option<u32>,
        question: &Question,
    ) -> Result<bool> {
        for test in &self.automaton.transitions(state)[transition].tests {
            let holds = self.conditions.holds(
                test.variable,
                node,
                question,
                &self.buffer,
                &mut self.running,
            )?;
            if holds != test.holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the match may end in a state, without another row.
    fn may_end(
        &mut self,
        state: u16,
        node: Option<u32>,
        question: &Question,
        states: &mut Vec<u16>,
    ) -> Result<bool> {
        states.clear();
        states.push(state);
        while let Some(state) = states.pop() {
            for index in 0..self.automaton.transitions(state).len() {
                if self.automaton.transitions(state)[index].takes.is_some()
                    || !self.may_go(state, index, node, question)?
                {
                    continue;
                }
                match self.automaton.transitions(state)[index].target {
                    FINAL => return Ok(true),
                    target => states.push(target),
                }
            }
        }
        Ok(false)
    }

    fn take(&mut self, parent: u32, variable: u16, question: &Question) -> Result<u32> {
        let node = self.buffer.add_node(parent, question.event, variable);
        if !self.running.is_empty() {
            let parent = (parent != NO_NODE).then_some(parent);
            let context = EvalContext::new(1, question.now);
            self.running.take(node, parent, variable, question.columns, &context)?;
        }
        Ok(node)
    }

    /// Gives out the complete matches that no earlier beginning can take the place of.
    fn give_out(&mut self, key: &mut KeyMatches, time: i64, found: &mut Vec<Found>) -> Result<()> {
        while let Some(earliest) = key.complete.first() {
            if key.partials.first().is_some_and(|first| first.start < earliest.start) {
                break;
            }
            key.complete.pop();
            let bound = self.skip_bound(&earliest)?;
            let Self { buffer, running, .. } = self;
            let mut skipped = |partial: &Partial| {
                let skip = partial.start != NOT_BEGUN && partial.start < bound;
                if skip {
                    buffer.release_node(partial.node, |node| free(running, node));
                }
                skip
            };
            key.partials.remove_if(&mut skipped);
            key.complete.remove_if(&mut skipped);
            found.push(Found { node: earliest.node, time });
        }
        Ok(())
    }

    /// After a match, beginnings before this row's number are skipped.
    fn skip_bound(&self, found: &Partial) -> Result<u64> {
        let number = |node: u32| self.buffer.event(self.buffer.node(node).event).number;
        let (variable, end) = match self.skip {
            MatchSkip::ToNextRow => return Ok(found.start + 1),
            MatchSkip::PastLastRow => return Ok(number(found.node) + 1),
            MatchSkip::ToFirst(variable) => (variable, MatchEnd::First),
            MatchSkip::ToLast(variable) => (variable, MatchEnd::Last),
        };
        let node = self.buffer.find(found.node, MatchRows::Variable(variable), end, 0);
        let name = || self.names[variable].clone();
        match node.map(number) {
            None => Err(RuntimeError::operator(SkipError::NoRow { variable: name() })),
            Some(row) if row == found.start => {
                Err(RuntimeError::operator(SkipError::FirstRow { variable: name() }))
            }
            Some(row) => Ok(row),
        }
    }

    /// Gives a node up.
    pub fn release(&mut self, node: u32) {
        let Self { buffer, running, .. } = self;
        buffer.release_node(node, |node| free(running, node));
    }

    /// Rebuilds what restored nodes do not carry; parents come before their children.
    pub fn restore_node(
        &mut self,
        parent: u32,
        event: u32,
        variable: u16,
        now: i128,
    ) -> Result<u32> {
        let columns = self.columns(event)?;
        let node = self.take(parent, variable, &Question { event, columns: &columns, now })?;
        self.running.next_question();
        Ok(node)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.buffer.memory() + self.running.memory()
    }
}

fn free(running: &mut Running, node: u32) {
    if !running.is_empty() {
        running.release(node);
    }
}
