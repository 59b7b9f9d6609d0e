//! Writing to the terminal, or to whatever stands in its place.
//!
//! Colours are taken out when the stream is no terminal or `NO_COLOR` is set.

use std::io::{self, Write};

use super::exit::CliError;

/// Writes a result to standard output. That nobody reads on, as in `docshape list | head -1`, is no error.
///
/// # Errors
/// When the stream refuses, say because the disk is full.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut stream = anstream::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes words for the user to standard error. If that fails there is nobody to tell.
pub fn tell(text: &str) {
    let mut stream = anstream::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Columns of standard output, between 80 and 120; 100 when it is no terminal.
pub fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| usize::from(width.0).clamp(80, 120))
}
