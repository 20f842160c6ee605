//! What can end a job.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use arrow::error::ArrowError;
use flott_catalog::connector::ConnectorError;
use flott_state::StateError;

/// Why a job, or a part of it, ended before its time.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RuntimeError {
    /// The data, or what the query does with it, made an operator fail.
    #[error("{source}")]
    Operator {
        /// The operator.
        operator: Arc<str>,
        /// What it met.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// A source or a sink failed.
    #[error("{source}")]
    Connector {
        /// The source or sink.
        operator: Arc<str>,
        /// What it met.
        source: ConnectorError,
    },
    /// State could not be kept, written or read.
    #[error("{0}")]
    State(#[source] Arc<StateError>),
    /// An Arrow kernel refused.
    #[error("{0}")]
    Arrow(#[source] Arc<ArrowError>),
    /// A row carries no event time although the table declares a watermark.
    #[error(
        "rowtime column '{column}' is NULL\n\
         hint: filter such rows out or give the column a value before the watermark is taken"
    )]
    NullRowtime {
        /// The column.
        column: String,
    },
    /// The job was cancelled.
    #[error("the job was cancelled")]
    Cancelled,
    /// A checkpoint does not fit the job, or could not be taken.
    #[error("checkpoint {id}: {problem}")]
    Checkpoint {
        /// The checkpoint.
        id: u64,
        /// What is wrong.
        problem: CheckpointProblem,
    },
    /// A stored checkpoint cannot be resumed from.
    #[error("checkpoint {}: {problem}", path.display())]
    StoredCheckpoint {
        /// Where it is.
        path: Arc<Path>,
        /// What is wrong.
        problem: StoredProblem,
    },
    /// More tasks than there are key groups, or none.
    #[error(
        "{operator}: parallelism {parallelism} is not between 1 and {max_parallelism}\n\
         hint: change parallelism.default or raise pipeline.max-parallelism"
    )]
    Parallelism {
        /// The operator.
        operator: Arc<str>,
        /// The number of tasks asked for.
        parallelism: usize,
        /// The number of key groups.
        max_parallelism: u16,
    },
    /// The operating system refused a thread.
    #[error("could not start a thread for task {task}: {source}\nhint: lower the parallelism")]
    Thread {
        /// The task.
        task: String,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// A defect of Flott itself.
    #[error("{operator}: {problem}\nhint: this is a defect of Flott, please report it")]
    Internal {
        /// The operator or task.
        operator: Arc<str>,
        /// What was found.
        problem: String,
    },
}

/// What is wrong with a stored checkpoint.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoredProblem {
    /// There is none.
    #[error(
        "there is no checkpoint here\n\
         hint: name a folder chk-N, a savepoint, or the folder of a job that holds checkpoints"
    )]
    Missing,
    /// It is there, but cannot be used.
    #[error("{what}\nhint: {cure}")]
    Unusable {
        /// What was found.
        what: String,
        /// What to do; names the checkpoint before it if there is one.
        cure: String,
    },
    /// The system refused.
    #[error("{0}")]
    Io(Arc<std::io::Error>),
}

/// What is wrong with a checkpoint.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CheckpointProblem {
    /// State for an operator that the job does not have.
    #[error(
        "it holds state of {operator}, which the job does not have\n\
         hint: resume the query that wrote it, or allow state to be dropped"
    )]
    UnknownOperator {
        /// The operator's fingerprint.
        operator: String,
    },
    /// Another is being taken, or the job is over.
    #[error("it cannot be taken while another is under way or when the job is over")]
    NotNow,
    /// It takes longer than it may.
    #[error(
        "it is not complete after {0:?}\n\
         hint: raise 'execution.checkpointing.timeout', or see which operator is too slow to keep up"
    )]
    Timeout(std::time::Duration),
    /// The store refused.
    #[error("could not be kept: {0}")]
    Store(Arc<std::io::Error>),
    /// The store failed at the very end, and could not take back what may be there.
    #[error("may or may not have been kept: {0}")]
    Doubtful(Arc<std::io::Error>),
}

impl RuntimeError {
    /// An error of an operator's own kind; the frame fills in the operator's name.
    pub fn operator(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Operator { operator: Arc::from(""), source: Arc::new(source) }
    }

    /// A defect found at `operator`.
    pub fn internal(operator: impl Into<Arc<str>>, problem: impl Into<String>) -> Self {
        Self::Internal { operator: operator.into(), problem: problem.into() }
    }

    /// Whether a checkpoint of which this is told may be there all the same.
    pub(crate) fn is_doubtful(&self) -> bool {
        matches!(self, Self::Checkpoint { problem: CheckpointProblem::Doubtful(_), .. })
    }

    /// The operator, source or sink that failed, where it is known.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::Operator { operator, .. }
            | Self::Connector { operator, .. }
            | Self::Internal { operator, .. } => Some(operator).map(|name| &**name),
            _ => None,
        }
        .filter(|name| !name.is_empty())
    }

    /// Names the operator in an error that has no name yet.
    pub(crate) fn at(mut self, name: &Arc<str>) -> Self {
        if let Self::Operator { operator, .. }
        | Self::Connector { operator, .. }
        | Self::Internal { operator, .. } = &mut self
            && operator.is_empty()
        {
            *operator = name.clone();
        }
        self
    }
}

impl From<ArrowError> for RuntimeError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(Arc::new(error))
    }
}

impl From<StateError> for RuntimeError {
    fn from(error: StateError) -> Self {
        Self::State(Arc::new(error))
    }
}

impl From<ConnectorError> for RuntimeError {
    fn from(source: ConnectorError) -> Self {
        Self::Connector { operator: Arc::from(""), source }
    }
}
