//! Definitions: CREATE and ALTER statements to the tables and views they describe.

mod alter_table;
mod canonical;
mod create_table;
mod like;
mod schema;
mod view;

pub use view::ViewDefinition;
