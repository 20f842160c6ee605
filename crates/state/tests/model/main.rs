//! Everything that keeps state against a plain model of it, and snapshots against damage.

#![allow(clippy::unwrap_used, reason = "tests, their helper functions included")]

mod changes;
mod counted;
mod key_index;
mod keyed_state;
mod rows;
mod snapshots;
mod spilled;
mod timers;
mod values;
