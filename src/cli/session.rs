//! Servers for one command: started or found, and cleaned up in every case.

use futures_util::future::{pending, try_join_all};

use crate::engine::{LoadThread, LoadThreads, StopFlag, split_clients};
use crate::results::{ServerRecord, ServerSharing};
use crate::server::Target;
use crate::server::client::MongoTarget;
use crate::server::deployment::{Deployment, Topology};
use crate::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use crate::server::turns::{EmbeddedServers, Turns};

use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::server::ServerChoice;
use super::{file_limit, output};

/// A server that is ready to be measured.
pub struct Session {
    /// A client for everything but the calls that are measured.
    pub target: MongoTarget,
    /// What the server reports of itself.
    pub deployment: Deployment,
    /// Whether a server of the user's may be used whatever else it holds; `None` for one that docshape started.
    pub(super) is_confirmed: Option<bool>,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
    uri: String,
}

/// Does some work on the main thread, with which embedded servers end. `quit` is the error for a user who does not wait for
/// the cleanup.
///
/// # Errors
/// The work's own.
pub fn on_main_thread(
    quit: CliError,
    work: impl AsyncFnOnce(StopFlag) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    file_limit::raise_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::failure(format!("cannot start: {error}")))?;
    let result = runtime.block_on(async {
        let stop = StopFlag::default();
        let interrupt = Interrupt::listen()?;
        tokio::select! {
            result = work(stop.clone()) => result,
            // What is given up here is dropped, embedded servers and their folders with it.
            () = watch(interrupt, &stop) => Err(quit),
        }
    });
    runtime.shutdown_background();
    result
}

impl Session {
    /// Does some work with a server, which leaves no results on the disk. Must be called on the main thread.
    ///
    /// # Errors
    /// When there is no usable server, or the work's own.
    pub fn run(
        choice: ServerChoice,
        work: impl AsyncFnOnce(Session) -> Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        on_main_thread(choice.quit_error(""), async |stop| Session::with(&choice, &stop, work).await)
    }

    /// Starts or finds a server, does some work with it, and ends the embedded one in every case.
    ///
    /// # Errors
    /// When there is no usable server, or the work's own.
    pub async fn with<R>(
        choice: &ServerChoice,
        stop: &StopFlag,
        work: impl AsyncFnOnce(Session) -> Result<R, CliError>,
    ) -> Result<R, CliError> {
        match choice {
            ServerChoice::Uri { uri, source, is_confirmed } => {
                let hint = |error: CliError| match error.exit {
                    Exit::Interrupted => error,
                    _ => error.with("omit --uri, --ab and MONGODB_URI to use an embedded server"),
                };
                let session = connect(uri.reveal(), Some(*is_confirmed), stop).await.map_err(hint)?;
                output::line(&session.describe(source));
                work(session).await
            }
            ServerChoice::Embedded(options) => {
                let servers = EmbeddedServers::new(vec![unless_stopped(stop, EmbeddedMongod::start(options)).await?]);
                let uri = servers.servers()[0].uri();
                let result = async { work(connect(&uri, None, stop).await?).await };
                // Where one member of a set ends by itself, `ended` ends the others, and so the work.
                let watched = async {
                    servers.ended().await;
                    pending().await
                };
                let result = tokio::select! { result = result => result, never = watched => never };
                end(servers, result)
            }
        }
    }

    /// Starts embedded servers at the same time, does some work with them, and ends them in every case.
    ///
    /// # Errors
    /// When one of them does not start, or the work's own.
    pub async fn with_each(
        options: &EmbeddedOptions,
        count: usize,
        stop: &StopFlag,
        work: impl AsyncFnOnce(Vec<Session>, &EmbeddedServers) -> Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        let starting = try_join_all((0..count).map(|_| EmbeddedMongod::start(options)));
        let servers = EmbeddedServers::new(unless_stopped(stop, starting).await?);
        let uris: Vec<String> = servers.servers().iter().map(EmbeddedMongod::patient_uri).collect();
        let result = async {
            let sessions = try_join_all(uris.iter().map(|uri| connect(uri, None, stop))).await?;
            work(sessions, &servers).await
        }
        .await;
        end(servers, result)
    }

    /// Describes a server of the user's, so that he sees what will be loaded. `source` is what named it.
    fn describe(&self, source: &str) -> String {
        let Deployment { version, topology, set_name, .. } = &self.deployment;
        let name = set_name.as_ref().map(|name| format!(" named {name}")).unwrap_or_default();
        let (address, tls) = (self.target.address(), if self.target.has_tls { "on" } else { "off" });
        format!("server: MongoDB {version} at {address} (from {source}), {topology}{name}, TLS {tls}")
    }

    /// Whether it is a replica set of one member.
    pub fn is_single(&self) -> bool {
        self.deployment.topology == Topology::ReplicaSet { members: 1 }
    }

    /// What a record says of the server, shared by all strategies.
    pub fn record(&self) -> ServerRecord {
        let Deployment { version, topology, cache_bytes, mut facts, .. } = self.deployment.clone();
        let (embedded, topology, servers) = (self.is_confirmed.is_none(), topology.to_string(), ServerSharing::Shared);
        if !embedded {
            let tls = if self.target.has_tls { "on" } else { "off" };
            facts.splice(0..0, [("address".to_owned(), self.target.address()), ("TLS".to_owned(), tls.to_owned())]);
        }
        ServerRecord { version, embedded, topology, facts, cache_bytes, servers }
    }

    /// Starts load threads that share the clients' connections, all open.
    ///
    /// # Errors
    /// When a thread or a connection cannot be created.
    pub async fn load_threads(&self, clients: u64, threads: u64) -> Result<LoadThreads<MongoTarget>, CliError> {
        file_limit::check(
            clients,
            threads,
            if self.target.is_direct { 1 } else { self.deployment.topology.members() },
        )?;
        let mut all = Vec::new();
        for clients in split_clients(clients as usize, threads as usize) {
            all.push(self.load_thread(clients as u32).await?);
        }
        Ok(LoadThreads::Threads(all))
    }

    /// Starts a load thread; all its connections are open.
    ///
    /// # Errors
    /// When it or a connection cannot be created.
    pub async fn load_thread(&self, connections: u32) -> Result<LoadThread, CliError> {
        unless_stopped(&self.stop, LoadThread::start(self.uri.clone(), connections, self.target.patience())).await
    }

    /// Connects a client for the current thread; all its connections are open.
    ///
    /// # Errors
    /// When it cannot connect.
    pub async fn client(&self, connections: u32) -> Result<MongoTarget, CliError> {
        let connecting = MongoTarget::connect_warm(&self.uri, connections, self.target.patience());
        unless_stopped(&self.stop, connecting).await
    }
}

/// Ends embedded servers after some work. If one had ended by itself, that explains every other error.
fn end<R>(servers: EmbeddedServers, result: Result<R, CliError>) -> Result<R, CliError> {
    let ended = servers.servers().iter().find_map(|server| Some(server.ended()?.to_string()));
    let result = result.map_err(|error| match ended {
        Some(ended) if !error.message.contains(&ended) => error.with(&ended),
        Some(_) | None => error,
    });
    let stopped = servers.stop().map_err(CliError::from);
    result.and_then(|value| stopped.map(|()| value))
}

async fn connect(uri: &str, is_confirmed: Option<bool>, stop: &StopFlag) -> Result<Session, CliError> {
    let connecting = async {
        // Whether a server answers at all must show at once; only then is it known how long to wait for a failover.
        let first = MongoTarget::connect(uri, 1).await?;
        let deployment = Deployment::read(&first).await?;
        let patience = deployment.topology.patience();
        let mut target =
            if patience > first.patience() { MongoTarget::connect_patiently(uri, 1, patience).await? } else { first };
        // Whether a server may be used is only asked about those that docshape has not started.
        target.is_own = is_confirmed.is_none();
        Ok::<_, CliError>(Session { target, deployment, is_confirmed, stop: stop.clone(), uri: uri.to_owned() })
    };
    unless_stopped(stop, connecting).await
}

/// Abandons work that does not check `stop` itself.
pub(super) async fn unless_stopped<R, E: Into<CliError>>(
    stop: &StopFlag,
    work: impl Future<Output = Result<R, E>>,
) -> Result<R, CliError> {
    tokio::select! {
        result = work => result.map_err(E::into),
        () = stop.wait() => Err(CliError::new(Exit::Interrupted, "interrupted before the first call")),
    }
}

/// The first signal asks the engine to stop after cleanup; the second does not wait for it.
async fn watch(mut interrupt: Interrupt, stop: &StopFlag) {
    interrupt.arrived().await;
    stop.set();
    output::message("\nstopping after cleanup; press Ctrl-C again to quit immediately\n");
    interrupt.arrived().await;
}
