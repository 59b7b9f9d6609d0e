//! Failures of commands, from their two sources: the driver's errors and the server's replies with `ok: 1`.

use bson::{RawBsonRef, RawDocument};
use mongodb::error::{Error, ErrorKind, WriteFailure};

use super::field::{at, whole};
use super::unknown_outcome::NOTHING_DONE;
use super::{Failure, FailureKind, ReplyKind};

/// The server's code for a failed log-in, which the driver reports without any code.
pub(super) const AUTHENTICATION_FAILED: i32 = 18;
/// The server's code for a user without the right to do something.
pub(super) const UNAUTHORIZED: i32 = 13;
/// The server's code for a second document with the same unique key.
pub(crate) const DUPLICATE_KEY: i32 = 11000;

impl Failure {
    /// The server's error code, if it has one.
    pub fn code(&self) -> Option<i32> {
        match self.kind {
            FailureKind::Server(code) | FailureKind::WriteConcern(code) => Some(code),
            FailureKind::TooLarge | FailureKind::Network | FailureKind::Timeout | FailureKind::Driver => None,
        }
    }

    /// Whether the server or driver gave it this label, such as `TransientTransactionError`.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|own| own == label)
    }

    /// Whether the connection broke or no reply came in time, so that the server may be lost.
    pub fn is_lost(&self) -> bool {
        matches!(self.kind, FailureKind::Network | FailureKind::Timeout)
    }

    /// A failure without labels.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), labels: Vec::new() }
    }
}

/// Translates a driver error. Its texts contain addresses but never credentials.
impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let (kind, message) = match error.kind.as_ref() {
            ErrorKind::Command(refusal) => {
                (FailureKind::Server(refusal.code), named(&refusal.message, &refusal.code_name))
            }
            ErrorKind::Write(WriteFailure::WriteConcernError(refusal)) => {
                (FailureKind::WriteConcern(refusal.code), named(&refusal.message, &refusal.code_name))
            }
            ErrorKind::Authentication { message, .. } => (FailureKind::Server(AUTHENTICATION_FAILED), message.clone()),
            ErrorKind::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut => {
                (FailureKind::Timeout, "the connection timed out".to_owned())
            }
            ErrorKind::Io(cause) => (FailureKind::Network, cause.to_string()),
            ErrorKind::ServerSelection { message, .. } => (FailureKind::Network, unreachable(message)),
            ErrorKind::ConnectionPoolCleared { message, .. } | ErrorKind::DnsResolve { message, .. } => {
                (FailureKind::Network, message.clone())
            }
            ErrorKind::InvalidResponse { message, .. } if message.contains("over maximum") => {
                (FailureKind::TooLarge, message.clone())
            }
            other => (FailureKind::Driver, other.to_string()),
        };
        let mut labels: Vec<String> = error.labels().iter().cloned().collect();
        labels.extend(is_unsent(&error).then(|| NOTHING_DONE.to_owned()));
        labels.sort_unstable();
        Failure { kind, message, labels }
    }
}

/// Whether the driver gave up before it sent anything: it found no server, or its pool was closed while the command waited for a
/// connection. A command on a connection that the driver closed itself was sent.
fn is_unsent(error: &Error) -> bool {
    match error.kind.as_ref() {
        ErrorKind::ServerSelection { .. } | ErrorKind::DnsResolve { .. } => true,
        ErrorKind::ConnectionPoolCleared { message, .. } => !message.contains("interrupted"),
        _ => false,
    }
}

/// The failed requests of a write: their positions in the command, and why.
pub(super) fn write_errors(reply: &RawDocument) -> Vec<(usize, Failure)> {
    let errors = reply.get_array("writeErrors").into_iter().flatten().flatten();
    let refusals = errors.filter_map(|error| error.as_document());
    let index = |refusal| at(refusal, "index").and_then(whole).map_or(0, |index| usize::try_from(index).unwrap_or(0));
    refusals.map(|refusal| (index(refusal), refused(refusal, FailureKind::Server))).collect()
}

/// Finds the failure inside a reply with `ok: 1`: the first write error, else the write concern error.
///
/// Failures of single requests are no failure of [`ReplyKind::Writes`].
///
/// The driver hands such replies out as success, so every reply must pass here. One walk over the top level, no
/// allocation unless there is a failure.
pub(super) fn in_reply(reply: &RawDocument, kind: ReplyKind) -> Result<(), Failure> {
    let (mut write_error, mut concern_error, mut labels) = (None, None, None);
    for element in reply {
        let (key, value) = element.map_err(malformed)?;
        match key.as_str() {
            "writeErrors" if kind != ReplyKind::Writes => {
                let first = value.as_array().and_then(|errors| errors.into_iter().next());
                write_error = first.transpose().map_err(malformed)?.and_then(|error| error.as_document());
            }
            "writeConcernError" => concern_error = value.as_document(),
            "errorLabels" => labels = Some(value),
            _ => {}
        }
    }
    let (mut failure, refusal) = match (write_error, concern_error) {
        (Some(refusal), _) => (refused(refusal, FailureKind::Server), refusal),
        // The write itself was done.
        (None, Some(refusal)) => (refused(refusal, FailureKind::WriteConcern), refusal),
        (None, None) => return Ok(()),
    };
    let own_labels = refusal.get("errorLabels").ok().flatten();
    failure.labels = [labels, own_labels].into_iter().flatten().flat_map(texts).collect();
    Err(failure)
}

/// Reads `{code, codeName, errmsg}`, the form of write errors and write concern errors, of which `kind` makes a failure.
fn refused(refusal: &RawDocument, kind: fn(i32) -> FailureKind) -> Failure {
    let text = |key| at(refusal, key).and_then(|value| value.as_str()).unwrap_or("");
    let message = named(text("errmsg"), text("codeName"));
    match at(refusal, "code").and_then(whole).and_then(|code| i32::try_from(code).ok()) {
        Some(code) => Failure::new(kind(code), message),
        None => Failure::new(FailureKind::Driver, format!("the server refused without a code: {message}")),
    }
}

/// The driver prints its whole view of the servers; the user needs the address and the reason of each.
fn unreachable(message: &str) -> String {
    let servers = message.split("Address: ").skip(1).filter_map(|server| {
        let (address, rest) = server.split_once(',')?;
        let Some((_, reason)) = rest.split_once("Error: Kind: ") else {
            return Some(format!("{address} {}", unsuitable(rest)?));
        };
        let reason = reason.split(", labels:").next()?;
        Some(format!("{address}: {}", reason.trim_start_matches("I/O error: ")))
    });
    match servers.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => message.to_owned(),
        servers => servers,
    }
}

/// Why a server that answers cannot be used, by the type that the driver gives it.
fn unsuitable(description: &str) -> Option<&'static str> {
    let (_, kind) = description.split_once("Type: ")?;
    match kind.split(',').next()? {
        "RsGhost" => Some("is in no replica set: run rs.initiate() on it once, or add it to its set"),
        "RsSecondary" => Some("is a secondary, and no primary is known"),
        "RsArbiter" => Some("is an arbiter, which has no data"),
        "RsOther" => Some("is hidden, or starts or recovers"),
        _ => None,
    }
}

/// A server without rights for the user repeats the whole command; its name is enough.
fn brief(message: &str) -> String {
    match message.split_once(" to execute command { ") {
        Some((refusal, command)) if refusal.starts_with("not authorized on ") => {
            format!("{refusal} to execute {}", command.split(':').next().unwrap_or_default())
        }
        _ => message.to_owned(),
    }
}

fn named(message: &str, code_name: &str) -> String {
    let message = brief(message);
    match (message.as_str(), code_name) {
        ("", _) => code_name.to_owned(),
        (_, "") => message,
        (_, _) => format!("{message} ({code_name})"),
    }
}

fn texts(value: RawBsonRef<'_>) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| item.ok()?.as_str().map(str::to_owned)).collect()
}

fn malformed(error: bson::error::Error) -> Failure {
    Failure::new(FailureKind::Driver, format!("the server's reply is not valid BSON: {error}"))
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn in_reply(reply: &RawDocument) -> Result<(), Failure> {
        super::in_reply(reply, ReplyKind::Single)
    }

    #[test]
    fn a_plain_reply_is_a_success() {
        assert!(in_reply(&rawdoc! { "n": 1, "nModified": 1, "ok": 1.0 }).is_ok());
        assert!(
            in_reply(&rawdoc! { "cursor": { "id": 0_i64, "firstBatch": [{ "writeErrors": 1 }] }, "ok": 1.0 }).is_ok()
        );
    }

    #[test]
    fn the_first_write_error_precedes_the_write_concern_error() {
        let reply = rawdoc! {
            "n": 0,
            "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "duplicate" }, { "index": 1, "code": 121, "errmsg": "x" }],
            "writeConcernError": { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting" },
            "errorLabels": ["RetryableWriteError"],
            "ok": 1.0,
        };
        let failure = in_reply(&reply).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Server(11000));
        assert_eq!(failure.message, "duplicate");
        assert_eq!(failure.labels, ["RetryableWriteError"]);
    }

    #[test]
    fn write_concern_errors_have_their_own_labels() {
        let reply = rawdoc! {
            "writeConcernError": { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting", "errorLabels": ["A"] },
            "errorLabels": ["B"],
            "ok": 1.0,
        };
        let failure = in_reply(&reply).unwrap_err();
        assert_eq!(failure.kind, FailureKind::WriteConcern(64));
        assert_eq!(failure.message, "waiting (WriteConcernFailed)");
        assert_eq!(failure.labels, ["B", "A"]);
    }

    #[test]
    fn write_errors_have_their_positions() {
        let reply = rawdoc! {
            "n": 1,
            "writeErrors": [{ "index": 2, "code": 11000, "errmsg": "duplicate" }, { "index": 5, "code": 121, "errmsg": "x" }],
            "ok": 1.0,
        };
        assert!(super::in_reply(&reply, ReplyKind::Writes).is_ok());
        let found: Vec<_> = write_errors(&reply).into_iter().map(|(index, failure)| (index, failure.code())).collect();
        assert_eq!(found, [(2, Some(11000)), (5, Some(121))]);
        assert!(write_errors(&rawdoc! { "n": 1, "ok": 1.0 }).is_empty());
        let waiting = rawdoc! { "n": 1, "writeConcernError": { "code": 64, "errmsg": "waiting" }, "ok": 1.0 };
        assert_eq!(super::in_reply(&waiting, ReplyKind::Writes).unwrap_err().code(), Some(64));
    }

    #[test]
    fn a_refusal_without_a_code_is_still_a_failure() {
        let failure = in_reply(&rawdoc! { "writeErrors": [{ "errmsg": "odd" }], "ok": 1.0 }).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Driver);
        assert!(failure.message.contains("odd"));
    }

    #[test]
    fn messages_of_driver_and_server_are_shortened() {
        let topology = "Server selection timeout: No available servers. Topology: { Type: Unknown, Servers: [ { \
                        Address: a:1, Type: Unknown, Error: Kind: I/O error: Connection refused (os error 111), \
                        labels: {\"RetryableError\"}, source: None }, { Address: b:2, Type: Unknown, Error: Kind: odd, \
                        labels: {} } ] }";
        assert_eq!(unreachable(topology), "a:1: Connection refused (os error 111); b:2: odd");
        assert_eq!(unreachable("no server is writable"), "no server is writable");
        let ghost = "Topology: { Type: Unknown, Servers: [ { Address: a:1, Type: RsGhost, Average RTT: 20ms } ] }";
        assert_eq!(unreachable(ghost), "a:1 is in no replica set: run rs.initiate() on it once, or add it to its set");
        let none =
            "Topology: { Type: ReplicaSetNoPrimary, Servers: [ { Address: a:1, Type: RsSecondary, Tags: {} } ] }";
        assert_eq!(unreachable(none), "a:1 is a secondary, and no primary is known");
        let refusal = "not authorized on db to execute command { insert: \"c\", lsid: { id: 1 } }";
        assert_eq!(named(refusal, "Unauthorized"), "not authorized on db to execute insert (Unauthorized)");
    }

    #[test]
    fn driver_errors_have_a_kind() {
        let io =
            |kind: std::io::ErrorKind| Failure::from(Error::from(ErrorKind::from(std::io::Error::from(kind)))).kind;
        assert_eq!(io(std::io::ErrorKind::TimedOut), FailureKind::Timeout);
        assert_eq!(io(std::io::ErrorKind::ConnectionReset), FailureKind::Network);
        assert_eq!(Failure::from(Error::custom("odd")).kind, FailureKind::Driver);
    }
}
