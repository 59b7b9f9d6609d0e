//! What commands have in common, and the commands of the core: arguments, colour, printing and environment variables.

pub mod answer;
pub mod argument;
pub mod catalogue;
pub mod file_limit;
pub mod init;
pub mod install;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod run;
pub mod scenario;
pub mod server;
pub mod show;

pub mod check;
pub mod clean;
pub mod compare;
pub mod data_size;
pub mod exit;
pub mod explain;
pub mod left_out;
pub mod list;
pub mod misplaced_uri;
pub mod next;
pub mod onward;
pub mod open;
pub mod preference;
pub mod report;
pub mod reservation;
pub mod rights;
pub mod selftest;
pub mod session;
pub mod shard_check;
pub mod value;
pub mod verify;

use std::path::Path;

use crate::server::embedded::exec_mongod;

use argument::ExecMongodArguments;
pub use exit::{CliError, EXIT_CODES, Exit};
pub use misplaced_uri::misplaced_uri;

/// Prints why a command failed, unless that has been printed already.
pub fn report_error(error: &CliError) {
    if !error.message.is_empty() {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        output::message(&format!("{red}error{red:#}: {error}\n"));
    }
}

/// Becomes a mongod that ends with its parent.
///
/// # Errors
/// When it cannot be started.
pub fn become_mongod(arguments: &ExecMongodArguments) -> Result<Exit, CliError> {
    let Some((program, rest)) = arguments.program.split_first() else {
        return Err(CliError::usage("exec-mongod needs a program"));
    };
    let program = Path::new(program);
    let error = exec_mongod(arguments.parent, program, rest);
    Err(CliError::failure(format!("{} cannot be started: {error}", program.display())))
}
