//! A target that keeps the commands sent to it.

use std::cell::RefCell;

use bson::RawDocumentBuf;

use crate::server::wrapper::{Sending, TargetWrapper};
use crate::server::{Failure, Reply, Target};

/// A command of a call.
pub struct KeptCommand {
    /// The command as it was sent.
    pub command: RawDocumentBuf,
    /// Whether it was part of a transaction.
    pub is_in_transaction: bool,
}

/// A target that also keeps the commands sent to it.
pub struct KeepingTarget<'t, T> {
    target: &'t T,
    kept: RefCell<Vec<KeptCommand>>,
}

impl<'t, T: Target> KeepingTarget<'t, T> {
    /// Nothing has been sent yet.
    pub fn new(target: &'t T) -> KeepingTarget<'t, T> {
        KeepingTarget { target, kept: RefCell::default() }
    }

    /// Returns what was sent since the last time, in order.
    pub fn take(&self) -> Vec<KeptCommand> {
        self.kept.take()
    }
}

impl<T: Target> TargetWrapper for KeepingTarget<'_, T> {
    fn inner(&self) -> &impl Target {
        self.target
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        let is_in_transaction = sending.transaction.is_some();
        self.kept.borrow_mut().push(KeptCommand { command: sending.command.clone(), is_in_transaction });
        sending.send(self.target).await
    }
}
