//! OVER in the order of any column: later rows change the results of earlier ones.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use flott_plan::logical::FrameUnit;
use flott_plan::physical::{OverWindow, WindowFunction};
use flott_state::{
    EncodedRows, KeySlots, SortColumn, SortKeyEncoder, StateReader, StateWriter, Ttl,
};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::frames::growing;
use super::functions::Functions;
use super::given::{GivenRows, Out};
use super::given_partitions::{GivenPartitions, KEY_BYTES};
use super::partition::{Partition, Position};
use super::script::Script;
use crate::Result;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::movable;

/// The name and version of the state.
const SECTION: &str = "updating over";
const VERSION: u16 = 1;
/// Partitions looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;
/// Gives each row with the results of functions over the rows up to it in the order of a column, and
/// gives rows anew when their results change; Flink's `NonTime…UnboundedPrecedingFunction`:
///
/// - A row that comes gives itself in the kind it came in, one that is taken back −D; every other row
///   whose results differ afterwards gives −U and +U, in order.
/// - With RANGE rows of equal keys share their results, and come out again whenever an accumulator of
///   theirs changed, though the result be the same: AVG and the like count rows, so does SUM of values that
///   may be NULL.
/// - What is taken back and is not there is passed over.
///
/// A row behind all others costs the same however many there are; any other one costs as much as
/// its partition has rows.
pub struct UpdatingOverOperator {
    partition: Vec<usize>,
    order: Vec<usize>,
    /// Whether rows of equal keys share their results.
    peers: bool,
    /// Columns whose values other than NULL change an accumulator, whatever they are.
    counted: Vec<usize>,
    keys: SortKeyEncoder,
    slots: KeySlots,
    partitions: Vec<Partition>,
    given: GivenRows,
    /// The functions have seen all rows of each partition.
    functions: Functions,
    key_bytes: usize,
    state_bytes: usize,
    groups: Vec<u32>,
    fresh: Vec<u32>,
}

/// The rows of a batch, encoded.
struct Batch<'a> {
    columns: &'a [ArrayRef],
    args: Vec<ArrayRef>,
    rows: &'a EncodedRows,
    now: i64,
}

/// A row behind all others of its partition, whose results are still to be computed.
struct Append {
    row: u32,
    id: u32,
    group: u32,
    key: i64,
    kind: RowKind,
}

/// What changed in a partition.
struct Change {
    row: u32,
    /// In which kind the row came; `None` when it left.
    came: Option<RowKind>,
    /// Whether results are given again though they are what they were.
    repeats: bool,
}

/// The columns that functions count beside what they show of them.
fn counted(functions: &[WindowFunction]) -> Vec<usize> {
    let column = |function: &WindowFunction| {
        let WindowFunction::Aggregate(call) = function else { return None };
        let counts = match call.function.name {
            "AVG" | "STDDEV_POP" | "STDDEV_SAMP" | "VAR_POP" | "VAR_SAMP" => true,
            "SUM" => call.arg_types.iter().all(|ty| ty.nullable),
            _ => false,
        };
        call.args.first().copied().filter(|_| counts)
    };
    functions.iter().filter_map(column).collect()
}

impl UpdatingOverOperator {
    /// An operator over rows of `input` that gives columns of `output`: the input's, then results.
    pub fn new(spec: &OverWindow, input: &Schema, output: &Schema) -> Result<Self> {
        let type_of = |column: &usize| input.fields[*column].data_type.clone();
        let partition: Vec<DataType> = spec.partition.iter().map(type_of).collect();
        let order: Vec<SortColumn> = spec
            .order
            .iter()
            .map(|(column, descending, nulls_first)| SortColumn {
                data_type: type_of(column),
                descending: *descending,
                nulls_first: *nulls_first,
            })
            .collect();
        let ttl = Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX));
        Ok(Self {
            partition: spec.partition.clone(),
            order: spec.order.iter().map(|(column, ..)| *column).collect(),
            peers: spec.frame.unit == FrameUnit::Range,
            counted: match spec.frame.unit {
                FrameUnit::Range => counted(&spec.functions),
                FrameUnit::Rows => Vec::new(),
            },
            keys: SortKeyEncoder::new(&order)?,
            slots: KeySlots::new(&partition, ttl),
            partitions: Vec::new(),
            given: GivenRows::new(input, output),
            functions: Functions::new(&spec.functions, false)?,
            key_bytes: 0,
            state_bytes: 0,
            groups: Vec::new(),
            fresh: Vec::new(),
        })
    }

    /// Finds the partitions of a batch's rows, and empties those that expired.
    fn enter(&mut self, columns: &[ArrayRef], rows: usize, now: i64) -> Result<()> {
        let keys = self.slots.encoder().encode(&pick(columns, &self.partition), rows)?;
        let (slots, mut partitions) = self.parts();
        movable::load(slots, &mut partitions, &keys, now)?;
        self.slots.write(&keys, now, &mut self.groups, &mut self.fresh)?;
        self.slots.meet(&self.groups);
        self.resize(self.slots.index().slot_bound() as usize);
        for row in std::mem::take(&mut self.fresh) {
            self.forget(self.groups[row as usize]);
        }
        Ok(())
    }

    fn resize(&mut self, groups: usize) {
        self.functions.resize(groups);
        if groups > self.partitions.len() {
            self.partitions.resize_with(groups, Partition::default);
        }
    }

    fn forget(&mut self, group: u32) {
        let partition = std::mem::take(&mut self.partitions[group as usize]);
        self.key_bytes -= partition.bytes(KEY_BYTES);
        self.given.forget(partition.in_order().0);
        self.functions.reset(&[group]);
    }

    /// A row that comes. Those behind all others are put off, to be computed together.
    fn insert(
        &mut self,
        batch: &Batch,
        (row, kind): (usize, RowKind),
        key: &[u8],
        appends: &mut Vec<Append>,
        out: &mut Out,
    ) -> Result<()> {
        let group = self.groups[row];
        let id = self.given.keep(batch.rows, row)?;
        let partition = &mut self.partitions[group as usize];
        let place = partition.compare_to_last(key);
        self.key_bytes += partition.insert(key, id, KEY_BYTES);
        if place == Ordering::Greater {
            partition.tail += 1;
        }
        let append = Append { row: row as u32, id, group, key: partition.tail, kind };
        match place {
            Ordering::Greater => appends.push(append),
            Ordering::Equal if !self.peers => appends.push(append),
            Ordering::Equal => {
                self.append(batch, appends, out)?;
                self.join_last(batch, &append, key, out)?;
            }
            Ordering::Less => {
                self.append(batch, appends, out)?;
                let position = self.partitions[group as usize].last_of(key);
                let change = self.change(batch, row, id, Some(kind));
                self.recompute(group, change, position, batch.now, out)?;
            }
        }
        Ok(())
    }

    /// Computes the results of rows that stand behind all others.
    fn append(&mut self, batch: &Batch, appends: &mut Vec<Append>, out: &mut Out) -> Result<()> {
        if appends.is_empty() {
            return Ok(());
        }
        let appends = std::mem::take(appends);
        let mut script = Script { peers: self.peers, ..Script::default() };
        for append in &appends {
            let step = script.step(append.group, 1, append.key);
            script.reads.push(step);
        }
        let rows = UInt32Array::from_iter_values(appends.iter().map(|append| append.row));
        let args = batch.args.iter().map(|column| take(column, &rows, None));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let results = self.functions.run(&args, &script, batch.now)?;
        let results = self.given.results().encode(&results, appends.len())?;
        appends.iter().enumerate().try_for_each(|(at, append)| {
            self.given.settle(append.id, (&results, at), Some(append.kind), false, out)
        })
    }

    /// A row of the last key: its peers get its results.
    fn join_last(
        &mut self,
        batch: &Batch,
        append: &Append,
        key: &[u8],
        out: &mut Out,
    ) -> Result<()> {
        let args: Vec<ArrayRef> =
            batch.args.iter().map(|column| column.slice(append.row as usize, 1)).collect();
        let script = growing(&[append.group], &[append.key], true);
        let results = self.functions.run(&args, &script, batch.now)?;
        let results = self.given.results().encode(&results, 1)?;
        let peers = self.partitions[append.group as usize].peers(key).to_vec();
        let change = self.change(batch, append.row as usize, append.id, Some(append.kind));
        peers.into_iter().try_for_each(|peer| self.settle(peer, &results, 0, &change, out))
    }

    /// A row that is taken back.
    fn remove(&mut self, batch: &Batch, row: usize, key: &[u8], out: &mut Out) -> Result<()> {
        let group = self.groups[row];
        let given = &self.given;
        let removed = self.partitions[group as usize]
            .remove(key, KEY_BYTES, |kept| given.is_row(kept, batch.rows, row));
        let Some((id, among, bytes)) = removed else { return Ok(()) };
        let position = self.partitions[group as usize].position(key, among);
        self.key_bytes -= bytes;
        let change = self.change(batch, row, id, None);
        self.recompute(group, change, position, batch.now, out)
    }

    fn change(&self, batch: &Batch, row: usize, id: u32, came: Option<RowKind>) -> Change {
        let repeats = self.counted.iter().any(|column| batch.columns[*column].is_valid(row));
        Change { row: id, came, repeats }
    }

    /// Computes a partition anew and gives what changed from a position on.
    fn recompute(
        &mut self,
        group: u32,
        change: Change,
        position: Position,
        now: i64,
        out: &mut Out,
    ) -> Result<()> {
        let (ids, keys) = self.partitions[group as usize].in_order();
        self.functions.reset(&[group]);
        let columns = self.given.gather(&ids)?;
        let args = pick(&columns, self.functions.args());
        let script = growing(&vec![group; ids.len()], &keys, self.peers);
        let results = self.functions.run(&args, &script, now)?;
        let results = self.given.results().encode(&results, ids.len())?;
        self.partitions[group as usize].tail = keys.last().copied().unwrap_or(0);
        let changed = position.before + position.among;
        let first = if self.peers { position.before } else { changed };
        for (at, id) in ids.iter().enumerate().skip(first) {
            if at == changed {
                self.left(&change, out);
            }
            self.settle(*id, &results, at, &change, out)?;
        }
        if changed >= ids.len() {
            self.left(&change, out);
        }
        Ok(())
    }

    fn left(&mut self, change: &Change, out: &mut Out) {
        if change.came.is_none() {
            self.given.leave(change.row, out);
        }
    }

    /// Gives a row if it came, or if its results are no longer what they were.
    fn settle(
        &mut self,
        id: u32,
        results: &EncodedRows,
        at: usize,
        change: &Change,
        out: &mut Out,
    ) -> Result<()> {
        let came = change.came.filter(|_| change.row == id);
        self.given.settle(id, (results, at), came, change.repeats, out)
    }

    /// Forgets partitions without rows, and some that expired.
    fn clean(&mut self, now: i64, rows: usize) -> Result<()> {
        let mut over = Vec::new();
        self.slots.sweep(now, rows + SWEEP, &mut over);
        let empty = self.groups.iter().filter(|group| self.partitions[**group as usize].is_empty());
        over.extend(empty);
        for group in over {
            if self.slots.remove(group) {
                self.forget(group);
            }
        }
        Ok(self.slots.sweep_disk(now, rows + SWEEP)?)
    }

    /// The keys of the partitions, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, GivenPartitions<'_>) {
        let partitions = GivenPartitions {
            order: &self.order,
            keys: &self.keys,
            partitions: &mut self.partitions,
            given: &mut self.given,
            functions: Some(&mut self.functions),
            key_bytes: &mut self.key_bytes,
        };
        (&mut self.slots, partitions)
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.partitions.capacity() * size_of::<Partition>()
            + self.key_bytes
            + self.given.memory()
            + self.functions.memory();
    }

    fn state_schema(&self) -> String {
        let unit = if self.peers { "RANGE" } else { "ROWS" };
        self.slots.schema(&format!("{unit} {}", self.functions.schema()))
    }
}

impl Operator for UpdatingOverOperator {
    fn name(&self) -> &str {
        "OverAggregate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let columns = batch.rows.columns();
        let now = ctx.now();
        self.enter(columns, batch.len(), now)?;
        let keys = self.keys.encode(&pick(columns, &self.order))?;
        let rows = self.given.rows().encode(columns, batch.len())?;
        let args = pick(columns, self.functions.args());
        let encoded = Batch { columns, args, rows: &rows, now };
        let mut out = Out::default();
        let mut appends = Vec::new();
        let mut counts = Vec::with_capacity(batch.len() + 1);
        counts.push(0);
        for row in 0..batch.len() {
            let (kind, key) = (batch.kind(row), keys.row(row));
            if kind.adds() {
                self.insert(&encoded, (row, kind), key, &mut appends, &mut out)?;
            } else {
                self.append(&encoded, &mut appends, &mut out)?;
                self.remove(&encoded, row, key, &mut out)?;
            }
            counts.push(out.len() + appends.len());
        }
        self.append(&encoded, &mut appends, &mut out)?;
        let marks = ctx.marks().remap(|row| counts[row]);
        let out = self.given.finish(out)?;
        self.clean(now, batch.len())?;
        self.account();
        ctx.emit_marked(out, marks)
    }

    fn snapshot(&mut self, state: &mut StateWriter) -> Result<()> {
        let section = state.keyed(SECTION, VERSION, &self.state_schema());
        let (slots, partitions) = self.parts();
        movable::snapshot(slots, &partitions, section)?;
        self.slots.handed_over(state);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader<'_>, ctx: &OperatorContext) -> Result<()> {
        let entries = state.keyed(SECTION, VERSION, &self.state_schema())?;
        let (slots, mut partitions) = self.parts();
        movable::restore(slots, &mut partitions, entries, ctx.now(), ctx)?;
        self.account();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    fn spills(&self) -> bool {
        !self.partition.is_empty()
    }

    fn spill(&mut self, room: usize, ctx: &OperatorContext) -> Result<()> {
        let bytes = (self.state_bytes, room);
        let (slots, mut partitions) = self.parts();
        if movable::make_way(slots, &mut partitions, bytes, ctx)? {
            self.account();
        }
        Ok(())
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
