//! The connector `postgres-cdc` against a real server.
//!
//! `scripts/postgres.sh start` starts one; its address must be in `FLOTT_TEST_POSTGRES`. Without it these tests are
//! skipped and say so; in CI they fail.

#![allow(clippy::unwrap_used)]

mod changes;
mod errors;
mod support;
