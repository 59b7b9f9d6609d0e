//! Two calls that wait for each other before their first write, and rest after it: what either reads before is out of date when it
//! writes, and the first write of one comes while the other is between two of its commands, or in its transaction.
//!
//! Without it the order in which a server happens to get the commands of two short calls would mostly be that of one after the
//! other.

use std::cell::Cell;
use std::time::Duration;

use tokio::sync::Barrier;
use tokio::time::sleep;

use crate::server::wrapper::{Sending, TargetWrapper};
use crate::server::{Failure, Reply, Target};

/// The commands that write. Others that may are not waited for.
const WRITES: [&str; 4] = ["insert", "update", "delete", "findAndModify"];

/// How long a call rests after its first write. A write of the other takes less than a millisecond to get to where it waits.
const REST: Duration = Duration::from_millis(3);

/// The target of one of two calls that meet.
pub struct Meeting<'m, T> {
    target: &'m T,
    /// For the two calls.
    barrier: &'m Barrier,
    has_met: Cell<bool>,
    /// Whether it rests before its next command.
    is_due_to_rest: Cell<bool>,
}

impl<'m, T: Target> Meeting<'m, T> {
    /// The target of one call; `barrier` is for two.
    pub fn new(target: &'m T, barrier: &'m Barrier) -> Meeting<'m, T> {
        Meeting { target, barrier, has_met: Cell::new(false), is_due_to_rest: Cell::new(false) }
    }

    /// Waits for the other call, once. A call that ends without a write also waits, so that it lets the other go on.
    pub async fn meet(&self) {
        if !self.has_met.replace(true) {
            self.barrier.wait().await;
            self.is_due_to_rest.set(true);
        }
    }
}

impl<T: Target> TargetWrapper for Meeting<'_, T> {
    fn inner(&self) -> &impl Target {
        self.target
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        if self.is_due_to_rest.take() {
            sleep(REST).await;
        }
        let name = sending.command.iter().next().and_then(Result::ok).map(|(name, _)| name);
        if name.is_some_and(|name| WRITES.contains(&name.as_str())) {
            self.meet().await;
        }
        sending.send(self.target).await
    }
}
