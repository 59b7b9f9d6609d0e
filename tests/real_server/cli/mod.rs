//! The command line: messages, exit codes and streams.

mod arguments;
mod explain;
mod publish;
mod scenarios;
mod server;
mod verify;

use std::process::{Command, Output, Stdio};

/// `docshape` with these arguments, in an environment without variables that it reads.
fn docshape(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.args(arguments).stdin(Stdio::null());
    for variable in ["MONGODB_URI", "DOCSHAPE_MONGOD", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
        command.env_remove(variable);
    }
    command
}

/// The output and exit code of a process.
struct Ended {
    code: i32,
    out: String,
    err: String,
}

fn run(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

/// Asserts that docshape ends with `code`, prints one error that contains all `words`, and prints nothing else.
#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &[&str]) {
    let ended = run(&mut docshape(arguments));
    assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{arguments:?}: {}", ended.err);
    assert!(ended.err.starts_with("error: ") && ended.err.matches("error: ").count() == 1, "{}", ended.err);
    for word in words {
        assert!(ended.err.contains(word), "{arguments:?}: {word:?} is missing in {}", ended.err);
    }
}
