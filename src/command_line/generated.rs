//! What is made from the command line itself: completions of shells, and the man page.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::exit::{CliError, Exit};
use crate::cli::output;

use super::Arguments;

/// Prints the completions for a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(shell: Shell) -> Result<Exit, CliError> {
    let mut made = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "docshape", &mut made);
    print(&made)
}

/// Prints the man page, in roff.
///
/// # Errors
/// When standard output cannot be written.
pub fn man() -> Result<Exit, CliError> {
    let mut made = Vec::new();
    let rendered = clap_mangen::Man::new(Arguments::command()).render(&mut made);
    rendered.map_err(|error| CliError::failure(format!("cannot make the man page: {error}")))?;
    print(&made)
}

fn print(text: &[u8]) -> Result<Exit, CliError> {
    output::print(&String::from_utf8_lossy(text)).map(|()| Exit::Success)
}
