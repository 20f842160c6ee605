//! Bounded channels between tasks.
//!
//! All channels into one task share its inbox, so that the task waits in one place. A channel is
//! full when its rows or batches reach a limit; then its sender waits, which is the back-pressure.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow::array::{Array, ArrayRef};
use flott_state::MemoryBudget;
use flott_types::ChangelogBatch;

use crate::Result;
use crate::clock::Sleeper;
use crate::coalesce::{Coalescer, WORTH_SENDING};
use crate::control::JobControl;
use crate::element::StreamElement;

/// How much a channel holds before its sender waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub rows: usize,
    pub batches: usize,
    /// Whether senders wait for room. If not, the scheduler must not run a task without room.
    pub wait: bool,
}

/// The receiving end of all channels into one task.
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// Something arrived, or the task was woken.
    arrived: Condvar,
    /// A channel that was full has room.
    room: Condvar,
    limits: Limits,
    control: Arc<JobControl>,
    /// Charged with the rows in the channels.
    memory: MemoryBudget,
}

struct State {
    queues: Vec<Queue>,
    /// Where to look first, so that no channel starves another.
    next: usize,
    waiting_receiver: bool,
    waiting_senders: usize,
    woken: bool,
}

#[derive(Default)]
struct Queue {
    elements: VecDeque<StreamElement>,
    rows: usize,
    batches: usize,
    /// The bytes of the batches.
    bytes: VecDeque<usize>,
    /// Not read until the barrier has come through all channels.
    blocked: bool,
}

/// What the receiver finds.
pub(crate) enum Received {
    /// Rows and watermarks of a channel, to be made one batch.
    Rows(usize, Coalescer),
    /// Something else from a channel.
    Other(usize, StreamElement),
}

impl Inbox {
    /// An inbox of so many channels.
    pub fn new(
        channels: usize,
        limits: Limits,
        control: &Arc<JobControl>,
        memory: &MemoryBudget,
    ) -> Arc<Self> {
        let inbox = Arc::new(Self {
            state: Mutex::new(State {
                queues: (0..channels).map(|_| Queue::default()).collect(),
                next: 0,
                waiting_receiver: false,
                waiting_senders: 0,
                woken: false,
            }),
            arrived: Condvar::new(),
            room: Condvar::new(),
            limits,
            control: control.clone(),
            memory: memory.clone(),
        });
        let sleeper: Arc<dyn Sleeper> = inbox.clone();
        control.subscribe(Arc::downgrade(&sleeper));
        inbox
    }

    /// What is ready, without waiting. Small batches that follow each other come together.
    pub fn try_receive(&self) -> Option<Received> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let count = state.queues.len();
        let channel = (0..count)
            .map(|i| (state.next + i) % count)
            .find(|channel| state.queues[*channel].is_ready())?;
        state.next = (channel + 1) % count;
        let queue = &mut state.queues[channel];
        let had_room = queue.is_half_empty(&self.limits);
        let received = queue.pop(channel, &self.memory);
        if !had_room && state.waiting_senders > 0 && queue.is_half_empty(&self.limits) {
            self.room.notify_all();
        }
        received
    }

    /// Waits until something is ready, the task is woken, or the time is over.
    pub fn wait(&self, at_most: Option<Duration>) {
        let mut state = self.lock();
        let idle = |state: &mut State| {
            !state.woken
                && !self.control.is_cancelled()
                && !state.queues.iter().any(Queue::is_ready)
        };
        state.waiting_receiver = true;
        let mut state = match at_most {
            None => self.arrived.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner),
            Some(time) => {
                let waited = self.arrived.wait_timeout_while(state, time, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.waiting_receiver = false;
        state.woken = false;
    }

    /// Stops or resumes reading a channel.
    pub fn set_blocked(&self, channel: usize, blocked: bool) {
        self.lock().queues[channel].blocked = blocked;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sleeper for Inbox {
    fn wake(&self) {
        self.lock().woken = true;
        self.arrived.notify_all();
        self.room.notify_all();
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let left: usize = self.lock().queues.iter().flat_map(|queue| &queue.bytes).sum();
        self.memory.received(left);
    }
}

impl Queue {
    fn is_ready(&self) -> bool {
        !self.blocked && !self.elements.is_empty()
    }

    fn is_full(&self, limits: &Limits) -> bool {
        self.rows >= limits.rows || self.batches >= limits.batches
    }

    /// Low enough to wake a sender: one wake-up for several batches.
    fn is_half_empty(&self, limits: &Limits) -> bool {
        self.rows <= limits.rows / 2 && self.batches <= limits.batches / 2
    }

    fn push(&mut self, element: StreamElement, memory: &MemoryBudget) {
        if let StreamElement::Batch(rows) = &element {
            let bytes = bytes_of(&rows.batch);
            memory.sent(bytes);
            self.bytes.push_back(bytes);
            self.rows += rows.batch.len();
            self.batches += 1;
        }
        self.elements.push_back(element);
    }

    fn pop(&mut self, channel: usize, memory: &MemoryBudget) -> Option<Received> {
        let mut rows = Coalescer::default();
        while let Some(element) = self.elements.front() {
            let follows = match element {
                StreamElement::Batch(next) => {
                    let small = next.batch.len() < WORTH_SENDING && rows.rows() < WORTH_SENDING;
                    rows.is_empty() || (small && rows.fits(next.batch.len()))
                }
                StreamElement::Watermark(_) => !rows.is_empty(),
                _ => false,
            };
            if !follows {
                break;
            }
            match self.elements.pop_front() {
                Some(StreamElement::Batch(next)) => {
                    memory.received(self.bytes.pop_front().unwrap_or(0));
                    self.rows -= next.batch.len();
                    self.batches -= 1;
                    rows.push(next);
                }
                Some(StreamElement::Watermark(watermark)) => rows.push_watermark(watermark),
                _ => {}
            }
        }
        if rows.is_empty() {
            return Some(Received::Other(channel, self.elements.pop_front()?));
        }
        Some(Received::Rows(channel, rows))
    }
}

/// The bytes of a batch, as if it shared no memory with others.
fn bytes_of(batch: &ChangelogBatch) -> usize {
    // Not worth a look at each column.
    const SMALL: usize = 64;
    if batch.len() < SMALL {
        return batch.len() * batch.rows.num_columns() * 16;
    }
    let size = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.rows.columns().iter().map(size).sum()
}

/// The sending end of one channel.
#[derive(Clone)]
pub(crate) struct ChannelSender {
    inbox: Arc<Inbox>,
    channel: usize,
}

impl ChannelSender {
    /// The sending end of channel `channel` into an inbox.
    pub fn new(inbox: &Arc<Inbox>, channel: usize) -> Self {
        Self { inbox: inbox.clone(), channel }
    }

    /// Sends an element, waiting for room; fails when the job is cancelled.
    pub fn send(&self, element: StreamElement) -> Result<()> {
        let inbox = &*self.inbox;
        let mut state = inbox.lock();
        if inbox.limits.wait && state.queues[self.channel].is_full(&inbox.limits) {
            state.waiting_senders += 1;
            let full = |state: &mut State| {
                !inbox.control.is_cancelled()
                    && !state.queues[self.channel].is_half_empty(&inbox.limits)
            };
            state = inbox.room.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
            state.waiting_senders -= 1;
        }
        inbox.control.go_on()?;
        let queue = &mut state.queues[self.channel];
        queue.push(element, &inbox.memory);
        if state.waiting_receiver && !state.queues[self.channel].blocked {
            inbox.arrived.notify_one();
        }
        Ok(())
    }

    /// Whether a batch could be sent without waiting.
    pub fn has_room(&self) -> bool {
        !self.inbox.lock().queues[self.channel].is_full(&self.inbox.limits)
    }
}

/// The limits of channels unless a job says otherwise.
impl Default for Limits {
    fn default() -> Self {
        Self { rows: 4 * ChangelogBatch::MAX_ROWS, batches: 16, wait: true }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};

    use super::*;
    use crate::element::MarkedBatch;
    use crate::marks::Marks;

    fn batch(rows: usize) -> StreamElement {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![0; rows]));
        let batch = ChangelogBatch::inserts(RecordBatch::try_from_iter([("n", column)]).unwrap());
        StreamElement::Batch(MarkedBatch { batch, marks: Marks::NONE })
    }

    /// A sender that waited for room goes on however the receiver drains the channel: in batches as
    /// large as they come, or in many small ones that it takes together.
    #[test]
    fn a_sender_goes_on_when_there_is_room_again() {
        for (rows, batches) in [(ChangelogBatch::MAX_ROWS, 64), (7, 400), (3000, 100)] {
            let inbox =
                Inbox::new(1, Limits::default(), &Arc::default(), &MemoryBudget::unlimited());
            let sender = ChannelSender::new(&inbox, 0);
            let sending =
                thread::spawn(move || (0..batches).try_for_each(|_| sender.send(batch(rows))));
            let mut received = 0;
            while received < rows * batches {
                match inbox.try_receive() {
                    Some(Received::Rows(_, coalesced)) => received += coalesced.rows(),
                    Some(Received::Other(..)) => unreachable!("only batches were sent"),
                    // A sender that is never woken would leave the test here for ever.
                    None => inbox.wait(Some(Duration::from_secs(20))),
                }
            }
            sending.join().unwrap().unwrap();
        }
    }
}
