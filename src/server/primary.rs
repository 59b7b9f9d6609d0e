//! Which server is the primary, and when it changed, from the driver's monitoring.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mongodb::event::sdam::SdamEvent;
use mongodb::options::ServerAddress;
use mongodb::{ServerType, TopologyType};
use tokio::time::Instant;

/// Another member became the primary, or the same one came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryChange {
    /// When the client noticed that the last primary was none any more.
    pub at: Instant,
    /// The address of the last primary.
    pub from: String,
    /// That of the next one.
    pub to: String,
    /// How long the client knew no primary.
    pub without: Duration,
}

/// The primary of a replica set as a client sees it.
#[derive(Debug, Default)]
pub(super) struct PrimaryWatch(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// The last known primary.
    primary: Option<ServerAddress>,
    /// Since when there is none.
    lost: Option<Instant>,
    changes: Vec<PrimaryChange>,
}

impl PrimaryWatch {
    /// Whether commands may go to this server: it is the last known primary, or none is known.
    pub(super) fn may_be(&self, address: &ServerAddress) -> bool {
        self.lock().primary.as_ref().is_none_or(|primary| primary == address)
    }

    /// Hands over the changes since the last time.
    pub(super) fn take(&self) -> Vec<PrimaryChange> {
        std::mem::take(&mut self.lock().changes)
    }

    /// Takes an event of the driver's monitoring.
    pub(super) fn see(&self, event: &SdamEvent) {
        let SdamEvent::TopologyDescriptionChanged(event) = event else { return };
        let topology = &event.new_description;
        if topology.topology_type() != TopologyType::Sharded {
            let mut servers = topology.servers().into_values();
            let primary = servers.find(|server| server.server_type() == ServerType::RsPrimary);
            self.lock().note(primary.map(|server| server.address().clone()), Instant::now());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        // A panic elsewhere leaves the changes as true as they were.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn note(&mut self, now: Option<ServerAddress>, at: Instant) {
        match (self.primary.take(), now) {
            (None, now) => self.primary = now,
            (Some(last), None) => {
                self.lost.get_or_insert(at);
                self.primary = Some(last);
            }
            (Some(last), Some(next)) => {
                let lost = self.lost.take();
                if last != next || lost.is_some() {
                    let (since, from, to) = (lost.unwrap_or(at), last.to_string(), next.to_string());
                    self.changes.push(PrimaryChange { at: since, from, to, without: at - since });
                }
                self.primary = Some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_begins_when_the_last_primary_is_lost() {
        let (mut seen, start) = (Seen::default(), Instant::now());
        let address = |port| Some(ServerAddress::Tcp { host: "h".to_owned(), port: Some(port) });
        let at = |seconds| start + Duration::from_secs(seconds);
        for (second, primary) in
            [(0, None), (1, Some(1)), (2, Some(1)), (3, None), (4, None), (7, Some(2)), (9, Some(1))]
        {
            seen.note(primary.and_then(address), at(second));
        }
        for (second, primary) in [(10, None), (11, Some(1))] {
            seen.note(primary.and_then(address), at(second));
        }
        let found: Vec<_> =
            seen.changes.iter().map(|one| (one.at, &*one.from, &*one.to, one.without.as_secs())).collect();
        assert_eq!(found, [(at(3), "h:1", "h:2", 4), (at(9), "h:2", "h:1", 0), (at(10), "h:1", "h:1", 1)]);
    }
}
