//! The limit on open files: every connection needs one.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::exit::CliError;

/// Open files besides the clients' connections: runtimes, the driver's own connections, result files.
const SPARE: u64 = 32;
/// Open files of each load thread besides its connections.
const PER_THREAD: u64 = 8;

/// Raises the soft limit of this process to the hard limit; the embedded server inherits it. [`check`] reports a limit
/// that is still too low.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Rejects more clients than the limit allows connections.
///
/// # Errors
/// When the limit of this process does not allow them.
pub fn check(clients: u64, threads: u64, servers: u64) -> Result<(), CliError> {
    // An unknown limit rejects nothing; a pool that does not fill is an error later.
    getrlimit(Resource::RLIMIT_NOFILE).map_or(Ok(()), |(limit, _)| fit(clients, threads, servers, limit))
}

fn fit(clients: u64, threads: u64, servers: u64, limit: u64) -> Result<(), CliError> {
    let needed = servers * (clients + threads * PER_THREAD) + SPARE;
    if needed <= limit {
        return Ok(());
    }
    let each = if servers > 1 { format!(" on each of {servers} servers") } else { String::new() };
    Err(CliError::usage(format!(
        "{clients} clients{each} need {needed} open files, but the limit is {limit}: raise it with `ulimit -n {needed}`, or try fewer \
         --clients"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_clients_are_rejected_with_the_needed_limit() {
        assert!(fit(8, 1, 1, 48).is_ok());
        let message = fit(512, 2, 1, 200).unwrap_err().message;
        assert!(
            message.contains("512 clients need 560 open files") && message.contains("the limit is 200"),
            "{message}"
        );
        assert!(message.contains("ulimit -n 560"), "{message}");
        let message = fit(8, 1, 3, 48).unwrap_err().message;
        assert!(message.contains("8 clients on each of 3 servers need 80 open files"), "{message}");
    }
}
