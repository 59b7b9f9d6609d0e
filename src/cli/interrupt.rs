//! Ctrl-C and other signals that stop docshape.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::exit::CliError;

/// The signals that ask docshape to end: from the terminal, from another process, from a terminal that closes.
///
/// Once installed, they no longer end the process: the owner must wait for them.
#[derive(Debug)]
pub struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    /// Listened to only so that a file that grows beyond `ulimit -f` is an error of its writer, like a full disk, and
    /// does not end the process.
    _file_size: Signal,
}

impl Interrupt {
    /// Starts to listen; must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the system rejects a handler.
    pub fn listen() -> Result<Interrupt, CliError> {
        let cannot = |error| CliError::failure(format!("cannot handle signals: {error}"));
        let handle = |kind| signal(kind).map_err(cannot);
        Ok(Interrupt {
            interrupt: handle(SignalKind::interrupt())?,
            terminate: handle(SignalKind::terminate())?,
            hang_up: handle(SignalKind::hangup())?,
            _file_size: handle(SignalKind::from_raw(nix::sys::signal::Signal::SIGXFSZ as i32))?,
        })
    }

    /// Waits for the next of them; loses none when it is dropped before.
    pub async fn arrived(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
