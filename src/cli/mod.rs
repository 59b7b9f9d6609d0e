//! The terminal: the only place for arguments, colour, printing and environment variables.

pub mod argument;
pub mod preset;
pub mod run;

mod exit;

use std::path::Path;

use crate::server::embedded::exec_mongod;

pub use argument::{Arguments, Command, RunArguments};
pub use exit::{CliError, EXIT_CODES, Exit};

/// Does what the command line says.
///
/// # Errors
/// One for `main` to print, with the exit code.
pub fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    match arguments.command {
        Command::Run(arguments) => {
            check_threads(&arguments)?;
            run::run(arguments)
        }
        Command::ExecMongod(arguments) => {
            let (program, rest) = arguments.program.split_first().ok_or_else(|| CliError::usage("no program"))?;
            let error = exec_mongod(arguments.parent, Path::new(program), rest);
            Err(CliError::server(format!("{}: {error}", Path::new(program).display())))
        }
        _ => Err(CliError::usage("not built in yet")),
    }
}

/// Tells the user why a command could not do its work.
#[expect(clippy::print_stderr, reason = "this is the terminal")]
pub fn report_error(error: &CliError) {
    if !error.message.is_empty() {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        anstream::eprintln!("{red}error{red:#}: {error}");
    }
}

fn check_threads(arguments: &RunArguments) -> Result<(), CliError> {
    let (workers, threads) = (arguments.workers, arguments.threads);
    if threads <= workers {
        return Ok(());
    }
    let next = format!("take at least --workers {threads}, or --threads {workers}");
    Err(CliError::usage(format!(
        "--threads {threads} is more than --workers {workers}: every thread needs a worker; {next}"
    )))
}
