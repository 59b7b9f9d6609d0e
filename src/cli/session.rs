//! A server for the length of one command: started or found, and left in good order whatever happens.

use crate::engine::{Generators, LoadThread, Stop, share};
use crate::server::client::{ConnectError, MongoTarget};
use crate::server::embedded::EmbeddedMongod;
use crate::server::facts::{self, ServerFacts};

use super::descriptor;
use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::output;
use super::server::ServerChoice;

/// A server that is ready to be measured.
pub struct Session {
    /// A client for everything but the calls that are measured.
    pub target: MongoTarget,
    /// What server it is.
    pub facts: ServerFacts,
    /// Whether docshape started it.
    pub embedded: bool,
    /// Set when the user wants to stop.
    pub stop: Stop,
    uri: String,
}

impl Session {
    /// Does some work with a server. To be called on the main thread, as the embedded server's life requires. `at_once` is
    /// the error for a user who does not wait for the work to end in good order.
    ///
    /// # Errors
    /// When there is no usable server, or the work's own.
    pub fn run(
        choice: ServerChoice,
        at_once: CliError,
        work: impl AsyncFnOnce(Session) -> Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        descriptor::raise_limit();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::server(format!("cannot start: {error}")))?;
        let result = runtime.block_on(async {
            let stop = Stop::default();
            let interrupt = Interrupt::listen().map_err(|error| CliError::server(error.to_string()))?;
            tokio::select! {
                result = with_server(choice, &stop, work) => result,
                // What is given up here is dropped, the embedded server and its folder with it.
                () = watch(interrupt, &stop) => Err(at_once),
            }
        });
        runtime.shutdown_background();
        result
    }

    /// Load threads with so many connections together, all open.
    ///
    /// # Errors
    /// When a thread or a connection cannot be made.
    pub async fn generators(&self, workers: u64, threads: u64) -> Result<Generators<MongoTarget>, CliError> {
        descriptor::check(workers, threads)?;
        let mut all = Vec::new();
        for workers in share(workers as usize, threads as usize) {
            all.push(self.load_thread(workers as u32).await?);
        }
        Ok(Generators::Threads(all))
    }

    /// A load thread with so many connections, all open.
    ///
    /// # Errors
    /// When it or a connection cannot be made.
    pub async fn load_thread(&self, connections: u32) -> Result<LoadThread, CliError> {
        let starting =
            async { LoadThread::start(self.uri.clone(), connections).await.map_err(|error| server_error(&error)) };
        unless_stopped(&self.stop, starting).await
    }

    /// A client of its own with so many connections, all open, for the current thread.
    ///
    /// # Errors
    /// When it cannot connect.
    pub async fn client(&self, connections: u32) -> Result<MongoTarget, CliError> {
        let connecting = async {
            let target = MongoTarget::connect(&self.uri, connections).await.map_err(|error| server_error(&error))?;
            target.warm().await.map_err(|error| server_error(&error))?;
            Ok(target)
        };
        unless_stopped(&self.stop, connecting).await
    }
}

/// Starts or finds the server, and ends the embedded one whatever happens.
async fn with_server(
    choice: ServerChoice,
    stop: &Stop,
    work: impl AsyncFnOnce(Session) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    match choice {
        ServerChoice::Uri(uri) => work(connect(uri.reveal(), (false, stop)).await?).await,
        ServerChoice::Embedded(options) => {
            let starting = async { EmbeddedMongod::start(&options).await.map_err(|error| server_error(&error)) };
            let mut server = unless_stopped(stop, starting).await?;
            let result = async { work(connect(&server.uri(), (true, stop)).await?).await }.await;
            let result = result.map_err(|error| with_end_of(&mut server, error));
            let stopped = server.stop().map_err(|error| CliError::server(error.to_string()));
            result.and_then(|exit| stopped.map(|()| exit))
        }
    }
}

async fn connect(uri: &str, (embedded, stop): (bool, &Stop)) -> Result<Session, CliError> {
    let connecting = async {
        let target = MongoTarget::connect(uri, 1).await.map_err(|error| match error {
            ConnectError::InvalidUri { .. } => CliError::usage(error.to_string()),
            ConnectError::Driver { .. } => server_error(&error),
        })?;
        let facts = facts::gather(&target).await.map_err(|error| server_error(&error))?;
        Ok(Session { target, facts, embedded, stop: stop.clone(), uri: uri.to_owned() })
    };
    unless_stopped(stop, connecting).await
}

/// For work without a loop that looks at `stop`: it is given up.
async fn unless_stopped<R>(stop: &Stop, work: impl Future<Output = Result<R, CliError>>) -> Result<R, CliError> {
    tokio::select! {
        result = work => result,
        () = stop.asked() => Err(CliError { exit: Exit::Interrupted, message: "interrupted before the first call".into() }),
    }
}

fn server_error(error: &dyn std::error::Error) -> CliError {
    CliError::server(error.to_string())
}

/// A server of our own that ended by itself is the reason of whatever went wrong with it.
fn with_end_of(server: &mut EmbeddedMongod, error: CliError) -> CliError {
    match server.ended() {
        Some(ended) => CliError { message: format!("{}; {ended}", error.message), ..error },
        None => error,
    }
}

/// The first signal asks the engine to end in good order; after the second there is no waiting for it.
async fn watch(mut interrupt: Interrupt, stop: &Stop) {
    interrupt.arrived().await;
    stop.set();
    output::tell("\nending; once more to end at once\n");
    interrupt.arrived().await;
}
