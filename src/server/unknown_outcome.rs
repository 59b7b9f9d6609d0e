//! Whether a write that failed may have taken effect nevertheless.

use super::{Failure, FailureKind};

/// The label of a failure before which nothing was written. Servers give it since 6.1; docshape gives it where the driver did not
/// send the command at all.
pub(super) const NOTHING_DONE: &str = "NoWritesPerformed";

/// The label of a commit that may have been done.
const COMMIT_UNKNOWN: &str = "UnknownTransactionCommitResult";

/// The label of a transaction that the server has aborted.
const ABORTED: &str = "TransientTransactionError";

/// The label of failures after which a driver may write again, because it cannot know whether the write was done.
const RETRYABLE: &str = "RetryableWriteError";

/// Codes of a server that changes its state, stops, or lost the connection to another one while it worked on a command.
const INTERRUPTIONS: [i32; 16] = [
    6,     // HostUnreachable
    7,     // HostNotFound
    89,    // NetworkTimeout
    91,    // ShutdownInProgress
    133,   // FailedToSatisfyReadPreference, from mongos without a primary
    134,   // ReadConcernMajorityNotAvailableYet
    189,   // PrimarySteppedDown
    262,   // ExceededTimeLimit
    9001,  // SocketException
    10058, // LegacyNotPrimary
    10107, // NotWritablePrimary
    11600, // InterruptedAtShutdown
    11601, // Interrupted, by killOp
    11602, // InterruptedDueToReplStateChange
    13435, // NotPrimaryNoSecondaryOk
    13436, // NotPrimaryOrSecondary
];

impl Failure {
    /// Whether the failure has nothing to do with the command: the server changed its state, or the connection broke.
    pub fn is_interruption(&self) -> bool {
        match self.kind {
            FailureKind::Network | FailureKind::Timeout | FailureKind::WriteConcern(_) => true,
            FailureKind::Server(code) => INTERRUPTIONS.contains(&code) || self.has_label(RETRYABLE),
            FailureKind::TooLarge | FailureKind::Driver => false,
        }
    }

    /// Whether a write that failed like this may have been done nevertheless.
    ///
    /// | failure | the write |
    /// |---|---|
    /// | an interruption: the codes above, the label `RetryableWriteError`, a broken connection, no reply in time | may be done |
    /// | a write concern error, whatever its code | is done, and may be rolled back |
    /// | a commit labelled `UnknownTransactionCommitResult` | may be done |
    /// | labelled `NoWritesPerformed`, or never sent: no server was found, or no connection was free | is not done |
    /// | labelled `TransientTransactionError`: the server has aborted the transaction | is not done |
    /// | any other code of the server: it has looked at the command and refused it | is not done |
    ///
    /// The codes are those of the drivers' specifications "Retryable Writes" and "Server Discovery and Monitoring" (errors "not
    /// writable primary" and "node is recovering"). A server that says 10107 or 11602 may have done a part of the command, or all
    /// of it, before it stepped down; only the label shows which.
    pub fn leaves_outcome_open(&self) -> bool {
        let is_undone = self.has_label(NOTHING_DONE) || self.has_label(ABORTED);
        self.has_label(COMMIT_UNKNOWN) || (self.is_interruption() && !is_undone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(kind: FailureKind, labels: &[&str]) -> bool {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Failure { kind, message: String::new(), labels }.leaves_outcome_open()
    }

    #[test]
    fn interrupted_writes_may_be_done() {
        for code in [91, 189, 10107, 11600, 11602, 13435, 13436] {
            assert!(is_open(FailureKind::Server(code), &[]), "{code}");
            assert!(!is_open(FailureKind::Server(code), &["NoWritesPerformed"]), "{code}");
            assert!(!is_open(FailureKind::Server(code), &["TransientTransactionError"]), "{code}");
        }
        assert!(is_open(FailureKind::Network, &[]) && is_open(FailureKind::Timeout, &[]));
        assert!(is_open(FailureKind::WriteConcern(64), &[]) && is_open(FailureKind::WriteConcern(100), &[]));
        assert!(is_open(FailureKind::Server(1), &["RetryableWriteError"]));
        assert!(!is_open(FailureKind::Network, &["NoWritesPerformed"]), "never sent");
    }

    #[test]
    fn refused_writes_are_not_done() {
        for code in [112, 121, 11000, 251] {
            assert!(!is_open(FailureKind::Server(code), &[]), "{code}");
        }
        assert!(!is_open(FailureKind::TooLarge, &[]) && !is_open(FailureKind::Driver, &[]));
    }

    #[test]
    fn unknown_commits_may_be_done() {
        assert!(is_open(FailureKind::Server(50), &["UnknownTransactionCommitResult"]));
        assert!(is_open(FailureKind::Network, &["UnknownTransactionCommitResult", "NoWritesPerformed"]), "sent twice");
    }
}
