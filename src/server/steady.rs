//! Commands that a failover must not end.

use std::time::Duration;

use bson::RawDocumentBuf;
use tokio::time::{Instant, sleep};

use super::primary::PrimaryChange;
use super::{Failure, Reply, ReplyKind, Target};

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// A target that sends a command again while interruptions, such as a failover, keep it from being answered. For commands that may
/// run twice: it is not known whether the interrupted one ran.
#[derive(Debug)]
pub struct SteadyTarget<'t, T>(pub &'t T);

impl<T: Target> Target for SteadyTarget<'_, T> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        let deadline = Instant::now() + self.0.patience();
        loop {
            match self.0.run(database, command.clone(), kind).await {
                Err(failure) if failure.is_interruption() && Instant::now() < deadline => sleep(PAUSE).await,
                ended => return ended,
            }
        }
    }

    fn patience(&self) -> Duration {
        self.0.patience()
    }

    fn take_primary_changes(&self) -> Vec<PrimaryChange> {
        self.0.take_primary_changes()
    }
}
