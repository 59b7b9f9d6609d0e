//! Transactions: a session of the driver for each.

use mongodb::options::{Acknowledgment, ReadConcern, WriteConcern};
use mongodb::{Client, ClientSession};

use super::Failure;

/// An open transaction; dropping it aborts it. The default is one of a target without transactions: its commands run like all
/// others.
#[derive(Default)]
pub struct Transaction {
    session: Option<Box<ClientSession>>,
}

impl Transaction {
    /// Starts one that reads a snapshot and is committed with a write concern. Nothing is sent yet.
    pub(super) async fn begin(client: &Client, w: &str) -> Result<Transaction, Failure> {
        let mut session = client.start_session().await?;
        let w = w.parse().map_or_else(|_| w.to_owned().into(), Acknowledgment::Nodes);
        let concern = WriteConcern::builder().w(w).build();
        session.start_transaction().read_concern(ReadConcern::snapshot()).write_concern(concern).await?;
        Ok(Transaction { session: Some(Box::new(session)) })
    }

    pub(super) fn session(&mut self) -> Option<&mut ClientSession> {
        self.session.as_deref_mut()
    }

    /// Commits or aborts it.
    pub(super) async fn end(&mut self, commits: bool) -> Result<(), Failure> {
        let Some(session) = self.session() else { return Ok(()) };
        let ended = if commits { session.commit_transaction().await } else { session.abort_transaction().await };
        Ok(ended?)
    }
}
