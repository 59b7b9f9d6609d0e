//! Which connections exist, and how long calls wait for one, from the driver's pool events.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mongodb::event::cmap::CmapEvent;
use mongodb::options::ServerAddress;

use crate::record::Waits;

use super::primary::PrimaryWatch;

/// Counts a client's connections.
///
/// The lock of the pools is taken only when a pool or a connection comes or goes, never when a command borrows one.
#[derive(Debug, Default)]
pub(super) struct PoolWatch {
    /// Connections to the primary; those to other members carry no calls but reads that prefer these.
    created: AtomicU64,
    pub(super) primary: PrimaryWatch,
    pools: Mutex<Vec<Pool>>,
    /// How long commands waited for a connection. The driver reports it on the thread that waits, and a client belongs to
    /// one thread, so the lock is never contended.
    check_outs: Mutex<Waits>,
}

/// One server's pool, from its events.
#[derive(Debug)]
struct Pool {
    address: ServerAddress,
    /// Whether the pool may hand out connections: its server was found and has data.
    ready: bool,
    /// The ids of the connections that finished their handshake and are still open.
    open: HashSet<u32>,
}

impl PoolWatch {
    /// Connections to the primary whose creation began since the client exists.
    pub(super) fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Open connections of the emptiest pool that is in use; none when no server was found yet.
    pub(super) fn emptiest(&self) -> Option<usize> {
        self.lock().iter().filter(|pool| pool.ready).map(|pool| pool.open.len()).min()
    }

    /// Returns the waits since the last time, and forgets them.
    pub(super) fn take_check_outs(&self) -> Waits {
        std::mem::take(&mut self.check_outs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes an event of the driver's pools.
    pub(super) fn note(&self, event: CmapEvent) {
        match event {
            CmapEvent::ConnectionCheckedOut(event) => {
                let waited = u64::try_from(event.duration.as_nanos()).unwrap_or(u64::MAX);
                let mut waits = self.check_outs.lock().unwrap_or_else(PoisonError::into_inner);
                waits.add(Waits { count: 1, sum: waited });
            }
            CmapEvent::PoolReady(event) => self.change(event.address, |pool| pool.ready = true),
            CmapEvent::PoolCleared(event) => self.change(event.address, |pool| pool.ready = false),
            CmapEvent::PoolClosed(event) => self.lock().retain(|pool| pool.address != event.address),
            CmapEvent::ConnectionCreated(event) => {
                let created = u64::from(self.primary.may_be(&event.address));
                self.created.fetch_add(created, Ordering::Relaxed);
            }
            CmapEvent::ConnectionReady(event) => self.change(event.address, |pool| {
                pool.open.insert(event.connection_id);
            }),
            CmapEvent::ConnectionClosed(event) => self.change(event.address, |pool| {
                pool.open.remove(&event.connection_id);
            }),
            _ => {}
        }
    }

    fn change(&self, address: ServerAddress, change: impl FnOnce(&mut Pool)) {
        let mut pools = self.lock();
        let place = pools.iter().position(|pool| pool.address == address).unwrap_or_else(|| {
            pools.push(Pool { address, ready: false, open: HashSet::new() });
            pools.len() - 1
        });
        change(&mut pools[place]);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pool>> {
        // A panic elsewhere leaves the counts as good as they were.
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
