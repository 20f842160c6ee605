//! flott-catalog
