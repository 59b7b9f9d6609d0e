//! Ctrl-C and its kin.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask docshape to end: from the terminal, from another process, from a terminal that closes.
///
/// From its making on they end the process no more: whoever makes it must wait for them.
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
    /// Begins to listen; inside a tokio runtime.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> io::Result<Interrupt> {
        Ok(Interrupt {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            _file_size: signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGXFSZ as i32))?,
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
