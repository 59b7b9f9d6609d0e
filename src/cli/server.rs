//! `docshape server start`, and the choice of a server for the other commands.

use crate::server::embedded::{Checkpoints, EmbeddedMongod, EmbeddedOptions, LocateError, locate};

use super::argument::{ConnectionString, EmbeddedArguments, ServerArguments, StartArguments};
use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::{install, output};

/// The environment variable that names a server.
const MONGODB_URI: &str = "MONGODB_URI";

/// Where a command finds its server.
#[derive(Debug)]
pub enum ServerChoice {
    /// The user's.
    Uri {
        /// Its address.
        uri: ConnectionString,
        /// What named it: an option or an environment variable.
        source: &'static str,
        /// Whether it may be used whatever else it holds.
        is_confirmed: bool,
    },
    /// One to start.
    Embedded(EmbeddedOptions),
}

impl ServerArguments {
    /// The server to use: `--uri`, an embedded one if `--mongod` is given, `MONGODB_URI` unless empty, an embedded one.
    ///
    /// # Errors
    /// When there is no `mongod` to start.
    pub fn choice(&self) -> Result<ServerChoice, CliError> {
        // The command line takes precedence over the environment.
        let of_user = ServerChoice::of_user(self.uri.as_ref(), self.yes);
        match of_user.filter(|_| self.uri.is_some() || self.embedded.mongod.is_none()) {
            Some(choice) => Ok(choice),
            None => self.embedded.options().map(ServerChoice::Embedded),
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
        // The program that starts the server is this one.
        let launcher = std::env::current_exe();
        let unknown = |error| CliError::failure(format!("cannot find the program of docshape: {error}"));
        let options = EmbeddedOptions::new(program?, launcher.map_err(unknown)?, std::env::temp_dir());
        Ok(EmbeddedOptions { cache_gb: self.cache_gb(), members: self.members.unwrap_or(1) as usize, ..options })
    }
}

impl ServerChoice {
    /// Returns the server of the user's that `--uri` names, or else the environment, if any.
    pub fn of_user(uri: Option<&ConnectionString>, is_confirmed: bool) -> Option<ServerChoice> {
        let of_environment = || Some((std::env::var(MONGODB_URI).ok()?.parse().ok()?, MONGODB_URI));
        let (uri, source) = uri.map(|uri| (uri.clone(), "--uri")).or_else(of_environment)?;
        Some(ServerChoice::Uri { uri, source, is_confirmed })
    }

    /// Lets an embedded server write checkpoints at these times.
    pub fn with_checkpoints(self, checkpoints: Checkpoints) -> ServerChoice {
        let ServerChoice::Embedded(options) = self else { return self };
        ServerChoice::Embedded(EmbeddedOptions { checkpoints, ..options })
    }

    /// Returns the error of a command that is quit without cleanup; `saved` says where results are.
    pub fn quit_error(&self, saved: &str) -> CliError {
        let quit = CliError::new(Exit::Interrupted, "quit without cleanup");
        let quit = if saved.is_empty() { quit } else { quit.with(saved) };
        match self {
            ServerChoice::Embedded(_) => quit,
            ServerChoice::Uri { .. } => {
                quit.with("remove its databases from the server with `docshape clean --uri URI`")
            }
        }
    }
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
    let folders: Vec<String> = server.members().map(|member| member.folder().display().to_string()).collect();
    let members = if options.members > 1 { format!(", {} members,", options.members) } else { String::new() };
    let (version, folders) = (&server.version, folders.join(", "));
    output::message(&format!(
        "MongoDB {version}{members} is running with its data in {folders}; press Ctrl-C to stop it\n"
    ));
    tokio::select! {
        error = server.exited() => Err(error.into()),
        () = interrupt.arrived() => Ok(server.stop().map(|()| Exit::Success)?),
    }
}
