//! Loads the data of one arm.

use bson::RawDocumentBuf;

use crate::engine::load::stop::StopFlag;
use crate::engine::step::interpreter::{Interpreter, StepError};
use crate::error::{ErrorKind, KindedError};
use crate::plan::{Arm, Collection, EvalError, Frame, LoopOver, Plan, Raw, Value, Writer, index_key};
use crate::server::namespace;
use crate::server::{Failure, ReplyKind, Target};

use super::event::{Event, Observer};

/// A batch is sent when it has this many documents or bytes.
const BATCH_DOCUMENTS: usize = 1_000;
const BATCH_BYTES: usize = 4_000_000;

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
enum LoadFailure {
    #[error(transparent)]
    Server(#[from] Failure),
    /// A document or an index has no value.
    #[error(transparent)]
    Document(#[from] EvalError),
    #[error(transparent)]
    Step(#[from] StepError),
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

    fn error_in(&self, collection: &Collection, source: impl Into<LoadFailure>) -> LoadError {
        self.error(format!("collection {}", collection.name), source)
    }

    async fn create(&self, collection: &Collection) -> Result<(), LoadError> {
        let name = collection.name.as_str();
        let create = bson::rawdoc! { "create": name, "writeConcern": { "w": "majority" } };
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
        let mut documents = Documents::new(self.plan, collection);
        let mut inserted = 0;
        let mut batch = self.batch(collection, &mut documents).await?;
        while batch.documents > 0 && !self.stop.is_set() {
            let sent = batch.documents;
            let sending = self.send(collection, batch.command);
            let (result, next) = tokio::join!(sending, self.batch(collection, &mut documents));
            result?;
            batch = next?;
            inserted += sent;
            self.observer.event(&Event::Loaded { arm: &self.arm.name, documents: inserted });
        }
        Ok(inserted)
    }

    /// The next insert command with its documents written in place; empty after the last document.
    async fn batch(&self, collection: &Collection, documents: &mut Documents<'_>) -> Result<InsertBatch, LoadError> {
        let (mut writer, open) = Writer::new();
        writer.text("insert", &collection.name);
        // Nothing is measured yet, so batches need not wait for the journal; the end of loading does.
        let concern = writer.begin_document("writeConcern");
        writer.int("w", 1);
        writer.end(concern);
        let array = writer.begin_array("documents");
        let mut count = 0;
        while count < BATCH_DOCUMENTS && writer.size() < BATCH_BYTES {
            let written = index_key(count, |key| documents.write(key, &mut writer));
            if !written.map_err(|error| self.error_in(collection, error))? {
                break;
            }
            count += 1;
            if count % YIELD_EVERY == 0 {
                tokio::task::yield_now().await;
            }
        }
        writer.end(array);
        Ok(InsertBatch { command: writer.finish(open), documents: count as u64 })
    }

    async fn send(&self, collection: &Collection, command: RawDocumentBuf) -> Result<(), LoadError> {
        let sent = self.target.run(self.database, command, ReplyKind::Single).await;
        sent.map(drop).map_err(|failure| self.error_in(collection, failure))
    }
}

struct InsertBatch {
    command: RawDocumentBuf,
    documents: u64,
}

/// The documents of a collection, drawn one at a time by its nested loops.
pub struct Documents<'d> {
    collection: &'d Collection,
    plan: &'d Plan,
    frame: Frame,
    /// What is left of each open loop, the outermost first.
    open: Vec<OpenLoop<'d>>,
    started: bool,
}

/// The values that are left of a loop.
type OpenLoop<'d> = Box<dyn Iterator<Item = Value> + 'd>;

impl<'d> Documents<'d> {
    /// Starts before the first document.
    pub fn new(plan: &'d Plan, collection: &'d Collection) -> Documents<'d> {
        let frame = Frame::new(&plan.data, plan.data.seed, 0, collection.slots);
        Documents { collection, plan, frame, open: Vec::new(), started: false }
    }

    /// Writes the next document under a key; `false` after the last.
    fn write(&mut self, key: &str, writer: &mut Writer) -> Result<bool, EvalError> {
        if !self.advance()? {
            return Ok(false);
        }
        self.collection.document.write(key, writer, &mut self.frame)?;
        Ok(true)
    }

    /// Puts the next record (and those of the outer loops) into the frame; `false` after the last.
    fn advance(&mut self) -> Result<bool, EvalError> {
        let loops = self.collection.loops.as_deref().filter(|loops| !loops.is_empty());
        let Some(loops) = loops else { return Ok(false) };
        if !self.started {
            self.started = true;
            let outermost = self.begin(loops, 0)?;
            self.open.push(outermost);
        }
        while let Some(innermost) = self.open.last_mut() {
            let Some(value) = innermost.next() else {
                self.open.pop();
                continue;
            };
            let depth = self.open.len() - 1;
            self.frame.set(loops[depth].slot, value);
            if depth + 1 == loops.len() {
                return Ok(true);
            }
            let inner = self.begin(loops, depth + 1)?;
            self.open.push(inner);
        }
        Ok(false)
    }

    fn begin(&mut self, loops: &'d [crate::plan::Loop], depth: usize) -> Result<OpenLoop<'d>, EvalError> {
        let data = &self.plan.data;
        match &loops[depth].over {
            LoopOver::Entity(entity) => {
                Ok(Box::new((0..data.len(*entity)).map(|ordinal| data.whole(*entity, ordinal))))
            }
            LoopOver::List(list) => {
                let list = list.evaluate(&mut self.frame)?;
                let no_list = || EvalError::new(format!("`each`: expected a list, found {}", list.kind()));
                Ok(Box::new(list.items().ok_or_else(no_list)?.collect::<Vec<_>>().into_iter()))
            }
        }
    }
}

/// The documents, one at a time, up to the first error.
impl Iterator for Documents<'_> {
    type Item = Result<RawDocumentBuf, EvalError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(true) => Some(self.collection.document.bind(&mut self.frame)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
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
            LoadFailure::Document(_) | LoadFailure::Step(StepError::Invalid { .. }) => ErrorKind::Input,
            LoadFailure::Server(_) | LoadFailure::Step(_) => ErrorKind::Environment,
        }
    }
}
