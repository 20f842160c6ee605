//! The end of a task that writes a table.

use std::sync::Arc;

use flott_catalog::connector::{Committable, ConnectorError, SinkWriter, TableSink, WriterContext};
use flott_state::{StateReader, StateWriter};

use crate::checkpoint::{Barrier, Checkpoint, OperatorState, TaskSnapshot};
use crate::context::TaskInfo;
use crate::element::{EndOfInput, MarkedBatch};
use crate::events::{EventSender, TaskEvent};
use crate::metrics::OperatorMetrics;
use crate::stage::Stage;
use crate::{Result, RuntimeError};

/// The section of a snapshot that holds what the writer wants to know again.
const WRITER_SECTION: &str = "writer";

/// Feeds a sink's writer, and hands what it prepares to the coordinator to be committed.
pub(crate) struct SinkStage {
    uid: Arc<str>,
    sink: Arc<dyn TableSink>,
    static_partitions: Vec<(String, String)>,
    overwrite: bool,
    writer: Option<Box<dyn SinkWriter>>,
    info: TaskInfo,
    /// The number of the task in the job.
    task_id: usize,
    metrics: Arc<OperatorMetrics>,
    events: EventSender,
    watermark: i64,
    open_inputs: usize,
    unflushed: bool,
}

impl SinkStage {
    pub fn new(
        uid: Arc<str>,
        spec: &crate::graph::SinkSpec,
        inputs: usize,
        info: TaskInfo,
        task_id: usize,
        metrics: Arc<OperatorMetrics>,
        events: EventSender,
    ) -> Self {
        Self {
            uid,
            sink: spec.sink.clone(),
            static_partitions: spec.static_partitions.clone(),
            overwrite: spec.overwrite,
            writer: None,
            info,
            task_id,
            metrics,
            events,
            watermark: i64::MIN,
            open_inputs: inputs,
            unflushed: false,
        }
    }

    /// Calls the writer and names the sink in what goes wrong.
    fn call<T>(
        &mut self,
        f: impl FnOnce(&mut dyn SinkWriter) -> Result<T, ConnectorError>,
    ) -> Result<T> {
        let Some(writer) = &mut self.writer else {
            return Err(RuntimeError::internal(
                self.info.name.clone(),
                "written before it was open",
            ));
        };
        f(&mut **writer).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: ConnectorError) -> RuntimeError {
        RuntimeError::from(error).at(&self.info.name)
    }

    fn writer_state(&self, restored: &Checkpoint) -> Result<Option<Vec<u8>>> {
        let task = self.info.task;
        let states = restored.operator(&self.uid, task, self.info.parallelism);
        let Some(state) = states.iter().find(|state| state.task == task) else { return Ok(None) };
        let mut reader = StateReader::new(self.info.max_parallelism, self.info.key_groups.clone());
        reader.add(&state.snapshot)?;
        let mut values = reader.operator(WRITER_SECTION, 1)?.into_iter();
        Ok(values.next().map(|(_, mut value)| value.bytes().map(<[u8]>::to_vec)).transpose()?)
    }
}

impl Stage for SinkStage {
    fn exact(&self) -> bool {
        false
    }

    fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        let state = restored.map(|restored| self.writer_state(restored)).transpose()?.flatten();
        let context = WriterContext {
            job_id: self.info.job_id.to_string(),
            task: self.info.task,
            parallelism: self.info.parallelism,
            static_partitions: self.static_partitions.clone(),
            overwrite: self.overwrite,
            state,
        };
        self.writer = Some(self.sink.writer(&context).map_err(|error| self.failed(error))?);
        Ok(())
    }

    fn batch(&mut self, _input: usize, rows: MarkedBatch) -> Result<()> {
        self.metrics.count_in(rows.batch.len());
        self.unflushed = true;
        self.call(|writer| writer.write(&rows.batch))?;
        rows.marks.last().map_or(Ok(()), |watermark| self.watermark(0, watermark))
    }

    fn watermark(&mut self, _input: usize, watermark: i64) -> Result<()> {
        self.watermark = watermark;
        self.metrics.record_watermark(watermark);
        self.call(|writer| writer.watermark(watermark))
    }

    fn idle(&mut self, _input: usize, _idle: bool) -> Result<()> {
        Ok(())
    }

    fn barrier(&mut self, _barrier: &Barrier, snapshot: &mut TaskSnapshot) -> Result<()> {
        let prepared = self.call(|writer| writer.prepare_commit(false))?;
        snapshot.committables.push((self.uid.clone(), prepared));
        let state = self.call(|writer| writer.snapshot())?;
        let mut section = StateWriter::new(self.info.max_parallelism);
        section.operator(WRITER_SECTION, 1, |out| out.bytes(&state));
        let state = OperatorState {
            task: self.info.task,
            watermark: self.watermark,
            since: None,
            snapshot: section.finish().into(),
        };
        snapshot.operators.push((self.uid.clone(), state));
        Ok(())
    }

    fn end(&mut self, _input: usize, _how: EndOfInput) -> Result<()> {
        self.open_inputs -= 1;
        if self.open_inputs > 0 {
            return Ok(());
        }
        let prepared: Vec<Committable> = self.call(|writer| writer.prepare_commit(true))?;
        let (sink, task) = (self.uid.clone(), self.task_id);
        self.events.send(TaskEvent::SinkEnded { sink, task, committables: prepared });
        Ok(())
    }

    fn pause(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.unflushed) {
            return Ok(());
        }
        self.call(|writer| writer.flush())
    }

    fn deadline(&self) -> Option<i64> {
        None
    }

    fn tick(&mut self, _now: i64) -> Result<()> {
        Ok(())
    }

    fn has_room(&self) -> bool {
        true
    }
}
