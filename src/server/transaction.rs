//! Transactions: a session of the driver for each.

use std::fmt;

use mongodb::options::{Acknowledgment, ReadConcern, WriteConcern};
use mongodb::{Client, ClientSession};

use super::{Failure, failure};

/// An open transaction; dropping it aborts it.
pub struct Transaction {
    session: Option<Box<ClientSession>>,
}

impl Transaction {
    /// A transaction of a target without transactions: its commands run like all others.
    pub fn plain() -> Transaction {
        Transaction { session: None }
    }

    /// Starts one that reads a snapshot and is committed with a write concern. Nothing is sent yet.
    pub(super) async fn begin(client: &Client, w: &str) -> Result<Transaction, Failure> {
        let mut session = client.start_session().await.map_err(|error| failure::from_driver(&error))?;
        session
            .start_transaction()
            .read_concern(ReadConcern::snapshot())
            .write_concern(
                WriteConcern::builder()
                    .w(w.parse().map_or_else(|_| w.to_owned().into(), Acknowledgment::Nodes))
                    .build(),
            )
            .await
            .map_err(|error| failure::from_driver(&error))?;
        Ok(Transaction { session: Some(Box::new(session)) })
    }

    pub(super) fn session(&mut self) -> Option<&mut ClientSession> {
        self.session.as_deref_mut()
    }

    pub(super) async fn commit(&mut self) -> Result<(), Failure> {
        let Some(session) = self.session() else { return Ok(()) };
        session.commit_transaction().await.map_err(|error| failure::from_driver(&error))
    }

    pub(super) async fn abort(&mut self) -> Result<(), Failure> {
        let Some(session) = self.session() else { return Ok(()) };
        session.abort_transaction().await.map_err(|error| failure::from_driver(&error))
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Transaction").field("is_plain", &self.session.is_none()).finish()
    }
}
