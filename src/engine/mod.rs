//! Engine.
pub mod interpret;
