//! Catalogs, databases, tables, views and functions by name; connectors and formats as data.
//!
//! This crate holds no connector of its own and plans nothing.

pub mod connector;
