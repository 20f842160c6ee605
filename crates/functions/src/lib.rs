//! flott-functions
