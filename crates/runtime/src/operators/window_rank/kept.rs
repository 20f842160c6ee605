//! The rows of windows on their way to snapshots and to disk.

use flott_state::{StateDecoder, StateEncoder, StateError, TimerQueue};

use super::Window;
use crate::Result;
use crate::operators::movable::{Movable, Plain, ValueReader, ValueWriter};
use crate::operators::ranking::{KeptRows, Run, SortedRows};

/// Rows whose sort keys are computed together.
const CHUNK: usize = 4096;

/// What is kept under the slots of windows.
pub(super) struct KeptWindows<'a> {
    pub windows: &'a mut Vec<Window>,
    pub timers: &'a mut TimerQueue<(u64, u32)>,
    pub next: &'a mut u64,
    pub sorted: &'a mut SortedRows,
    pub run_bytes: &'a mut usize,
}

impl Movable for KeptWindows<'_> {
    fn writer<'a>(&'a self, _slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        Ok(Plain(|slot: u32, out: &mut StateEncoder| {
            let window = &self.windows[slot as usize];
            out.i64(window.timer.0);
            out.u64(window.timer.1);
            out.u64(window.last);
            self.sorted.write(&window.rows, out);
        }))
    }

    fn reader(&mut self, _now: i64) -> impl ValueReader + '_ {
        Reader { to: self, slots: Vec::new() }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for slot in slots {
            let window = std::mem::take(&mut self.windows[*slot as usize]);
            self.timers.delete(window.timer.0, &(window.timer.1, *slot));
            *self.run_bytes -= window.rows.memory();
            window.rows.iter().for_each(|id| self.sorted.remove(id));
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        *self.windows = Vec::new();
        *self.timers = TimerQueue::new();
        *self.sorted = self.sorted.emptied()?;
        Ok(())
    }

    fn dues(&self, slots: &[u32]) -> Vec<(u32, i64)> {
        slots.iter().map(|slot| (*slot, self.windows[*slot as usize].timer.0)).collect()
    }
}

struct Reader<'a, 'b> {
    to: &'a mut KeptWindows<'b>,
    slots: Vec<u32>,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let timer = (input.i64()?, input.u64()?);
        let last = input.u64()?;
        let rows = self.to.sorted.read(input)?;
        let (at, windows) = (slot as usize, &mut *self.to.windows);
        windows.resize_with(windows.len().max(at + 1), Window::default);
        windows[at] = Window { rows, last, timer };
        self.to.timers.register(timer.0, (timer.1, slot));
        *self.to.next = (*self.to.next).max(timer.1.saturating_add(1));
        self.slots.push(slot);
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let to = self.to;
        let runs = self.slots.iter().map(|slot| &to.windows[*slot as usize].rows);
        *to.run_bytes += runs.clone().map(Run::memory).sum::<usize>();
        let ids: Vec<u32> = runs.flat_map(Run::iter).collect();
        ids.chunks(CHUNK).try_for_each(|chunk| to.sorted.return_keys(chunk))
    }
}
