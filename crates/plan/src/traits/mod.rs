//! Traits: what is known of each node beside its columns.

pub mod changelog;
pub mod keys;
pub mod state;
pub mod window;
