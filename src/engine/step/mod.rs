//! One call: interprets the steps of an operation and sends their commands.

mod batch;
mod bulk;
pub(crate) mod error;
pub(crate) mod explain;
pub(crate) mod interpreter;
mod join;
pub(crate) mod missing_index;
pub(crate) mod reply;
mod retry;
pub(crate) mod support;
pub(crate) mod trace;
mod transaction;
