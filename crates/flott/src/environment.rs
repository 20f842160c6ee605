//! A session: statements in, results out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flott_catalog::connector::Registry;
use flott_catalog::{CatalogManager, CatalogReader, TableLike, TemporalFunction};
use flott_functions::SessionSettings;
use flott_plan::explain::{Details, explain_with};
use flott_plan::logical::OnBadRecord;
use flott_plan::physical::PhysicalPlan;
use flott_plan::{PlanError, PlannerConfig};
use flott_runtime::{Checkpoint, JobHandle, LateTable, RestoreEffects, ResultSender};
use flott_sql::ast::{ExplainDetail, Insert, Query, Statement, StatementKind};
use flott_sql::parse_statement;
use flott_types::{DataType, Field, Schema, Value};

use crate::Error;
use crate::config::SessionConfig;
use crate::job::{DeadLetterTables, JobMaker, JobStart};
use crate::result::{QueryResult, Table};

/// Rows that wait for the reader of a query before its job does.
const RESULT_ROWS: usize = 65_536;

/// A session: catalogs, options, and the statements executed in it.
pub struct TableEnvironment {
    pub(crate) catalogs: CatalogManager,
    pub(crate) config: SessionConfig,
    working_directory: PathBuf,
    /// The INSERTs since BEGIN STATEMENT SET.
    statement_set: Option<Vec<Insert>>,
}

/// What a statement gave.
pub enum Outcome {
    /// It is done.
    Done,
    /// A small table.
    Table(Table),
    /// A query that runs.
    Query(QueryResult),
    /// A job that writes tables and runs.
    Job(JobHandle),
}

impl Default for TableEnvironment {
    fn default() -> Self {
        Self::new()
    }
}

impl TableEnvironment {
    /// A session with all connectors and formats, whose relative paths start at the current
    /// directory.
    pub fn new() -> Self {
        let registry = Registry::new(flott_connectors::all(), flott_formats::all())
            .with_file_formats(flott_formats::of_files())
            .with_catalogs(flott_connectors::catalogs());
        Self::with_registry(Arc::new(registry), PathBuf::from("."))
    }

    /// A session with these connectors and formats; relative paths start at `working_directory`.
    pub fn with_registry(registry: Arc<Registry>, working_directory: PathBuf) -> Self {
        Self {
            catalogs: CatalogManager::new(registry),
            config: SessionConfig::default(),
            working_directory,
            statement_set: None,
        }
    }

    /// The same session with relative paths starting elsewhere.
    pub fn in_directory(mut self, working_directory: impl Into<PathBuf>) -> Self {
        self.working_directory = working_directory.into();
        self
    }

    /// The session's options.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The session's options, to change them.
    pub fn config_mut(&mut self) -> &mut SessionConfig {
        &mut self.config
    }

    /// Executes one statement. Jobs are started, not waited for.
    pub fn execute(&mut self, sql: &str) -> Result<Outcome, Error> {
        let statement = parse_statement(sql)?;
        self.execute_statement(&statement)
    }

    /// Executes one parsed statement.
    pub fn execute_statement(&mut self, statement: &Statement) -> Result<Outcome, Error> {
        match &statement.kind {
            StatementKind::Query(query) => self.query(query).map(Outcome::Query),
            StatementKind::Insert(insert) => match &mut self.statement_set {
                Some(inserts) => {
                    inserts.push(Insert::clone(insert));
                    Ok(Outcome::Done)
                }
                None => self.insert(std::slice::from_ref(insert)).map(Outcome::Job),
            },
            StatementKind::StatementSet(inserts) => self.insert(inserts).map(Outcome::Job),
            StatementKind::BeginStatementSet if self.statement_set.is_none() => {
                self.statement_set = Some(Vec::new());
                Ok(Outcome::Done)
            }
            StatementKind::BeginStatementSet => {
                Err(PlanError::new("a statement set is open already").at(statement.span).into())
            }
            StatementKind::EndStatementSet => match self.statement_set.take() {
                Some(inserts) if inserts.is_empty() => {
                    Err(PlanError::new("No statements in the statement set, skip submit.").into())
                }
                Some(inserts) => self.insert(&inserts).map(Outcome::Job),
                None => Err(PlanError::new("no statement set is open")
                    .at(statement.span)
                    .hint("BEGIN STATEMENT SET opens one")
                    .into()),
            },
            StatementKind::Explain(explain) => {
                self.explain(&explain.statement, &explain.details).map(Outcome::Table)
            }
            StatementKind::Set(property) => {
                self.set(property.as_ref().map(|p| (p.key.value.as_str(), p.value.value.as_str())))
            }
            StatementKind::Reset(key) => {
                match key {
                    Some(key) => self.config.reset(&key.value),
                    None => self.config.reset_all(),
                }
                Ok(Outcome::Done)
            }
            _ => self.execute_definition(statement),
        }
    }

    /// Registers a temporal table function for `LATERAL TABLE(name(o.time))`, as Flink's
    /// `createTemporalTableFunction` does: each row of `table`, a table or view, holds from its
    /// `time_attribute` on until one with the same `primary_key` replaces it.
    ///
    /// Fails when there is no such table or column, or the first is no time attribute.
    pub fn create_temporal_table_function(
        &mut self,
        name: &str,
        table: &str,
        time_attribute: &str,
        primary_key: &str,
    ) -> Result<(), Error> {
        let parts: Vec<&str> = table.split('.').collect();
        let path = self.catalogs.qualify(&parts);
        let schema = match self.catalogs.find(&path)? {
            Some(TableLike::Table(table)) => table.schema(),
            Some(TableLike::View(view)) => view.schema.clone(),
            None => return Err(PlanError::new(format!("Object '{table}' not found")).into()),
        };
        let field = |column: &str| {
            let index = schema.index_of(column);
            index.map(|index| &schema.fields[index]).ok_or_else(|| {
                PlanError::new(format!("Column '{column}' not found in table '{table}'"))
            })
        };
        field(primary_key)?;
        if field(time_attribute)?.time.is_none() {
            return Err(PlanError::new(format!(
                "column '{time_attribute}' of '{table}' is no time attribute"
            ))
            .hint("declare a WATERMARK for it, or make it PROCTIME()")
            .into());
        }
        let function = TemporalFunction {
            table: path,
            time: time_attribute.to_string(),
            key: primary_key.to_string(),
        };
        self.catalogs.create_temporal_function(name, function);
        Ok(())
    }

    /// Plans a query or INSERTs without running them.
    pub fn plan(&self, statement: &Statement) -> Result<PhysicalPlan, Error> {
        let (settings, config) = self.planning()?;
        Ok(match &statement.kind {
            StatementKind::Query(query) => {
                flott_plan::plan_query(query, &self.catalogs, &settings, &config)?
            }
            StatementKind::Insert(insert) => {
                let inserts = std::slice::from_ref(&**insert);
                flott_plan::plan_inserts(inserts, &self.catalogs, &settings, &config)?
            }
            StatementKind::StatementSet(inserts) => {
                flott_plan::plan_inserts(inserts, &self.catalogs, &settings, &config)?
            }
            _ => {
                return Err(PlanError::new(
                    "Unsupported operation: only queries, INSERTs and statement sets have a plan",
                )
                .at(statement.span)
                .into());
            }
        })
    }

    pub(crate) fn planning(&self) -> Result<(SessionSettings, PlannerConfig), Error> {
        let catalogs = &self.catalogs;
        let settings =
            self.config.settings(catalogs.current_catalog(), catalogs.current_database())?;
        Ok((settings, self.config.planner(self.working_directory.clone())?))
    }

    fn query(&self, query: &Query) -> Result<QueryResult, Error> {
        let (settings, config) = self.planning()?;
        let plan = flott_plan::plan_query(query, &self.catalogs, &settings, &config)?;
        let sink = plan.node(plan.sinks[0]);
        let (schema, changelog) = (sink.schema.clone(), sink.changelog);
        let (sender, results) = flott_runtime::results(RESULT_ROWS);
        let job = self.start(plan, &settings, &config, Some(sender))?;
        Ok(QueryResult { schema, changelog, zone: settings.zone, results, job })
    }

    pub(crate) fn insert<I: AsInsert>(&self, inserts: &[I]) -> Result<JobHandle, Error> {
        let (settings, config) = self.planning()?;
        let inserts: Vec<Insert> = inserts.iter().map(AsInsert::to_insert).collect();
        let plan = flott_plan::plan_inserts(&inserts, &self.catalogs, &settings, &config)?;
        self.start(plan, &settings, &config, None)
    }

    fn start(
        &self,
        plan: PhysicalPlan,
        settings: &SessionSettings,
        config: &PlannerConfig,
        results: Option<ResultSender>,
    ) -> Result<JobHandle, Error> {
        let plan = Arc::new(plan);
        let letters = self.dead_letter_tables(&plan)?;
        let late_rows = self.late_table()?;
        let maker = JobMaker::new(plan, settings.clone(), config.clone(), letters, late_rows);
        let job = JobStart {
            options: self.config.runtime()?,
            recovery: self.config.recovery(&config.working_directory)?,
            memory: self.config.memory(&config.working_directory)?,
            maker,
        };
        Ok(match results {
            Some(results) => job.query(results)?,
            None => job.insert()?,
        })
    }

    /// What a job of this plan would do with the state of a checkpoint or savepoint.
    pub fn restore_effects(
        &self,
        plan: PhysicalPlan,
        checkpoint: &Path,
    ) -> Result<RestoreEffects, Error> {
        let (settings, config) = self.planning()?;
        let checkpoint = Checkpoint::load(checkpoint)?;
        let plan = Arc::new(plan);
        let letters = self.dead_letter_tables(&plan)?;
        // The rows of a query go nowhere: the graph is looked at and thrown away.
        let (sender, _) = flott_runtime::results(1);
        let maker = JobMaker::new(plan, settings, config, letters, self.late_table()?);
        let (graph, _) = maker.graph(Some(sender))?;
        Ok(RestoreEffects::new(&graph, &checkpoint))
    }

    /// The tables that take the bad records of a plan's scans.
    fn dead_letter_tables(&self, plan: &PhysicalPlan) -> Result<DeadLetterTables, Error> {
        let mut tables = DeadLetterTables::new();
        for node in &plan.nodes {
            let Some(scan) = node.op.scan() else { continue };
            let OnBadRecord::DeadLetter(path) = &scan.on_error else { continue };
            let Some(TableLike::Table(table)) = self.catalogs.find(path)? else {
                return Err(PlanError::new(format!(
                    "the dead-letter table '{path}' does not exist"
                ))
                .hint("create it with columns raw_record BYTES, place STRING, error STRING")
                .into());
            };
            let sink = self.with_binder(|binder| binder.table_sink(path, &table))?;
            tables.insert(path.clone(), (table.physical_schema(), sink));
        }
        Ok(tables)
    }

    /// The table that takes the rows which come late, where the session names one.
    fn late_table(&self) -> Result<Option<LateTable>, Error> {
        let Some(name) = self.config.late_rows_table() else { return Ok(None) };
        let parts: Vec<&str> = name.split('.').collect();
        let path = self.catalogs.qualify(&parts);
        let Some(TableLike::Table(table)) = self.catalogs.find(&path)? else {
            return Err(PlanError::new(format!(
                "the table '{path}' of option 'table.exec.late-rows.table' does not exist"
            ))
            .hint(
                "create it with columns operator STRING, event_time TIMESTAMP(3), row_json STRING",
            )
            .into());
        };
        let sink = self.with_binder(|binder| binder.table_sink(&path, &table))?;
        let json = self.catalogs.registry().format("json").map_err(PlanError::from)?;
        let table = LateTable::new(path.to_string(), table.physical_schema(), sink, json);
        Ok(Some(table.map_err(PlanError::from)?))
    }

    fn explain(&self, statement: &Statement, details: &[ExplainDetail]) -> Result<Table, Error> {
        let plan = self.plan(statement)?;
        let has = |detail: ExplainDetail| details.contains(&detail);
        let json = match has(ExplainDetail::JsonExecutionPlan) {
            true => Some(self.planning()?.1.parallelism),
            false => None,
        };
        let details = Details {
            cost: has(ExplainDetail::EstimatedCost),
            advice: has(ExplainDetail::PlanAdvice),
            json,
        };
        let text = explain_with(&plan, details);
        let schema = Schema::new(vec![Field::new("result", DataType::string())]);
        Ok(Table { schema, rows: vec![vec![Value::string(text)]] })
    }

    fn set(&mut self, property: Option<(&str, &str)>) -> Result<Outcome, Error> {
        match property {
            Some((key, value)) => {
                self.config.check_mode(key, value)?;
                self.config.set(key, value);
                Ok(Outcome::Done)
            }
            None => {
                let text = || DataType::string();
                let schema =
                    Schema::new(vec![Field::new("key", text()), Field::new("value", text())]);
                let rows = self
                    .config
                    .iter()
                    .map(|(key, value)| vec![Value::string(key), Value::string(value)])
                    .collect();
                Ok(Outcome::Table(Table { schema, rows }))
            }
        }
    }
}

/// INSERTs, boxed or not.
pub(crate) trait AsInsert {
    /// The INSERT.
    fn to_insert(&self) -> Insert;
}

impl AsInsert for Insert {
    fn to_insert(&self) -> Insert {
        self.clone()
    }
}

impl AsInsert for Box<Insert> {
    fn to_insert(&self) -> Insert {
        Insert::clone(self)
    }
}
