//! The statements that were read, each with the number of its shape.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::RandomState;

use bson::{Bson, Document};

use super::shape::{StatementShape, Stripper};
use super::statement::{Recorded, Statement, recorded};

/// Applications that look at a database without being the one in question, by the start of their `appName`.
const TOOLS: [&str; 5] = ["docshape", "mongosh", "MongoDB ", "Automation", "Monitoring"];

/// Databases of the server itself.
const INTERNAL: [&str; 3] = ["admin", "config", "local"];

/// Collections of the server inside of a database, by the start of their name.
const SYSTEM: &str = "system.";

/// More values of `comment` than this are no names of operations, but of requests.
const MOST_NAMES: usize = 100;

/// Where no statement is faster than this, in milliseconds, the server recorded slow statements alone.
const SLOW: i64 = 10;

/// A longer comment is no name.
const LONGEST_NAME: usize = 40;

/// Everything that was observed of one database.
#[derive(Debug, Default)]
pub struct Observations {
    pub(super) database: String,
    pub(super) shapes: Vec<StatementShape>,
    pub(super) statements: Vec<Statement>,
    /// By number of the transaction: whether it committed, as far as that was recorded.
    pub(super) transactions: Vec<Option<bool>>,
    /// What was not counted as a statement.
    pub left_out: LeftOutLines,
    /// Reads of which only the number is known.
    pub(super) unattributed: u64,
    /// What the source cannot say, for the summary.
    pub(super) limits: Vec<String>,
    /// The time of the fastest statement, in milliseconds.
    fastest: Option<i64>,
    /// Single writes, and those of them whose command was not recorded.
    writes: (u64, u64),
    hasher: RandomState,
    numbers: HashMap<String, usize>,
    connections: HashMap<String, usize>,
    transaction_numbers: HashMap<String, usize>,
    names: HashSet<String>,
    /// By connection: single writes that wait for the command around them, which has their session.
    waiting: BTreeMap<usize, Vec<WaitingWrite>>,
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

/// One record of a server: a log line, or a profiled statement.
#[derive(Debug)]
pub(super) struct RecordedCommand<'d> {
    pub(super) namespace: &'d str,
    pub(super) command: &'d Document,
    pub(super) app_name: &'d str,
    pub(super) at: i64,
    pub(super) connection: Option<&'d str>,
    pub(super) is_remove: bool,
    pub(super) failed: bool,
}

#[derive(Debug)]
struct WaitingWrite {
    shape: StatementShape,
    values: Vec<u64>,
    at: i64,
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

    /// Adds a record if it is a statement of the application, and counts it otherwise.
    pub(super) fn add(&mut self, record: &RecordedCommand<'_>) {
        let (database, collection) = record.namespace.split_once('.').unwrap_or((record.namespace, ""));
        let hasher = self.hasher.clone();
        let mut stripper = Stripper::new(&hasher);
        let what = recorded(record.command, collection, record.is_remove, &mut stripper);
        if matches!(what, Recorded::Other) || collection.starts_with(SYSTEM) {
            return;
        }
        if let Recorded::End(commits) = what {
            return self.end(record, commits);
        }
        if database != self.database {
            self.left_out.other_databases += u64::from(!INTERNAL.contains(&database));
            return;
        }
        if is_tool(record) {
            self.left_out.tools += 1;
            return;
        }
        let connection = record.connection.map(|name| self.connection(name));
        match what {
            Recorded::Header => self.settle(connection, record.command),
            Recorded::GetMore => self.left_out.further_batches += 1,
            _ if record.failed => self.left_out.failed += 1,
            Recorded::Statements(all) => {
                for (shape, values) in all {
                    self.add_statement(shape, values, record, connection);
                }
            }
            Recorded::End(_) | Recorded::Other => {}
        }
    }

    fn add_statement(
        &mut self,
        shape: StatementShape,
        values: Vec<u64>,
        record: &RecordedCommand<'_>,
        connection: Option<usize>,
    ) {
        let is_single_write = record.command.contains_key("q");
        match connection {
            Some(connection) if is_single_write => {
                self.writes.0 += 1;
                self.waiting.entry(connection).or_default().push(WaitingWrite { shape, values, at: record.at });
            }
            connection => {
                self.flush(connection);
                let waiting = WaitingWrite { shape, values, at: record.at };
                self.push(waiting, connection, record.command);
            }
        }
    }

    /// Adds the writes that waited for this command, which says of which session and transaction they are.
    fn settle(&mut self, connection: Option<usize>, header: &Document) {
        let Some(connection) = connection else { return };
        for waiting in self.waiting.remove(&connection).unwrap_or_default() {
            self.push(waiting, Some(connection), header);
        }
    }

    fn flush(&mut self, connection: Option<usize>) {
        let waiting = connection.and_then(|connection| self.waiting.get(&connection));
        self.writes.1 += waiting.map_or(0, |waiting| waiting.len() as u64);
        self.settle(connection, &Document::new());
    }

    /// Adds the writes that still wait, and says what the source leaves out.
    pub(super) fn finish(&mut self) {
        for connection in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.flush(Some(connection));
        }
        let (writes, alone) = self.writes;
        if let Some(fastest) = self.fastest.filter(|fastest| *fastest >= SLOW) {
            self.limits.push(format!(
                "no statement took less than {fastest} ms: the shares are those of slow statements, not of all (slowms: 0 records all)"
            ));
        }
        if alone * 2 > writes {
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

    fn push(&mut self, waiting: WaitingWrite, connection: Option<usize>, command: &Document) {
        let WaitingWrite { mut shape, values, at } = waiting;
        shape.name = self.name(command.get_str("comment").ok());
        let transaction = transaction_key(command).map(|key| self.transaction(key));
        self.add_shape(shape, Statement { shape: 0, at, connection, transaction, values: values.into(), calls: 1 });
    }

    /// Adds a statement with a shape that may be new.
    pub(super) fn add_shape(&mut self, shape: StatementShape, statement: Statement) {
        let key = format!("{shape:?}");
        let next = self.shapes.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.shapes.push(shape);
        }
        self.statements.push(Statement { shape: number, ..statement });
    }

    /// Hashes of values, as those of a statement.
    pub(super) fn hasher(&self) -> RandomState {
        self.hasher.clone()
    }

    fn connection(&mut self, name: &str) -> usize {
        let next = self.connections.len();
        *self.connections.entry(name.to_owned()).or_insert(next)
    }

    /// The number of a transaction, by what identifies it in the source.
    pub(super) fn transaction(&mut self, key: String) -> usize {
        let next = self.transaction_numbers.len();
        let number = *self.transaction_numbers.entry(key).or_insert(next);
        if number == next {
            self.transactions.push(None);
        }
        number
    }

    fn end(&mut self, record: &RecordedCommand<'_>, commits: bool) {
        let known = transaction_key(record.command).and_then(|key| self.transaction_numbers.get(&key).copied());
        if let Some(number) = known.filter(|_| !record.failed) {
            self.transactions[number] = Some(commits);
        }
    }

    /// The comment of a statement if it can be the name of an operation.
    fn name(&mut self, comment: Option<&str>) -> Option<String> {
        let comment = comment.filter(|comment| is_name(comment))?;
        if !self.names.contains(comment) {
            if self.names.len() == MOST_NAMES {
                return None;
            }
            self.names.insert(comment.to_owned());
        }
        Some(comment.to_owned())
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

fn is_tool(record: &RecordedCommand<'_>) -> bool {
    let own_comment = record.command.get_str("comment").is_ok_and(|comment| comment.starts_with("docshape"));
    own_comment || TOOLS.iter().any(|tool| record.app_name.starts_with(tool))
}

/// What identifies the transaction of a command: the session, and its number there. A number without `autocommit` is that of a
/// write that may be retried.
fn transaction_key(command: &Document) -> Option<String> {
    if command.get("autocommit") != Some(&Bson::Boolean(false)) {
        return None;
    }
    Some(session_key(command.get_document("lsid").ok()?, command.get("txnNumber")?))
}

/// The key of a transaction: session and number.
pub(super) fn session_key(session: &Document, number: &Bson) -> String {
    format!("{:?} {}", session.get("id"), super::statement::number(Some(number)))
}
