//! The `docshape` command.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use docshape::server::embedded::{EXEC_SUBCOMMAND, exec_mongod};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [subcommand, flag, parent, dashes, program, rest @ ..]
            if subcommand == EXEC_SUBCOMMAND && flag == "--parent" && dashes == "--" =>
        {
            let parent = parent.to_str().and_then(|text| text.parse().ok()).unwrap_or(0);
            let error = exec_mongod(parent, Path::new(program), rest);
            #[expect(clippy::print_stderr, reason = "the binary is the place for it")]
            {
                eprintln!("{}: {error}", program.display());
            }
            ExitCode::from(3)
        }
        _ => ExitCode::from(2),
    }
}
