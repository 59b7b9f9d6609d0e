//! File descriptors: every connection takes one, and the system gives a process only so many.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::exit::CliError;

/// Descriptors that are no connections of workers: runtimes, the driver's own connections, files of the record.
const SPARE: u64 = 32;
/// What each load thread takes beside its connections.
const PER_THREAD: u64 = 8;

/// Raises this process's limit as far as it may be raised without rights; the embedded server inherits it. What cannot be
/// raised is left as it is: [`check`] tells when it is too low.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Refuses more workers than there can be connections.
///
/// # Errors
/// When the limit of this process does not allow them.
pub fn check(workers: u64, threads: u64) -> Result<(), CliError> {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((limit, _)) => fit(workers, threads, limit),
        // What is not known is not refused; a pool that does not fill says so later.
        Err(_) => Ok(()),
    }
}

fn fit(workers: u64, threads: u64, limit: u64) -> Result<(), CliError> {
    let needed = workers + threads * PER_THREAD + SPARE;
    if needed <= limit {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{workers} workers need {needed} open files, and this process may have {limit}: raise the limit (ulimit -n {needed}), or \
         use fewer --workers"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_fit_are_taken_and_others_told_what_they_need() {
        assert_eq!(fit(8, 1, 48), Ok(()));
        let words = fit(512, 2, 200).unwrap_err().message;
        assert!(words.contains("512 workers need 560 open files") && words.contains("may have 200"), "{words}");
        assert!(words.contains("ulimit -n 560"), "{words}");
    }
}
