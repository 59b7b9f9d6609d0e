//! Fills the collections of one arm.

use bson::RawDocumentBuf;

use crate::plan::{Arm, Collection, EvalError, Frame, LoopOver, Plan, Raw, Value, Writer, index_key};
use crate::server::namespace;
use crate::server::{Failure, ReplyKind, Target};

use super::event::{Event, Observer};
use super::interpret::{Halt, Interpreter};

/// A batch is sent when it has this many documents or bytes.
const BATCH_DOCUMENTS: usize = 1_000;
const BATCH_BYTES: usize = 4_000_000;

/// After so many documents the one that makes them lets the one that sends them go on.
const BREATH: usize = 64;

/// Why an arm could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The server refused.
    #[error("strategy {arm}, collection {collection}: {failure}")]
    Refused {
        /// The strategy.
        arm: String,
        /// The collection.
        collection: String,
        /// Why.
        failure: Failure,
    },
    /// A document has no value.
    #[error("strategy {arm}, collection {collection}: {error}")]
    Document {
        /// The strategy.
        arm: String,
        /// The collection.
        collection: String,
        /// What is wrong.
        error: EvalError,
    },
    /// The data were written, and a majority does not say that it has them.
    #[error("strategy {arm}, after loading: {failure}")]
    Settle {
        /// The strategy.
        arm: String,
        /// Why.
        failure: Failure,
    },
    /// A step after loading failed.
    #[error("strategy {arm}, load: {halt}")]
    Step {
        /// The strategy.
        arm: String,
        /// Which step and why.
        halt: Halt,
    },
}

/// Fills one arm's database.
pub struct Loader<'l, T> {
    /// The scenario.
    pub plan: &'l Plan,
    /// The strategy.
    pub arm: &'l Arm,
    /// The server.
    pub target: &'l T,
    /// The arm's database, already made.
    pub database: &'l str,
    /// Who is told of the progress.
    pub observer: &'l dyn Observer,
    /// Becomes true when the user wants to stop.
    pub stop: &'l dyn Fn() -> bool,
}

impl<T: Target> Loader<'_, T> {
    /// Makes the collections and their indexes, fills them, and runs the `load` steps. Returns the documents inserted;
    /// fewer when stopped.
    ///
    /// # Errors
    /// When the server refuses, or a document or index has no value.
    pub async fn run(&self) -> Result<u64, LoadError> {
        let mut documents = 0;
        for collection in &self.arm.collections {
            self.create(collection).await?;
            self.index(collection).await?;
            documents += self.fill(collection).await?;
            if (self.stop)() {
                return Ok(documents);
            }
        }
        if let Some(load) = &self.arm.load {
            let mut frame = Frame::new(&self.plan.data, self.plan.data.seed, 0, load.slots);
            let mut interpreter = Interpreter::new(self.target, self.database);
            let run = interpreter.run(load, &mut frame).await;
            run.map_err(|halt| LoadError::Step { arm: self.arm.name.clone(), halt })?;
        }
        namespace::settle(self.target, self.database)
            .await
            .map_err(|failure| LoadError::Settle { arm: self.arm.name.clone(), failure })?;
        Ok(documents)
    }

    fn refused(&self, collection: &Collection, failure: Failure) -> LoadError {
        LoadError::Refused { arm: self.arm.name.clone(), collection: collection.name.clone(), failure }
    }

    fn wrong(&self, collection: &Collection, error: EvalError) -> LoadError {
        LoadError::Document { arm: self.arm.name.clone(), collection: collection.name.clone(), error }
    }

    async fn create(&self, collection: &Collection) -> Result<(), LoadError> {
        let command = bson::rawdoc! { "create": collection.name.as_str(), "writeConcern": { "w": "majority" } };
        match self.target.run(self.database, command, ReplyKind::Single).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.refused(collection, failure)),
        }
    }

    async fn index(&self, collection: &Collection) -> Result<(), LoadError> {
        let indexes = indexes(self.plan, collection).map_err(|error| self.wrong(collection, error))?;
        if indexes.is_empty() {
            return Ok(());
        }
        let mut list = bson::RawArrayBuf::new();
        indexes.into_iter().for_each(|index| list.push(index));
        let mut command = bson::rawdoc! { "createIndexes": collection.name.as_str() };
        command.append(bson::raw::cstr!("indexes"), list);
        match self.target.run(self.database, command, ReplyKind::Single).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.refused(collection, failure)),
        }
    }

    /// While the server takes one batch, the next is made.
    async fn fill(&self, collection: &Collection) -> Result<u64, LoadError> {
        if collection.loops.is_none() {
            return Ok(0);
        }
        let mut documents = Documents::new(self.plan, collection);
        let mut inserted = 0;
        let mut batch = self.batch(collection, &mut documents).await?;
        while batch.documents > 0 && !(self.stop)() {
            let sent = batch.documents;
            let sending = self.send(collection, batch);
            let (result, next) = tokio::join!(sending, self.batch(collection, &mut documents));
            result?;
            batch = next?;
            inserted += sent;
            self.observer.event(&Event::Loaded { arm: &self.arm.name, documents: inserted });
        }
        Ok(inserted)
    }

    /// The next insert command, its documents written in place; empty after the last document.
    async fn batch(&self, collection: &Collection, documents: &mut Documents<'_>) -> Result<Batch, LoadError> {
        let (mut writer, open) = Writer::new();
        writer.text("insert", &collection.name);
        // Nothing is measured yet, so a batch need not wait for the journal; once at the end is enough.
        let concern = writer.begin_document("writeConcern");
        writer.value("w", &Value::Int(1));
        writer.end(concern);
        let array = writer.begin_array("documents");
        let mut count = 0;
        while count < BATCH_DOCUMENTS && writer.len() < BATCH_BYTES {
            let written = index_key(count, |key| documents.write(key, &mut writer));
            if !written.map_err(|error| self.wrong(collection, error))? {
                break;
            }
            count += 1;
            if count % BREATH == 0 {
                tokio::task::yield_now().await;
            }
        }
        writer.end(array);
        Ok(Batch { command: writer.finish(open), documents: count as u64 })
    }

    async fn send(&self, collection: &Collection, batch: Batch) -> Result<(), LoadError> {
        match self.target.run(self.database, batch.command, ReplyKind::Single).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.refused(collection, failure)),
        }
    }
}

struct Batch {
    command: RawDocumentBuf,
    documents: u64,
}

/// The documents of a collection, made one at a time by its nested loops.
pub struct Documents<'d> {
    collection: &'d Collection,
    plan: &'d Plan,
    frame: Frame,
    /// What is left of each loop that is open, the outermost first.
    open: Vec<Turns>,
    started: bool,
}

enum Turns {
    Entity { entity: usize, next: u64 },
    List(std::vec::IntoIter<Value>),
}

impl<'d> Documents<'d> {
    /// Before the first document.
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
        self.sound(true)
    }

    /// Records are made without a way to fail; a mistake in them is told here.
    fn sound<R>(&self, result: R) -> Result<R, EvalError> {
        match self.plan.data.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(result),
        }
    }

    /// Puts the next record (and those of the outer loops) into the frame; `false` after the last.
    fn advance(&mut self) -> Result<bool, EvalError> {
        let Some(loops) = &self.collection.loops else { return Ok(false) };
        if !self.started {
            self.started = true;
            let outermost = self.begin(0)?;
            self.open.push(outermost);
        }
        while let Some(turns) = self.open.last_mut() {
            let Some(value) = turns.next(self.plan) else {
                self.open.pop();
                continue;
            };
            let depth = self.open.len() - 1;
            self.frame.set(loops[depth].slot, value);
            if depth + 1 == loops.len() {
                return Ok(true);
            }
            let inner = self.begin(depth + 1)?;
            self.open.push(inner);
        }
        Ok(false)
    }

    fn begin(&mut self, depth: usize) -> Result<Turns, EvalError> {
        let Some(this) = self.collection.loops.as_ref().and_then(|loops| loops.get(depth)) else {
            return Ok(Turns::List(Vec::new().into_iter()));
        };
        match &this.over {
            LoopOver::Entity(entity) => Ok(Turns::Entity { entity: *entity, next: 0 }),
            LoopOver::List(list) => {
                let list = list.evaluate(&mut self.frame)?;
                let items =
                    list.items().ok_or_else(|| EvalError::new(format!("`each` needs a list, not {}", list.kind())))?;
                Ok(Turns::List(items.collect::<Vec<_>>().into_iter()))
            }
        }
    }
}

/// The documents, one at a time; after an error there is no use in going on.
impl Iterator for Documents<'_> {
    type Item = Result<RawDocumentBuf, EvalError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(true) => Some(self.collection.document.bind(&mut self.frame).and_then(|made| self.sound(made))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl Turns {
    fn next(&mut self, plan: &Plan) -> Option<Value> {
        match self {
            Turns::List(items) => items.next(),
            Turns::Entity { entity, next } => {
                if *next >= plan.data.entities[*entity].len() {
                    return None;
                }
                *next += 1;
                Some(plan.data.whole(*entity, *next - 1))
            }
        }
    }
}

/// The indexes of a collection beside that of `_id`, as they are made.
///
/// # Errors
/// When one has no value.
pub fn indexes(plan: &Plan, collection: &Collection) -> Result<Vec<RawDocumentBuf>, EvalError> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, collection.slots);
    Ok(collection.indexes.bind_items(&mut frame)?.into_iter().map(index_document).collect())
}

/// A key document, or `{ key, unique, ... }`, as `createIndexes` wants it: with a name.
fn index_document(written: RawDocumentBuf) -> RawDocumentBuf {
    let raw = Raw::new(written);
    let (key, options) = match raw.get("key") {
        Some(key @ Value::Document(_)) => (key, Some(raw)),
        _ => (Value::Document(raw), None),
    };
    let parts: Vec<String> = key.entries().iter().map(|(name, kind)| format!("{name}_{}", plain(kind))).collect();
    let (mut writer, open) = Writer::new();
    writer.value("key", &key);
    let mut named = false;
    for (name, value) in options.iter().flat_map(Raw::iter).filter(|(name, _)| *name != "key") {
        named |= name == "name";
        writer.value(name, &value);
    }
    if !named {
        writer.text("name", &parts.join("_"));
    }
    writer.finish(open)
}

fn plain(kind: &Value) -> String {
    match kind {
        Value::Text(text) => text.to_string(),
        other => crate::plan::written(other),
    }
}
