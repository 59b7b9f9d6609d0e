//! Commands that a failover must not end.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::wrapper::{Sending, TargetWrapper};
use super::{Failure, Reply, Target};

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// A target that sends a command again while interruptions, such as a failover, keep it from being answered. For commands that may
/// run twice: it is not known whether the interrupted one ran.
#[derive(Debug)]
pub struct SteadyTarget<'t, T>(pub &'t T);

impl<T: Target> TargetWrapper for SteadyTarget<'_, T> {
    fn inner(&self) -> &impl Target {
        self.0
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        if sending.transaction.is_some() {
            // An interruption ends the transaction.
            return sending.send(self.0).await;
        }
        let Sending { database, command, kind, .. } = sending;
        let deadline = Instant::now() + self.0.patience();
        loop {
            match self.0.run(database, command.clone(), kind).await {
                Err(failure) if failure.is_interruption() && Instant::now() < deadline => sleep(PAUSE).await,
                ended => return ended,
            }
        }
    }
}
