//! What server is measured, and whether it can be measured at all.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::error::KindedError;

use super::{Failure, FailureKind, ReplyKind, Target, failure};

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

/// How the deployment is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// A replica set.
    ReplicaSet {
        /// The name of the set.
        set_name: String,
        /// Members that hold data, arbiters and hidden ones left out.
        members: usize,
    },
    /// A sharded cluster, seen through `mongos`.
    Sharded,
}

/// What is known of a server. A value is missing where the user lacks a right or the release does not report it.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// Such as `6.0.5`.
    pub version: String,
    /// The commit it was built from.
    pub git_version: Option<String>,
    /// How the deployment is built.
    pub topology: Topology,
    /// Such as `wiredTiger`.
    pub storage_engine: Option<String>,
    /// The configured cache size in bytes.
    pub cache_bytes: Option<u64>,
    /// Names and values of the parameters that matter, sorted by name.
    pub parameters: Vec<(String, String)>,
    /// The write concern of commands that name none.
    pub default_write_concern: Option<String>,
    /// The host's operating system, such as `Ubuntu 22.04`.
    pub host_os: Option<String>,
    /// Processor cores of the host.
    pub host_cores: Option<u64>,
    /// Memory of the host in bytes, or the limit of its container.
    pub host_memory_bytes: Option<u64>,
    /// The largest document in bytes.
    pub max_bson_bytes: Option<u64>,
}

/// Why a server cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// Nobody answers.
    #[error(
        "no usable MongoDB server answers: {0}; check the address and that the server runs (when the members of a \
         replica set are known by names that do not resolve here, add directConnection=true)"
    )]
    Unreachable(Failure),
    /// The user name or password is wrong.
    #[error("the server refused the log-in: {0}; check user name, password and authSource of the connection string")]
    LogIn(Failure),
    /// The server wants a log-in, and there was none, or the user may not even ask what server it is.
    #[error(
        "the server wants a user with rights: {0}; give the connection string a user that may create databases named \
         docshape_* (readWriteAnyDatabase, dbAdminAnyDatabase, and clusterMonitor for the server's counters)"
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
    /// It is too old.
    #[error("MongoDB {version} is too old: 5.0 or newer is needed")]
    TooOld {
        /// The version that was found.
        version: String,
    },
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
            FailureKind::Network | FailureKind::Timeout => Self::Unreachable(failure),
            FailureKind::Server(failure::AUTHENTICATION_FAILED) => Self::LogIn(failure),
            FailureKind::Server(failure::UNAUTHORIZED) => Self::Unauthorized(failure),
            _ => Self::Other(failure),
        }
    }
}

impl Deployment {
    /// Asks a server what it is, and refuses one that cannot be measured.
    pub async fn read(target: &impl Target) -> Result<Deployment, DeploymentError> {
        let hello = admin(target, rawdoc! { "hello": 1 }).await?;
        let topology = topology(&hello)?;
        let build = admin(target, rawdoc! { "buildInfo": 1 }).await?;
        let version = text(&build, &["version"]).unwrap_or_default();
        refuse_old(&build, &version)?;
        require_log_in(target).await?;
        let status = optional(target, rawdoc! { "serverStatus": 1, "repl": 0, "metrics": 0, "locks": 0 }).await;
        let host = optional(target, rawdoc! { "hostInfo": 1 }).await;
        let concern = optional(target, rawdoc! { "getDefaultRWConcern": 1 }).await;
        Ok(Deployment {
            version,
            git_version: text(&build, &["gitVersion"]),
            topology,
            storage_engine: text(&status, &["storageEngine", "name"]),
            cache_bytes: number(&status, &["wiredTiger", "cache", "maximum bytes configured"]),
            parameters: parameters(target).await,
            default_write_concern: at(&concern, &["defaultWriteConcern", "w"]).and_then(scalar),
            host_os: host_os(&host),
            host_cores: number(&host, &["system", "numCores"]),
            host_memory_bytes: number(&host, &["system", "memLimitMB"])
                .or_else(|| number(&host, &["system", "memSizeMB"]))
                .map(|megabytes| megabytes << 20),
            max_bson_bytes: number(&hello, &["maxBsonObjectSize"]),
        })
    }
}

/// Reads the topology from `hello`, and refuses what is no writable part of a replica set or cluster.
fn topology(hello: &RawDocument) -> Result<Topology, DeploymentError> {
    if text(hello, &["msg"]).as_deref() == Some("isdbgrid") {
        return Ok(Topology::Sharded);
    }
    let flag = |key| at(hello, &[key]).and_then(RawBsonRef::as_bool).unwrap_or(false);
    let Some(set_name) = text(hello, &["setName"]) else {
        return Err(if flag("isreplicaset") { DeploymentError::NotInitiated } else { DeploymentError::Standalone });
    };
    if !flag("isWritablePrimary") {
        return Err(DeploymentError::NotPrimary { set_name, primary: text(hello, &["primary"]) });
    }
    let listed = |key| at(hello, &[key]).and_then(RawBsonRef::as_array).map_or(0, |hosts| hosts.into_iter().count());
    Ok(Topology::ReplicaSet { set_name, members: listed("hosts") + listed("passives") })
}

fn refuse_old(build: &RawDocument, version: &str) -> Result<(), DeploymentError> {
    let parts = at(build, &["versionArray"]).and_then(RawBsonRef::as_array).into_iter().flatten();
    let mut parts = parts.filter_map(|part| part.ok()?.as_i32());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(()),
        _ => Err(DeploymentError::TooOld { version: version.to_owned() }),
    }
}

/// Refuses a server with access control when nobody is logged in: `hello` and `buildInfo` need no log-in.
async fn require_log_in(target: &impl Target) -> Result<(), DeploymentError> {
    let status = admin(target, rawdoc! { "connectionStatus": 1 }).await?;
    let users = at(&status, &["authInfo", "authenticatedUsers"]).and_then(RawBsonRef::as_array);
    if users.is_some_and(|users| !users.is_empty()) {
        return Ok(());
    }
    // Nobody is logged in: then either access control is off, or this is not allowed.
    admin(target, rawdoc! { "listDatabases": 1, "nameOnly": true, "authorizedDatabases": false }).await?;
    Ok(())
}

async fn admin(target: &impl Target, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
    Ok(target.run("admin", command, ReplyKind::Single).await?.into_document())
}

/// A reply that may be refused, empty then.
async fn optional(target: &impl Target, command: RawDocumentBuf) -> RawDocumentBuf {
    admin(target, command).await.unwrap_or_default()
}

async fn parameters(target: &impl Target) -> Vec<(String, String)> {
    let mut command = rawdoc! { "getParameter": 1 };
    for name in PARAMETERS {
        if let Ok(key) = bson::raw::CString::try_from(name) {
            command.append(key, 1);
        }
    }
    let reply = optional(target, command).await;
    // The compatibility version comes as a document of its own.
    let value = |name: &str| at(&reply, &[name, "version"]).or_else(|| at(&reply, &[name])).and_then(scalar);
    let mut known: Vec<_> = PARAMETERS.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect();
    known.sort_unstable();
    known
}

fn host_os(host: &RawDocument) -> Option<String> {
    let name = text(host, &["os", "name"]).or_else(|| text(host, &["os", "type"]))?;
    let version = text(host, &["os", "version"]).unwrap_or_default();
    Some(format!("{name} {version}").trim_end().to_owned())
}

/// The value at a path of keys.
fn at<'a>(document: &'a RawDocument, path: &[&str]) -> Option<RawBsonRef<'a>> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(document, |inner, key| inner.get(*key).ok()??.as_document())?;
    parent.get(*last).ok()?
}

fn text(document: &RawDocument, path: &[&str]) -> Option<String> {
    at(document, path)?.as_str().map(str::to_owned)
}

fn number(document: &RawDocument, path: &[&str]) -> Option<u64> {
    match at(document, path)? {
        RawBsonRef::Int32(value) => u64::try_from(value).ok(),
        RawBsonRef::Int64(value) => u64::try_from(value).ok(),
        // Large counters come as whole doubles.
        RawBsonRef::Double(value) if value >= 0.0 => Some(value as u64),
        _ => None,
    }
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
    fn each_kind_of_server_is_told_apart() {
        assert_eq!(topology(&rawdoc! { "isWritablePrimary": true, "msg": "isdbgrid" }).unwrap(), Topology::Sharded);
        let primary =
            rawdoc! { "isWritablePrimary": true, "setName": "rs", "hosts": ["a:1", "b:1"], "passives": ["c:1"] };
        let set = Topology::ReplicaSet { set_name: "rs".to_owned(), members: 3 };
        assert_eq!(topology(&primary).unwrap(), set);
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
    fn failures_become_the_errors_that_say_what_to_do() {
        let error = |kind| DeploymentError::from(Failure::new(kind, "words"));
        assert!(matches!(error(FailureKind::Network), DeploymentError::Unreachable(_)));
        assert!(matches!(error(FailureKind::Timeout), DeploymentError::Unreachable(_)));
        assert!(matches!(error(FailureKind::Server(18)), DeploymentError::LogIn(_)));
        assert!(matches!(error(FailureKind::Server(13)), DeploymentError::Unauthorized(_)));
        assert!(matches!(error(FailureKind::Server(1)), DeploymentError::Other(_)));
    }
}
