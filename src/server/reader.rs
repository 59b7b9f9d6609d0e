//! A client for a database of somebody else: it only reads, and says who it is.

use std::fmt;
use std::time::Duration;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use futures_util::StreamExt;
use mongodb::action::Action;
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria};
use mongodb::{Client, Database};
use tokio::time::{Instant, timeout_at};

use super::client::{ConnectError, refused_uri};
use super::{Failure, FailureKind, failure};

/// The commands that a [`Reader`] sends. None of them changes data or settings. The driver itself adds those that open and end
/// sessions, and `getMore` and `killCursors` of the cursors of these.
pub const READ_COMMANDS: [&str; 9] =
    ["aggregate", "find", "count", "listCollections", "listIndexes", "collStats", "top", "serverStatus", "hello"];

/// Stages that write.
const WRITING: [&str; 2] = ["$out", "$merge"];

/// What the commands say of themselves in logs and in `currentOp`.
const COMMENT: &str = "docshape init";
/// How long the server works at one command.
const MOST_TIME: Duration = Duration::from_secs(5);
/// How long a whole answer may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Reads from a deployment, from a secondary member if there is one.
pub struct Reader {
    client: Client,
    hosts: String,
    /// The database of the connection string.
    pub database: Option<String>,
}

impl Reader {
    /// Prepares the connection. Nothing is sent yet.
    ///
    /// # Errors
    /// When the connection string is not valid.
    pub async fn connect(uri: &str) -> Result<Reader, ConnectError> {
        let mut options = ClientOptions::parse(uri).await.map_err(|error| refused_uri(uri, error))?;
        options.app_name = Some("docshape".to_owned());
        options.max_pool_size = Some(1);
        options.retry_reads = Some(false);
        options.server_selection_timeout.get_or_insert(MOST_TIME);
        options.connect_timeout = Some(MOST_TIME);
        let preferred = || SelectionCriteria::ReadPreference(ReadPreference::SecondaryPreferred { options: None });
        options.selection_criteria.get_or_insert_with(preferred);
        let hosts = options.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let database = options.default_database.clone();
        let client =
            Client::with_options(options).map_err(|error| ConnectError::Driver(Failure::from(error).message))?;
        Ok(Reader { client, hosts, database })
    }

    /// The hosts of the connection string, for messages.
    pub fn address(&self) -> &str {
        &self.hosts
    }

    /// Sends a command whose reply is one document.
    ///
    /// # Errors
    /// When it is none of [`READ_COMMANDS`], or fails.
    pub async fn ask(&self, database: &str, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
        let command = permitted(&command)?;
        let database = self.client.database(database);
        let criteria = self.criteria(&database);
        let sent = async {
            database.run_raw_command(command).optional(criteria, |run, one| run.selection_criteria(one)).await
        };
        let reply = in_time(sent).await??;
        RawDocumentBuf::try_from(&reply)
            .map_err(|error| Failure::new(FailureKind::Driver, format!("the reply cannot be kept as BSON: {error}")))
    }

    /// Sends a command with a cursor, and returns its documents: at most so many bytes of them.
    ///
    /// # Errors
    /// When it is none of [`READ_COMMANDS`], or fails.
    pub async fn read(
        &self,
        database: &str,
        command: RawDocumentBuf,
        bytes: usize,
    ) -> Result<Vec<RawDocumentBuf>, Failure> {
        let command = permitted(&command)?;
        let database = self.client.database(database);
        let criteria = self.criteria(&database);
        let run = database.run_raw_cursor_command(command).optional(criteria, |run, one| run.selection_criteria(one));
        let read = async {
            let mut cursor = run.batch().await?;
            let (mut documents, mut read) = (Vec::new(), 0);
            while let Some(batch) = cursor.next().await {
                let batch = batch?;
                let batch = batch.as_raw_document();
                failure::in_reply(batch, super::ReplyKind::Cursor)?;
                for document in documents_of(batch) {
                    read += document.as_bytes().len();
                    if read > bytes && !documents.is_empty() {
                        return Ok(documents);
                    }
                    documents.push(document.to_owned());
                }
            }
            Ok::<_, Failure>(documents)
        };
        in_time(read).await?
    }

    fn criteria(&self, database: &Database) -> Option<SelectionCriteria> {
        database.selection_criteria().cloned()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client's own form would show its options, credentials among them.
        write!(formatter, "Reader({})", self.hosts)
    }
}

async fn in_time<T>(answer: impl Future<Output = T>) -> Result<T, Failure> {
    let late = |_| Failure::new(FailureKind::Timeout, format!("no answer within {} s", PATIENCE.as_secs()));
    timeout_at(Instant::now() + PATIENCE, answer).await.map_err(late)
}

/// The command with its comment and limit of time, if it may be sent.
fn permitted(command: &RawDocument) -> Result<RawDocumentBuf, Failure> {
    let refused = |what: &str| Failure::new(FailureKind::Driver, format!("{what}: a reader does not send that"));
    let first = command.iter().next().and_then(Result::ok);
    let name = first.map_or("", |(name, _)| name.as_str());
    if !READ_COMMANDS.contains(&name) {
        return Err(refused(name));
    }
    if let Some(stage) = WRITING.iter().find(|stage| has_key(RawBsonRef::Document(command), stage)) {
        return Err(refused(stage));
    }
    let mut made = command.to_owned();
    made.append(bson::cstr!("comment"), COMMENT);
    made.append(bson::cstr!("maxTimeMS"), i64::try_from(MOST_TIME.as_millis()).unwrap_or(i64::MAX));
    Ok(made)
}

fn has_key(value: RawBsonRef, key: &str) -> bool {
    match value {
        RawBsonRef::Document(inner) => {
            inner.iter().map_while(Result::ok).any(|(name, value)| name.as_str() == key || has_key(value, key))
        }
        RawBsonRef::Array(items) => items.into_iter().map_while(Result::ok).any(|item| has_key(item, key)),
        _ => false,
    }
}

/// The documents of a batch.
fn documents_of(batch: &RawDocument) -> impl Iterator<Item = &RawDocument> {
    let cursor = batch.get_document("cursor").ok();
    let documents =
        cursor.and_then(|cursor| cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch")).ok());
    documents.into_iter().flatten().filter_map(|item| item.ok()?.as_document())
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn nothing_but_these_commands_is_sent() {
        for name in READ_COMMANDS {
            let mut command = RawDocumentBuf::new();
            command.append(bson::raw::CString::try_from(name).unwrap(), 1);
            let sent = permitted(&command).unwrap();
            assert_eq!((sent.get_str("comment").unwrap(), sent.get_i64("maxTimeMS").unwrap()), (COMMENT, 5_000));
        }
        let writing = [
            rawdoc! { "insert": "a", "documents": [] },
            rawdoc! { "aggregate": "a", "pipeline": [{ "$match": {} }, { "$out": "b" }], "cursor": {} },
            rawdoc! { "aggregate": "a", "pipeline": [{ "$facet": { "x": [{ "$merge": "b" }] } }], "cursor": {} },
            rawdoc! { "profile": 0 },
            rawdoc! { "drop": "a", "find": 1 },
            rawdoc! {},
        ];
        for command in writing {
            assert!(permitted(&command).unwrap_err().message.contains("a reader does not send that"), "{command:?}");
        }
    }

    #[test]
    fn debug_output_has_no_password() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reader = runtime.block_on(Reader::connect("mongodb://ann:s3cret@localhost/shop")).unwrap();
        assert_eq!(
            (format!("{reader:?}").as_str(), reader.database.as_deref()),
            ("Reader(localhost:27017)", Some("shop"))
        );
    }
}
