//! Two calls that wait for each other before their first write: what either reads before it is out of date when it writes.
//!
//! Without it the order in which a server happens to get the commands of two short calls would mostly be that of one after the
//! other.

use std::cell::Cell;

use tokio::sync::Barrier;

use crate::server::wrapper::{Sending, TargetWrapper};
use crate::server::{Failure, Reply, Target};

/// The commands that write. Others that may are not waited for.
const WRITES: [&str; 4] = ["insert", "update", "delete", "findAndModify"];

/// The target of one of two calls that meet.
pub struct Meeting<'m, T> {
    target: &'m T,
    /// For the two calls.
    barrier: &'m Barrier,
    has_met: Cell<bool>,
}

impl<'m, T: Target> Meeting<'m, T> {
    /// The target of one call; `barrier` is for two.
    pub fn new(target: &'m T, barrier: &'m Barrier) -> Meeting<'m, T> {
        Meeting { target, barrier, has_met: Cell::new(false) }
    }

    /// Waits for the other call, once. A call that ends without a write also waits, so that it lets the other go on.
    pub async fn meet(&self) {
        if !self.has_met.replace(true) {
            self.barrier.wait().await;
        }
    }
}

impl<T: Target> TargetWrapper for Meeting<'_, T> {
    fn inner(&self) -> &impl Target {
        self.target
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        let name = sending.command.iter().next().and_then(Result::ok).map(|(name, _)| name);
        if name.is_some_and(|name| WRITES.contains(&name.as_str())) {
            self.meet().await;
        }
        sending.send(self.target).await
    }
}
