//! Traits: what is known of each node beside its columns.

pub mod changelog;
pub mod domain;
pub mod join;
pub mod keys;
pub mod monotonicity;
pub mod state;
pub mod time;
pub mod window;
