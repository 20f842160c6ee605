//! The connector `jdbc` against real databases.
//!
//! SQLite is in process. `scripts/postgres.sh start` and `scripts/mariadb.sh start` print addresses for
//! `FLOTT_TEST_POSTGRES` and `FLOTT_TEST_MARIADB`; without those the tests of these servers are skipped
//! and say so, and fail in CI.

#![allow(clippy::unwrap_used)]

mod catalogs;
mod example;
mod lookups;
mod reading;
mod support;
mod types;
mod writing;
