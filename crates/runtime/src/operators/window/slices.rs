//! Windows cut into slices, so that windows that overlap share what they have in common.
//!
//! A slice is named by its end, a window too: the windows of one function have different ends. Times
//! are wall-clock milliseconds; a slice or window holds the times from its start to before its end.

use flott_plan::logical::WindowKind;

/// The slices and windows of TUMBLE, HOP or CUMULATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::operators) struct Slices {
    shape: Shape,
    slice: i64,
    size: i64,
    offset: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Tumble,
    Hop { slide: i64 },
    Cumulate,
}

impl Slices {
    /// The slices of a function's windows; `None` for SESSION, which has none.
    pub fn of(kind: WindowKind) -> Option<Self> {
        Some(match kind {
            WindowKind::Tumble { size, offset } => {
                Self { shape: Shape::Tumble, slice: size, size, offset }
            }
            WindowKind::Hop { slide, size, offset } => {
                Self { shape: Shape::Hop { slide }, slice: gcd(size, slide), size, offset }
            }
            WindowKind::Cumulate { step, size, offset } => {
                Self { shape: Shape::Cumulate, slice: step, size, offset }
            }
            WindowKind::Session { .. } => return None,
        })
    }

    /// The end of the slice that a time falls into.
    #[inline]
    pub fn slice_end(&self, time: i64) -> i64 {
        floor(time, self.slice, self.offset).saturating_add(self.slice)
    }

    /// The end of the first window that a slice belongs to, if there is one.
    pub fn first_window(&self, slice_end: i64) -> Option<i64> {
        match self.shape {
            Shape::Tumble | Shape::Cumulate => Some(slice_end),
            Shape::Hop { slide } => {
                // The earliest start from which a window reaches to the slice's end.
                let reach = slice_end.saturating_sub(self.size);
                let below = floor(reach, slide, self.offset);
                let start = if below == reach { below } else { below.saturating_add(slide) };
                (start <= slice_end - self.slice).then(|| start.saturating_add(self.size))
            }
        }
    }

    /// The end of the window after one that a slice belongs to, if the slice belongs to that too.
    pub fn next_window(&self, slice_end: i64, window_end: i64) -> Option<i64> {
        match self.shape {
            Shape::Tumble => None,
            Shape::Hop { slide } => {
                let next = window_end.saturating_add(slide);
                (next.saturating_sub(self.size) <= slice_end - self.slice).then_some(next)
            }
            Shape::Cumulate => {
                let next = window_end.saturating_add(self.slice);
                let last = self.window_start(slice_end).saturating_add(self.size);
                (next <= last).then_some(next)
            }
        }
    }

    /// The start of a window.
    pub fn window_start(&self, window_end: i64) -> i64 {
        match self.shape {
            Shape::Tumble | Shape::Hop { .. } => window_end.saturating_sub(self.size),
            Shape::Cumulate => floor(window_end.saturating_sub(1), self.size, self.offset),
        }
    }

    /// Whether a window takes in all of the window before it that began with it, so that what came
    /// together once stays together.
    pub fn accumulates(&self) -> bool {
        self.shape == Shape::Cumulate
    }

    /// Whether every slice is a window, and every window a slice.
    pub fn are_windows(&self) -> bool {
        self.shape == Shape::Tumble
    }

    /// The ends of the slices of a window, given its start and end.
    pub fn ends_in(&self, start: i64, end: i64) -> impl Iterator<Item = i64> + use<> {
        let slice = self.slice;
        let ends = std::iter::successors(Some(start), move |end| end.checked_add(slice)).skip(1);
        ends.take_while(move |at| *at <= end)
    }

    /// All windows of a time as starts and ends, in Flink's order: of HOP the latest first.
    pub fn windows(&self, time: i64) -> impl Iterator<Item = (i64, i64)> + use<> {
        let this = *self;
        let (first, step) = match this.shape {
            Shape::Tumble | Shape::Cumulate => (this.slice_end(time), this.slice),
            Shape::Hop { slide } => {
                (floor(time, slide, this.offset).saturating_add(this.size), -slide)
            }
        };
        let holds = move |end: i64| match this.shape {
            Shape::Tumble => end == first,
            Shape::Hop { .. } => time < end,
            Shape::Cumulate => this.window_start(end) == this.window_start(first),
        };
        let ends = std::iter::successors(Some(first), move |end| end.checked_add(step));
        ends.take_while(move |end| holds(*end)).map(move |end| (this.window_start(end), end))
    }
}

/// The greatest `offset + n * unit` that is not after `time`.
fn floor(time: i64, unit: i64, offset: i64) -> i64 {
    time.saturating_sub(time.wrapping_sub(offset).rem_euclid(unit))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(kind: WindowKind) -> Slices {
        Slices::of(kind).unwrap()
    }

    /// The windows that a time's slice belongs to, by way of slices.
    fn by_slices(slices: &Slices, time: i64) -> Vec<(i64, i64)> {
        let slice = slices.slice_end(time);
        let next = |end: &i64| slices.next_window(slice, *end);
        std::iter::successors(slices.first_window(slice), next)
            .map(|end| (slices.window_start(end), end))
            .collect()
    }

    #[test]
    fn times_before_the_epoch_align_too() {
        let tumble = slices(WindowKind::Tumble { size: 10, offset: 3 });
        for (time, start) in [(-1, -7), (-7, -7), (-8, -17), (2, -7), (3, 3), (12, 3), (13, 13)] {
            assert_eq!(tumble.windows(time).collect::<Vec<_>>(), [(start, start + 10)]);
        }
        let negative = slices(WindowKind::Tumble { size: 10, offset: -3 });
        assert_eq!(negative.windows(6).collect::<Vec<_>>(), [(-3, 7)]);
    }

    #[test]
    fn windows_come_in_flinks_order() {
        let hop = slices(WindowKind::Hop { slide: 5, size: 15, offset: 0 });
        assert_eq!(hop.windows(1).collect::<Vec<_>>(), [(0, 15), (-5, 10), (-10, 5)]);
        let cumulate = slices(WindowKind::Cumulate { step: 10, size: 30, offset: 0 });
        assert_eq!(cumulate.windows(11).collect::<Vec<_>>(), [(0, 20), (0, 30)]);
        let sparse = slices(WindowKind::Hop { slide: 10, size: 4, offset: 0 });
        assert_eq!(sparse.windows(3).collect::<Vec<_>>(), [(0, 4)]);
        assert!(sparse.windows(5).next().is_none());
    }

    #[test]
    fn slices_belong_to_the_windows_of_their_times() {
        let kinds = [
            WindowKind::Tumble { size: 7, offset: 2 },
            WindowKind::Hop { slide: 4, size: 12, offset: 1 },
            WindowKind::Hop { slide: 4, size: 10, offset: -1 },
            WindowKind::Hop { slide: 6, size: 4, offset: 0 },
            WindowKind::Cumulate { step: 3, size: 12, offset: 2 },
        ];
        for kind in kinds {
            let slices = slices(kind);
            for time in -40..40 {
                let mut windows: Vec<_> = slices.windows(time).collect();
                windows.sort_by_key(|(_, end)| *end);
                assert!(windows.iter().all(|(start, end)| (*start..*end).contains(&time)));
                assert_eq!(by_slices(&slices, time), windows, "{kind:?} at {time}");
            }
        }
    }
}
