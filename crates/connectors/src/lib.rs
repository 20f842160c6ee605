//! flott-connectors
