//! The meters of a round: one per server.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::server::Target;
use crate::server::meter::Meter;

use super::error::RunError;
use super::experiment::Experiment;

/// A meter per server, because every server has its own counters and its own cost of reading them.
#[derive(Debug)]
pub(super) struct Meters {
    /// By the position of the server.
    meters: BTreeMap<usize, Meter>,
}

impl Meters {
    /// The meter of a server. Without one its counters are unknown.
    pub(super) fn of(&mut self, server: usize) -> &mut Meter {
        self.meters.entry(server).or_default()
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Meters for the servers of some arms, which are idle now.
    ///
    /// # Errors
    /// When a server was lost.
    pub(super) async fn meters(&self, arms: &[usize]) -> Result<Meters, RunError> {
        let mut meters = BTreeMap::new();
        for &arm in arms {
            if let Entry::Vacant(entry) = meters.entry(self.servers.position(arm)) {
                self.turn(arm).await?;
                entry.insert(Meter::new(self.target(arm)).await);
            }
        }
        Ok(Meters { meters })
    }
}
