//! How the rows of keys are found: asked for, remembered, or read with the whole table.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema, SchemaRef};
use flott_catalog::connector::{
    BadRecordHandler, ConnectorError, LookupCache, LookupReader, LookupRows, PartialCache,
    ReaderContext, Reload, ScanRequest, SourceEvent, TableSource,
};
use flott_state::{KeyBatch, KeySlots, NO_SLOT};
use flott_types::{ChangelogBatch, DataType, arrow_type};
use jiff::tz::TimeZone;

use super::store::Store;
use crate::context::OperatorContext;
use crate::{Result, RuntimeError};

/// How long a reader may wait for the next rows of a table that is read whole.
const PATIENCE: Duration = Duration::from_secs(1);

/// Finds rows by key.
pub(super) struct Fetcher {
    reader: Box<dyn LookupReader>,
    whole: WholeTable,
    cache: LookupCache,
    /// How often a key without rows is looked up again, and the pause before.
    retry: Option<(u32, Duration)>,
    key_types: Vec<DataType>,
    store: Store,
    /// The first reading of the whole table, and when the next one is due.
    loaded: Option<Loaded>,
    zone: TimeZone,
}

#[derive(Clone, Copy)]
struct Loaded {
    first: i64,
    next: i64,
}

impl Fetcher {
    /// Finds rows by `reader`, or in the table read whole, as the cache says.
    pub fn new(
        reader: Option<Box<dyn LookupReader>>,
        whole: WholeTable,
        cache: LookupCache,
        retry: Option<(u32, Duration)>,
        zone: TimeZone,
    ) -> Self {
        let store = Store::new(&whole.types, &whole.keys);
        let key_types = whole.keys.iter().map(|key| whole.types[*key].clone()).collect();
        let reader = reader.unwrap_or_else(|| Box::new(whole.clone()));
        Self { reader, whole, cache, retry, key_types, store, loaded: None, zone }
    }

    /// The slots in [`Self::store`] of the keys of some rows, `NO_SLOT` where a key holds NULL.
    pub fn fetch(
        &mut self,
        keys: &[ArrayRef],
        rows: usize,
        matchable: Option<&BooleanArray>,
        ctx: &OperatorContext,
    ) -> Result<Vec<u32>> {
        let now = ctx.now();
        let encoded = self.store.encode(keys, rows)?;
        match self.cache {
            LookupCache::Full { reload } => self.load(reload, ctx)?,
            LookupCache::Partial(partial) => self.drop_expired(&encoded, partial, now)?,
            LookupCache::None => {}
        }
        let mut slots = self.store.find(&encoded)?;
        if !matches!(self.cache, LookupCache::Full { .. }) {
            let can_match = |row: usize| matchable.is_none_or(|all| all.value(row));
            let unknown = (0..rows).filter(|row| slots[*row] == NO_SLOT && can_match(*row));
            let unknown = self.different(&encoded, unknown)?;
            if !unknown.is_empty() {
                self.look_up(keys, &encoded, unknown, now)?;
                slots = self.store.find(&encoded)?;
            }
            for slot in slots.iter().filter(|slot| **slot != NO_SLOT) {
                self.store.times(*slot).accessed = now;
            }
        }
        if let Some(matchable) = matchable {
            (0..rows).filter(|row| !matchable.value(*row)).for_each(|row| slots[row] = NO_SLOT);
        }
        Ok(slots)
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Forgets what the cache does not keep, once the rows found were used.
    pub fn settle(&mut self) {
        match self.cache {
            LookupCache::Full { .. } => {}
            LookupCache::None => self.store = self.store.emptied(),
            LookupCache::Partial(partial) => self.shrink(partial),
        }
    }

    /// Reads the whole table if it is time.
    fn load(&mut self, reload: Option<Reload>, ctx: &OperatorContext) -> Result<()> {
        let now = ctx.now();
        if self.loaded.is_some_and(|loaded| now < loaded.next) {
            return Ok(());
        }
        let mut store = self.store.emptied();
        self.whole.read(|batch| Ok(store.apply(&batch, now)?))?;
        self.store = store;
        let first = self.loaded.map_or(now, |loaded| loaded.first);
        let next = reload.map_or(i64::MAX, |reload| reload.next(first, now, ctx.now(), &self.zone));
        self.loaded = Some(Loaded { first, next });
        Ok(())
    }

    fn drop_expired(&mut self, keys: &KeyBatch, partial: PartialCache, now: i64) -> Result<()> {
        let mut slots = self.store.find(keys)?;
        slots.sort_unstable();
        slots.dedup();
        for slot in slots.into_iter().filter(|slot| *slot != NO_SLOT) {
            let times = *self.store.times(slot);
            let is_old = |since: i64, after: Option<Duration>| {
                after.is_some_and(|after| now - since >= millis(after))
            };
            if is_old(times.written, partial.expire_after_write)
                || is_old(times.accessed, partial.expire_after_access)
            {
                self.store.forget(slot);
            }
        }
        Ok(())
    }

    /// Of rows those that bring a key first.
    fn different(&self, keys: &KeyBatch, rows: impl Iterator<Item = usize>) -> Result<Vec<u32>> {
        let mut seen = KeySlots::new(&self.key_types, None);
        let mut first = Vec::new();
        for row in rows {
            if seen.write_one(keys, row, 0)?.1 {
                first.push(row as u32);
            }
        }
        Ok(first)
    }

    /// Asks for the keys of some rows, again for those without rows if that is wanted.
    fn look_up(
        &mut self,
        keys: &[ArrayRef],
        encoded: &KeyBatch,
        mut rows: Vec<u32>,
        now: i64,
    ) -> Result<()> {
        let fields: Vec<Field> = self
            .key_types
            .iter()
            .enumerate()
            .map(|(i, ty)| Field::new(format!("k{i}"), arrow_type(ty), true))
            .collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        for row in &rows {
            self.store.know(encoded, *row as usize, now)?;
        }
        let mut attempts = self.retry.map_or(0, |(attempts, _)| attempts);
        loop {
            let wanted = UInt32Array::from(rows.clone());
            let columns =
                keys.iter().map(|key| take(key, &wanted, None)).collect::<Result<_, _>>()?;
            let batch = RecordBatch::try_new(schema.clone(), columns)?;
            let LookupRows { rows: found, .. } =
                self.reader.lookup(&batch).map_err(RuntimeError::operator)?;
            if found.num_rows() > 0 {
                self.store.apply(&ChangelogBatch::inserts(found), now)?;
            }
            let Some((_, pause)) = self.retry.filter(|_| attempts > 0) else { return Ok(()) };
            let slots = self.store.find(encoded)?;
            rows.retain(|row| self.store.is_missing(slots[*row as usize]));
            if rows.is_empty() {
                return Ok(());
            }
            attempts -= 1;
            sleep(pause);
        }
    }

    fn shrink(&mut self, partial: PartialCache) {
        if !partial.cache_missing_key {
            let known = self.store.known().map(|(_, slot)| slot);
            let missing: Vec<u32> = known.filter(|slot| self.store.is_missing(*slot)).collect();
            missing.into_iter().for_each(|slot| self.store.forget(slot));
        }
        let Some(most) = partial.max_rows.and_then(|rows| usize::try_from(rows).ok()) else {
            return;
        };
        if self.store.len() <= most {
            return;
        }
        // A tenth more goes, so that it need not be sorted out with every batch.
        let target = most - most / 10;
        let mut oldest: Vec<(i64, u32)> = self.store.known().collect();
        oldest.sort_unstable();
        for (_, slot) in oldest {
            if self.store.len() <= target {
                return;
            }
            self.store.forget(slot);
        }
    }
}

/// A table that is read from its beginning to its end.
#[derive(Clone)]
pub(super) struct WholeTable {
    pub source: Arc<dyn TableSource>,
    pub request: ScanRequest,
    pub bad_records: Arc<dyn BadRecordHandler>,
    /// The types of the columns.
    pub types: Vec<DataType>,
    /// The key's positions among them.
    pub keys: Vec<usize>,
}

impl WholeTable {
    /// Reads the table and hands on its changes.
    fn read(&self, mut take: impl FnMut(ChangelogBatch) -> Result<()>) -> Result<()> {
        let failed = |error: ConnectorError| RuntimeError::operator(error);
        let mut enumerator = self.source.enumerator(&self.request, None).map_err(failed)?;
        enumerator.start(1);
        let context = ReaderContext {
            task: 0,
            parallelism: 1,
            max_rows: ChangelogBatch::MAX_ROWS,
            bad_records: self.bad_records.clone(),
        };
        let mut reader = self.source.reader(&self.request, &context).map_err(failed)?;
        loop {
            let found = enumerator.discover().map_err(failed)?;
            let mut waiting: VecDeque<_> = found.splits.into();
            while !waiting.is_empty() {
                let count = if reader.wants_all_splits() { waiting.len() } else { 1 };
                let mut open = count;
                reader.add_splits(waiting.drain(..count).collect()).map_err(failed)?;
                while open > 0 {
                    match reader.poll(PATIENCE).map_err(failed)? {
                        SourceEvent::Rows { batch, .. } => take(batch)?,
                        SourceEvent::SplitEnd(_) => open -= 1,
                        SourceEvent::Pending => {}
                    }
                }
            }
            match found.again_after {
                None => return Ok(()),
                Some(pause) => sleep(pause.min(PATIENCE)),
            }
        }
    }
}

impl LookupReader for WholeTable {
    /// Without a way to ask for keys the table is read, and what they want is picked out.
    fn lookup(&mut self, keys: &RecordBatch) -> Result<LookupRows, ConnectorError> {
        let failed = |error: RuntimeError| ConnectorError::new(error.to_string());
        let mut store = Store::new(&self.types, &self.keys);
        self.read(|batch| Ok(store.apply(&batch, 0)?)).map_err(failed)?;
        let slots = store
            .encode(keys.columns(), keys.num_rows())
            .and_then(|keys| store.find(&keys))
            .map_err(|error| failed(error.into()))?;
        let (mut ids, mut of) = (Vec::new(), Vec::new());
        for (key, slot) in slots.into_iter().enumerate().filter(|(_, slot)| *slot != NO_SLOT) {
            for id in store.rows_of(slot) {
                ids.push(id);
                of.push(key as u32);
            }
        }
        let columns = store.columns(&ids).map_err(|error| failed(error.into()))?;
        let fields: Vec<Field> = self
            .types
            .iter()
            .enumerate()
            .map(|(i, ty)| Field::new(format!("c{i}"), arrow_type(ty), true))
            .collect();
        let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map_err(|error| failed(error.into()))?;
        Ok(LookupRows { rows, keys: of })
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
