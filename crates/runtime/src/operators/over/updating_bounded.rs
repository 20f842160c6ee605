//! OVER the last rows in the order of any column: later rows change the results of those behind them.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use flott_plan::physical::{ColumnAggregate, OverWindow, WindowFunction};
use flott_state::{KeySlots, SortColumn, SortKeyEncoder, StateReader, StateWriter, Ttl};
use flott_types::{ChangelogBatch, DataType, RowKind, Schema};

use super::bounds::Ordered;
use super::given::{GivenRows, Out};
use super::given_partitions::{GivenPartitions, KEY_BYTES};
use super::partition::Partition;
use super::sliding::aggregate;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::operators::aggregation::pick;
use crate::operators::movable;
use crate::{Result, RuntimeError};

/// The name and version of the state.
const SECTION: &str = "updating bounded over";
const VERSION: u16 = 1;
/// Partitions looked at for expiry with each batch, beside one for each row.
const SWEEP: usize = 64;
/// Gives each row with aggregates over itself and so many rows before it in the order of a column
/// (`ROWS BETWEEN n PRECEDING AND CURRENT ROW`), and gives rows anew when their results change. Not in Flink.
///
/// - A row that comes gives itself in the kind it came in, one that is taken back −D; those of the next `n` rows
///   whose results differ afterwards give −U and +U, in order. Rows of equal keys stand in the order in
///   which they came.
/// - What is taken back and is not there is passed over.
///
/// A row costs as much as the frame is long, wherever it comes: the rows round all changes of a batch are gathered
/// and aggregated together.
pub struct BoundedOverOperator {
    partition: Vec<usize>,
    order: Vec<usize>,
    /// How many rows before the current one are in its frame.
    preceding: usize,
    calls: Vec<ColumnAggregate>,
    keys: SortKeyEncoder,
    slots: KeySlots,
    partitions: Vec<Partition>,
    given: GivenRows,
    key_bytes: usize,
    input: SchemaRef,
    state_bytes: usize,
}

/// A row that came or went, with the rows round the place.
struct Change {
    row: u32,
    /// In which kind the row came; `None` when it left.
    came: Option<RowKind>,
    /// Rows whose results may have changed: a range of those gathered.
    affected: std::ops::Range<usize>,
}

/// The rows round the changes of a batch, one change behind the other.
#[derive(Default)]
struct Surroundings {
    changes: Vec<Change>,
    ids: Vec<u32>,
    /// The rows gathered for one change are a partition.
    ordered: Vec<std::ops::Range<usize>>,
    frames: Vec<std::ops::Range<usize>>,
    /// By row of the batch, how many changes there are up to it.
    counts: Vec<usize>,
}

impl BoundedOverOperator {
    /// An operator over rows of `input` that gives columns of `output`: the input's, then results. Frames
    /// reach `preceding` rows back; all functions are aggregates.
    pub fn new(
        spec: &OverWindow,
        preceding: usize,
        input: &Schema,
        output: &Schema,
    ) -> Result<Self> {
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
        let calls = spec.functions.iter().map(|function| match function {
            WindowFunction::Aggregate(call) => Ok(call.clone()),
            other => Err(RuntimeError::internal(
                "OverAggregate",
                format!("{} over a frame", other.name()),
            )),
        });
        Ok(Self {
            partition: spec.partition.clone(),
            order: spec.order.iter().map(|(column, ..)| *column).collect(),
            preceding,
            calls: calls.collect::<Result<_>>()?,
            keys: SortKeyEncoder::new(&order)?,
            slots: KeySlots::new(
                &partition,
                Ttl::from_millis(i64::try_from(spec.state_ttl).unwrap_or(i64::MAX)),
            ),
            partitions: Vec::new(),
            given: GivenRows::new(input, output),
            key_bytes: 0,
            input: input.to_arrow(),
            state_bytes: 0,
        })
    }

    /// Finds the partitions of a batch's rows, and empties those that expired.
    fn enter(&mut self, columns: &[ArrayRef], rows: usize, now: i64) -> Result<Vec<u32>> {
        let keys = self.slots.encoder().encode(&pick(columns, &self.partition), rows)?;
        let (mut groups, mut fresh) = (Vec::new(), Vec::new());
        let (slots, mut partitions) = self.parts();
        movable::load(slots, &mut partitions, &keys, now)?;
        self.slots.write(&keys, now, &mut groups, &mut fresh)?;
        self.slots.meet(&groups);
        self.resize(self.slots.index().slot_bound() as usize);
        for row in fresh {
            self.forget(groups[row as usize]);
        }
        Ok(groups)
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.partitions.len() {
            self.partitions.resize_with(groups, Partition::default);
        }
    }

    fn forget(&mut self, group: u32) {
        let partition = std::mem::take(&mut self.partitions[group as usize]);
        self.key_bytes -= partition.bytes(KEY_BYTES);
        self.given.forget(partition.in_order().0);
    }

    /// Puts rows in their places, takes others back, and notes what is round each.
    fn place(&mut self, batch: &ChangelogBatch, groups: &[u32]) -> Result<Surroundings> {
        let columns = batch.rows.columns();
        let keys = self.keys.encode(&pick(columns, &self.order))?;
        let encoded = self.given.rows().encode(columns, batch.len())?;
        let mut round = Surroundings::default();
        for (row, group) in groups.iter().enumerate() {
            let (kind, key) = (batch.kind(row), keys.row(row));
            let partition = &mut self.partitions[*group as usize];
            if kind.adds() {
                let id = self.given.keep(&encoded, row)?;
                self.key_bytes += partition.insert(key, id, KEY_BYTES);
                let among = partition.peers(key).len() - 1;
                let (ids, at) = partition.around(key, among, self.preceding, self.preceding + 1);
                round.add(id, Some(kind), &ids, at, self.preceding);
            } else {
                let given = &self.given;
                let removed =
                    partition.remove(key, KEY_BYTES, |kept| given.is_row(kept, &encoded, row));
                if let Some((id, among, freed)) = removed {
                    self.key_bytes -= freed;
                    let (ids, at) = partition.around(key, among, self.preceding, self.preceding);
                    round.add(id, None, &ids, at, self.preceding);
                }
            }
            round.counts.push(round.changes.len());
        }
        Ok(round)
    }

    /// What all changes give, and how many rows come out of the first changes.
    fn replay(&mut self, round: &Surroundings, now: i64) -> Result<(Out, Vec<usize>)> {
        let options = RecordBatchOptions::new().with_row_count(Some(round.ids.len()));
        let columns = self.given.gather(&round.ids)?;
        let rows = RecordBatch::try_new_with_options(self.input.clone(), columns, &options)?;
        let ordered = Ordered { partitions: round.ordered.clone(), peers: Vec::new() };
        let results = aggregate(&self.calls, &rows, &round.frames, &ordered, now)?;
        let results = self.given.results().encode(&results, round.ids.len())?;
        let mut out = Out::default();
        let mut given = Vec::with_capacity(round.changes.len() + 1);
        given.push(0);
        for change in &round.changes {
            if change.came.is_none() {
                self.given.leave(change.row, &mut out);
            }
            for at in change.affected.clone() {
                let id = round.ids[at];
                let came = change.came.filter(|_| change.row == id);
                self.given.settle(id, (&results, at), came, false, &mut out)?;
            }
            given.push(out.len());
        }
        Ok((out, given))
    }

    /// Forgets partitions without rows, and some that expired.
    fn clean(&mut self, now: i64, groups: &[u32]) -> Result<()> {
        let mut over = Vec::new();
        self.slots.sweep(now, groups.len() + SWEEP, &mut over);
        over.extend(groups.iter().filter(|group| self.partitions[**group as usize].is_empty()));
        for group in over {
            if self.slots.remove(group) {
                self.forget(group);
            }
        }
        Ok(self.slots.sweep_disk(now, groups.len() + SWEEP)?)
    }

    /// The keys of the partitions, and what is kept under them.
    fn parts(&mut self) -> (&mut KeySlots, GivenPartitions<'_>) {
        let partitions = GivenPartitions {
            order: &self.order,
            keys: &self.keys,
            partitions: &mut self.partitions,
            given: &mut self.given,
            functions: None,
            key_bytes: &mut self.key_bytes,
        };
        (&mut self.slots, partitions)
    }

    fn account(&mut self) {
        self.state_bytes = self.slots.memory()
            + self.partitions.capacity() * size_of::<Partition>()
            + self.key_bytes
            + self.given.memory();
    }

    /// State of other frames is of no use: the results kept with the rows are those of this one.
    fn state_schema(&self) -> String {
        let calls = self.calls.iter().map(|call| format!("{}{:?}", call.function.name, call.args));
        let calls: Vec<String> = calls.collect();
        self.slots.schema(&format!("{} PRECEDING {}", self.preceding, calls.join(" ")))
    }
}

impl Surroundings {
    /// Notes a change at position `at` of the rows `ids`.
    fn add(&mut self, row: u32, came: Option<RowKind>, ids: &[u32], at: usize, preceding: usize) {
        let start = self.ids.len();
        let end = start + ids.len();
        for place in start..end {
            self.ordered.push(start..end);
            self.frames.push(place.saturating_sub(preceding).max(start)..place + 1);
        }
        self.ids.extend(ids);
        self.changes.push(Change { row, came, affected: start + at..end });
    }
}

impl Operator for BoundedOverOperator {
    fn name(&self) -> &str {
        "OverAggregate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let now = ctx.now();
        let groups = self.enter(batch.rows.columns(), batch.len(), now)?;
        let round = self.place(&batch, &groups)?;
        let (out, given) = self.replay(&round, now)?;
        let changes = |rows: usize| rows.checked_sub(1).map_or(0, |last| round.counts[last]);
        let marks = ctx.marks().remap(|row| given[changes(row)]);
        let out = self.given.finish(out)?;
        self.clean(now, &groups)?;
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
