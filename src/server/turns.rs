//! Servers that take turns.

use std::fmt::Debug;

use futures_util::future::LocalBoxFuture;

/// Servers of which one works at a time.
pub trait Turns: Debug {
    /// Lets one server work and stops all others; does nothing when it is on turn already.
    ///
    /// # Errors
    /// The reason when the server, or the one before it, has ended.
    fn turn(&self, server: usize) -> LocalBoxFuture<'_, Result<(), String>>;

    /// The server that works; the first before any turn.
    fn on_turn(&self) -> usize;
}
