//! The rows of sessions that have not ended.

use arrow::array::ArrayRef;
use flott_plan::physical::WindowOf;
use flott_state::{KeySlots, RowStore, StateDecoder, StateEncoder, StateReader, StateWriter};
use flott_types::{DataType, Schema};

use crate::Result;
use crate::context::OperatorContext;
use crate::late::LateRows;
use crate::operators::aggregation::pick;
use crate::operators::movable::{self, Movable, Plain, PlainReader, ValueReader, ValueWriter};
use crate::operators::window::{Session, SessionMap, WallClock};

/// The name and version of the state.
const SECTION: &str = "session rows";
const VERSION: u16 = 1;

/// Rows that fired, and each one's session as start and end in milliseconds.
pub type Fired = (Vec<ArrayRef>, Vec<(i64, i64)>);

/// Rows by session.
pub(super) struct SessionRows {
    partition: Vec<usize>,
    clock: WallClock,
    slots: KeySlots,
    /// The numbers of each session's rows, in order of arrival.
    open: SessionMap<Vec<u32>>,
    rows: RowStore,
}

impl SessionRows {
    /// No session yet.
    pub fn new(window: &WindowOf, gap: i64, input: &Schema, clock: &WallClock) -> Self {
        let types: Vec<DataType> =
            input.fields.iter().map(|field| field.data_type.clone()).collect();
        let key_types: Vec<DataType> =
            window.partition.iter().map(|column| types[*column].clone()).collect();
        Self {
            partition: window.partition.clone(),
            clock: clock.clone(),
            slots: KeySlots::new(&key_types, None),
            open: SessionMap::new(gap),
            rows: RowStore::new(&types),
        }
    }

    /// Takes in rows and gives those that were late.
    pub fn add(
        &mut self,
        columns: &[ArrayRef],
        times: &[Option<i64>],
        watermark: i64,
    ) -> Result<LateRows> {
        let keys = pick(columns, &self.partition);
        let keys = self.slots.encoder().encode(&keys, times.len())?;
        let (slots, mut kept) = self.parts();
        movable::load(slots, &mut kept, &keys, 0)?;
        let encoded = self.rows.encode(columns, times.len())?;
        let mut late = LateRows::new();
        for (row, time) in times.iter().enumerate() {
            let Some(time) = *time else { continue };
            let known = self.slots.read_one(&keys, row, 0);
            let met = known.map_or(0..0, |slot| self.open.met(slot, time));
            if met.is_empty() && self.firing(self.open.end_of(time)) <= watermark {
                late.push(row, watermark);
                continue;
            }
            let slot = match known {
                Some(slot) => slot,
                None => self.slots.write_one(&keys, row, 0)?.0,
            };
            self.slots.changed(slot);
            self.slots.meet(&[slot]);
            let id = self.rows.insert(&encoded, row)?;
            if met.is_empty() {
                self.open.begin(slot, met.start, time, vec![id]);
            } else {
                let (ids, others) = self.open.join(slot, met, time);
                ids.extend(others.into_iter().flatten());
                ids.push(id);
            }
        }
        Ok(late)
    }

    /// When the next session ends.
    pub fn next_firing(&self) -> Option<i64> {
        let in_memory = self.open.next_end().map(|end| self.firing(end));
        in_memory.into_iter().chain(self.next_due()).min()
    }

    /// When the next session on disk ends, or one that has been there.
    pub fn next_due(&self) -> Option<i64> {
        self.slots.next_due()
    }

    /// Brings back keys whose sessions end up to an instant; gives the instant up to which that has been done.
    pub fn load_due(&mut self, until: i64, ctx: &OperatorContext) -> Result<i64> {
        let (slots, mut kept) = self.parts();
        movable::load_due(slots, &mut kept, until, ctx)
    }

    /// Moves keys to disk, so that `room` bytes are enough for the rest.
    pub fn make_way(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.memory(), room);
        let (slots, mut kept) = self.parts();
        movable::make_way(slots, &mut kept, bytes, ctx).map(drop)
    }

    /// Whether keys can move to disk.
    pub fn spills(&self) -> bool {
        !self.partition.is_empty()
    }

    /// The rows of the sessions that end up to an instant, and each row's session.
    pub fn fire(&mut self, until: i64) -> Result<Fired> {
        let (mut ids, mut bounds) = (Vec::new(), Vec::new());
        while self.open.next_end().is_some_and(|end| self.firing(end) <= until) {
            let Some((slot, session)) = self.open.pop() else { break };
            ids.extend(session.payload);
            bounds.resize(ids.len(), (session.start, session.end));
            if self.open.of(slot).is_empty() {
                self.slots.remove(slot);
            } else {
                self.slots.changed(slot);
            }
        }
        let columns = self.rows.gather(&ids)?;
        ids.iter().for_each(|id| self.rows.remove(*id));
        Ok((columns, bounds))
    }

    /// Writes the state.
    pub fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.schema());
        let (slots, kept) = self.parts();
        movable::snapshot(slots, &kept, section)?;
        self.slots.handed_over(state);
        Ok(())
    }

    /// Takes up state that was written.
    pub fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.schema())?;
        let (slots, mut kept) = self.parts();
        movable::restore(slots, &mut kept, entries, ctx.now(), ctx)
    }

    /// The keys, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, Sessions<'_>) {
        let sessions = Sessions { clock: &self.clock, open: &mut self.open, rows: &mut self.rows };
        (&mut self.slots, sessions)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.slots.memory() + self.open.memory() + self.rows.memory() + self.rows.len() * 4
    }

    fn firing(&self, end: i64) -> i64 {
        self.clock.firing(end.saturating_sub(1))
    }

    fn schema(&self) -> String {
        self.slots.schema(&self.rows.codec().schema())
    }
}

/// What is kept under a key: sessions with their rows.
struct Sessions<'a> {
    clock: &'a WallClock,
    open: &'a mut SessionMap<Vec<u32>>,
    rows: &'a mut RowStore,
}

impl Movable for Sessions<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|slot: u32, out: &mut StateEncoder| {
            out.list(self.open.of(slot).iter(), |out, session| {
                out.i64(session.start);
                out.i64(session.end);
                self.rows.write_rows(&session.payload, out);
            });
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        PlainReader(|slot: u32, input: &mut StateDecoder<'_>| {
            let sessions = input.list(|input| {
                let (start, end) = (input.i64()?, input.i64()?);
                let mut payload = Vec::new();
                self.rows.read_rows(input, &mut payload)?;
                Ok(Session { start, end, payload })
            })?;
            self.open.restore(slot, sessions);
            Ok(())
        })
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for session in slots.iter().flat_map(|slot| self.open.take(*slot)) {
            session.payload.into_iter().for_each(|id| self.rows.remove(id));
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        self.open.give_back();
        *self.rows = self.rows.emptied();
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        let first = |slot: &u32| self.open.of(*slot).iter().map(|session| session.end).min();
        let due = |end: i64| self.clock.firing(end.saturating_sub(1));
        slots.iter().filter_map(|slot| Some((*slot, due(first(slot)?)))).collect()
    }
}
