//! flott-state
