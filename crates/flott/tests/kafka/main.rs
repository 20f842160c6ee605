//! The connectors `kafka` and `upsert-kafka` against a real server.
//!
//! `scripts/kafka.sh start` starts one; its address must be in `FLOTT_TEST_KAFKA`. Without it these
//! tests are skipped and say so; in CI they fail.

#![allow(clippy::unwrap_used)]

mod errors;
mod example;
mod reading;
mod support;
mod upserts;
mod writing;
