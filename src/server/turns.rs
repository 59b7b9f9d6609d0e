//! Servers that take turns.

use std::cell::Cell;
use std::fmt::Debug;

use futures_util::future::{FutureExt, LocalBoxFuture, pending, select_all};

use super::embedded::{EmbeddedError, EmbeddedMongod};

/// A server that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedServer {
    /// Its position.
    pub server: usize,
    /// Why.
    pub reason: String,
}

/// Servers of which one works at a time.
pub trait Turns: Debug {
    /// Lets one server work and stops all others; does nothing when it is on turn already.
    ///
    /// # Errors
    /// When the server, or the one on turn before it, has ended.
    fn turn(&self, server: usize) -> LocalBoxFuture<'_, Result<(), EndedServer>>;

    /// The server that works; the first before any turn.
    fn on_turn(&self) -> usize;

    /// Waits until a server ends by itself, for ever if none does.
    fn ended(&self) -> LocalBoxFuture<'_, EndedServer>;
}

/// Embedded servers that take turns. All of them run before the first turn.
#[derive(Debug)]
pub struct EmbeddedServers {
    servers: Vec<EmbeddedMongod>,
    /// The server that runs alone; `None` while all run.
    on_turn: Cell<Option<usize>>,
}

impl EmbeddedServers {
    /// Servers that all run.
    pub fn new(servers: Vec<EmbeddedMongod>) -> EmbeddedServers {
        EmbeddedServers { servers, on_turn: Cell::new(None) }
    }

    /// The servers in their order.
    pub fn servers(&self) -> &[EmbeddedMongod] {
        &self.servers
    }

    /// Ends all servers and removes their folders; the first error when one could not be removed.
    ///
    /// # Errors
    /// When a folder could not be removed.
    pub fn stop(self) -> Result<(), EmbeddedError> {
        self.servers.into_iter().map(EmbeddedMongod::stop).fold(Ok(()), Result::and)
    }

    async fn give_turn(&self, next: usize) -> Result<(), EndedServer> {
        let last = self.on_turn.replace(Some(next));
        if last == Some(next) {
            return Ok(());
        }
        let others = last.map_or(0..self.servers.len(), |last| last..last + 1);
        for other in others.filter(|other| *other != next) {
            self.servers[other].suspend().await.map_err(ended(other))?;
        }
        self.servers[next].resume().map_err(ended(next))
    }
}

impl Turns for EmbeddedServers {
    fn turn(&self, server: usize) -> LocalBoxFuture<'_, Result<(), EndedServer>> {
        self.give_turn(server).boxed_local()
    }

    fn on_turn(&self) -> usize {
        self.on_turn.get().unwrap_or(0)
    }

    fn ended(&self) -> LocalBoxFuture<'_, EndedServer> {
        if self.servers.is_empty() {
            return pending().boxed_local();
        }
        let servers = self.servers.iter().enumerate();
        let ends = servers.map(|(place, server)| async move { ended(place)(server.exited().await) }.boxed_local());
        let first = select_all(ends);
        async move { first.await.0 }.boxed_local()
    }
}

fn ended(server: usize) -> impl Fn(EmbeddedError) -> EndedServer {
    move |error| EndedServer { server, reason: error.to_string() }
}
