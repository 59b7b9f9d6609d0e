//! Targets around another target.

use std::time::Duration;

use bson::{RawDocument, RawDocumentBuf};

use super::primary::PrimaryChange;
use super::{Failure, Reply, ReplyKind, Target, Transaction};

/// A target around another one, which does something about its commands. All the rest is that of the inner target.
pub trait TargetWrapper {
    /// Returns the inner target.
    fn inner(&self) -> &impl Target;

    /// Runs a command, inside of a transaction or not; [`Sending::send`] hands it to a target.
    fn pass(&self, sending: Sending<'_>) -> impl Future<Output = Result<Reply, Failure>>;

    /// As [`Target::begin`].
    fn pass_begin(&self, w: &str) -> impl Future<Output = Result<Transaction, Failure>> {
        self.inner().begin(w)
    }

    /// As [`Target::end`].
    fn pass_end(&self, transaction: &mut Transaction, commits: bool) -> impl Future<Output = Result<(), Failure>> {
        self.inner().end(transaction, commits)
    }
}

/// A command on its way to a target.
pub struct Sending<'s> {
    /// The database.
    pub database: &'s str,
    /// The command.
    pub command: RawDocumentBuf,
    /// Its reply.
    pub kind: ReplyKind,
    /// The read preference by which a member is chosen.
    pub preference: Option<&'s str>,
    /// The transaction that it is in.
    pub transaction: Option<&'s mut Transaction>,
}

impl Sending<'_> {
    /// Sends it, as [`Target::run`], [`Target::run_from`] or [`Target::run_in`] do.
    ///
    /// # Errors
    /// When the server or the connection fails.
    pub async fn send(self, target: &impl Target) -> Result<Reply, Failure> {
        let Sending { database, command, kind, preference, transaction } = self;
        match (transaction, preference) {
            (Some(transaction), _) => target.run_in(transaction, database, command, kind).await,
            (None, Some(preference)) => target.run_from(preference, database, command, kind).await,
            (None, None) => target.run(database, command, kind).await,
        }
    }
}

impl<W: TargetWrapper> Target for W {
    fn run(
        &self,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        self.pass(Sending { database, command, kind, preference: None, transaction: None })
    }

    async fn run_from(
        &self,
        preference: &str,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        self.pass(Sending { database, command, kind, preference: Some(preference), transaction: None }).await
    }

    fn run_on_others(&self, command: &RawDocument) -> impl Future<Output = Result<(), Failure>> {
        self.inner().run_on_others(command)
    }

    fn patience(&self) -> Duration {
        self.inner().patience()
    }

    fn take_primary_changes(&self) -> Vec<PrimaryChange> {
        self.inner().take_primary_changes()
    }

    fn begin(&self, w: &str) -> impl Future<Output = Result<Transaction, Failure>> {
        self.pass_begin(w)
    }

    async fn run_in(
        &self,
        transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        self.pass(Sending { database, command, kind, preference: None, transaction: Some(transaction) }).await
    }

    fn end(&self, transaction: &mut Transaction, commits: bool) -> impl Future<Output = Result<(), Failure>> {
        self.pass_end(transaction, commits)
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    /// A server that is waited for longer than others.
    struct Patient;

    impl Target for Patient {
        async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
            Ok(Reply::from(rawdoc! { "ok": 1 }))
        }

        fn patience(&self) -> Duration {
            Duration::from_secs(77)
        }
    }

    #[test]
    fn wrapped_servers_stay_as_patient() {
        let delayed = super::super::delay::DelayedTarget { target: &Patient, delay: Duration::ZERO };
        assert_eq!(super::super::steady::SteadyTarget(&delayed).patience(), Patient.patience());
    }
}
