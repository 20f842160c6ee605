//! The `flott` command line.
fn main() {}
