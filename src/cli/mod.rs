//! The terminal: the only place for arguments, colour, printing and environment variables.

pub mod argument;
pub mod capacity;
pub mod catalogue;
pub mod descriptor;
pub mod interrupt;
pub mod output;
pub mod preset;
pub mod progress;
pub mod run;
pub mod scenario;
pub mod server;

mod check;
pub mod compare;
mod course;
mod exit;
mod latency_log;
mod list;
mod record;
mod report;
mod resume;
mod selftest;
mod session;
mod show;
mod summary;
mod threshold;
mod value;
mod verify;
mod window;

use std::path::Path;

use crate::server::embedded::exec_mongod;

pub use argument::{Arguments, Command, RunArguments};
use argument::{ExecMongodArguments, ServerCommand};
pub use exit::{CliError, EXIT_CODES, Exit};

/// Does what the command line says. To be called on the main thread, for the embedded server's sake.
///
/// # Errors
/// One for `main` to report, with the exit code.
pub fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    match arguments.command {
        Command::Run(arguments) => {
            check_threads(&arguments)?;
            run::run(*arguments)
        }
        Command::Capacity(arguments) => {
            check_threads(&arguments.as_run())?;
            capacity::capacity(arguments)
        }
        Command::Selftest(arguments) => selftest::selftest(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Show(arguments) => show::show(&arguments),
        Command::List => list::list(),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Summary(arguments) => summary::summary(&arguments),
        Command::Server(ServerCommand::Start(arguments)) => server::start(&arguments),
        Command::ExecMongod(arguments) => become_mongod(&arguments),
    }
}

/// Tells the user why a command could not do its work, unless that has been told.
pub fn report_error(error: &CliError) {
    if !error.message.is_empty() {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        output::tell(&format!("{red}error{red:#}: {error}\n"));
    }
}

fn check_threads(arguments: &RunArguments) -> Result<(), CliError> {
    let (workers, threads) = (arguments.workers(), arguments.threads);
    if threads <= workers {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "--threads {threads} is more than --workers {workers}, and every thread needs a worker: give at least --workers \
         {threads}, or at most --threads {workers}"
    )))
}

fn become_mongod(arguments: &ExecMongodArguments) -> Result<Exit, CliError> {
    let Some((program, rest)) = arguments.program.split_first() else {
        return Err(CliError::usage("exec-mongod needs a program"));
    };
    let program = Path::new(program);
    let error = exec_mongod(arguments.parent, program, rest);
    Err(CliError::server(format!("{} cannot be started: {error}", program.display())))
}
