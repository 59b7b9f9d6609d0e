//! What went wrong, from the two places where it is said: the driver's errors and the server's `ok: 1` replies.

use bson::{RawBsonRef, RawDocument};
use mongodb::error::{Error, ErrorKind};

use super::{Failure, FailureKind};

/// The server's code for a failed log-in, which the driver reports without any code.
pub(super) const AUTHENTICATION_FAILED: i32 = 18;
/// The server's code for a user without the right to do something.
pub(super) const UNAUTHORIZED: i32 = 13;

impl Failure {
    /// The server's code, when it was the server that refused.
    pub fn code(&self) -> Option<i32> {
        match self.kind {
            FailureKind::Server(code) => Some(code),
            _ => None,
        }
    }

    /// Whether the server or driver gave it this label, such as `TransientTransactionError`.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|own| own == label)
    }

    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), labels: Vec::new() }
    }
}

/// Translates a driver error. Its texts hold addresses but never credentials.
pub(super) fn from_driver(error: &Error) -> Failure {
    let (kind, message) = match error.kind.as_ref() {
        ErrorKind::Command(refusal) => (FailureKind::Server(refusal.code), named(&refusal.message, &refusal.code_name)),
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
    labels.sort_unstable();
    Failure { kind, message, labels }
}

/// The requests of a write that the server refused: their positions in the command, and why.
pub(super) fn write_errors(reply: &RawDocument) -> Vec<(usize, Failure)> {
    let errors = reply.get_array("writeErrors").into_iter().flatten().flatten();
    let refusals = errors.filter_map(|error| error.as_document());
    let position = |refusal: &RawDocument| refusal.get("index").ok().flatten().and_then(integer);
    let index = |refusal| position(refusal).and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
    refusals.map(|refusal| (index(refusal), refused(refusal))).collect()
}

/// As [`in_reply`], but refusals of single requests are no failure.
pub(super) fn in_writes_reply(reply: &RawDocument) -> Result<(), Failure> {
    match reply.get("writeConcernError").map_err(malformed)?.and_then(|error| error.as_document()) {
        Some(refusal) => Err(refused(refusal)),
        None => Ok(()),
    }
}

/// Finds the failure inside a reply that says `ok: 1`: the first write error, else the write concern error.
///
/// The driver hands such replies out as success, so every reply must pass here. One walk over the top level, no
/// allocation unless there is a failure.
pub(super) fn in_reply(reply: &RawDocument) -> Result<(), Failure> {
    let (mut write_error, mut concern_error, mut labels) = (None, None, None);
    for element in reply {
        let (key, value) = element.map_err(malformed)?;
        match key.as_str() {
            "writeErrors" => {
                let first = value.as_array().and_then(|errors| errors.into_iter().next());
                write_error = first.transpose().map_err(malformed)?.and_then(|error| error.as_document());
            }
            "writeConcernError" => concern_error = value.as_document(),
            "errorLabels" => labels = Some(value),
            _ => {}
        }
    }
    let Some(refusal) = write_error.or(concern_error) else { return Ok(()) };
    let mut failure = refused(refusal);
    let own_labels = refusal.get("errorLabels").ok().flatten();
    failure.labels = [labels, own_labels].into_iter().flatten().flat_map(texts).collect();
    Err(failure)
}

/// Reads `{code, codeName, errmsg}`, the form of write errors and write concern errors.
fn refused(refusal: &RawDocument) -> Failure {
    let text = |key| refusal.get(key).ok().flatten().and_then(|value| value.as_str()).unwrap_or("");
    let message = named(text("errmsg"), text("codeName"));
    match refusal.get("code").ok().flatten().and_then(integer) {
        Some(code) => Failure::new(FailureKind::Server(code), message),
        None => Failure::new(FailureKind::Driver, format!("the server refused without a code: {message}")),
    }
}

/// The driver prints its whole view of the servers; the user needs the address and the reason of each.
fn unreachable(message: &str) -> String {
    let servers = message.split("Address: ").skip(1).filter_map(|server| {
        let (address, rest) = server.split_once(',')?;
        let (_, reason) = rest.split_once("Error: Kind: ")?;
        let reason = reason.split(", labels:").next()?;
        Some(format!("{address}: {}", reason.trim_start_matches("I/O error: ")))
    });
    match servers.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => message.to_owned(),
        servers => servers,
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
    match (message.is_empty(), code_name.is_empty()) {
        (false, false) => format!("{message} ({code_name})"),
        (true, _) => code_name.to_owned(),
        (_, true) => message,
    }
}

fn integer(value: RawBsonRef<'_>) -> Option<i32> {
    match value {
        RawBsonRef::Int32(code) => Some(code),
        RawBsonRef::Int64(code) => i32::try_from(code).ok(),
        // Codes of proxies arrive as doubles; the cast saturates and drops nothing of a real code.
        RawBsonRef::Double(code) => Some(code as i32),
        _ => None,
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

    #[test]
    fn a_plain_reply_is_a_success() {
        assert!(in_reply(&rawdoc! { "n": 1, "nModified": 1, "ok": 1.0 }).is_ok());
        assert!(
            in_reply(&rawdoc! { "cursor": { "id": 0_i64, "firstBatch": [{ "writeErrors": 1 }] }, "ok": 1.0 }).is_ok()
        );
    }

    #[test]
    fn the_first_write_error_counts_more_than_the_write_concern_error() {
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
    fn a_write_concern_error_alone_is_a_failure_with_its_own_labels() {
        let reply = rawdoc! {
            "writeConcernError": { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting", "errorLabels": ["A"] },
            "errorLabels": ["B"],
            "ok": 1.0,
        };
        let failure = in_reply(&reply).unwrap_err();
        assert_eq!(failure.code(), Some(64));
        assert_eq!(failure.message, "waiting (WriteConcernFailed)");
        assert_eq!(failure.labels, ["B", "A"]);
    }

    #[test]
    fn requests_that_were_refused_are_told_one_by_one() {
        let reply = rawdoc! {
            "n": 1,
            "writeErrors": [{ "index": 2, "code": 11000, "errmsg": "duplicate" }, { "index": 5, "code": 121, "errmsg": "x" }],
            "ok": 1.0,
        };
        assert!(in_writes_reply(&reply).is_ok());
        let found: Vec<_> = write_errors(&reply).into_iter().map(|(index, failure)| (index, failure.code())).collect();
        assert_eq!(found, [(2, Some(11000)), (5, Some(121))]);
        assert!(write_errors(&rawdoc! { "n": 1, "ok": 1.0 }).is_empty());
        let waiting = rawdoc! { "n": 1, "writeConcernError": { "code": 64, "errmsg": "waiting" }, "ok": 1.0 };
        assert_eq!(in_writes_reply(&waiting).unwrap_err().code(), Some(64));
    }

    #[test]
    fn a_refusal_without_a_code_is_still_a_failure() {
        let failure = in_reply(&rawdoc! { "writeErrors": [{ "errmsg": "odd" }], "ok": 1.0 }).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Driver);
        assert!(failure.message.contains("odd"));
    }

    #[test]
    fn words_of_the_driver_and_the_server_are_cut_to_what_a_user_needs() {
        let topology = "Server selection timeout: No available servers. Topology: { Type: Unknown, Servers: [ { \
                        Address: a:1, Type: Unknown, Error: Kind: I/O error: Connection refused (os error 111), \
                        labels: {\"RetryableError\"}, source: None }, { Address: b:2, Type: Unknown, Error: Kind: odd, \
                        labels: {} } ] }";
        assert_eq!(unreachable(topology), "a:1: Connection refused (os error 111); b:2: odd");
        assert_eq!(unreachable("no server is writable"), "no server is writable");
        let refusal = "not authorized on db to execute command { insert: \"c\", lsid: { id: 1 } }";
        assert_eq!(named(refusal, "Unauthorized"), "not authorized on db to execute insert (Unauthorized)");
    }

    #[test]
    fn driver_errors_keep_what_callers_tell_apart() {
        let io = |kind: std::io::ErrorKind| from_driver(&Error::from(ErrorKind::from(std::io::Error::from(kind)))).kind;
        assert_eq!(io(std::io::ErrorKind::TimedOut), FailureKind::Timeout);
        assert_eq!(io(std::io::ErrorKind::ConnectionReset), FailureKind::Network);
        assert_eq!(from_driver(&Error::custom("odd")).kind, FailureKind::Driver);
    }
}
