//! The terminal: the only place for arguments, colour, printing and environment variables.

mod answer;
pub mod argument;
pub mod capacity;
pub mod catalogue;
pub mod file_limit;
mod generated;
mod install;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod run;
pub mod scenario;
pub mod server;
pub mod show;

mod check;
mod clean;
mod command_line;
pub mod compare;
mod data_size;
mod exit;
mod grow;
mod list;
mod misplaced_uri;
mod publish;
mod report;
mod reservation;
mod rights;
mod selftest;
mod session;
mod summary;
mod sweep;
mod value;
mod verify;

use std::path::Path;

use crate::server::embedded::exec_mongod;

use argument::{ExecMongodArguments, ServerCommand};
pub use command_line::{Arguments, CliCommand};
pub use exit::{CliError, EXIT_CODES, Exit};
pub use misplaced_uri::misplaced_uri;

/// Runs the command. Must be called on the main thread, with which the embedded server ends.
///
/// # Errors
/// The error to print, with its exit code.
pub fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    match arguments.command {
        CliCommand::Run(arguments) => run::run(*arguments),
        CliCommand::Sweep(arguments) => sweep::sweep(&arguments),
        CliCommand::Grow(arguments) => grow::grow(&arguments),
        CliCommand::Capacity(arguments) => capacity::capacity(&arguments),
        CliCommand::Selftest(arguments) => selftest::selftest(&arguments),
        CliCommand::Verify(arguments) => verify::verify(&arguments),
        CliCommand::Check(arguments) => check::check(&arguments),
        CliCommand::Show(arguments) => show::show(&arguments),
        CliCommand::List(arguments) => list::list(&arguments),
        CliCommand::Compare(arguments) => compare::compare(&arguments),
        CliCommand::Report(arguments) => report::report(&arguments),
        CliCommand::Summary(arguments) => summary::summary(&arguments),
        CliCommand::Publish(arguments) => publish::publish(&arguments),
        CliCommand::Clean(arguments) => clean::clean(&arguments),
        CliCommand::Rights(arguments) => rights::rights(&arguments),
        CliCommand::Server(ServerCommand::Start(arguments)) => server::start(&arguments),
        CliCommand::Server(ServerCommand::Install(arguments)) => install::install(&arguments),
        CliCommand::Completions { shell } => generated::completions(shell),
        CliCommand::Man => generated::man(),
        CliCommand::ExecMongod(arguments) => become_mongod(&arguments),
    }
}

/// Prints why a command failed, unless that has been printed already.
pub fn report_error(error: &CliError) {
    if !error.message.is_empty() {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        output::message(&format!("{red}error{red:#}: {error}\n"));
    }
}

fn become_mongod(arguments: &ExecMongodArguments) -> Result<Exit, CliError> {
    let Some((program, rest)) = arguments.program.split_first() else {
        return Err(CliError::usage("exec-mongod needs a program"));
    };
    let program = Path::new(program);
    let error = exec_mongod(arguments.parent, program, rest);
    Err(CliError::failure(format!("{} cannot be started: {error}", program.display())))
}
