//! Timers against an ordered set.

use std::collections::BTreeSet;

use flott_state::{KeyGroupRange, StateReader, StateWriter, TimerQueue};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Register(i64, u32),
    Delete(i64, u32),
    PopDue(i64),
    /// Through a snapshot into two tasks and back.
    Rescale,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0i64..40, 0u32..6).prop_map(|(time, payload)| Step::Register(time, payload)),
        3 => (0i64..40, 0u32..6).prop_map(|(time, payload)| Step::Delete(time, payload)),
        2 => (0i64..40).prop_map(Step::PopDue),
        1 => Just(Step::Rescale),
    ]
}

proptest! {
    #[test]
    fn timers_fire_in_order_and_once(steps in prop::collection::vec(step(), 1..300)) {
        let mut timers = TimerQueue::new();
        let mut model = BTreeSet::new();
        for step in steps {
            match step {
                Step::Register(time, payload) => {
                    prop_assert_eq!(timers.register(time, payload), model.insert((time, payload)));
                }
                Step::Delete(time, payload) => {
                    prop_assert_eq!(timers.delete(time, &payload), model.remove(&(time, payload)));
                }
                Step::PopDue(now) => {
                    while let Some(timer) = timers.pop_due(now) {
                        prop_assert_eq!(Some(timer), model.pop_first());
                    }
                }
                Step::Rescale => timers = rescaled(&timers),
            }
            prop_assert_eq!(timers.len(), model.len());
            prop_assert_eq!(timers.next_time(), model.first().map(|(time, _)| *time));
        }
    }
}

fn rescaled(timers: &TimerQueue<u32>) -> TimerQueue<u32> {
    let mut writer = StateWriter::new(6);
    let section = writer.keyed("timers", 1, "slot");
    timers.snapshot(section, |payload| *payload as u16, |payload, out| out.u32(*payload));
    let snapshot = writer.finish();
    let mut all = TimerQueue::new();
    for task in 0..2 {
        let range = KeyGroupRange::of_task(6, 2, task);
        let mut reader = StateReader::new(6, range.clone());
        reader.add(&snapshot).unwrap();
        let mut part = TimerQueue::new();
        let entries = reader.keyed("timers", 1, "slot").unwrap();
        part.restore(entries, |_, input| input.u32()).unwrap();
        for (time, payload) in part.iter() {
            assert!(range.contains(*payload as u16));
            assert!(all.register(time, *payload));
        }
    }
    all
}
