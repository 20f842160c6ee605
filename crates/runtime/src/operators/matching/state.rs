//! The state of a pattern in snapshots.
//!
//! Of nodes only what cannot be computed again is written: the row, the variable, and the node before.

use std::collections::HashMap;

use flott_functions::RecordTimes;
use flott_state::{
    BitSet, KeySlots, StateDecoder, StateEncoder, StateError, StateReader, StateWriter, TimerQueue,
};

use super::MatchOperator;
use super::buffer::NO_NODE;
use super::matcher::{KeyMatches, Matcher};
use super::queue::{NOT_BEGUN, Partial, PartialQueue};
use crate::Result;
use crate::context::OperatorContext;
use crate::operators::movable::{self, Movable, Plain, ValueReader, ValueWriter};

/// The name and version of the state.
const SECTION: &str = "matches";
const VERSION: u16 = 1;

impl MatchOperator {
    fn state_schema(&self) -> String {
        let rows = self.matcher.buffer.rows().codec().schema();
        self.keys.schema(&format!("({rows}) {}", self.text))
    }

    pub(super) fn write_state(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        let (keys, kept) = self.parts();
        movable::snapshot(keys, &kept, section)?;
        self.keys.handed_over(state);
        Ok(())
    }

    pub(super) fn read_state(
        &mut self,
        state: &StateReader<'_>,
        ctx: &OperatorContext,
    ) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let (keys, mut kept) = self.parts();
        movable::restore(keys, &mut kept, entries, ctx.now(), ctx)
    }

    /// The keys, and what is kept under them.
    pub(super) fn parts(&mut self) -> (&mut KeySlots, KeptMatches<'_>) {
        let matches = KeptMatches {
            matches: &mut self.matches,
            matcher: &mut self.matcher,
            timers: &mut self.timers,
            queues: &mut self.queues,
        };
        (&mut self.keys, matches)
    }
}

/// What is kept under a key: matches that have begun, rows that wait, and timers.
pub(super) struct KeptMatches<'a> {
    matches: &'a mut Vec<KeyMatches>,
    matcher: &'a mut Matcher,
    timers: &'a mut TimerQueue<u32>,
    queues: &'a mut usize,
}

impl KeptMatches<'_> {
    /// The times of the timers of some keys, ascending.
    fn times(&self, slots: &[u32]) -> HashMap<u32, Vec<i64>> {
        let wanted: BitSet = slots.iter().copied().collect();
        let mut times: HashMap<u32, Vec<i64>> = HashMap::new();
        for (time, slot) in self.timers.iter().filter(|(_, slot)| wanted.contains(**slot)) {
            times.entry(*slot).or_default().push(time);
        }
        times.values_mut().for_each(|times| times.sort_unstable());
        times
    }
}

impl Movable for KeptMatches<'_> {
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        let times = self.times(slots);
        Ok(Plain(move |slot: u32, out: &mut StateEncoder| {
            let times = times.get(&slot).map_or(&[][..], Vec::as_slice);
            write_key(&self.matches[slot as usize], times, self.matcher, out);
        }))
    }

    fn reader(&mut self, now: i64) -> impl ValueReader + '_ {
        Reader { now: i128::from(now) * 1_000_000, to: self, failure: None }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for (slot, times) in self.times(slots) {
            for time in times {
                self.timers.delete(time, &slot);
            }
        }
        for slot in slots {
            let key = std::mem::take(&mut self.matches[*slot as usize]);
            *self.queues -= key.memory();
            for partial in key.partials.iter().chain(key.complete.iter()) {
                self.matcher.release(partial.node);
            }
            key.pending.iter().for_each(|(_, event)| self.matcher.buffer.release_event(*event));
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        (*self.matches, *self.timers) = Default::default();
        self.matcher.buffer.give_back();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let times = self.times(slots).into_iter();
        times.filter_map(|(slot, times)| Some((slot, *times.first()?))).collect()
    }
}

struct Reader<'a, 'b> {
    to: &'a mut KeptMatches<'b>,
    /// Processing time in nanoseconds.
    now: i128,
    /// What went wrong but with the bytes.
    failure: Option<crate::RuntimeError>,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let (key, times) = read_key(self.to.matcher, self.now, &mut self.failure, input)?;
        let (at, matches) = (slot as usize, &mut *self.to.matches);
        matches.resize_with(matches.len().max(at + 1), KeyMatches::default);
        *self.to.queues += key.memory();
        matches[at] = key;
        for time in times {
            self.to.timers.register(time, slot);
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

/// What a key holds, with places in the snapshot in place of numbers in memory.
#[derive(Default)]
struct Listed {
    events: Vec<u32>,
    event_places: HashMap<u32, u32>,
    nodes: Vec<u32>,
    /// The place behind that of each node; 0 stands for none.
    node_places: HashMap<u32, u32>,
}

impl Listed {
    fn event(&mut self, event: u32) {
        let place = self.events.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(entry) = self.event_places.entry(event) {
            entry.insert(place);
            self.events.push(event);
        }
    }

    /// Lists a node behind those before it.
    fn node(&mut self, node: u32, matcher: &Matcher) {
        let mut way = Vec::new();
        let mut at = node;
        while at != NO_NODE && !self.node_places.contains_key(&at) {
            way.push(at);
            at = matcher.buffer.node(at).parent;
        }
        for node in way.into_iter().rev() {
            self.event(matcher.buffer.node(node).event);
            self.nodes.push(node);
            self.node_places.insert(node, self.nodes.len() as u32);
        }
    }

    fn place(&self, node: u32) -> u32 {
        self.node_places.get(&node).copied().unwrap_or(0)
    }
}

fn write_key(key: &KeyMatches, timers: &[i64], matcher: &Matcher, out: &mut StateEncoder) {
    let mut listed = Listed::default();
    for partial in key.partials.iter().chain(key.complete.iter()) {
        listed.node(partial.node, matcher);
    }
    key.pending.iter().for_each(|(_, event)| listed.event(*event));
    out.u64(key.next_number);
    out.list(listed.events.iter(), |out, event| {
        let event = matcher.buffer.event(*event);
        out.u64(event.number);
        out.i64(event.time);
        out.bytes(matcher.buffer.rows().bytes(event.row));
    });
    out.list(listed.nodes.iter(), |out, node| {
        let node = matcher.buffer.node(*node);
        out.u32(listed.place(node.parent));
        out.u32(listed.event_places.get(&node.event).copied().unwrap_or(0));
        out.u32(u32::from(node.variable));
    });
    for queue in [&key.partials, &key.complete] {
        out.list(queue.iter(), |out, partial| {
            out.u32(u32::from(partial.state));
            out.u32(listed.place(partial.node));
            let begun = partial.start != NOT_BEGUN;
            out.option(begun.then_some((partial.start, partial.start_time)), |out, start| {
                out.u64(start.0);
                out.i64(start.1);
            });
        });
    }
    out.list(key.pending.iter(), |out, (_, event)| {
        out.u32(listed.event_places.get(event).copied().unwrap_or(0));
    });
    out.list(timers.iter(), |out, time| out.i64(*time));
}

/// Reads a key and the times of its timers. What goes wrong but with the bytes is put in `failure`.
fn read_key(
    matcher: &mut Matcher,
    now: i128,
    failure: &mut Option<crate::RuntimeError>,
    input: &mut StateDecoder<'_>,
) -> Result<(KeyMatches, Vec<i64>), StateError> {
    let mut key = KeyMatches { next_number: input.u64()?, ..KeyMatches::default() };
    let events = read_events(matcher, now, input)?;
    let mut nodes: Vec<u32> = Vec::new();
    let written = input.list(|input| Ok((input.u32()?, input.u32()?, input.u32()?)))?;
    for (parent, event, variable) in written {
        let parent = node_at(&nodes, parent).ok_or_else(|| input.damaged("no such node"))?;
        let event = *events.get(event as usize).ok_or_else(|| input.damaged("no such row"))?;
        let variable = u16::try_from(variable).map_err(|_| input.damaged("no such variable"))?;
        match matcher.restore_node(parent, event, variable, now) {
            Ok(node) => nodes.push(node),
            Err(error) => {
                failure.get_or_insert(error);
                return Err(input.damaged("a row that DEFINE cannot aggregate"));
            }
        }
    }
    read_queue(&mut key.partials, &nodes, matcher, input)?;
    read_queue(&mut key.complete, &nodes, matcher, input)?;
    for place in input.list(StateDecoder::u32)? {
        let event = *events.get(place as usize).ok_or_else(|| input.damaged("no such row"))?;
        let time = matcher.buffer.event(event).time;
        // Held by who waits, beside who lists it here.
        matcher.buffer.retain_event(event);
        key.pending.push_back((time, event));
    }
    // Nodes and rows are held by who needs them, no longer by these lists.
    nodes.into_iter().for_each(|node| matcher.release(node));
    events.into_iter().for_each(|event| matcher.buffer.release_event(event));
    let timers = input.list(StateDecoder::i64)?;
    key.timers = timers.len() as u32;
    Ok((key, timers))
}

fn read_events(
    matcher: &mut Matcher,
    now: i128,
    input: &mut StateDecoder<'_>,
) -> Result<Vec<u32>, StateError> {
    let written = input.list(|input| Ok((input.u64()?, input.i64()?, input.bytes()?)))?;
    let bytes: Vec<&[u8]> = written.iter().map(|(_, _, bytes)| *bytes).collect();
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let columns = matcher.buffer.rows().codec().decode(&bytes)?;
    let rows = matcher.buffer.rows_mut().push_batch(&columns, bytes.len())?;
    let now = now.div_euclid(1_000_000) as i64;
    let bits = matcher.bits(&columns, &RecordTimes::new(bytes.len(), move || now));
    let events = written.iter().zip(rows).zip(bits).map(|(((number, time, _), row), bits)| {
        matcher.buffer.add_event(row, *number, *time, bits)
    });
    Ok(events.collect())
}

fn read_queue(
    queue: &mut PartialQueue,
    nodes: &[u32],
    matcher: &mut Matcher,
    input: &mut StateDecoder<'_>,
) -> Result<(), StateError> {
    let written = input.list(|input| {
        let (state, node) = (input.u32()?, input.u32()?);
        Ok((state, node, input.option(|input| Ok((input.u64()?, input.i64()?)))?))
    })?;
    for (state, node, start) in written {
        let state = u16::try_from(state).ok().filter(|state| matcher.has_state(*state));
        let state = state.ok_or_else(|| input.damaged("no such state"))?;
        let node = node_at(nodes, node).ok_or_else(|| input.damaged("no such node"))?;
        matcher.buffer.retain_node(node);
        let (start, start_time) = start.unwrap_or((NOT_BEGUN, i64::MIN));
        queue.push(Partial { state, node, start, start_time });
    }
    Ok(())
}

/// The node at a place behind that of a node; 0 is none.
fn node_at(nodes: &[u32], place: u32) -> Option<u32> {
    match place.checked_sub(1) {
        None => Some(NO_NODE),
        Some(place) => nodes.get(place as usize).copied(),
    }
}
