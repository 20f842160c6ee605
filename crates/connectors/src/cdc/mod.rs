//! `postgres-cdc`: tables of a database as they change, a snapshot first and the log of the database after it.
//!
//! # Exactly once, without a lock
//!
//! One split, read by one task, is all of it: the tables are read in the order of a key, and then the log, from a
//! position that was there before the first row was read. What a run of reading saw is remembered with the key up to
//! which it came ([`progress::Run`]); a change of the log counts for a key unless the run that read that key has
//! seen it. So reading goes on behind the last key after a failure, under another snapshot, and no change is lost or
//! counted twice.
//!
//! The position in the log, within a large transaction the number of its changes that are done, and the runs are
//! the split's state. The database is told how far it may forget its log when a checkpoint is complete.

mod columns;
mod enumerator;
mod names;
mod options;
mod postgres;
mod progress;
mod rows;
mod texts;

pub(crate) use postgres::POSTGRES_CDC;
