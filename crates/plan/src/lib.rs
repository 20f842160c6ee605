//! flott-plan
