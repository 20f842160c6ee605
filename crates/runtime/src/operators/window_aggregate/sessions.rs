//! SESSION: aggregates by session, which grow with their rows and merge when they touch.

use std::ops::Range;

use arrow::array::ArrayRef;
use flott_plan::logical::WindowKind;
use flott_plan::physical::{WindowAggregate, WindowSource};
use flott_state::{KeySlots, StateDecoder, StateEncoder, StateError, StateReader, StateWriter};
use flott_types::Schema;

use super::fired::Fired;
use super::pane::PaneSpec;
use super::{TimedRows, Windows};
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::operators::aggregation::{Aggregation, GroupReader, GroupWriter, GroupedRows, pick};
use crate::operators::movable::{self, Movable, ValueReader, ValueWriter};
use crate::operators::window::{Session, SessionMap, WallClock};
use crate::{Result, RuntimeError};

/// The name and version of the state.
const SECTION: &str = "sessions";
const VERSION: u16 = 1;

/// Sessions by key, each with a group.
pub(super) struct Sessions {
    clock: WallClock,
    spec: PaneSpec,
    slots: KeySlots,
    open: SessionMap<u32>,
    aggregation: Aggregation,
    /// By group, how many rows it has.
    rows: Vec<i64>,
    /// Groups that are nobody's.
    free: Vec<u32>,
}

impl Sessions {
    /// No session yet.
    pub fn new(spec: &WindowAggregate, input: &Schema, clock: &WallClock) -> Result<Self> {
        let gap = match &spec.window {
            WindowSource::Assign(window) => match window.kind {
                WindowKind::Session { gap } => Some(gap),
                _ => None,
            },
            WindowSource::Attached { .. } => None,
        };
        let gap = gap.ok_or_else(|| RuntimeError::internal("", "a window that is no session"))?;
        let panes = PaneSpec::new(spec, input);
        Ok(Self {
            clock: clock.clone(),
            slots: KeySlots::new(&panes.key_types, None),
            open: SessionMap::new(gap),
            aggregation: Aggregation::new(&panes.calls, panes.retracts, None)?,
            spec: panes,
            rows: Vec::new(),
            free: Vec::new(),
        })
    }

    fn firing(&self, end: i64) -> i64 {
        self.clock.firing(end.saturating_sub(1))
    }

    /// Feeds rows to their groups.
    fn flush(&mut self, rows: &TimedRows, range: Range<usize>, groups: &[(u32, i8)]) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let columns: Vec<ArrayRef> =
            rows.columns.iter().map(|column| column.slice(range.start, range.len())).collect();
        let (groups, signs): (Vec<u32>, Vec<i8>) = groups[range].iter().copied().unzip();
        self.aggregation.resize(self.rows.len().max(1));
        let signs = Some(signs.as_slice());
        self.aggregation.update(&GroupedRows {
            columns: &columns,
            groups: &groups,
            signs,
            now: rows.now,
        })
    }

    fn new_group(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.rows.push(0);
            self.rows.len() as u32 - 1
        })
    }

    /// Puts sessions that met into the first of them.
    fn merge(&mut self, into: u32, others: &[u32]) -> Result<()> {
        for other in others {
            self.aggregation.merge_within(&[into], &[*other])?;
            self.rows[into as usize] += self.rows[*other as usize];
            self.release(*other);
        }
        Ok(())
    }

    fn release(&mut self, group: u32) {
        self.aggregation.reset(&[group]);
        self.rows[group as usize] = 0;
        self.free.push(group);
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, KeptSessions<'_>) {
        let sessions = KeptSessions {
            clock: &self.clock,
            open: &mut self.open,
            aggregation: &mut self.aggregation,
            rows: &mut self.rows,
            free: &mut self.free,
        };
        (&mut self.slots, sessions)
    }

    fn state_schema(&self) -> String {
        self.slots.schema(&self.aggregation.schema())
    }
}

impl Windows for Sessions {
    fn add(&mut self, rows: &TimedRows) -> Result<LateRows> {
        let count = rows.times.len();
        let keys = pick(rows.columns, &self.spec.keys);
        let keys = self.slots.encoder().encode(&keys, count)?;
        let (slots, mut kept) = self.parts();
        movable::load(slots, &mut kept, &keys, rows.now)?;
        let (mut late, mut flushed) = (LateRows::new(), 0);
        let mut groups: Vec<(u32, i8)> = Vec::with_capacity(count);
        for (row, time) in rows.times.iter().enumerate() {
            let Some(time) = *time else {
                groups.push((0, 0));
                continue;
            };
            let known = self.slots.read_one(&keys, row, 0);
            let met = known.map_or(0..0, |slot| self.open.met(slot, time));
            if met.is_empty() && self.firing(self.open.end_of(time)) <= rows.watermarks[row] {
                late.push(row, rows.watermarks[row]);
                groups.push((0, 0));
                continue;
            }
            let slot = match known {
                Some(slot) => slot,
                None => self.slots.write_one(&keys, row, 0)?.0,
            };
            self.slots.changed(slot);
            self.slots.meet(&[slot]);
            let group = if met.is_empty() {
                let group = self.new_group();
                self.open.begin(slot, met.start, time, group);
                group
            } else {
                let (group, others) = self.open.join(slot, met, time);
                let group = *group;
                if !others.is_empty() {
                    // Both must have taken in their rows before they become one.
                    self.flush(rows, flushed..row, &groups)?;
                    flushed = row;
                    self.merge(group, &others)?;
                }
                group
            };
            let sign = rows.signs.map_or(1, |signs| signs[row]);
            self.rows[group as usize] += i64::from(sign);
            groups.push((group, sign));
        }
        self.flush(rows, flushed..count, &groups)?;
        Ok(late)
    }

    fn next_firing(&self) -> Option<i64> {
        self.open.next_end().map(|end| self.firing(end))
    }

    fn first_firing(&self, time: i64) -> i64 {
        self.firing(self.open.end_of(time))
    }

    fn fire(&mut self, until: i64, out: &mut Fired) -> Result<()> {
        let (mut slots, mut bounds, mut groups, mut ended) = (vec![], vec![], vec![], vec![]);
        while self.open.next_end().is_some_and(|end| self.firing(end) <= until) {
            let Some((slot, session)) = self.open.pop() else { break };
            ended.push((slot, session.payload));
            if !self.spec.retracts || self.rows[session.payload as usize] != 0 {
                slots.push(slot);
                bounds.push((session.start, session.end));
                groups.push(session.payload);
            }
        }
        if ended.is_empty() {
            return Ok(());
        }
        let keys = self.slots.key_columns(&slots)?;
        out.push(&bounds, &keys, self.aggregation.values(&groups)?)?;
        for (slot, group) in ended {
            self.release(group);
            if self.open.of(slot).is_empty() {
                self.slots.remove(slot);
            } else {
                self.slots.changed(slot);
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        let (slots, kept) = self.parts();
        movable::snapshot(slots, &kept, section)?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let (slots, mut kept) = self.parts();
        movable::restore(slots, &mut kept, entries, ctx.now(), ctx)
    }

    fn spills(&self) -> bool {
        !self.spec.keys.is_empty()
    }

    fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.memory(), room);
        let (slots, mut kept) = self.parts();
        movable::make_way(slots, &mut kept, bytes, ctx).map(drop)
    }

    fn next_due(&self) -> Option<i64> {
        self.slots.next_due()
    }

    fn wake(&mut self, until: i64, out: &mut Fired, ctx: &OperatorContext) -> Result<()> {
        let (slots, mut kept) = self.parts();
        let reached = movable::load_due(slots, &mut kept, until, ctx)?;
        self.fire(reached, out)
    }

    fn memory(&self) -> usize {
        let groups = self.rows.capacity() * 8 + self.free.capacity() * 4;
        self.slots.memory() + self.open.memory() + self.aggregation.memory() + groups
    }
}

/// What is kept under a key: sessions with their aggregates.
struct KeptSessions<'a> {
    clock: &'a WallClock,
    open: &'a mut SessionMap<u32>,
    aggregation: &'a mut Aggregation,
    rows: &'a mut Vec<i64>,
    free: &'a mut Vec<u32>,
}

impl Movable for KeptSessions<'_> {
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        let sessions = slots.iter().flat_map(|slot| self.open.of(*slot));
        let groups: Vec<u32> = sessions.map(|session| session.payload).collect();
        let groups = GroupWriter::new(self.aggregation, groups)?;
        Ok(Writer { of: self, groups })
    }

    fn reader(&mut self, now: i64) -> impl ValueReader + '_ {
        let groups = GroupReader::new(self.aggregation, now);
        Reader { to: self, groups }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        let sessions = slots.iter().flat_map(|slot| self.open.take(*slot));
        let groups: Vec<u32> = sessions.map(|session| session.payload).collect();
        self.aggregation.reset(&groups);
        groups.iter().for_each(|group| self.rows[*group as usize] = 0);
        self.free.extend(groups);
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.open.give_back();
        *self.aggregation = self.aggregation.emptied()?;
        (*self.rows, *self.free) = Default::default();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let first = |slot: &u32| self.open.of(*slot).iter().map(|session| session.end).min();
        let due = |end: i64| self.clock.firing(end.saturating_sub(1));
        slots.iter().filter_map(|slot| Some((*slot, due(first(slot)?)))).collect()
    }
}

struct Writer<'a, 'b> {
    of: &'a KeptSessions<'b>,
    groups: GroupWriter<'a>,
}

impl ValueWriter for Writer<'_, '_> {
    fn write(&mut self, slot: u32, out: &mut StateEncoder) {
        out.list(self.of.open.of(slot).iter(), |out, session| {
            out.i64(session.start);
            out.i64(session.end);
            out.i64(self.of.rows[session.payload as usize]);
            self.groups.write(out);
        });
    }

    fn finish(self) -> Result<()> {
        self.groups.finish()
    }
}

struct Reader<'a, 'b> {
    to: &'a mut KeptSessions<'b>,
    groups: GroupReader,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let (to, groups) = (&mut *self.to, &mut self.groups);
        let sessions = input.list(|input| {
            let (start, end) = (input.i64()?, input.i64()?);
            let rows = input.i64()?;
            let payload = to.free.pop().unwrap_or_else(|| {
                to.rows.push(0);
                to.rows.len() as u32 - 1
            });
            to.rows[payload as usize] = rows;
            groups.read(to.aggregation, payload, input)?;
            Ok(Session { start, end, payload })
        })?;
        to.open.restore(slot, sessions);
        Ok(())
    }

    fn finish(self) -> Result<()> {
        self.groups.finish(self.to.aggregation)
    }
}
