//! The statements that were read, each with the number of its shape.

use std::collections::{HashMap, HashSet};
use std::hash::RandomState;

use bson::{Bson, Document};

use super::command::{Recorded, number, recorded};
use super::shape::{ShapeNumbers, Statement, StatementShape};

/// Applications that look at a database without being the one in question, by the start of their `appName`.
const TOOLS: [&str; 5] = ["docshape", "mongosh", "MongoDB ", "Automation", "Monitoring"];
/// Databases of the server itself.
const INTERNAL: [&str; 3] = ["admin", "config", "local"];
/// Collections of the server inside of a database, by the start of their name.
const SYSTEM: &str = "system.";
/// More values of `comment` than this are no names of operations, but of requests.
const MOST_NAMES: usize = 100;
/// A longer comment is no name.
const LONGEST_NAME: usize = 40;
/// Where no statement is faster than this, in milliseconds, the server recorded slow statements alone.
const SLOW: i64 = 10;

/// Everything that was observed of one database.
#[derive(Debug, Default)]
pub struct Observations {
    pub(super) database: String,
    pub(super) shapes: ShapeNumbers,
    pub(super) statements: Vec<Statement>,
    /// By number of the transaction: whether it committed, as far as that was recorded.
    pub(super) ends: HashMap<usize, bool>,
    /// What was not counted as a statement.
    pub left_out: LeftOutLines,
    /// Reads of which only the number is known.
    pub(super) unattributed: u64,
    /// What the source cannot say, for the summary.
    pub(super) limits: Vec<String>,
    pub(super) hasher: RandomState,
    /// The time of the fastest statement, in milliseconds.
    fastest: Option<i64>,
    /// Single writes, and those of them whose command was not recorded.
    writes: (usize, usize),
    /// Connections and transactions, by what identifies them in the source.
    keys: HashMap<String, usize>,
    names: HashSet<String>,
    /// By connection: the numbers of single writes that wait for the command around them, which has their session.
    waiting: HashMap<usize, Vec<usize>>,
}

/// Lines or documents that are no statements of the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOutLines {
    /// Of other databases.
    pub other_databases: u64,
    /// Of docshape itself, a shell, or monitoring.
    pub tools: u64,
    /// Whose command was cut off by the server.
    pub cut: u64,
    /// That are not in the format of the source.
    pub unreadable: u64,
    /// Statements that failed, such as those that met another transaction.
    pub failed: u64,
    /// Further batches of a cursor.
    pub further_batches: u64,
    /// Statements of transactions that were aborted.
    pub aborted: u64,
}

impl Observations {
    /// Nothing yet.
    pub fn new(database: &str) -> Observations {
        Observations { database: database.to_owned(), ..Observations::default() }
    }

    /// How many statements there are.
    pub fn statements(&self) -> u64 {
        self.statements.iter().map(|statement| statement.calls).sum::<u64>() + self.unattributed
    }

    /// The collection of a name with its database, if it is one of this database's own.
    pub(super) fn collection<'n>(&self, namespace: &'n str) -> Option<&'n str> {
        let collection = namespace.strip_prefix(&self.database)?.strip_prefix('.')?;
        Some(collection).filter(|name| !name.starts_with(SYSTEM))
    }

    /// Adds a record of a command if it is a statement of the application, and counts it otherwise. Log lines and profiled
    /// statements have the same keys, but for the kind of a write.
    pub(super) fn add(&mut self, record: &Document, at: i64, connection: Option<&str>) {
        let Ok(command) = record.get_document("command") else { return };
        let namespace = record.get_str("ns").unwrap_or_default();
        let (database, collection) = namespace.split_once('.').unwrap_or((namespace, ""));
        let is_remove = ["type", "op"].iter().any(|key| matches!(record.get_str(key), Ok("remove" | "delete")));
        let failed = record.contains_key("errCode") || record.contains_key("errName");
        let connection = connection.map(|name| self.key(name.to_owned()));
        match recorded(command, collection, is_remove, &self.hasher) {
            Recorded::Other => {}
            _ if collection.starts_with(SYSTEM) => {}
            Recorded::End(commits) => {
                if let Some(key) = transaction_key(command).filter(|_| !failed) {
                    let transaction = self.key(key);
                    self.ends.insert(transaction, commits);
                }
            }
            _ if database != self.database => {
                self.left_out.other_databases += u64::from(!INTERNAL.contains(&database));
            }
            _ if is_tool(record, command) => self.left_out.tools += 1,
            Recorded::Header => {
                let writes = self.waiting(connection);
                self.complete(&writes, command);
            }
            Recorded::GetMore => self.left_out.further_batches += 1,
            _ if failed => self.left_out.failed += 1,
            Recorded::Statements(all) => {
                let first = self.statements.len();
                for (shape, values) in all {
                    self.add_statement(shape, Statement { at, connection, values, calls: 1, ..Statement::default() });
                }
                let added: Vec<usize> = (first..self.statements.len()).collect();
                if let (Some(connection), true) = (connection, command.contains_key("q")) {
                    self.writes.0 += added.len();
                    self.waiting.entry(connection).or_default().extend(added);
                } else {
                    self.writes.1 += self.waiting(connection).len();
                    self.complete(&added, command);
                }
            }
        }
    }

    /// Takes the writes of a connection that wait for their command.
    fn waiting(&mut self, connection: Option<usize>) -> Vec<usize> {
        connection.and_then(|connection| self.waiting.remove(&connection)).unwrap_or_default()
    }

    /// Adds to statements what their command says: the transaction, and the application's name of the operation.
    fn complete(&mut self, statements: &[usize], command: &Document) {
        let transaction = transaction_key(command).map(|key| self.key(key));
        let name = command.get_str("comment").ok().and_then(|comment| self.name(comment));
        for number in statements {
            let shape = self.shapes.all[self.statements[*number].shape].clone();
            self.statements[*number].shape = self.shapes.number(StatementShape { name: name.clone(), ..shape });
            self.statements[*number].transaction = transaction;
        }
    }

    /// Adds a statement with a shape that may be new.
    pub(super) fn add_statement(&mut self, shape: StatementShape, statement: Statement) {
        let shape = self.shapes.number(shape);
        self.statements.push(Statement { shape, ..statement });
    }

    /// Says what the source leaves out.
    pub(super) fn finish(&mut self) {
        if let Some(fastest) = self.fastest.filter(|fastest| *fastest >= SLOW) {
            self.limits.push(format!(
                "no statement took less than {fastest} ms: the shares are those of slow statements, not of all (slowms: 0 records all)"
            ));
        }
        let (writes, alone) = self.writes;
        let waiting: usize = self.waiting.values().map(Vec::len).sum();
        if (alone + waiting) * 2 > writes {
            self.limits.push(
                "the log has only a sample of the statements (sampleRate): transactions and what belongs together are not \
                 whole in it; writes of transactions count as operations of their own"
                    .to_owned(),
            );
        }
    }

    /// Notes how long a statement took.
    pub(super) fn took(&mut self, millis: i64) {
        self.fastest = Some(self.fastest.map_or(millis, |fastest| fastest.min(millis)));
    }

    /// The number of a connection or transaction.
    pub(super) fn key(&mut self, key: String) -> usize {
        let next = self.keys.len();
        *self.keys.entry(key).or_insert(next)
    }

    /// The comment of a statement if it can be the name of an operation.
    fn name(&mut self, comment: &str) -> Option<String> {
        let is_known = self.names.contains(comment);
        let is_new = is_name(comment) && !is_known && self.names.len() < MOST_NAMES;
        if is_new {
            self.names.insert(comment.to_owned());
        }
        (is_known || is_new).then(|| comment.to_owned())
    }

    /// Whether comments are names of operations: so many different ones are those of requests.
    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty() && self.names.len() < MOST_NAMES
    }
}

/// Whether this is short and has no digits: a number would be that of a request or record.
fn is_name(comment: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphabetic() || " _-./:".contains(c);
    !comment.is_empty() && comment.len() <= LONGEST_NAME && comment.chars().all(fits)
}

fn is_tool(record: &Document, command: &Document) -> bool {
    let own_comment = command.get_str("comment").is_ok_and(|comment| comment.starts_with("docshape"));
    own_comment || record.get_str("appName").is_ok_and(|name| TOOLS.iter().any(|tool| name.starts_with(tool)))
}

/// What identifies the transaction of a command. A number without `autocommit` is that of a write that may be retried.
fn transaction_key(command: &Document) -> Option<String> {
    session_key(command).filter(|_| command.get("autocommit") == Some(&Bson::Boolean(false)))
}

/// A session, and the number of a transaction in it.
pub(super) fn session_key(command: &Document) -> Option<String> {
    let session = command.get_document("lsid").ok()?;
    Some(format!("{:?} {}", session.get("id"), number(Some(command.get("txnNumber")?))))
}
