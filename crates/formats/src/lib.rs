//! flott-formats
