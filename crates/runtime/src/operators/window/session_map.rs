//! Sessions: windows that grow with their rows and merge when they touch.

use std::collections::BTreeSet;
use std::ops::Range;

/// For each slot sessions that do not touch each other, each with a payload.
///
/// Times are wall-clock milliseconds. A session reaches from its first time to the gap after its last.
pub(in crate::operators) struct SessionMap<P> {
    gap: i64,
    /// By slot, in order.
    sessions: Vec<Vec<Session<P>>>,
    /// Ends of sessions, with their slot and their start.
    due: BTreeSet<(i64, u32, i64)>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::operators) struct Session<P> {
    /// The first time.
    pub start: i64,
    /// The last time and the gap.
    pub end: i64,
    /// What belongs to it.
    pub payload: P,
}

impl<P> SessionMap<P> {
    /// No session yet.
    pub fn new(gap: i64) -> Self {
        Self { gap, sessions: Vec::new(), due: BTreeSet::new() }
    }

    /// The end of a session of one time.
    pub fn end_of(&self, time: i64) -> i64 {
        time.saturating_add(self.gap)
    }

    /// The positions of the sessions of a slot that a time joins: at most the one before it and the
    /// one after it. As in Flink sessions meet that only touch.
    pub fn met(&self, slot: u32, time: i64) -> Range<usize> {
        let Some(sessions) = self.sessions.get(slot as usize) else { return 0..0 };
        let end = self.end_of(time);
        let meets = |session: &Session<P>| session.start <= end && time <= session.end;
        let after = sessions.partition_point(|session| session.start < time);
        let first = match after.checked_sub(1) {
            Some(before) if meets(&sessions[before]) => before,
            _ => after,
        };
        let last = after + usize::from(sessions.get(after).is_some_and(meets));
        first..last
    }

    /// Begins a session of one time at the position that [`Self::met`] gave.
    pub fn begin(&mut self, slot: u32, at: usize, time: i64, payload: P) {
        let end = self.end_of(time);
        self.slot(slot).insert(at, Session { start: time, end, payload });
        self.due.insert((end, slot, time));
    }

    /// Joins a time to the sessions it meets, of which there is at least one. They become one with the
    /// payload of the first; the payloads of the others are given back.
    pub fn join(&mut self, slot: u32, met: Range<usize>, time: i64) -> (&mut P, Vec<P>) {
        let end = self.end_of(time);
        let sessions = &mut self.sessions[slot as usize];
        let absorbed: Vec<_> = sessions.drain(met.start + 1..met.end).collect();
        let kept = &mut sessions[met.start];
        for (start, end) in
            absorbed.iter().map(|other| (other.start, other.end)).chain([(kept.start, kept.end)])
        {
            self.due.remove(&(end, slot, start));
        }
        kept.start = absorbed.iter().map(|other| other.start).fold(kept.start.min(time), i64::min);
        kept.end = absorbed.iter().map(|other| other.end).fold(kept.end.max(end), i64::max);
        self.due.insert((kept.end, slot, kept.start));
        (&mut kept.payload, absorbed.into_iter().map(|other| other.payload).collect())
    }

    /// The end of the session that ends first.
    pub fn next_end(&self) -> Option<i64> {
        self.due.first().map(|(end, ..)| *end)
    }

    /// Takes out the session that ends first.
    pub fn pop(&mut self) -> Option<(u32, Session<P>)> {
        let (_, slot, start) = self.due.pop_first()?;
        let sessions = self.slot(slot);
        let at = sessions.binary_search_by_key(&start, |session| session.start).ok()?;
        Some((slot, sessions.remove(at)))
    }

    /// Takes out all sessions of a slot.
    pub fn take(&mut self, slot: u32) -> Vec<Session<P>> {
        let sessions = std::mem::take(self.slot(slot));
        for session in &sessions {
            self.due.remove(&(session.end, slot, session.start));
        }
        sessions
    }

    /// Gives all memory back: no slot has sessions.
    pub fn give_back(&mut self) {
        self.sessions = Vec::new();
    }

    /// The sessions of a slot in order.
    pub fn of(&self, slot: u32) -> &[Session<P>] {
        self.sessions.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    /// Sets the sessions of a slot that has none.
    pub fn restore(&mut self, slot: u32, sessions: Vec<Session<P>>) {
        self.due.extend(sessions.iter().map(|session| (session.end, slot, session.start)));
        *self.slot(slot) = sessions;
    }

    /// The bytes held, what payloads own aside.
    pub fn memory(&self) -> usize {
        let session = size_of::<Session<P>>() + 2 * size_of::<(i64, u32, i64)>();
        self.sessions.capacity() * size_of::<Vec<Session<P>>>() + self.due.len() * session
    }

    fn slot(&mut self, slot: u32) -> &mut Vec<Session<P>> {
        let at = slot as usize;
        if at >= self.sessions.len() {
            self.sessions.resize_with(at + 1, Vec::new);
        }
        &mut self.sessions[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(map: &mut SessionMap<Vec<i64>>, time: i64) {
        let met = map.met(0, time);
        if met.is_empty() {
            return map.begin(0, met.start, time, vec![time]);
        }
        let (payload, others) = map.join(0, met, time);
        payload.extend(others.into_iter().flatten());
        payload.push(time);
    }

    #[test]
    fn sessions_that_touch_are_one() {
        let mut map = SessionMap::new(10);
        for time in [0, 25, 40, 5, 41] {
            put(&mut map, time);
        }
        let bounds: Vec<_> = map.of(0).iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(bounds, [(0, 15), (25, 35), (40, 51)]);
        put(&mut map, 15);
        assert_eq!(map.of(0)[0], Session { start: 0, end: 35, payload: vec![0, 5, 25, 15] });
        assert_eq!(map.next_end(), Some(35));
        assert_eq!(map.pop().map(|(slot, session)| (slot, session.end)), Some((0, 35)));
        assert_eq!(map.pop().map(|(_, session)| session.payload), Some(vec![40, 41]));
        assert!(map.pop().is_none() && map.of(0).is_empty());
    }
}
