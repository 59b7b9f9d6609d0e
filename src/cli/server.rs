//! `docshape server start`, and the choice of a server for the other commands.

use std::path::PathBuf;

use crate::server::embedded::{Checkpoints, EmbeddedMongod, EmbeddedOptions, LocateError, locate};

use super::argument::{ConnectionString, EmbeddedArguments, ServerArguments, StartArguments};
use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::{install, output};

/// The environment variable that names a server.
pub const MONGODB_URI: &str = "MONGODB_URI";

/// Returns the server that the environment names, if any.
pub fn uri_of_environment() -> Option<ConnectionString> {
    std::env::var(MONGODB_URI).ok().and_then(|text| text.parse().ok())
}

/// Where a command finds its server.
#[derive(Debug)]
pub enum ServerChoice {
    /// The user's.
    Uri(UserServer),
    /// One to start.
    Embedded(EmbeddedOptions),
}

/// A server of the user's.
#[derive(Debug, Clone)]
pub struct UserServer {
    /// Its address.
    pub uri: ConnectionString,
    /// What named it: an option or an environment variable.
    pub source: &'static str,
    /// Whether it may be used whatever else it holds.
    pub is_confirmed: bool,
}

impl ServerArguments {
    /// Returns a server of the user's that `source` named.
    pub fn user_server(&self, uri: ConnectionString, source: &'static str) -> ServerChoice {
        ServerChoice::Uri(UserServer { uri, source, is_confirmed: self.yes })
    }

    /// The server to use: `--uri`, an embedded one if `--mongod` is given, `MONGODB_URI` unless empty, an embedded one.
    ///
    /// # Errors
    /// When there is no `mongod` to start.
    pub fn choice(&self) -> Result<ServerChoice, CliError> {
        // The command line takes precedence over the environment.
        match (self.uri.clone(), &self.embedded.mongod, uri_of_environment()) {
            (Some(uri), _, _) => Ok(self.user_server(uri, "--uri")),
            (None, None, Some(uri)) => Ok(self.user_server(uri, MONGODB_URI)),
            (None, _, _) => self.embedded.options().map(ServerChoice::Embedded),
        }
    }
}

impl EmbeddedArguments {
    /// Finds the `mongod`, and returns how to start it.
    ///
    /// # Errors
    /// When there is none that can be run.
    pub fn options(&self) -> Result<EmbeddedOptions, CliError> {
        let argument = self.mongod.as_deref().map(|path| ("--mongod", path));
        let find = || locate(argument, std::env::var_os);
        let program = match find() {
            Err(LocateError::Missing) if install::offer()? => find(),
            found => found,
        };
        let mut options = EmbeddedOptions::new(program?, launcher()?, std::env::temp_dir());
        options.cache_gb = self.cache_gb();
        Ok(options)
    }
}

impl ServerChoice {
    /// Lets an embedded server write checkpoints at these times.
    pub fn with_checkpoints(self, checkpoints: Checkpoints) -> ServerChoice {
        match self {
            ServerChoice::Embedded(options) => ServerChoice::Embedded(EmbeddedOptions { checkpoints, ..options }),
            ServerChoice::Uri(_) => self,
        }
    }

    /// Returns the error of a command that is quit without cleanup; `saved` says where results are.
    pub fn quit_error(&self, saved: &str) -> CliError {
        let mut parts = vec!["quit without cleanup".to_owned()];
        parts.extend((!saved.is_empty()).then(|| saved.to_owned()));
        parts.extend(match self {
            ServerChoice::Embedded(_) => None,
            ServerChoice::Uri(_) => {
                Some("remove its databases from the server with `docshape clean --uri URI`".to_owned())
            }
        });
        CliError::new(Exit::Interrupted, parts.join("; "))
    }
}

/// The program that starts the server is this one.
fn launcher() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| CliError::failure(format!("cannot find the program of docshape: {error}")))
}

/// Starts the embedded server, prints its URI, and keeps it until a signal arrives.
///
/// # Errors
/// When the server does not start, or ends by itself.
pub fn start(arguments: &StartArguments) -> Result<Exit, CliError> {
    let mut options = arguments.embedded.options()?;
    options.port = arguments.port;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // This is the main thread, as the server's life requires.
    runtime.map_err(|error| CliError::failure(format!("cannot wait for a server: {error}")))?.block_on(keep(&options))
}

async fn keep(options: &EmbeddedOptions) -> Result<Exit, CliError> {
    let mut interrupt = Interrupt::listen()?;
    let server = tokio::select! {
        started = EmbeddedMongod::start(options) => started?,
        () = interrupt.arrived() => return Ok(Exit::Interrupted),
    };
    output::print(&format!("{}\n", server.uri()))?;
    let folder = server.folder().display().to_string();
    output::message(&format!(
        "MongoDB {} is running with its data in {folder}; press Ctrl-C to stop it\n",
        server.version
    ));
    tokio::select! {
        error = server.exited() => Err(error.into()),
        () = interrupt.arrived() => Ok(server.stop().map(|()| Exit::Success)?),
    }
}
