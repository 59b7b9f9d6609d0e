//! The `docshape` command: parse, do, print the error once, exit.

use std::process::ExitCode;

use clap::Parser;
use docshape::cli::{misplaced_uri, report_error};
use docshape::command_line::{Arguments, execute};

fn main() -> ExitCode {
    if let Some(error) = misplaced_uri(std::env::args_os()) {
        report_error(&error);
        return error.exit.into();
    }
    match Arguments::try_parse() {
        Ok(arguments) => match execute(arguments) {
            Ok(exit) => exit.into(),
            Err(error) => {
                report_error(&error);
                error.exit.into()
            }
        },
        Err(error) => {
            // Help and version are errors to clap, too. A failure to print them has nowhere to be reported.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
