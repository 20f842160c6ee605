//! flott-sql
