//! The user's request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once when the user wants to stop; every loop of the engine checks it.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    waiting: Notify,
}

impl StopFlag {
    /// Requests the stop.
    pub fn set(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        self.0.waiting.notify_waiters();
    }

    /// Whether the stop was requested.
    pub fn is_set(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Waits until the stop is requested, for work without a loop that could check.
    pub async fn wait(&self) {
        // It counts as waiting once it exists, so that no request is missed between the check and the wait.
        let waiting = self.0.waiting.notified();
        if !self.is_set() {
            waiting.await;
        }
    }
}
