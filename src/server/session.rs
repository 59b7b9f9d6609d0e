//! Sessions that commands share, one after the other.

use std::cell::RefCell;

use mongodb::{Client, ClientSession};

use super::Failure;

/// Sessions that no command uses at the moment.
///
/// A command without one makes the driver take one of its own and give it back in a task of its own, with several copies:
/// docs/experiments/calls.md has what that costs. The server sees a session either way.
#[derive(Default)]
pub(super) struct Sessions(RefCell<Vec<ClientSession>>);

impl Sessions {
    /// One that is free, or a new one. Dropped, it goes back to the driver.
    pub(super) async fn take(&self, client: &Client) -> Result<ClientSession, Failure> {
        if let Some(session) = self.0.borrow_mut().pop() {
            return Ok(session);
        }
        // Causal consistency would add a time to every read, which the driver's own sessions do not.
        Ok(client.start_session().causal_consistency(false).await?)
    }

    /// Makes one free again.
    pub(super) fn put_back(&self, session: ClientSession) {
        self.0.borrow_mut().push(session);
    }
}
