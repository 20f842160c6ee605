//! The join against a recomputation.
