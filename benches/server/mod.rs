//! The embedded server of a benchmark.

use std::path::PathBuf;

use docshape::cli::file_limit;
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions, locate};

/// Starts the `mongod` that `docshape run` would use; without one, ends the benchmark with the same error.
pub async fn start() -> EmbeddedMongod {
    file_limit::raise_limit();
    let program = locate(None, std::env::var_os).unwrap_or_else(|error| fail(&error.to_string()));
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_docshape"));
    let options = EmbeddedOptions::new(program, launcher, std::env::temp_dir());
    EmbeddedMongod::start(&options).await.unwrap_or_else(|error| fail(&error.to_string()))
}

/// Ends the benchmark with a message.
#[allow(clippy::print_stderr)]
pub fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    std::process::exit(1)
}
