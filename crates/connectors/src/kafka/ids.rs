//! Transactional ids: `<prefix>-<task>-<n>`, used again once what they wrote is settled.
//!
//! An id of a committed transaction rests until the next checkpoint is committed, too. So, whenever a
//! job resumes from its latest checkpoint, the ids in it have had no newer producer, and a broker that
//! says otherwise says that the transaction was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use flott_catalog::connector::ConnectorError;
use flott_kafka::Client;

use super::failure::failure;

/// The ids of one prefix in this process.
pub(super) struct TransactionalIds {
    prefix: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Ids whose transaction is open, prepared, or committed last.
    held: BTreeSet<String>,
    /// Whether transactions that an earlier attempt left open were aborted.
    clean: bool,
}

/// All tables of a process with one prefix share their ids, or they would fence each other.
static ALL: Mutex<ByPrefix> = Mutex::new(BTreeMap::new());

/// The ids by servers and prefix.
type ByPrefix = BTreeMap<(String, String), Weak<TransactionalIds>>;

impl TransactionalIds {
    /// The ids of `prefix` in the cluster of `servers`.
    pub(super) fn of(servers: &[String], prefix: &str) -> Arc<Self> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, ids| ids.strong_count() > 0);
        let key = (servers.join(","), prefix.to_string());
        if let Some(ids) = all.get(&key).and_then(Weak::upgrade) {
            return ids;
        }
        let ids = Arc::new(Self { prefix: prefix.into(), state: Mutex::default() });
        all.insert(key, Arc::downgrade(&ids));
        ids
    }

    /// A new attempt of a job begins: what earlier ones left open is to be aborted.
    pub(super) fn begin_attempt(&self) {
        self.lock().clean = false;
    }

    /// Aborts transactions that nobody of this process holds, once an attempt. Their producers, should
    /// they still live, are fenced.
    pub(super) fn clean(&self, client: &mut Client) -> Result<(), ConnectorError> {
        let mut state = self.lock();
        if state.clean {
            return Ok(());
        }
        for id in client.open_transactions().map_err(failure)? {
            if self.owns(&id) && !state.held.contains(&id) {
                tracing::info!(id, "aborting a transaction that an earlier run left open");
                client.fence(&id).map_err(failure)?;
            }
        }
        state.clean = true;
        Ok(())
    }

    /// An id for a new transaction of a task.
    pub(super) fn acquire(&self, task: usize) -> String {
        let mut state = self.lock();
        let mut number = 0;
        loop {
            let id = format!("{}-{task}-{number}", self.prefix);
            if state.held.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }

    /// A transaction is over, and nobody will ask after it.
    pub(super) fn release(&self, id: &str) {
        self.lock().held.remove(id);
    }

    /// Transactions are about to be committed: none may be taken for a forgotten one.
    pub(super) fn hold(&self, ids: impl Iterator<Item = String>) {
        self.lock().held.extend(ids);
    }

    /// Whether an id is one that tables of this prefix make.
    fn owns(&self, id: &str) -> bool {
        let rest = id.strip_prefix(&*self.prefix).and_then(|rest| rest.strip_prefix('-'));
        let numbers = rest.and_then(|rest| rest.split_once('-'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        numbers.is_some_and(|(task, number)| is_number(task) && is_number(number))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_used_again_when_it_is_released() {
        let ids = TransactionalIds::of(&["a:1".into()], "p");
        assert_eq!((ids.acquire(0), ids.acquire(0)), ("p-0-0".into(), "p-0-1".into()));
        ids.hold(["p-0-2".to_string()].into_iter());
        assert_eq!((ids.acquire(0), ids.acquire(1)), ("p-0-3".into(), "p-1-0".into()));
        ids.release("p-0-0");
        assert_eq!(ids.acquire(0), "p-0-0");
        let same = TransactionalIds::of(&["a:1".into()], "p");
        assert!(Arc::ptr_eq(&ids, &same));
    }

    #[test]
    fn only_ids_of_the_prefix_are_its_own() {
        let ids = TransactionalIds::of(&["a:1".into()], "p-1");
        for (id, own) in
            [("p-1-0-7", true), ("p-1-0", false), ("p-10-0", false), ("p-1-a-0", false)]
        {
            assert_eq!(ids.owns(id), own, "{id}");
        }
    }
}
