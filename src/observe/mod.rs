//! What an application does with its database, from what the server records anyway: log lines, profiled statements, or
//! counters and the oplog between two moments.
//!
//! ```text
//! log, profile ──► command ──► Observations ──► calls ──► translate ──► Observed
//! watch ──────────────────────► shapes and       what      logical      operations,
//!                               hashed values    belongs   steps of     what is left out
//!                                                together  the layout
//! ```
//!
//! Statements lose their values while they are read: a shape has names and operators, and of a value only a hash is kept, to
//! count how often it comes back. The exceptions are null and booleans, the sign of what is added, and the sizes of lists.

mod access;
mod argument;
mod calls;
mod command;
mod condition;
mod interval;
pub mod live;
pub mod log;
mod observations;
mod observed;
pub mod profile;
mod read;
mod shape;
mod skew;
#[cfg(test)]
mod tests;
mod text;
mod translate;
pub mod watch;
mod with;
mod write;

pub use observations::{LeftOutLines, Observations};
pub use observed::{LeftOut, Observed};
pub use translate::operations;
