//! The server that is measured, and whether it can be measured.

use std::fmt;
use std::time::Duration;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::error::KindedError;

use super::field::{at, whole};
use super::{Failure, FailureKind, ReplyKind, Target, failure, uri_error};

/// The oldest release whose replies and defaults are understood.
const OLDEST: (i32, i32) = (5, 0);
/// Parameters that change what a measurement means. Names that a release does not know are left out by the server.
const PARAMETERS: [&str; 7] = [
    "featureCompatibilityVersion",
    "ttlMonitorSleepSecs",
    "transactionLifetimeLimitSeconds",
    "maxTransactionLockRequestTimeoutMillis",
    "enableFlowControl",
    "journalCommitInterval",
    "syncdelay",
];

/// How long a server may not answer before it counts as lost, where no other can take over.
pub const SINGLE_SERVER_PATIENCE: Duration = Duration::from_secs(5);
/// The same where another member can become the primary. By default members wait for 10 s without a heartbeat before they vote, and
/// the new primary catches up before it accepts writes.
const FAILOVER_PATIENCE: Duration = Duration::from_secs(30);

/// How the deployment is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// A replica set.
    ReplicaSet {
        /// Members with data, without arbiters and hidden ones.
        members: usize,
    },
    /// A sharded cluster, seen through `mongos`.
    Sharded,
}

impl Topology {
    /// The servers to which a client has connections, as far as they are known.
    pub fn members(self) -> u64 {
        match self {
            Topology::ReplicaSet { members } => members.max(1) as u64,
            Topology::Sharded => 1,
        }
    }

    /// How long a server may not answer before it counts as lost: longer than a normal failover, where there can be one.
    pub fn patience(self) -> Duration {
        match self {
            Topology::ReplicaSet { members: 0 | 1 } => SINGLE_SERVER_PATIENCE,
            Topology::ReplicaSet { .. } | Topology::Sharded => FAILOVER_PATIENCE,
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topology::ReplicaSet { members: 1 } => formatter.write_str("a replica set of one member"),
            Topology::ReplicaSet { members } => write!(formatter, "a replica set of {members} data-bearing members"),
            Topology::Sharded => formatter.write_str("a sharded cluster"),
        }
    }
}

/// A server, by what it reports of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// The version, such as `6.0.5`.
    pub version: String,
    /// How the deployment is built.
    pub topology: Topology,
    /// The name of the replica set.
    pub set_name: Option<String>,
    /// The commands that the server refused to this user, so that reports lack what they say.
    pub refused: Vec<&'static str>,
    /// The configured cache size in bytes; `None` where the server does not report it.
    pub cache_bytes: Option<u64>,
    /// Names and values for reports: storage engine, host and parameters, without those that the user may not read or the
    /// release does not have.
    pub facts: Vec<(String, String)>,
}

/// Why a server cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// No server answers.
    #[error(
        "no usable MongoDB server answers: {0}; check the address and that the server runs (when the members of a \
         replica set are known by names that do not resolve here, add directConnection=true)"
    )]
    Unreachable(Failure),
    /// The TLS handshake failed.
    #[error(
        "the TLS connection failed: {0}; check tlsCAFile (the authority that signed the server's certificate), tlsCertificateKeyFile \
         (if the server asks for the client's) and that the host name is one of the certificate's"
    )]
    Tls(Failure),
    /// The user name or password is wrong.
    #[error("the server refused the log-in: {0}; check user name, password and authSource of the connection string")]
    LogIn(Failure),
    /// The server requires a log-in, or the user may not read what server it is.
    #[error(
        "the server has access control: {0}; give the connection string a user that may create \
         its databases; `docshape rights SCENARIO` prints the smallest role that suffices"
    )]
    Unauthorized(Failure),
    /// It is a standalone.
    #[error(
        "this server is a standalone: it has no oplog and no transactions and stores updates differently, so its \
         write numbers mean something else; start it with --replSet NAME and run rs.initiate() once"
    )]
    Standalone,
    /// It was started for a replica set that was never initiated.
    #[error("this server belongs to a replica set that is not initiated; run rs.initiate() on it once")]
    NotInitiated,
    /// It has a version that is too old.
    #[error("MongoDB {0} is too old: 5.0 or newer is needed")]
    TooOld(String),
    /// It accepts no writes.
    #[error(
        "this member of replica set {set_name} is not its writable primary{}; connect to the set without \
         directConnection, or wait for its election",
        primary.as_ref().map(|host| format!(" (that is {host})")).unwrap_or_default()
    )]
    NotPrimary {
        /// The name of the set.
        set_name: String,
        /// The primary, when this member knows one.
        primary: Option<String>,
    },
    /// It answered with an error of another kind.
    #[error("the server does not report what it is: {0}")]
    Other(Failure),
}

impl From<Failure> for DeploymentError {
    fn from(failure: Failure) -> Self {
        match failure.kind {
            FailureKind::Network | FailureKind::Timeout if uri_error::is_tls(&failure.message) => Self::Tls(failure),
            FailureKind::Network | FailureKind::Timeout => Self::Unreachable(failure),
            FailureKind::Server(failure::AUTHENTICATION_FAILED) => Self::LogIn(failure),
            FailureKind::Server(failure::UNAUTHORIZED) => Self::Unauthorized(failure),
            _ => Self::Other(failure),
        }
    }
}

impl Deployment {
    /// Reads what server it is, and rejects one that cannot be measured.
    pub async fn read(target: &impl Target) -> Result<Deployment, DeploymentError> {
        let hello = admin(target, rawdoc! { "hello": 1 }).await?;
        let topology = topology(&hello)?;
        let build = admin(target, rawdoc! { "buildInfo": 1 }).await?;
        let version = text(&build, "version").unwrap_or_default();
        refuse_old(&build, &version)?;
        require_log_in(target).await?;
        let mut refused = Vec::new();
        let status = rawdoc! { "serverStatus": 1, "repl": 0, "metrics": 0, "locks": 0 };
        let status = optional(target, "serverStatus", status, &mut refused).await;
        let host = optional(target, "hostInfo", rawdoc! { "hostInfo": 1 }, &mut refused).await;
        let concern = rawdoc! { "getDefaultRWConcern": 1 };
        let concern = optional(target, "getDefaultRWConcern", concern, &mut refused).await;
        let cache_bytes = number(&status, "wiredTiger.cache.maximum bytes configured");
        let memory = number(&host, "system.memLimitMB").or_else(|| number(&host, "system.memSizeMB"));
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        let facts = [
            ("git version", text(&build, "gitVersion")),
            ("storage engine", text(&status, "storageEngine.name")),
            ("cache", cache_bytes.map(mebibytes)),
            ("host", host_os(&host)),
            ("cores", number(&host, "system.numCores").map(|cores| cores.to_string())),
            ("memory", memory.map(|mebibytes| format!("{mebibytes} MiB"))),
            ("largest document", number(&hello, "maxBsonObjectSize").map(mebibytes)),
            ("default write concern", at(&concern, "defaultWriteConcern.w").and_then(scalar)),
        ];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let facts = facts.chain(parameters(target, &mut refused).await).collect();
        if topology != Topology::Sharded {
            let oplog = target.run("local", rawdoc! { "dbStats": 1 }, ReplyKind::Single).await;
            let is_refused = oplog.is_err_and(|failure| failure.code() == Some(failure::UNAUTHORIZED));
            refused.extend(is_refused.then_some("dbStats of local"));
        }
        Ok(Deployment { version, topology, set_name: text(&hello, "setName"), refused, cache_bytes, facts })
    }
}

/// Reads the topology from `hello`, and rejects what is no writable part of a replica set or cluster.
pub(super) fn topology(hello: &RawDocument) -> Result<Topology, DeploymentError> {
    if text(hello, "msg").as_deref() == Some("isdbgrid") {
        return Ok(Topology::Sharded);
    }
    let flag = |key| at(hello, key).and_then(RawBsonRef::as_bool).unwrap_or(false);
    let Some(set_name) = text(hello, "setName") else {
        return Err(if flag("isreplicaset") { DeploymentError::NotInitiated } else { DeploymentError::Standalone });
    };
    if !flag("isWritablePrimary") {
        return Err(DeploymentError::NotPrimary { set_name, primary: text(hello, "primary") });
    }
    let listed = |key| at(hello, key).and_then(RawBsonRef::as_array).map_or(0, |hosts| hosts.into_iter().count());
    Ok(Topology::ReplicaSet { members: listed("hosts") + listed("passives") })
}

fn refuse_old(build: &RawDocument, version: &str) -> Result<(), DeploymentError> {
    let is_understood = release(build).is_some_and(|release| release >= OLDEST);
    is_understood.then_some(()).ok_or_else(|| DeploymentError::TooOld(version.to_owned()))
}

/// Returns the major and minor number from the reply to `buildInfo`.
pub(super) fn release(build: &RawDocument) -> Option<(i32, i32)> {
    let parts = at(build, "versionArray").and_then(RawBsonRef::as_array).into_iter().flatten();
    let mut parts = parts.filter_map(|part| part.ok()?.as_i32());
    Some((parts.next()?, parts.next()?))
}

/// Rejects a server with access control to a user who is not logged in: `hello` and `buildInfo` need no log-in.
async fn require_log_in(target: &impl Target) -> Result<(), DeploymentError> {
    let status = admin(target, rawdoc! { "connectionStatus": 1 }).await?;
    let users = at(&status, "authInfo.authenticatedUsers").and_then(RawBsonRef::as_array);
    if users.is_some_and(|users| !users.is_empty()) {
        return Ok(());
    }
    // Without a log-in, either access control is off or this is not allowed.
    admin(target, rawdoc! { "listDatabases": 1, "nameOnly": true, "authorizedDatabases": false }).await?;
    Ok(())
}

pub(super) async fn admin(target: &impl Target, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
    Ok(target.run("admin", command, ReplyKind::Single).await?.into_document())
}

/// The reply to a command that may fail; empty if it does.
async fn optional(
    target: &impl Target,
    name: &'static str,
    command: RawDocumentBuf,
    refused: &mut Vec<&'static str>,
) -> RawDocumentBuf {
    let reply = admin(target, command).await;
    refused.extend(reply.as_ref().is_err_and(|failure| failure.code() == Some(failure::UNAUTHORIZED)).then_some(name));
    reply.unwrap_or_default()
}

async fn parameters(target: &impl Target, refused: &mut Vec<&'static str>) -> Vec<(String, String)> {
    let mut command = rawdoc! { "getParameter": 1 };
    for name in PARAMETERS {
        if let Ok(key) = bson::raw::CString::try_from(name) {
            command.append(key, 1);
        }
    }
    let reply = optional(target, "getParameter", command, refused).await;
    // The compatibility version comes as a document of its own.
    let value = |name: &str| at(&reply, &format!("{name}.version")).or_else(|| at(&reply, name)).and_then(scalar);
    let mut known: Vec<_> = PARAMETERS.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect();
    known.sort_unstable();
    known
}

fn host_os(host: &RawDocument) -> Option<String> {
    let name = text(host, "os.name").or_else(|| text(host, "os.type"))?;
    let version = text(host, "os.version").unwrap_or_default();
    Some(format!("{name} {version}").trim_end().to_owned())
}

fn text(document: &RawDocument, path: &str) -> Option<String> {
    at(document, path)?.as_str().map(str::to_owned)
}

fn number(document: &RawDocument, path: &str) -> Option<u64> {
    u64::try_from(whole(at(document, path)?)?).ok()
}

fn scalar(value: RawBsonRef<'_>) -> Option<String> {
    match value {
        RawBsonRef::Int32(value) => Some(value.to_string()),
        RawBsonRef::Int64(value) => Some(value.to_string()),
        RawBsonRef::Double(value) => Some(value.to_string()),
        RawBsonRef::Boolean(value) => Some(value.to_string()),
        RawBsonRef::String(value) => Some(value.to_owned()),
        _ => None,
    }
}

impl KindedError for DeploymentError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topologies_are_distinguished() {
        assert_eq!(topology(&rawdoc! { "isWritablePrimary": true, "msg": "isdbgrid" }).unwrap(), Topology::Sharded);
        let primary =
            rawdoc! { "isWritablePrimary": true, "setName": "rs", "hosts": ["a:1", "b:1"], "passives": ["c:1"] };
        assert_eq!(topology(&primary).unwrap(), Topology::ReplicaSet { members: 3 });
        assert!(matches!(topology(&rawdoc! { "isWritablePrimary": true }), Err(DeploymentError::Standalone)));
        assert!(matches!(topology(&rawdoc! { "isreplicaset": true }), Err(DeploymentError::NotInitiated)));
        let secondary = rawdoc! { "isWritablePrimary": false, "setName": "rs", "primary": "a:1" };
        let text = topology(&secondary).unwrap_err().to_string();
        assert!(text.contains("set rs is not its writable primary (that is a:1)"), "{text}");
    }

    #[test]
    fn old_and_unreadable_versions_are_refused() {
        assert!(refuse_old(&rawdoc! { "versionArray": [5, 0, 0, 0] }, "5.0.0").is_ok());
        assert!(refuse_old(&rawdoc! { "versionArray": [8, 0, 4, 0] }, "8.0.4").is_ok());
        let text = refuse_old(&rawdoc! { "versionArray": [4, 4, 29, 0] }, "4.4.29").unwrap_err().to_string();
        assert!(text.starts_with("MongoDB 4.4.29 is too old"), "{text}");
        assert!(refuse_old(&rawdoc! {}, "").is_err());
    }

    #[test]
    fn failures_become_errors_with_advice() {
        let error = |kind| DeploymentError::from(Failure::new(kind, "words"));
        assert!(matches!(error(FailureKind::Network), DeploymentError::Unreachable(_)));
        let untrusted = Failure::new(FailureKind::Network, "invalid peer certificate: UnknownIssuer");
        assert!(DeploymentError::from(untrusted).to_string().contains("check tlsCAFile"));
        assert!(matches!(error(FailureKind::Timeout), DeploymentError::Unreachable(_)));
        assert!(matches!(error(FailureKind::Server(18)), DeploymentError::LogIn(_)));
        assert!(matches!(error(FailureKind::Server(13)), DeploymentError::Unauthorized(_)));
        assert!(matches!(error(FailureKind::Server(1)), DeploymentError::Other(_)));
    }
}
