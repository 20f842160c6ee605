//! The connectors `kafka` and `upsert-kafka` against a real server.
//!
//! `scripts/kafka.sh start` starts one; its address must be in `FLOTT_TEST_KAFKA`. Without it these
//! tests are skipped and say so; in CI they fail.

#![allow(clippy::unwrap_used)]

mod avro;
mod errors;
mod example;
mod reading;
#[path = "../../../formats/tests/common/registry.rs"]
mod registry;
mod support;
mod upserts;
mod writing;
