//! Loads the data of one arm.

use bson::RawDocumentBuf;

use crate::engine::load::stop::StopFlag;
use crate::engine::step::error::StepError;
use crate::engine::step::interpreter::Interpreter;
use crate::error::{ErrorKind, KindedError};
use crate::plan::{Arm, Collection, EvalError, Frame, Plan, Raw, Value, Writer, index_key};
use crate::server::{DUPLICATE_KEY, Failure, FailureKind, ReplyKind, Target, namespace};

use super::documents::Documents;
use super::event::{Event, Observer};

/// A batch is sent when it has this many documents or bytes.
const BATCH_DOCUMENTS: usize = 1_000;
const BATCH_BYTES: usize = 4_000_000;

/// The server's limit of a document, 16 MiB, plus the key and kind in the batch.
const LARGEST_DOCUMENT: usize = 16 * 1024 * 1024 + 8;

/// Drawing documents yields to sending the last batch this often.
const YIELD_EVERY: usize = 64;

/// Why the data of an arm could not be loaded.
#[derive(Debug, thiserror::Error)]
#[error("strategy {strategy}, {part}: {source}")]
pub struct LoadError {
    strategy: String,
    /// The part of the data, or of the loading.
    part: String,
    source: Box<LoadFailure>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum LoadFailure {
    #[error("{0}{advice}", advice = advice(.0))]
    Server(#[from] Failure),
    /// A document or an index has no value.
    #[error(transparent)]
    Document(#[from] EvalError),
    #[error(transparent)]
    Step(#[from] StepError),
    /// A collection cannot be distributed over the shards of a cluster.
    #[error("{0}")]
    NotDistributed(String),
}

/// What to do about a failure of the server, where that is known.
fn advice(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Server(DUPLICATE_KEY) => {
            "; two of its documents have the same values: look at its unique indexes, and at what their fields are drawn from; `line` repeats the lines of a short file"
        }
        _ => "",
    }
}

impl LoadError {
    /// Whether a failover or a broken connection is the reason.
    pub(super) fn is_interruption(&self) -> bool {
        matches!(
            &*self.source,
            LoadFailure::Server(failure) | LoadFailure::Step(StepError::Failed { failure, .. }) if failure.is_interruption()
        )
    }
}

/// Loads the data of one arm.
pub struct Loader<'l, T> {
    /// The scenario.
    pub plan: &'l Plan,
    /// The strategy.
    pub arm: &'l Arm,
    /// The server.
    pub target: &'l T,
    /// The arm's database, which exists.
    pub database: &'l str,
    /// Receives the progress.
    pub observer: &'l dyn Observer,
    /// Set when the user wants to stop.
    pub stop: &'l StopFlag,
}

impl<T: Target> Loader<'_, T> {
    /// Creates the collections and their indexes, inserts the documents, and runs the `load` steps. Returns the number of
    /// documents inserted, which is smaller when stopped.
    ///
    /// # Errors
    /// When the server fails, or a document or index has no value.
    pub async fn run(&self) -> Result<u64, LoadError> {
        let documents = self.collections().await?;
        if self.stop.is_set() {
            return Ok(documents);
        }
        if let Some(load) = &self.arm.load {
            let mut frame = Frame::new(&self.plan.data, self.plan.data.seed, 0, load.slots);
            let mut interpreter = Interpreter::new(self.target, self.database);
            let run = interpreter.run(load, &mut frame).await;
            run.map_err(|error| self.error("load".to_owned(), error))?;
        }
        let majority = namespace::await_majority(self.target, self.database).await;
        majority.map_err(|failure| self.error("after loading".to_owned(), failure))?;
        Ok(documents)
    }

    /// Creates the collections and their indexes, and inserts the documents. Returns their number, which is smaller when
    /// stopped.
    ///
    /// # Errors
    /// As [`Loader::run`].
    pub async fn collections(&self) -> Result<u64, LoadError> {
        let mut documents = 0;
        for collection in &self.arm.collections {
            self.create(collection).await?;
            if let Some(sharding) = &collection.sharding {
                self.distribute(collection, sharding).await?;
            }
            documents += self.fill(collection).await?;
            if self.stop.is_set() {
                break;
            }
        }
        Ok(documents)
    }

    fn error(&self, part: String, source: impl Into<LoadFailure>) -> LoadError {
        LoadError { strategy: self.arm.name.clone(), part, source: Box::new(source.into()) }
    }

    pub(super) fn error_in(&self, collection: &Collection, source: impl Into<LoadFailure>) -> LoadError {
        self.error(format!("collection {}", collection.name), source)
    }

    async fn create(&self, collection: &Collection) -> Result<(), LoadError> {
        let name = collection.name.as_str();
        let create = create_command(self.plan, collection).map_err(|error| self.error_in(collection, error))?;
        self.send(collection, create).await?;
        let indexes = indexes(self.plan, collection).map_err(|error| self.error_in(collection, error))?;
        if indexes.is_empty() {
            return Ok(());
        }
        let indexes: bson::RawArrayBuf = indexes.into_iter().collect();
        self.send(collection, bson::rawdoc! { "createIndexes": name, "indexes": indexes }).await
    }

    /// Inserts the documents; while the server takes one batch, the next is drawn.
    async fn fill(&self, collection: &Collection) -> Result<u64, LoadError> {
        if collection.loops.is_none() {
            return Ok(0);
        }
        let mut documents = Documents::new(self.plan, collection, collection.load_order);
        let mut inserted = 0;
        let mut batch = self.batch(collection, &mut documents).await?;
        while batch.1 > 0 && !self.stop.is_set() {
            let (command, sent) = batch;
            let sending = self.send(collection, command);
            let (result, next) = tokio::join!(sending, self.batch(collection, &mut documents));
            result?;
            batch = next?;
            inserted += sent;
            self.observer.event(&Event::Loaded { arm: &self.arm.name, documents: inserted });
        }
        Ok(inserted)
    }

    /// The next insert command with its documents written in place, and their number; none after the last document.
    async fn batch(
        &self,
        collection: &Collection,
        documents: &mut Documents<'_>,
    ) -> Result<(RawDocumentBuf, u64), LoadError> {
        let (mut writer, open) = Writer::new();
        writer.text("insert", &collection.name);
        // Nothing is measured yet, so batches need not wait for the journal; the end of loading does.
        let concern = writer.begin_document("writeConcern");
        writer.int("w", 1);
        writer.end(concern);
        let array = writer.begin_array("documents");
        let mut count = 0;
        while count < BATCH_DOCUMENTS && writer.size() < BATCH_BYTES {
            let before = writer.size();
            let written = index_key(count, |key| documents.write(key, &mut writer));
            if !written.map_err(|error| self.error_in(collection, error))? {
                break;
            }
            if collection.skips_large && writer.size() - before > LARGEST_DOCUMENT {
                writer.truncate(before);
            } else {
                count += 1;
            }
            if count % YIELD_EVERY == 0 {
                tokio::task::yield_now().await;
            }
        }
        writer.end(array);
        Ok((writer.finish(open), count as u64))
    }

    async fn send(&self, collection: &Collection, command: RawDocumentBuf) -> Result<(), LoadError> {
        let sent = self.target.run(self.database, command, ReplyKind::Single).await;
        sent.map(drop).map_err(|failure| self.error_in(collection, failure))
    }
}

/// The command that creates a collection.
///
/// # Errors
/// When an option has no value.
pub fn create_command(plan: &Plan, collection: &Collection) -> Result<RawDocumentBuf, EvalError> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, collection.slots);
    let options = collection.options.as_ref().map(|options| options.bind(&mut frame).map(Raw::new)).transpose()?;
    Writer::document(|writer| {
        writer.text("create", &collection.name);
        for (name, value) in options.iter().flat_map(Raw::iter) {
            writer.value(name, &value)?;
        }
        let concern = writer.begin_document("writeConcern");
        writer.text("w", "majority");
        writer.end(concern);
        Ok(())
    })
}

/// The indexes of a collection besides that of `_id`, as `createIndexes` takes them.
///
/// # Errors
/// When one has no value.
pub fn indexes(plan: &Plan, collection: &Collection) -> Result<Vec<RawDocumentBuf>, EvalError> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, collection.slots);
    collection.indexes.bind_items(&mut frame)?.into_iter().map(index_document).collect()
}

/// Adds what `createIndexes` requires to a key document or `{ key, unique, ... }`: the name.
fn index_document(written: RawDocumentBuf) -> Result<RawDocumentBuf, EvalError> {
    let raw = Raw::new(written);
    let (key, options) = match raw.get("key") {
        Some(key @ Value::Document(_)) => (key, Some(raw)),
        _ => (Value::Document(raw), None),
    };
    let parts: Vec<String> = key.entries().iter().map(|(name, kind)| format!("{name}_{}", plain(kind))).collect();
    let (mut writer, open) = Writer::new();
    writer.value("key", &key)?;
    let mut named = false;
    for (name, value) in options.iter().flat_map(Raw::iter).filter(|(name, _)| *name != "key") {
        named |= name == "name";
        writer.value(name, &value)?;
    }
    if !named {
        writer.text("name", &parts.join("_"));
    }
    Ok(writer.finish(open))
}

fn plain(kind: &Value) -> String {
    match kind {
        Value::Text(text) => text.to_string(),
        other => crate::plan::written(other),
    }
}

impl KindedError for LoadError {
    fn kind(&self) -> ErrorKind {
        match &*self.source {
            LoadFailure::Document(_)
            | LoadFailure::NotDistributed(_)
            | LoadFailure::Step(StepError::Invalid { .. }) => ErrorKind::Input,
            LoadFailure::Server(failure) if failure.code() == Some(DUPLICATE_KEY) => ErrorKind::Input,
            LoadFailure::Server(_) | LoadFailure::Step(_) => ErrorKind::Environment,
        }
    }
}
