//! The servers of a run: one for all strategies, or one for each.

use crate::engine::load::load_threads::LoadThreads;
use crate::server::turns::{EndedServer, Turns};

/// A strategy's own server, and the threads that load it.
#[derive(Debug)]
pub struct StrategyServer<T, G> {
    /// Where databases are created and read.
    pub target: T,
    /// Where the clients run.
    pub load_threads: LoadThreads<G>,
}

/// Where the strategies of a run are measured.
#[derive(Debug)]
pub enum Servers<'e, T, G> {
    /// All share one server.
    Shared {
        /// Where databases are created and read.
        target: &'e T,
        /// Where the clients run.
        load_threads: &'e LoadThreads<G>,
    },
    /// Each has its own, so that none meets the cache, dirty pages or checkpoints of another.
    PerStrategy {
        /// The servers in the order of the plan's arms.
        servers: &'e [StrategyServer<T, G>],
        /// Stops all but one of them.
        turns: &'e dyn Turns,
    },
}

impl<T, G> Clone for Servers<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, G> Copy for Servers<'_, T, G> {}

impl<'e, T, G> Servers<'e, T, G> {
    /// The position of an arm's server.
    pub(super) fn position(self, arm: usize) -> usize {
        if self.are_shared() { 0 } else { arm }
    }

    pub(super) fn target(self, arm: usize) -> &'e T {
        match self {
            Servers::Shared { target, .. } => target,
            Servers::PerStrategy { servers, .. } => &servers[arm].target,
        }
    }

    /// Where an arm's clients run. Needs its turn.
    pub(super) fn load_threads(self, arm: usize) -> &'e LoadThreads<G> {
        match self {
            Servers::Shared { load_threads, .. } => load_threads,
            Servers::PerStrategy { servers, .. } => &servers[arm].load_threads,
        }
    }

    /// Lets an arm's server work and stops the others.
    ///
    /// # Errors
    /// When a server has ended.
    pub(super) async fn turn(self, arm: usize) -> Result<(), EndedServer> {
        match self {
            Servers::Shared { .. } => Ok(()),
            Servers::PerStrategy { turns, .. } => turns.turn(arm).await,
        }
    }

    /// Waits until a server ends by itself, for ever if none does, and for a shared one.
    pub async fn ended(self) -> EndedServer {
        match self {
            Servers::Shared { .. } => std::future::pending().await,
            Servers::PerStrategy { turns, .. } => turns.ended().await,
        }
    }

    /// Whether several arms may share a server.
    pub fn are_shared(self) -> bool {
        matches!(self, Servers::Shared { .. })
    }

    /// The server that works.
    pub(super) fn on_turn(self) -> &'e T {
        match self {
            Servers::Shared { target, .. } => target,
            Servers::PerStrategy { servers, turns } => &servers[turns.on_turn()].target,
        }
    }
}
