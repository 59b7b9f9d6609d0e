//! How the embedded server's process is started and tied to the life of docshape.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::embedded::{Checkpoints, EmbeddedOptions};
use super::server_log;

/// The hidden subcommand of the docshape binary that ends in [`exec_mongod`].
pub const EXEC_SUBCOMMAND: &str = "exec-mongod";
/// The name of the replica set.
pub(super) const REPLICA_SET: &str = "docshape";

/// The launcher's command line, for a process group of its own.
pub(super) fn command(options: &EmbeddedOptions, folder: &Path, port: u16) -> Command {
    let mut command = Command::new(&options.launcher);
    command
        .args([EXEC_SUBCOMMAND, "--parent", &std::process::id().to_string(), "--"])
        .arg(&options.program)
        .args(arguments(options, folder, port))
        .process_group(0);
    command
}

fn arguments(options: &EmbeddedOptions, folder: &Path, port: u16) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = [
        "--bind_ip=127.0.0.1",
        "--nounixsocket",
        "--oplogSize=4096",
        "--setParameter=ttlMonitorSleepSecs=1",
        // Its collector wakes up every second and writes, which is noise in a measurement.
        "--setParameter=diagnosticDataCollectionEnabled=false",
        // They write an entry to the oplog every ten seconds.
        "--setParameter=writePeriodicNoops=false",
    ]
    .map(OsString::from)
    .into();
    arguments.push(format!("--replSet={REPLICA_SET}").into());
    arguments.push(format!("--port={port}").into());
    arguments.push(format!("--wiredTigerCacheSizeGB={}", options.cache_gb).into());
    match options.checkpoints {
        Checkpoints::EveryMinute => {}
        Checkpoints::OnlyByFsync => arguments.push("--syncdelay=0".into()),
        Checkpoints::EveryFewSeconds => {
            arguments.push("--syncdelay=5".into());
            arguments.push("--setParameter=minSnapshotHistoryWindowInSeconds=0".into());
        }
    }
    arguments.extend(["--dbpath".into(), folder.join("data").into_os_string()]);
    arguments.extend(["--logpath".into(), folder.join(server_log::LOG_FILE).into_os_string()]);
    arguments.extend(options.extra_arguments.iter().cloned());
    arguments
}

/// Becomes `program`, tied to the life of `parent_pid`: the end of the hidden subcommand.
///
/// Asks the kernel for SIGKILL on the parent's death, makes sure that the parent did not die before that, and replaces
/// this process. Returns only if something failed.
pub fn exec_mongod(parent_pid: u32, program: &Path, arguments: &[OsString]) -> io::Error {
    // The kernel's signal on the death of the parent exists on Linux only, as do embedded servers.
    if let Err(error) = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL) {
        return error.into();
    }
    if u32::try_from(nix::unistd::getppid().as_raw()) != Ok(parent_pid) {
        return io::Error::other(format!("the parent process {parent_pid} is gone"));
    }
    Command::new(program).args(arguments).exec()
}
