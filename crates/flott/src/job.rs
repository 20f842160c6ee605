//! From a plan to a job that runs, and runs again after a failure.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use flott_catalog::ObjectPath;
use flott_catalog::connector::{BadRecordHandler, FailOnBadRecord, TableSink, WriterContext};
use flott_connectors::bad_records::{DeadLetters, SkipBadRecords};
use flott_functions::SessionSettings;
use flott_plan::PlannerConfig;
use flott_plan::logical::{OnBadRecord, Scan};
use flott_plan::physical::PhysicalPlan;
use flott_runtime::{
    Checkpoint, CheckpointDirectory, CheckpointStore, EndHook, JobConfig, JobGraph, JobHandle,
    LateTable, MemoryCheckpointStore, ResultSender, RuntimeError, Surroundings, start,
    start_restarting, translate,
};
use flott_types::Schema;

use crate::config::{Memory, Recovery, RuntimeOptions, Storage};

/// Tables that take bad records, by path.
pub(crate) type DeadLetterTables = HashMap<ObjectPath, (Schema, Arc<dyn TableSink>)>;

/// Makes the graph of a job, anew for each attempt.
pub(crate) struct JobMaker {
    plan: Arc<PhysicalPlan>,
    settings: SessionSettings,
    config: PlannerConfig,
    dead_letters: DeadLetterTables,
    late_rows: Option<Arc<LateTable>>,
}

impl JobMaker {
    pub(crate) fn new(
        plan: Arc<PhysicalPlan>,
        settings: SessionSettings,
        config: PlannerConfig,
        dead_letters: DeadLetterTables,
        late_rows: Option<LateTable>,
    ) -> Self {
        let late_rows = late_rows.map(Arc::new);
        Self { plan, settings, config, dead_letters, late_rows }
    }

    /// The graph, and what is to be called when it has ended.
    pub(crate) fn graph(
        &self,
        results: Option<ResultSender>,
    ) -> Result<(JobGraph, Vec<EndHook>), RuntimeError> {
        let on_end = std::cell::RefCell::new(Vec::new());
        let around = Surroundings {
            settings: &self.settings,
            config: &self.config,
            results,
            bad_records: &|scan| self.bad_records(scan, &mut on_end.borrow_mut()),
            late_rows: self.late_rows.clone(),
        };
        let graph = translate(&self.plan, around)?;
        Ok((graph, on_end.into_inner()))
    }

    /// What takes the bad records of a scan; dead letters are closed when the job ends.
    fn bad_records(
        &self,
        scan: &Scan,
        on_end: &mut Vec<EndHook>,
    ) -> Result<Arc<dyn BadRecordHandler>, RuntimeError> {
        let path = match &scan.on_error {
            OnBadRecord::Fail => return Ok(Arc::new(FailOnBadRecord)),
            OnBadRecord::Skip => return Ok(Arc::new(SkipBadRecords::new(scan.path.to_string()))),
            OnBadRecord::DeadLetter(path) => path,
        };
        let Some((schema, sink)) = self.dead_letters.get(path) else {
            return Err(RuntimeError::internal("Source", "its dead-letter table is not known"));
        };
        let context = WriterContext {
            job_id: format!("dead-letters-{}", job_id()),
            task: 0,
            parallelism: 1,
            static_partitions: Vec::new(),
            overwrite: false,
            state: None,
        };
        let letters =
            Arc::new(DeadLetters::new(schema, sink.writer(&context)?, sink.committer()?)?);
        let closing = letters.clone();
        on_end.push(Arc::new(move || Ok(closing.close()?)));
        Ok(letters)
    }
}

/// A job that is about to start.
pub(crate) struct JobStart {
    pub(crate) maker: JobMaker,
    pub(crate) options: RuntimeOptions,
    pub(crate) recovery: Recovery,
    pub(crate) memory: Memory,
}

impl JobStart {
    /// Starts a job whose rows go to whoever runs the query. What a reader has seen cannot be taken
    /// back, so that it is never restarted.
    pub(crate) fn query(self, results: ResultSender) -> Result<JobHandle, RuntimeError> {
        let config = self.config(job_id().into());
        let (graph, on_end) = self.maker.graph(Some(results))?;
        start(graph, JobConfig { on_end, ..config }, None)
    }

    /// Starts a job that writes tables.
    pub(crate) fn insert(self) -> Result<JobHandle, RuntimeError> {
        let id: Arc<str> = job_id().into();
        let store: Option<Arc<dyn CheckpointStore>> = match &self.recovery.storage {
            Storage::None => None,
            Storage::Memory => Some(Arc::new(MemoryCheckpointStore::default())),
            Storage::Folder(root) => {
                let folder = root.join(&*id);
                Some(Arc::new(CheckpointDirectory::new(folder, self.recovery.retained)))
            }
        };
        let config = JobConfig {
            checkpoint_interval: self.recovery.interval,
            checkpoint_min_pause: self.recovery.min_pause,
            checkpoint_timeout: self.recovery.timeout,
            tolerable_failed_checkpoints: self.recovery.tolerable_failures,
            drop_unknown_state: self.recovery.drop_unclaimed,
            checkpoints: store,
            ..self.config(id)
        };
        let resume = self.recovery.resume.as_deref().map(Checkpoint::load).transpose()?;
        let maker = self.maker;
        start_restarting(
            Box::new(move || maker.graph(None)),
            config,
            resume,
            self.recovery.restarts,
        )
    }

    fn config(&self, job_id: Arc<str>) -> JobConfig {
        JobConfig {
            job_id,
            zone: self.maker.settings.zone.clone(),
            max_parallelism: self.maker.config.max_parallelism,
            chaining: self.options.chaining,
            buffer_timeout: self.options.buffer_timeout,
            watermark_interval: self.options.watermark_interval,
            memory: self.memory.budget(),
            ..JobConfig::default()
        }
    }
}

/// A name that no other job of this or another process has.
fn job_id() -> String {
    static JOBS: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let number = JOBS.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{number:x}", now.as_micros(), std::process::id())
}
