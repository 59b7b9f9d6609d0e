//! Continues the record of a run, or that in the record of another study.

use crate::error::{ErrorKind, KindedError};
use crate::results::{Environment, RunRecord, ServerSharing, Status};

/// Why a record cannot be continued: what would be measured now is unlike what it has.
#[derive(Debug, thiserror::Error)]
pub enum UnlikeError {
    /// Another build wrote it.
    #[error(
        "{file} cannot be resumed: it was started by docshape {theirs}, and rounds of docshape {} may differ; use docshape \
         {theirs}, or start a new run",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The file.
        file: String,
        /// The version that wrote it.
        theirs: String,
    },
    /// The server has another version.
    #[error(
        "the run to resume was measured on MongoDB {theirs}, but this server is MongoDB {ours}: use a server of version {theirs}, or \
         start a new run"
    )]
    Server {
        /// The version in the record.
        theirs: String,
        /// The version of the server.
        ours: String,
    },
    /// The scenario in it gives another plan.
    #[error(
        "the run to resume has other strategies, operations, weights or parameters than its scenario: its file was changed, or \
         another build of docshape wrote it; start a new run"
    )]
    Plan,
}

impl KindedError for UnlikeError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// Rejects the record of another build, in a file of this name.
///
/// # Errors
/// When this build cannot continue it.
pub fn check_version(file: &str, record: &RunRecord) -> Result<(), UnlikeError> {
    if record.version == env!("CARGO_PKG_VERSION") {
        return Ok(());
    }
    Err(UnlikeError::Version { file: file.to_owned(), theirs: record.version.clone() })
}

/// Continues a record after what is finished, such as `round 3`; `head` is the record that would be started with now.
///
/// # Errors
/// When what is to come would not be like what was before.
pub fn continue_record(mut record: RunRecord, head: &RunRecord, finished: &str) -> Result<RunRecord, UnlikeError> {
    let (theirs, ours) = (record.server.version.clone(), head.server.version.clone());
    if theirs != ours {
        return Err(UnlikeError::Server { theirs, ours });
    }
    let names = |record: &RunRecord| -> Vec<String> { record.strategies.iter().map(|s| s.name.clone()).collect() };
    let is_same = names(&record) == names(head)
        && (&record.operations, &record.mix, &record.parameters) == (&head.operations, &head.mix, &head.parameters);
    if !is_same {
        return Err(UnlikeError::Plan);
    }
    let mut notes = vec![format!("The run was resumed after {finished}, on {}.", head.started)];
    notes.extend(differences(&record, head).into_iter().map(|what| format!("After {finished}, {what}.")));
    notes.extend(head.warnings.iter().filter(|warning| !record.warnings.contains(warning)).cloned());
    record.warnings.extend(notes);
    record.status = Status::Unfinished;
    Ok(record)
}

/// What is different now, and may show in the numbers.
fn differences(record: &RunRecord, head: &RunRecord) -> Vec<String> {
    let commit = |record: &RunRecord| record.git.clone().unwrap_or_else(|| "(unknown)".into());
    let built = format!("docshape was built from commit {}, before that from {}", commit(head), commit(record));
    let machine = |of: &Environment| (of.platform.clone(), of.kernel.clone(), of.cpu.clone(), of.cores, of.memory);
    let sharing = match head.server.servers {
        ServerSharing::Shared => "all strategies shared one server, before that each had its own",
        ServerSharing::PerStrategy => "each strategy had its own server, before that all shared one",
    };
    let all = [
        (record.git != head.git, built.as_str()),
        (machine(&record.environment) != machine(&head.environment), "docshape ran on another machine"),
        (record.server.cache_bytes != head.server.cache_bytes, "the server's cache had another size"),
        (record.server.servers != head.server.servers, sharing),
    ];
    all.into_iter().filter(|(is_different, _)| *is_different).map(|(_, what)| what.to_owned()).collect()
}
