//! Results to standard output, messages to standard error.
//!
//! Colours are removed when the stream is not a terminal or `NO_COLOR` is set.

use std::io::{self, Write};

use super::exit::CliError;

/// Writes a result to standard output. A closed pipe, as in `docshape list | head -1`, is not an error.
///
/// # Errors
/// When it cannot be written, for example because the disk is full.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut stream = anstream::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::failure(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a message to standard error. Its failure has nowhere to be reported.
pub fn message(text: &str) {
    let mut stream = anstream::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Returns the columns of standard output: the terminal's, else those of `COLUMNS`, else 100; at least 80, at most 120.
pub fn width() -> usize {
    let of_terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(columns).unwrap_or(100).clamp(80, 120)
}
