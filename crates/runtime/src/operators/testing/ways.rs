//! One feed in all the ways in which an operator may run: alone, in several tasks that own a part of the
//! keys each, rescaled at every restart, and with mini-batch.

use std::collections::BTreeMap;
use std::sync::Arc;

use flott_plan::MiniBatch;
use flott_state::{DEFAULT_MAX_PARALLELISM, KeyGroupRange};
use flott_types::{ChangelogMode, DataType, RowKind, Schema};
use proptest::prelude::TestCaseError;
use proptest::prop_assert_eq;

use super::{Row, rows};
use crate::checkpoint::Checkpoint;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::exchange::HashPartitioner;
use crate::operator::Operator;
use crate::operators::{Changelog, MiniBatchOperator};
use crate::testing::{Fed, OperatorHarness};

/// An input: its columns, and those by which its rows are spread over tasks.
pub struct Side {
    pub schema: Schema,
    pub keys: Vec<usize>,
    /// Its kinds and a unique key, where mini-batch folds it.
    pub folded: Option<(ChangelogMode, Option<Vec<usize>>)>,
}

impl Side {
    /// An input that is not folded.
    pub fn by(schema: Schema, keys: &[usize]) -> Self {
        Self { schema, keys: keys.to_vec(), folded: None }
    }
}

/// An operator under test.
pub struct Ways<'a> {
    /// Makes it, with mini-batch where it gathers rows itself.
    pub make: &'a dyn Fn(Option<MiniBatch>) -> Box<dyn Operator>,
    pub inputs: Vec<Side>,
    pub output: Schema,
    pub gathers: Gathers,
}

/// Whether an operator runs with mini-batch too; with the kinds that it gives and a unique key of its rows.
pub enum Gathers {
    No,
    /// Rows are gathered for it.
    Around(ChangelogMode, Option<Vec<usize>>),
    /// It gathers rows itself.
    Itself(ChangelogMode, Option<Vec<usize>>),
}

/// What came out between two restarts: after each thing fed the rows.
type Steps = Vec<Vec<Row>>;

impl Ways<'_> {
    /// Whether all ways give the same: several tasks the same rows after each thing that was fed, and
    /// mini-batch the same table, by net changes.
    pub fn agree(&self, fed: &[Fed]) -> Result<(), TestCaseError> {
        let alone = self.run(fed, &[1], None);
        let is_spread = self.inputs.iter().all(|input| !input.keys.is_empty());
        if is_spread {
            let several = self.run(fed, &[3, 2, 1, 4], None);
            prop_assert_eq!(several.late, alone.late, "late rows in several tasks");
            for (at, (given, expected)) in several.steps.iter().zip(&alone.steps).enumerate() {
                prop_assert_eq!(
                    bag(given),
                    bag(expected),
                    "in several tasks, after {:?}",
                    fed.get(at)
                );
            }
        }
        let (mode, key) = match &self.gathers {
            Gathers::No => return Ok(()),
            Gathers::Around(mode, key) | Gathers::Itself(mode, key) => (mode, key),
        };
        for (size, tasks) in [(3, &[1][..]), (1 << 40, &[1]), (4, &[3, 2])] {
            let tasks = if is_spread { tasks } else { &[1] };
            let limits = MiniBatch { size, latency: 1 << 40 };
            let gathered = self.run(fed, tasks, Some(limits));
            let (mut table, mut expected) = (Table::default(), Table::default());
            let mut from = 0;
            for to in settled(fed) {
                let given = gathered.steps[from..to].concat();
                if size == 1 << 40 && mode.contains(RowKind::UpdateBefore) {
                    is_net(&given)?;
                }
                given.iter().for_each(|row| table.apply(row, *mode, key.as_deref()));
                let exact = alone.steps[from..to].iter().flatten();
                exact.for_each(|row| expected.apply(row, *mode, key.as_deref()));
                prop_assert_eq!(&table, &expected, "with mini-batches of {}", size);
                from = to;
            }
        }
        Ok(())
    }

    fn run(&self, fed: &[Fed], tasks: &[usize], mini_batch: Option<MiniBatch>) -> Run {
        let mut scales = tasks.iter().cycle().copied();
        let mut run = Run { steps: Vec::new(), late: 0 };
        let mut tasks = self.tasks(scales.next().unwrap_or(1), mini_batch, None);
        for fed in fed {
            let mut given = Vec::new();
            if matches!(fed, Fed::Restart) {
                let states = tasks.iter_mut().map(|task| task.snapshot().unwrap());
                let checkpoint = merged(states.collect());
                self.take(&mut tasks, &mut given);
                run.late += late(&tasks);
                tasks = self.tasks(scales.next().unwrap_or(1), mini_batch, Some(&checkpoint));
            } else {
                self.feed(&mut tasks, fed);
                self.take(&mut tasks, &mut given);
            }
            run.steps.push(given);
        }
        // What still waits is given before a checkpoint.
        let mut last = Vec::new();
        tasks.iter_mut().for_each(|task| drop(task.snapshot().unwrap()));
        self.take(&mut tasks, &mut last);
        run.steps.push(last);
        run.late += late(&tasks);
        run
    }

    fn tasks(
        &self,
        parallelism: usize,
        mini_batch: Option<MiniBatch>,
        from: Option<&Checkpoint>,
    ) -> Vec<OperatorHarness> {
        let task = |task: usize| {
            let clock = Arc::new(VirtualClock::new(0));
            let mut operator = (self.make)(mini_batch);
            if let (Some(limits), Gathers::Around(mode, key)) = (mini_batch, &self.gathers) {
                let changelog = |schema: &Schema, mode, key: &Option<Vec<usize>>| Changelog {
                    schema: Arc::new(schema.clone()),
                    mode,
                    key: key.clone(),
                    repeats: false,
                };
                let inputs = self.inputs.iter();
                let folded = inputs.map(|side| {
                    let (mode, key) = side.folded.as_ref()?;
                    Some(changelog(&side.schema, *mode, key))
                });
                let inputs: Vec<Option<Changelog>> = folded.collect();
                let output = changelog(&self.output, *mode, key);
                operator = MiniBatchOperator::around(operator, limits, &inputs, &output);
            }
            let groups = DEFAULT_MAX_PARALLELISM;
            let info = TaskInfo {
                task,
                parallelism,
                key_groups: KeyGroupRange::of_task(groups, parallelism as u16, task as u16),
                memory: crate::testing::memory(),
                ..TaskInfo::single(operator.name(), clock.clone())
            };
            let inputs = self.inputs.len();
            OperatorHarness::task(operator, inputs, None, from, (info, clock)).unwrap()
        };
        (0..parallelism).map(task).collect()
    }

    fn feed(&self, tasks: &mut [OperatorHarness], fed: &Fed) {
        match fed {
            Fed::Rows(input, rows) => {
                let side = &self.inputs[*input];
                let of = |key: &usize| side.schema.fields[*key].data_type.clone();
                let types: Vec<DataType> = side.keys.iter().map(of).collect();
                if tasks.len() == 1 {
                    tasks[0].marked(*input, rows.batch.clone(), rows.marks.clone()).unwrap();
                    return;
                }
                let groups = DEFAULT_MAX_PARALLELISM;
                let mut hash = HashPartitioner::new(side.keys.clone(), &types, groups, tasks.len());
                for (task, part) in hash.split(rows.clone()).unwrap() {
                    if !part.batch.is_empty() {
                        tasks[task].marked(*input, part.batch, part.marks).unwrap();
                    } else if let Some(watermark) = part.marks.last() {
                        tasks[task].watermark(*input, watermark).unwrap();
                    }
                }
            }
            Fed::Watermark(input, watermark) => {
                tasks.iter_mut().for_each(|task| task.watermark(*input, *watermark).unwrap());
            }
            Fed::Idle(input, idle) => {
                tasks.iter_mut().for_each(|task| task.idle(*input, *idle).unwrap());
            }
            Fed::Clock(millis) => {
                tasks.iter_mut().for_each(|task| task.advance_clock(*millis).unwrap());
            }
            Fed::End(input) => tasks.iter_mut().for_each(|task| task.end(*input).unwrap()),
            Fed::Restart => {}
        }
    }

    fn take(&self, tasks: &mut [OperatorHarness], given: &mut Vec<Row>) {
        for task in tasks {
            given.extend(rows(&self.output, &task.take_batches()));
        }
    }
}

/// After each thing that was fed the rows that came out, and how many rows came late.
struct Run {
    steps: Steps,
    late: u64,
}

/// The content of a changelog.
#[derive(Debug, Default, PartialEq)]
struct Table {
    /// By the row, how often it is there; by its key where rows replace each other.
    rows: BTreeMap<String, (i64, String)>,
}

impl Table {
    fn apply(&mut self, (kind, row): &Row, mode: ChangelogMode, key: Option<&[usize]>) {
        if mode.has_updates() && !mode.contains(RowKind::UpdateBefore) {
            let key: Vec<_> = key.unwrap_or_default().iter().map(|key| &row[*key]).collect();
            match kind.adds() {
                true => drop(self.rows.insert(format!("{key:?}"), (1, format!("{row:?}")))),
                false => drop(self.rows.remove(&format!("{key:?}"))),
            }
            return;
        }
        let text = format!("{row:?}");
        let (count, _) = self.rows.entry(text.clone()).or_default();
        *count += if kind.adds() { 1 } else { -1 };
        if *count == 0 {
            self.rows.remove(&text);
        }
    }
}

/// Where everything that was gathered has come out: after each restart, and at the end.
fn settled(fed: &[Fed]) -> Vec<usize> {
    let restarts = fed.iter().enumerate().filter(|(_, fed)| matches!(fed, Fed::Restart));
    restarts.map(|(at, _)| at + 1).chain([fed.len() + 1]).collect()
}

/// That no row of one bundle takes another one back.
fn is_net(given: &[Row]) -> Result<(), TestCaseError> {
    let mut seen: BTreeMap<String, bool> = BTreeMap::new();
    for (kind, row) in given {
        let before = seen.insert(format!("{row:?}"), kind.adds());
        prop_assert_eq!(before.unwrap_or(kind.adds()), kind.adds(), "{:?} twice in a bundle", row);
    }
    Ok(())
}

fn bag(rows: &[Row]) -> Vec<String> {
    let mut texts: Vec<String> = rows.iter().map(|(kind, row)| format!("{kind} {row:?}")).collect();
    texts.sort_unstable();
    texts
}

fn late(tasks: &[OperatorHarness]) -> u64 {
    tasks.iter().map(|task| task.counts().late_rows).sum()
}

/// The snapshots of all tasks as one checkpoint.
fn merged(states: Vec<Checkpoint>) -> Checkpoint {
    let parallelism = states.len();
    let mut states = states.into_iter();
    let mut all = states.next().unwrap_or_default();
    for state in states {
        for (uid, of_task) in state.operators {
            let known = all.operators.entry(uid).or_insert_with(|| of_task.clone());
            known.tasks.extend(of_task.tasks);
        }
    }
    all.operators.values_mut().for_each(|operator| operator.parallelism = parallelism);
    all
}
