//! Combining the watermarks of several inputs: the lowest of those that are not idle.

use crate::marks::{Mark, Marks};

/// Follows the watermark and idleness of several inputs.
#[derive(Debug)]
pub(crate) struct WatermarkCombiner {
    inputs: Vec<Input>,
    announced: i64,
    idle: bool,
    rule: Rule,
}

#[derive(Debug, Clone, Copy)]
struct Input {
    watermark: i64,
    idle: bool,
    ended: bool,
}

/// How idle inputs come back and all fall idle; Flink has one rule for the channels of an input
/// (`StatusWatermarkValve`) and one for an operator's inputs (`CombinedWatermarkStatus`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// What comes back from idleness counts only when it has caught up; when the last one falls
    /// idle, the highest watermark of all gets through.
    Channels,
    /// What comes back holds the others at once.
    Inputs,
}

/// What a change of one input means for all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The combined watermark, where it rose.
    pub watermark: Option<i64>,
    /// Whether all became idle, or one is active again, where that changed.
    pub idle: Option<bool>,
}

impl WatermarkCombiner {
    /// Combines the channels of one input.
    pub fn of_channels(channels: usize) -> Self {
        Self::new(channels, Rule::Channels)
    }

    /// Combines the inputs of an operator.
    pub fn of_inputs(inputs: usize) -> Self {
        Self::new(inputs, Rule::Inputs)
    }

    fn new(inputs: usize, rule: Rule) -> Self {
        let input = Input { watermark: i64::MIN, idle: false, ended: false };
        Self { inputs: vec![input; inputs], announced: i64::MIN, idle: false, rule }
    }

    /// Goes on from a watermark that was announced before a restart; every input had reached it.
    pub fn resume(&mut self, watermark: i64) {
        self.announced = watermark;
        self.inputs.iter_mut().for_each(|input| input.watermark = watermark);
    }

    /// The watermark of one input; `i64::MIN` before the first.
    pub fn input(&self, input: usize) -> i64 {
        self.inputs[input].watermark
    }

    /// Input `input` has reached `watermark`; returns the combined one where it rose.
    pub fn advance(&mut self, input: usize, watermark: i64) -> Option<i64> {
        let of = &mut self.inputs[input];
        if watermark <= of.watermark {
            return None;
        }
        of.watermark = watermark;
        if of.idle { None } else { self.raise(self.lowest()) }
    }

    /// What the marks of a batch from input `input` mean for all inputs together.
    pub fn combine(&mut self, input: usize, marks: Marks) -> Marks {
        let Some(first) = marks.as_slice().first() else { return marks };
        if self.inputs.len() == 1 && first.watermark > self.announced {
            let last = marks.last().unwrap_or(first.watermark);
            self.advance(input, last);
            return marks;
        }
        let news = marks.as_slice().iter().filter_map(|mark| {
            let watermark = self.advance(input, mark.watermark)?;
            Some(Mark { row: mark.row, watermark })
        });
        news.collect()
    }

    /// Input `input` became idle or active.
    pub fn set_idle(&mut self, input: usize, idle: bool) -> Change {
        if self.inputs[input].idle == idle || self.inputs[input].ended {
            return Change::default();
        }
        self.inputs[input].idle = idle;
        self.reconsider(input)
    }

    /// Input `input` has ended and holds nobody back any more.
    pub fn end(&mut self, input: usize) -> Change {
        self.inputs[input].ended = true;
        self.reconsider(input)
    }

    fn reconsider(&mut self, changed: usize) -> Change {
        let mut live = self.inputs.iter().filter(|input| !input.ended).peekable();
        let idle = live.peek().is_some() && live.all(|input| input.idle);
        let turned = (idle != self.idle).then_some(idle);
        self.idle = idle;
        let held_back = self.inputs[changed].watermark == self.announced;
        let watermark = match turned {
            Some(true) if self.rule == Rule::Channels && held_back => self.raise(self.highest()),
            Some(true) => None,
            _ => self.raise(self.lowest()),
        };
        Change { watermark, idle: turned }
    }

    /// The lowest watermark of the inputs that count.
    fn lowest(&self) -> Option<i64> {
        self.inputs
            .iter()
            .filter(|input| !input.idle && (!input.ended || input.watermark == i64::MAX))
            .map(|input| input.watermark)
            .filter(|watermark| self.rule == Rule::Inputs || *watermark >= self.announced)
            .min()
    }

    fn highest(&self) -> Option<i64> {
        self.inputs.iter().filter(|input| !input.ended).map(|input| input.watermark).max()
    }

    fn raise(&mut self, watermark: Option<i64>) -> Option<i64> {
        let watermark = watermark.filter(|watermark| *watermark > self.announced)?;
        self.announced = watermark;
        Some(watermark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_watermark_counts() {
        let mut inputs = WatermarkCombiner::of_inputs(2);
        assert_eq!(inputs.advance(0, 10), None);
        assert_eq!(inputs.advance(1, 5), Some(5));
        assert_eq!(inputs.advance(1, 4), None);
        assert_eq!(inputs.advance(1, 20), Some(10));
    }

    #[test]
    fn idle_inputs_hold_nobody_back() {
        let mut channels = WatermarkCombiner::of_channels(2);
        assert_eq!(channels.advance(0, 10), None);
        let change = channels.set_idle(1, true);
        assert_eq!(change, Change { watermark: Some(10), idle: None });
        assert_eq!(channels.advance(0, 30), Some(30));
        assert_eq!(channels.set_idle(1, false), Change::default());
        // It has not caught up and does not count yet.
        assert_eq!(channels.advance(1, 20), None);
        assert_eq!(channels.advance(0, 40), Some(40));
        assert_eq!(channels.advance(1, 45), None);
        assert_eq!(channels.advance(0, 50), Some(45));
    }

    #[test]
    fn the_last_channel_to_fall_idle_lets_the_highest_through() {
        let mut channels = WatermarkCombiner::of_channels(2);
        channels.advance(0, 10);
        channels.advance(1, 5);
        assert_eq!(channels.set_idle(0, true), Change::default());
        assert_eq!(channels.set_idle(1, true), Change { watermark: Some(10), idle: Some(true) });
        assert_eq!(channels.set_idle(0, false), Change { watermark: None, idle: Some(false) });
    }

    #[test]
    fn inputs_that_come_back_hold_the_others() {
        let mut inputs = WatermarkCombiner::of_inputs(2);
        inputs.advance(0, 10);
        assert_eq!(inputs.set_idle(1, true).watermark, Some(10));
        inputs.set_idle(1, false);
        assert_eq!(inputs.advance(0, 40), None);
        assert_eq!(inputs.advance(1, 30), Some(30));
    }

    #[test]
    fn ended_inputs_are_left_out() {
        let mut inputs = WatermarkCombiner::of_inputs(2);
        inputs.advance(0, 10);
        assert_eq!(inputs.end(1).watermark, Some(10));
        assert_eq!(inputs.advance(0, i64::MAX), Some(i64::MAX));
        assert_eq!(inputs.end(0), Change::default());
    }

    #[test]
    fn a_restart_goes_on_where_it_was() {
        let mut inputs = WatermarkCombiner::of_channels(2);
        inputs.resume(100);
        assert_eq!(inputs.advance(0, 200), None);
        assert_eq!(inputs.advance(1, 150), Some(150));
    }
}
