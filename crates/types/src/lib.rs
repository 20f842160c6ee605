//! flott-types
