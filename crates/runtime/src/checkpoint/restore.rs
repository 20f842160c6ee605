//! What resuming a job would do with the state of a checkpoint.

use std::collections::BTreeSet;
use std::fmt;

use super::Checkpoint;
use crate::graph::JobGraph;

/// Each operator of a job and each state of a checkpoint, told apart by what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreEffects {
    /// Operators that take up their state.
    pub kept: Vec<String>,
    /// Operators that begin without state. Those that have none at all are among them.
    pub rebuilt: Vec<String>,
    /// The fingerprints of state that no operator takes up; a job refuses to drop it unless told so.
    pub dropped: Vec<String>,
}

impl RestoreEffects {
    /// What becomes of `checkpoint` in a job of this graph.
    pub fn new(graph: &JobGraph, checkpoint: &Checkpoint) -> Self {
        let claims: BTreeSet<&str> = checkpoint.claims().map(|uid| &**uid).collect();
        let known: BTreeSet<&str> = graph.operators().map(|(_, uid)| uid).collect();
        let named = |keeps: bool| {
            let wanted = graph.operators().filter(|(_, uid)| claims.contains(uid) == keeps);
            wanted.map(|(name, _)| name.to_string()).collect()
        };
        let dropped = claims.difference(&known).map(|uid| uid.to_string()).collect();
        Self { kept: named(true), rebuilt: named(false), dropped }
    }
}

impl fmt::Display for RestoreEffects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, names) in
            [("keeps   ", &self.kept), ("rebuilds", &self.rebuilt), ("drops   ", &self.dropped)]
        {
            names.iter().try_for_each(|name| writeln!(f, "{what} {name}"))?;
        }
        if !self.dropped.is_empty() {
            writeln!(
                f,
                "The job refuses to drop state unless \
                 'execution.state-recovery.ignore-unclaimed-state' is 'true'."
            )?;
        }
        Ok(())
    }
}
