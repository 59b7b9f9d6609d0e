//! The user's wish to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once when the user wants to stop; every loop of the engine looks at it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Asked>);

#[derive(Debug, Default)]
struct Asked {
    flag: AtomicBool,
    waiting: Notify,
}

impl Stop {
    /// Asks for the end.
    pub fn set(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        self.0.waiting.notify_waiters();
    }

    /// Whether the end was asked for.
    pub fn is_set(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Waits until the end is asked for; for work that has no loop of its own to look from.
    pub async fn asked(&self) {
        // It counts as waiting from its making on, so that no request falls between the look and the wait.
        let waiting = self.0.waiting.notified();
        if !self.is_set() {
            waiting.await;
        }
    }
}
