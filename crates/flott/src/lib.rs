//! flott-flott
