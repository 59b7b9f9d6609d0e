//! A replica set of our own, of one `mongod` or several: each on a free loopback port, with a temporary folder.
//!
//! It must never outlive docshape, however docshape ends, and must not die before docshape has saved its results:
//!
//! * It runs in a process group of its own, so that Ctrl-C in the terminal reaches docshape only.
//! * [`EmbeddedMongod`] ends it and removes its folder when dropped: at the end, on errors, in a panic. The primary owns the
//!   other members, and a set of which one member has ended is ended as a whole.
//! * When docshape is killed outright, the kernel kills it through the parent-death signal, which [`exec_mongod`] asks
//!   for between fork and exec. The folder then stays until the next start, which removes it.
//!
//! The parent-death signal fires when the *thread* that started the child ends, so start it from the main thread. A server
//! that is suspended ends in the same ways: no process can block or ignore SIGKILL.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::{try_join, try_join_all};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::error::KindedError;

use super::client::ConnectError;
use super::folder::{self, Folder};
use super::launch::command;
pub use super::launch::{EXEC_SUBCOMMAND, exec_mongod};
pub use super::locate::{LocateError, locate};
use super::{Failure, server_log};

/// How long a start may take until the server accepts writes.
pub(super) const START: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Ports to try before giving up.
const PORTS: usize = 10;
/// The status with which `mongod` ends when it cannot have the port.
const NETWORK_ERROR: i32 = 48;
const KILLED: &str = "it was killed from outside, perhaps because memory ran out; try a smaller cache";
/// The smallest cache that `mongod` accepts, in GB.
pub(super) const SMALLEST_CACHE_GB: f64 = 0.25;

/// What to start and how.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The `mongod` program, as [`locate`] finds it.
    pub program: PathBuf,
    /// The docshape binary, which starts the program through its hidden subcommand.
    pub launcher: PathBuf,
    /// The folder in which the server's own folder is created.
    pub temp_dir: PathBuf,
    /// The size of the WiredTiger cache of each member in GB, at least 0.25.
    pub cache_gb: f64,
    /// The first port to try for the primary; any free one when absent or taken.
    pub port: Option<u16>,
    /// When it writes checkpoints.
    pub checkpoints: Checkpoints,
    /// Whether the server will be disturbed: its clients then look for a primary instead of taking it for one.
    pub is_disturbed: bool,
    /// The members of the set.
    pub members: usize,
    /// Further arguments for every `mongod`, after ours.
    pub extra_arguments: Vec<OsString>,
}

impl EmbeddedOptions {
    /// The usual options: one member, a cache of 1 GB, any free port, checkpoints.
    pub fn new(program: PathBuf, launcher: PathBuf, temp_dir: PathBuf) -> Self {
        let (cache_gb, port, checkpoints, extra_arguments) = (1.0, None, Checkpoints::EveryMinute, Vec::new());
        let (is_disturbed, members) = (false, 1);
        Self { program, launcher, temp_dir, cache_gb, port, checkpoints, is_disturbed, members, extra_arguments }
    }
}

/// When an embedded server writes checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoints {
    /// Every minute, its default.
    EveryMinute,
    /// Only when asked to by `fsync`.
    OnlyByFsync,
    /// Every few seconds, and it keeps no history: only then are the files of dropped collections closed, of which many databases
    /// one after the other would leave thousands.
    EveryFewSeconds,
}

/// Why the embedded server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The cache size is outside what `mongod` accepts.
    #[error("a cache of {0} GB is not possible: expected {min} to 10000", min = SMALLEST_CACHE_GB)]
    CacheSize(f64),
    /// The temporary folder could not be created or removed.
    #[error("the embedded server's folder in {} cannot be {deed}: {source}; set TMPDIR to a folder with room", path.display())]
    Folder {
        /// The folder, or its parent.
        path: PathBuf,
        /// "made" or "removed".
        deed: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The program ended by itself.
    #[error("{} ended by itself ({status}): {log}", program.display())]
    Exited {
        /// The `mongod` program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The last meaningful lines of its log.
        log: String,
    },
    /// Its process could not be started, ended, suspended or resumed.
    #[error("{} cannot be {deed}: {source}", program.display())]
    Process {
        /// The `mongod` program, or its launcher.
        program: PathBuf,
        /// "started", "killed", "suspended" or "resumed".
        deed: &'static str,
        /// Why.
        source: io::Error,
    },
    /// It runs but did not become ready.
    #[error("{} was not ready after {} s; its log ends with: {log}", program.display(), START.as_secs())]
    NotReady {
        /// The `mongod` program.
        program: PathBuf,
        /// The last meaningful lines of its log.
        log: String,
    },
    /// Every port tried was taken by someone else: why the last one failed.
    #[error("no free port was found on 127.0.0.1 in {PORTS} tries: {0}")]
    NoPort(String),
    /// It answered, but not as it should.
    #[error("the embedded server refused its set-up: {0}")]
    SetUp(#[from] Failure),
    /// The driver rejected the address.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// A running server of our own, with the other members of its set, if there are any: it is their primary. Dropping it ends them and
/// removes their data.
#[derive(Debug)]
pub struct EmbeddedMongod {
    child: RefCell<Child>,
    /// Whether docshape itself has killed it.
    is_down: Cell<bool>,
    folder: Folder,
    pub(super) options: EmbeddedOptions,
    pub(super) port: u16,
    pub(super) secondaries: Vec<EmbeddedMongod>,
    /// The version of the server, such as `6.0.5`.
    pub version: String,
}

impl EmbeddedMongod {
    /// Removes what dead runs left behind, starts a set, and waits until it accepts writes and all members follow.
    ///
    /// Await it with `block_on` on the main thread; see the module's text for why.
    pub async fn start(options: &EmbeddedOptions) -> Result<Self, EmbeddedError> {
        if !(SMALLEST_CACHE_GB..=10_000.0).contains(&options.cache_gb) {
            return Err(EmbeddedError::CacheSize(options.cache_gb));
        }
        folder::sweep(&options.temp_dir);
        let secondaries = try_join_all((1..options.members).map(|_| Self::start_process(options, None)));
        let (mut server, secondaries) = try_join(Self::start_process(options, options.port), secondaries).await?;
        server.secondaries = secondaries;
        server.initiate().await?;
        Ok(server)
    }

    /// Starts a process and waits until it listens, at this port if it is free.
    async fn start_process(options: &EmbeddedOptions, port: Option<u16>) -> Result<Self, EmbeddedError> {
        let mut log = String::new();
        for attempt in 0..PORTS {
            let port = port.filter(|_| attempt == 0).map_or_else(free_port, Ok);
            let port = port.map_err(|error| EmbeddedError::NoPort(error.to_string()))?;
            let server = Self::launch(options, port)?;
            match server.wait_until_listening().await {
                Ok(()) => return Ok(server),
                Err(EmbeddedError::Exited { status, log: last, .. }) if is_taken(status, &last) => log = last,
                Err(error) => return Err(error),
            }
        }
        Err(EmbeddedError::NoPort(log))
    }

    /// The process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.borrow().id()
    }

    /// The folder of the server's data and log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until the server ends by itself, for ever if it does not, and returns why it ended.
    ///
    /// For `docshape server start`, which runs the server until the user stops it.
    pub async fn exited(&self) -> EmbeddedError {
        loop {
            match self.ended() {
                Some(error) => return error,
                None => sleep(POLL * 10).await,
            }
        }
    }

    /// Why the server or another member ended by itself, if one did. The others are then killed: a set that lacks one is another set.
    pub fn ended(&self) -> Option<EmbeddedError> {
        let error = self.members().find_map(|member| member.still_running().err())?;
        self.members().for_each(|member| drop(member.kill()));
        Some(error)
    }

    /// Stops the processes until [`EmbeddedMongod::resume`], and waits until all of their threads have stopped: those in a
    /// write to the disk finish it first. Their connections stay open.
    ///
    /// # Errors
    /// When one has ended.
    pub async fn suspend(&self) -> Result<(), EmbeddedError> {
        self.members().try_for_each(|member| member.signal(Signal::SIGSTOP, "suspended"))?;
        for pid in self.members().map(Self::process) {
            // The process stays waitable, because its end is noticed elsewhere.
            let states = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            let _ = tokio::task::spawn_blocking(move || waitid(Id::Pid(pid), states)).await;
        }
        self.ended().map_or(Ok(()), Err)
    }

    /// Lets suspended processes continue.
    ///
    /// # Errors
    /// When one has ended.
    pub fn resume(&self) -> Result<(), EmbeddedError> {
        self.members().try_for_each(|member| member.signal(Signal::SIGCONT, "resumed"))
    }

    /// Kills the process, until [`EmbeddedMongod::start_again`].
    ///
    /// # Errors
    /// When it has ended before.
    pub fn kill(&self) -> Result<(), EmbeddedError> {
        self.still_running()?;
        self.is_down.set(true);
        let mut child = self.child.borrow_mut();
        let program = self.options.program.clone();
        let killed = child.kill().and_then(|()| child.wait());
        killed.map(drop).map_err(|source| EmbeddedError::Process { program, deed: "killed", source })
    }

    /// Starts a killed process again, on the same port and data. It accepts writes once it has recovered and is elected.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_again(&self) -> Result<(), EmbeddedError> {
        *self.child.borrow_mut() = Self::spawn(&self.options, &self.folder, self.port)?;
        self.is_down.set(false);
        Ok(())
    }

    /// Signals the process unless it has ended: its id could be that of another by now.
    fn signal(&self, signal: Signal, deed: &'static str) -> Result<(), EmbeddedError> {
        self.still_running()?;
        let program = self.options.program.clone();
        kill(self.process(), signal).map_err(|error| EmbeddedError::Process { program, deed, source: error.into() })
    }

    fn process(&self) -> Pid {
        Pid::from_raw(self.pid().cast_signed())
    }

    /// Ends all members and removes their folders; the first error when a folder could not be removed.
    pub fn stop(mut self) -> Result<(), EmbeddedError> {
        self.end();
        let others = std::mem::take(&mut self.secondaries).into_iter().map(Self::stop).fold(Ok(()), Result::and);
        let path = self.folder.path().to_owned();
        let removed = self.folder.remove().map_err(|source| EmbeddedError::Folder { path, deed: "removed", source });
        removed.and(others)
    }

    fn launch(options: &EmbeddedOptions, port: u16) -> Result<Self, EmbeddedError> {
        let unusable = |source| EmbeddedError::Folder { path: options.temp_dir.clone(), deed: "made", source };
        let folder = Folder::create(&options.temp_dir).map_err(unusable)?;
        std::fs::create_dir(folder.path().join("data")).map_err(unusable)?;
        let child = RefCell::new(Self::spawn(options, &folder, port)?);
        let (is_down, options, secondaries, version) = (Cell::new(false), options.clone(), Vec::new(), String::new());
        Ok(Self { child, is_down, folder, options, port, secondaries, version })
    }

    fn spawn(options: &EmbeddedOptions, folder: &Folder, port: u16) -> Result<Child, EmbeddedError> {
        let unusable = |source| EmbeddedError::Folder { path: options.temp_dir.clone(), deed: "made", source };
        let output = File::create(folder.path().join(server_log::OUTPUT_FILE)).map_err(unusable)?;
        let errors = output.try_clone().map_err(unusable)?;
        let child = command(options, folder.path(), port).stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        child.map_err(|source| EmbeddedError::Process { program: options.launcher.clone(), deed: "started", source })
    }

    async fn wait_until_listening(&self) -> Result<(), EmbeddedError> {
        let deadline = Instant::now() + START;
        // Asking the port instead could reach another process that took it before our server.
        while !server_log::listening(self.folder.path()) {
            self.pause(deadline).await?;
        }
        Ok(())
    }

    /// Waits a little, unless the process has ended or the deadline has passed.
    pub(super) async fn pause(&self, deadline: Instant) -> Result<(), EmbeddedError> {
        self.still_running()?;
        if Instant::now() >= deadline {
            let log = server_log::reason(self.folder.path());
            return Err(EmbeddedError::NotReady { program: self.options.program.clone(), log });
        }
        sleep(POLL).await;
        Ok(())
    }

    pub(super) fn still_running(&self) -> Result<(), EmbeddedError> {
        if self.is_down.get() {
            return Ok(());
        }
        match self.child.borrow_mut().try_wait() {
            Ok(Some(status)) => {
                let log = match status.signal() {
                    Some(signal) if signal == Signal::SIGKILL as i32 => KILLED.to_owned(),
                    _ => server_log::reason(self.folder.path()),
                };
                Err(EmbeddedError::Exited { program: self.options.program.clone(), status, log })
            }
            // The child is ours, so a failure to read its state does not mean that it ended.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// The data is thrown away, so there is nothing to shut down cleanly. Does nothing the second time.
    fn end(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for EmbeddedMongod {
    fn drop(&mut self) {
        // The folder goes after this, with the field that owns it.
        self.end();
    }
}

/// Whether a server ended because another process has its port: it could not bind the port, or bound it and could not
/// listen.
fn is_taken(status: ExitStatus, log: &str) -> bool {
    status.code() == Some(NETWORK_ERROR) || log.contains("Address already in use")
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl KindedError for EmbeddedError {}
