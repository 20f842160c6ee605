//! flott-runtime
