//! The real target: the official driver, sending raw commands.
//!
//! One [`MongoTarget`] belongs to one current-thread runtime. Its pool is as large as the number of calls in flight,
//! no larger and no smaller, and can be proven full before a window, so that no call pays for a connection.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use bson::{RawDocument, RawDocumentBuf, rawdoc};
use futures_util::{Stream, StreamExt};
use mongodb::event::EventHandler;
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria, ServerAddress, Tls, TlsOptions};
use mongodb::raw_batch_cursor::RawBatch;
use mongodb::{Client, ClientSession, Database};
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::{ErrorKind, KindedError};
use crate::record::Waits;

use super::deployment::SINGLE_SERVER_PATIENCE;
use super::pool::PoolWatch;
use super::primary::PrimaryChange;
use super::session::Sessions;
use super::{Batch, Failure, FailureKind, Reply, ReplyKind, Target, Transaction, WriteCounts, failure, uri_error};

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(5);
/// How long filling the pool may take: hundreds of handshakes with password hashing fit in.
const WARM_UP: Duration = Duration::from_secs(30);
/// The longest command that is sent, in bytes: the wire protocol's message limit less room for what the driver adds.
const LONGEST_COMMAND: usize = 48_000_000 - 16 * 1024;
/// Database handles kept for reuse. A run uses a handful per round; beyond this all are dropped and created again.
const KEPT_HANDLES: usize = 64;

/// Why no client could be created from a connection string, or its pool could not be shown to be full.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The connection string is wrong: why, without any part of it that may be secret.
    #[error("the connection string is not valid: {0}; expected mongodb://[user:password@]host:port/?options")]
    InvalidUri(String),
    /// A file of a TLS connection cannot be read.
    #[error("the file of {option}, {}, cannot be read: {source}; check the path in the connection string", path.display())]
    TlsFile {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The name in a `mongodb+srv` string did not resolve, or the driver rejected its options: its message, without
    /// credentials.
    #[error("no client can be made from the connection string: {0}")]
    Driver(String),
    /// The server did not answer the first ping.
    #[error("the server at {address} did not answer a ping: {failure}")]
    Ping {
        /// The hosts of the connection string.
        address: String,
        /// Why.
        failure: Failure,
    },
    /// Fewer connections than needed were opened in time.
    #[error(
        "only {reached} of {expected} connections to {address} were opened within {} s: does the server allow more? \
         (net.maxIncomingConnections, ulimit -n); fewer clients need fewer",
        WARM_UP.as_secs()
    )]
    Incomplete {
        /// The hosts of the connection string.
        address: String,
        /// Connections needed.
        expected: usize,
        /// Connections that were open at the end.
        reached: usize,
    },
}

/// A MongoDB deployment, reached through a pool of a fixed number of connections.
pub struct MongoTarget {
    client: Client,
    pool_size: u32,
    patience: Duration,
    hosts: Vec<ServerAddress>,
    /// Whether it is connected to one member only, whatever the set has.
    pub is_direct: bool,
    /// Whether it is a set of docshape's own, whose first host is the primary.
    pub is_own: bool,
    /// Whether connections are encrypted.
    pub has_tls: bool,
    watch: Arc<PoolWatch>,
    handles: RefCell<Vec<(String, Database)>>,
    sessions: Sessions,
}

impl MongoTarget {
    /// Creates a client with a pool of `pool_size` connections (at least one).
    ///
    /// Must be called inside the runtime that will use it. Nothing is sent yet: whether a server answers shows with
    /// the first command, at the latest after five seconds.
    pub async fn connect(uri: &str, pool_size: u32) -> Result<Self, ConnectError> {
        Self::connect_patiently(uri, pool_size, SINGLE_SERVER_PATIENCE).await
    }

    /// As [`connect`](Self::connect), with another time to wait for a server: see [`Topology::patience`](super::deployment::Topology::patience).
    /// A longer `serverSelectionTimeoutMS` of the connection string takes precedence.
    pub async fn connect_patiently(uri: &str, pool_size: u32, patience: Duration) -> Result<Self, ConnectError> {
        let watch = Arc::new(PoolWatch::default());
        let mut options = ClientOptions::parse(uri).await.map_err(|error| refused_uri(uri, error))?;
        check_files(options.tls.as_ref())?;
        let patience = patience.max(options.server_selection_timeout.unwrap_or_default());
        let pool_size = pool_size.max(1);
        options.app_name = Some("docshape".to_owned());
        options.max_pool_size = Some(pool_size);
        options.min_pool_size = Some(pool_size);
        // An idle pool must stay full between windows.
        options.max_idle_time = None;
        // A hidden retry would be measured as one slow call.
        options.retry_reads = Some(false);
        options.retry_writes = Some(false);
        options.max_adaptive_retries = Some(0);
        options.server_selection_timeout = Some(patience);
        options.connect_timeout = Some(CONNECT);
        let (pools, members) = (Arc::clone(&watch), Arc::clone(&watch));
        options.cmap_event_handler = Some(EventHandler::callback(move |event| pools.note(event)));
        options.sdam_event_handler = Some(EventHandler::callback(move |event| members.primary.see(&event)));
        let hosts = options.hosts.clone();
        let (is_direct, is_own) = (options.direct_connection.unwrap_or(false), false);
        let has_tls = matches!(options.tls, Some(Tls::Enabled(_)));
        let client =
            Client::with_options(options).map_err(|error| ConnectError::Driver(Failure::from(error).message))?;
        let (handles, sessions) = (RefCell::default(), Sessions::default());
        Ok(Self { client, pool_size, patience, hosts, is_direct, is_own, has_tls, watch, handles, sessions })
    }

    /// As [`connect_patiently`](Self::connect_patiently), and opens all connections.
    pub async fn connect_warm(uri: &str, pool_size: u32, patience: Duration) -> Result<Self, ConnectError> {
        let target = Self::connect_patiently(uri, pool_size, patience).await?;
        target.warm().await?;
        Ok(target)
    }

    /// The hosts of the connection string, for messages.
    pub fn address(&self) -> String {
        self.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Opens all connections of the pool and proves that they are open.
    ///
    /// The driver's own warm-up silently does nothing before the server is known, hence the ping first; and it gives
    /// up silently when a handshake fails, hence the count of its events afterwards.
    pub async fn warm(&self) -> Result<(), ConnectError> {
        let ping = self.run("admin", rawdoc! { "ping": 1 }, ReplyKind::Single).await;
        ping.map_err(|failure| ConnectError::Ping { address: self.address(), failure })?;
        let expected = self.pool_size as usize;
        let deadline = Instant::now() + WARM_UP;
        loop {
            // Where connections cannot be opened, for example without free file descriptors, the driver waits for ever.
            let _ = timeout_at(deadline, self.client.warm_connection_pool()).await;
            let reached = self.connections();
            if reached >= expected {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(ConnectError::Incomplete { address: self.address(), expected, reached });
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Connections that are open and past their handshake; with several servers, those to the one that has fewest.
    pub fn connections(&self) -> usize {
        self.watch.emptiest().unwrap_or(0)
    }

    /// Connections to the primary opened since [`connect`](Self::connect). It must not move during a window.
    pub fn connections_created(&self) -> u64 {
        self.watch.created()
    }

    /// Returns how long commands waited for a connection since the last time, and forgets it.
    pub fn take_check_outs(&self) -> Waits {
        self.watch.take_check_outs()
    }

    /// Sends a command to the primary, or to a member that fits.
    async fn select(
        &self,
        member: Option<SelectionCriteria>,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        let mut session = self.sessions.take(&self.client).await?;
        let sent = send(&self.database(database), &mut session, member, command, kind).await;
        // A session on whose connection a command got lost is not used again, as the specification of sessions asks.
        if !matches!(&sent, Err(failure) if failure.kind == FailureKind::Network) {
            self.sessions.put_back(session);
        }
        sent
    }

    /// A handle is an `Arc` inside, but making one copies the client's default concerns.
    fn database(&self, name: &str) -> Database {
        let mut handles = self.handles.borrow_mut();
        if let Some((_, handle)) = handles.iter().find(|(known, _)| known == name) {
            return handle.clone();
        }
        if handles.len() == KEPT_HANDLES {
            handles.clear();
        }
        let handle = self.client.database(name);
        handles.push((name.to_owned(), handle.clone()));
        handle
    }
}

impl fmt::Debug for MongoTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client's own form would show its options, credentials among them.
        write!(formatter, "MongoTarget({})", self.address())
    }
}

impl Target for MongoTarget {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        self.select(None, database, command, kind).await
    }

    async fn run_from(
        &self,
        preference: &str,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        self.select(Some(member(preference)?), database, command, kind).await
    }

    async fn run_on_others(&self, command: &RawDocument) -> Result<(), Failure> {
        for host in self.hosts.iter().skip(1).filter(|_| self.is_own).cloned() {
            let is_it = SelectionCriteria::Predicate(Arc::new(move |server| *server.address() == host));
            self.select(Some(is_it), "admin", command.to_owned(), ReplyKind::Single).await?;
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn take_primary_changes(&self) -> Vec<PrimaryChange> {
        self.watch.primary.take()
    }

    async fn begin(&self, w: &str) -> Result<Transaction, Failure> {
        Transaction::begin(&self.client, w).await
    }

    async fn run_in(
        &self,
        transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        let Some(session) = transaction.session() else { return self.run(database, command, kind).await };
        send(&self.database(database), session, None, command, kind).await
    }

    async fn end(&self, transaction: &mut Transaction, commits: bool) -> Result<(), Failure> {
        transaction.end(commits).await
    }
}

/// The members that a read preference permits.
fn member(preference: &str) -> Result<SelectionCriteria, Failure> {
    let preference = match preference {
        "primary" => ReadPreference::Primary,
        "primaryPreferred" => ReadPreference::PrimaryPreferred { options: None },
        "secondary" => ReadPreference::Secondary { options: None },
        "secondaryPreferred" => ReadPreference::SecondaryPreferred { options: None },
        "nearest" => ReadPreference::Nearest { options: None },
        unknown => {
            return Err(Failure::new(FailureKind::Driver, format!("`{unknown}` is no read preference of MongoDB")));
        }
    };
    Ok(SelectionCriteria::ReadPreference(preference))
}

/// The server would close the connection without an answer.
fn check_length(command: &RawDocumentBuf) -> Result<(), Failure> {
    let length = command.as_bytes().len();
    if length <= LONGEST_COMMAND {
        return Ok(());
    }
    let message = format!("the command is {length} bytes long, more than the {LONGEST_COMMAND} that can be sent");
    Err(Failure::new(FailureKind::TooLarge, message))
}

async fn send(
    database: &Database,
    session: &mut ClientSession,
    member: Option<SelectionCriteria>,
    command: RawDocumentBuf,
    kind: ReplyKind,
) -> Result<Reply, Failure> {
    check_length(&command)?;
    match kind {
        ReplyKind::Cursor => {
            let sent = database.run_raw_cursor_command(command);
            let sent = if let Some(member) = member { sent.selection_criteria(member) } else { sent };
            let mut cursor = sent.session(&mut *session).batch().await?;
            drain(cursor.stream(session)).await
        }
        ReplyKind::Single | ReplyKind::Writes | ReplyKind::Counts => {
            let sent = database.run_raw_command(command);
            let sent = if let Some(member) = member { sent.selection_criteria(member) } else { sent };
            let reply = sent.session(session).await?;
            match WriteCounts::of(&reply) {
                Some(counts) if kind == ReplyKind::Counts => Ok(Reply::Counts(counts)),
                Some(_) | None => single(reply, kind),
            }
        }
    }
}

/// The fields that every reply has for the driver.
const CLUSTER_TIME_FIELDS: [&str; 4] = ["$clusterTime", "operationTime", "electionId", "opTime"];

/// Turns a reply that the driver has parsed into a tree back into bytes, without the fields for the driver.
fn single(mut reply: bson::Document, kind: ReplyKind) -> Result<Reply, Failure> {
    CLUSTER_TIME_FIELDS.iter().for_each(|name| drop(reply.remove(name)));
    let kept = RawDocumentBuf::try_from(&reply)
        .map_err(|error| Failure::new(FailureKind::Driver, format!("the reply cannot be kept as BSON: {error}")))?;
    failure::in_reply(&kept, kind)?;
    Ok(kept.into())
}

async fn drain(mut cursor: impl Stream<Item = mongodb::error::Result<RawBatch>> + Unpin) -> Result<Reply, Failure> {
    let mut batches = Vec::with_capacity(1);
    while let Some(batch) = cursor.next().await {
        let batch = batch?;
        failure::in_reply(batch.as_raw_document(), ReplyKind::Cursor)?;
        batches.push(Batch::Driver(batch));
    }
    Ok(Reply::Documents(batches))
}

/// Checks that the files of a TLS connection can be read.
fn check_files(tls: Option<&Tls>) -> Result<(), ConnectError> {
    let Some(Tls::Enabled(TlsOptions { ca_file_path, cert_key_file_path, .. })) = tls else { return Ok(()) };
    for (option, path) in [("tlsCAFile", ca_file_path), ("tlsCertificateKeyFile", cert_key_file_path)] {
        let Some(path) = path.clone() else { continue };
        std::fs::File::open(&path).map_err(|source| ConnectError::TlsFile { option, path, source })?;
    }
    Ok(())
}

pub(super) fn refused_uri(uri: &str, error: mongodb::error::Error) -> ConnectError {
    if let Some(reason) = uri_error::reason(uri, &error.to_string()) {
        return ConnectError::InvalidUri(reason);
    }
    let failure = Failure::from(error);
    if failure.is_lost() {
        return ConnectError::Driver(failure.message);
    }
    ConnectError::InvalidUri(failure.message.trim_start_matches("An invalid argument was provided: ").to_owned())
}

impl KindedError for ConnectError {
    fn kind(&self) -> ErrorKind {
        match self {
            ConnectError::InvalidUri(_) | ConnectError::TlsFile { .. } => ErrorKind::Input,
            _ => ErrorKind::Environment,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(uri: &str) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(MongoTarget::connect(uri, 1)).unwrap_err().to_string()
    }

    #[test]
    fn invalid_connection_strings_are_rejected_with_a_reason() {
        assert!(
            refusal("localhost:27017").contains("connection string is not valid"),
            "{}",
            refusal("localhost:27017")
        );
        assert!(refusal("mongodb://localhost:99999999").contains("99999999"));
    }

    #[test]
    fn errors_never_show_credentials() {
        for uri in [
            "mongodb://ann:s3cret/x@localhost",
            "mongodb://ann:s3cret@localhost:port",
            "mongodb://ann:s3cret%@localhost",
            "mongo://ann:s3cret@localhost",
            "mongodb://localhost/?tlsCertificateKeyFilePassword=s3cret&tls=maybe",
        ] {
            let text = refusal(uri);
            assert!(!text.contains("s3cret") && !text.contains("ann"), "{uri}: {text}");
            assert!(text.contains("percent-encoded"), "{uri}: {text}");
        }
    }

    #[test]
    fn errors_name_the_option_but_no_credentials() {
        for (options, expected) in [
            ("connectTimeoutMS=soon", "option connectTimeoutMS has an invalid value"),
            ("replicaSte=rs0", "did you mean replicaSet?"),
            ("tlsAllowInvalidHostnames=true", "tlsAllowInvalidHostnames; connect by a host name"),
        ] {
            let text = refusal(&format!("mongodb://ann:s3cret@localhost/?{options}"));
            assert!(text.contains(expected) && !text.contains("s3cret"), "{options}: {text}");
        }
        let text = refusal("mongodb://ann:s3cret@localhost:99999/");
        assert!(text.contains("port") && !text.contains("s3cret"), "{text}");
    }

    proptest! {
        #[test]
        fn passwords_never_appear(password in "[!-~]{6,20}", place in 0..4_usize) {
            let uri = match place {
                0 => format!("mongodb://ann:Q9z{password}@localhost:port/"),
                1 => format!("mongodb://ann:Q9z{password}@localhost/?x=Q9z{password}"),
                2 => format!("mongo://ann:Q9z{password}@localhost"),
                _ => format!("mongodb://localhost/?tls=maybe&tlsCertificateKeyFilePassword=Q9z{password}"),
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            if let Err(error) = runtime.block_on(MongoTarget::connect(&uri, 1)) {
                prop_assert!(!error.to_string().contains("Q9z"), "{}", error);
            }
        }
    }

    #[test]
    fn missing_files_of_tls_are_invalid_input() {
        let uri = "mongodb://localhost/?tls=true&tlsCAFile=/nonexistent/ca.pem";
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(MongoTarget::connect(uri, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("file of tlsCAFile, /nonexistent/ca.pem, cannot be read"), "{error}");
    }

    #[tokio::test]
    async fn debug_shows_hosts_and_no_credentials() {
        let target = MongoTarget::connect("mongodb://ann:s3cret@localhost:1/?directConnection=true", 3).await.unwrap();
        let text = format!("{target:?}");
        assert_eq!(text, "MongoTarget(localhost:1)");
    }

    #[tokio::test]
    async fn oversized_commands_are_not_sent() {
        // No server is needed: port 1 refuses every connection, and the answer must not wait for one.
        let target = MongoTarget::connect("mongodb://127.0.0.1:1/?directConnection=true", 1).await.unwrap();
        let huge = rawdoc! { "insert": "x", "pad": "x".repeat(LONGEST_COMMAND) };
        let failure = target.run("db", huge, ReplyKind::Single).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::TooLarge);
    }
}
