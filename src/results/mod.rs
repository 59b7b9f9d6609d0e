//! results.
