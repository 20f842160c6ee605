//! The way into a task: several channels become the inputs of its first operator.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{Inbox, Received};
use crate::checkpoint::Barrier;
use crate::element::{EndOfInput, MarkedBatch, StreamElement};
use crate::watermark::{Change, WatermarkCombiner};
use crate::{Result, RuntimeError};

/// Reads the channels of a task, combines their watermarks for each input, and aligns barriers:
/// a channel that has brought its barrier is not read until all others have brought theirs.
pub(crate) struct InputGate {
    inbox: Arc<Inbox>,
    /// For each channel its input and its place among the input's channels.
    channels: Vec<Channel>,
    inputs: Vec<Input>,
    aligning: Option<Alignment>,
    /// What a received element stands for and was not yet given out.
    due: VecDeque<Arrival>,
}

#[derive(Debug, Clone, Copy)]
struct Channel {
    input: usize,
    index: usize,
    ended: bool,
    at_barrier: bool,
}

struct Input {
    watermarks: WatermarkCombiner,
    open_channels: usize,
    how: EndOfInput,
}

struct Alignment {
    barrier: Barrier,
    missing: usize,
}

/// What arrives at the inputs of an operator.
pub(crate) enum Arrival {
    Rows(usize, MarkedBatch),
    Watermark(usize, i64),
    Idle(usize, bool),
    Barrier(Barrier),
    End(usize, EndOfInput),
}

impl InputGate {
    /// A gate whose input `i` has `channels[i]` channels, numbered through in that order.
    pub fn new(inbox: Arc<Inbox>, channels: &[usize]) -> Self {
        let numbered = channels.iter().enumerate().flat_map(|(input, count)| {
            (0..*count).map(move |index| Channel { input, index, ended: false, at_barrier: false })
        });
        let input = |count: &usize| Input {
            watermarks: WatermarkCombiner::of_channels(*count),
            open_channels: *count,
            how: EndOfInput::Drained,
        };
        Self {
            inbox,
            channels: numbered.collect(),
            inputs: channels.iter().map(input).collect(),
            aligning: None,
            due: VecDeque::new(),
        }
    }

    /// Goes on from a watermark that the first operator had reached.
    pub fn resume(&mut self, watermark: i64) {
        self.inputs.iter_mut().for_each(|input| input.watermarks.resume(watermark));
    }

    /// What arrives next; `None` when nothing is ready.
    pub fn next(&mut self) -> Result<Option<Arrival>> {
        loop {
            if let Some(arrival) = self.due.pop_front() {
                return Ok(Some(arrival));
            }
            match self.inbox.try_receive() {
                None => return Ok(None),
                Some(Received::Rows(channel, mut rows)) => {
                    let Some(mut rows) = rows.take()? else { continue };
                    let Channel { input, index, .. } = self.channels[channel];
                    rows.marks = self.inputs[input].watermarks.combine(index, rows.marks);
                    return Ok(Some(Arrival::Rows(input, rows)));
                }
                Some(Received::Other(channel, element)) => self.other(channel, element)?,
            }
        }
    }

    /// Waits until something is ready, the task is woken, or the time is over.
    pub fn wait(&self, at_most: Option<Duration>) {
        self.inbox.wait(at_most);
    }

    fn other(&mut self, channel: usize, element: StreamElement) -> Result<()> {
        let Channel { input, index, .. } = self.channels[channel];
        let of = &mut self.inputs[input];
        match element {
            StreamElement::Batch(_) => {}
            StreamElement::Watermark(watermark) => {
                let risen = of.watermarks.advance(index, watermark);
                self.due.extend(risen.map(|watermark| Arrival::Watermark(input, watermark)));
            }
            StreamElement::Idle => {
                let change = of.watermarks.set_idle(index, true);
                self.apply(input, change);
            }
            StreamElement::Active => {
                let change = of.watermarks.set_idle(index, false);
                self.apply(input, change);
            }
            StreamElement::Barrier(barrier) => self.barrier(channel, barrier)?,
            StreamElement::End(how) => {
                of.open_channels -= 1;
                of.how = of.how.max(how);
                let (open, how) = (of.open_channels, of.how);
                let change = of.watermarks.end(index);
                self.apply(input, change);
                if open == 0 {
                    self.due.push_back(Arrival::End(input, how));
                }
                self.channels[channel].ended = true;
                if let Some(alignment) = &mut self.aligning {
                    alignment.missing -= 1;
                }
                self.align();
            }
        }
        Ok(())
    }

    fn apply(&mut self, input: usize, change: Change) {
        if change.idle == Some(false) {
            self.due.push_back(Arrival::Idle(input, false));
        }
        self.due.extend(change.watermark.map(|watermark| Arrival::Watermark(input, watermark)));
        if change.idle == Some(true) {
            self.due.push_back(Arrival::Idle(input, true));
        }
    }

    fn barrier(&mut self, channel: usize, barrier: Barrier) -> Result<()> {
        let open = self.channels.iter().filter(|channel| !channel.ended).count();
        let alignment = self.aligning.get_or_insert(Alignment { barrier, missing: open });
        if alignment.barrier != barrier {
            let (one, other) = (alignment.barrier.checkpoint, barrier.checkpoint);
            let problem = format!("barrier {other} overtook barrier {one}");
            return Err(RuntimeError::internal("input gate", problem));
        }
        alignment.missing -= 1;
        self.channels[channel].at_barrier = true;
        self.inbox.set_blocked(channel, true);
        self.align();
        Ok(())
    }

    /// Lets the barrier through when it has come from everywhere.
    fn align(&mut self) {
        let Some(alignment) = self.aligning.take_if(|alignment| alignment.missing == 0) else {
            return;
        };
        self.due.push_back(Arrival::Barrier(alignment.barrier));
        for (number, channel) in self.channels.iter_mut().enumerate() {
            if std::mem::take(&mut channel.at_barrier) {
                self.inbox.set_blocked(number, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flott_state::MemoryBudget;

    use super::*;
    use crate::channel::{ChannelSender, Limits};
    use crate::checkpoint::CheckpointKind;

    const BARRIER: Barrier = Barrier { checkpoint: 1, kind: CheckpointKind::Checkpoint };

    fn gate(channels: &[usize]) -> (InputGate, Vec<ChannelSender>) {
        let count = channels.iter().sum();
        let limits = Limits { wait: false, ..Limits::default() };
        let inbox = Inbox::new(count, limits, &Arc::default(), &MemoryBudget::unlimited());
        let senders = (0..count).map(|channel| ChannelSender::new(&inbox, channel)).collect();
        (InputGate::new(inbox, channels), senders)
    }

    /// Everything that arrives, as text.
    fn arrivals(gate: &mut InputGate) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(arrival) = gate.next().unwrap() {
            all.push(match arrival {
                Arrival::Rows(input, rows) => format!("rows {input} {}", rows.batch.len()),
                Arrival::Watermark(input, watermark) => format!("watermark {input} {watermark}"),
                Arrival::Idle(input, idle) => format!("idle {input} {idle}"),
                Arrival::Barrier(barrier) => format!("barrier {}", barrier.checkpoint),
                Arrival::End(input, how) => format!("end {input} {how:?}"),
            });
        }
        all
    }

    #[test]
    fn a_channel_is_blocked_until_all_barriers_are_there() {
        let (mut gate, senders) = gate(&[2, 1]);
        senders[0].send(StreamElement::Barrier(BARRIER)).unwrap();
        senders[0].send(StreamElement::Watermark(90)).unwrap();
        senders[1].send(StreamElement::Watermark(10)).unwrap();
        senders[2].send(StreamElement::Watermark(5)).unwrap();
        assert_eq!(arrivals(&mut gate), ["watermark 1 5"]);
        senders[1].send(StreamElement::Barrier(BARRIER)).unwrap();
        assert!(arrivals(&mut gate).is_empty());
        senders[2].send(StreamElement::Barrier(BARRIER)).unwrap();
        assert_eq!(arrivals(&mut gate), ["barrier 1", "watermark 0 10"]);
    }

    #[test]
    fn a_channel_that_ends_needs_no_barrier() {
        let (mut gate, senders) = gate(&[2]);
        senders[0].send(StreamElement::Barrier(BARRIER)).unwrap();
        senders[1].send(StreamElement::End(EndOfInput::Drained)).unwrap();
        assert_eq!(arrivals(&mut gate), ["barrier 1"]);
        senders[0].send(StreamElement::End(EndOfInput::Stopped)).unwrap();
        assert_eq!(arrivals(&mut gate), ["end 0 Stopped"]);
    }

    #[test]
    fn an_input_is_idle_when_all_its_channels_are() {
        let (mut gate, senders) = gate(&[2]);
        senders[0].send(StreamElement::Watermark(7)).unwrap();
        senders[0].send(StreamElement::Idle).unwrap();
        assert!(arrivals(&mut gate).is_empty());
        senders[1].send(StreamElement::Idle).unwrap();
        assert_eq!(arrivals(&mut gate), ["watermark 0 7", "idle 0 true"]);
        senders[1].send(StreamElement::Active).unwrap();
        assert_eq!(arrivals(&mut gate), ["idle 0 false"]);
    }
}
