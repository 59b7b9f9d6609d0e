//! The statements that `docshape show` prints, pasted into mongosh: each gives the answer that docshape gets to its own
//! command, and they leave the same state.
//!
//! It needs mongosh: the program that `DOCSHAPE_MONGOSH` names, or one on `PATH`. Without one the tests only say so,
//! unless `DOCSHAPE_MONGOSH` is set.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bson::{Bson, Document, RawDocumentBuf, doc};
use docshape::cli::show::statement;
use docshape::compile::Choice;
use docshape::engine::{Interpreter, Loader, StopFlag, read_state};
use docshape::plan::{Frame, Plan, Raw, Value, call_id, written};
use docshape::server::client::MongoTarget;
use docshape::server::namespace;
use docshape::server::{Db, Failure, Reply, ReplyKind, Target, Transaction};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::harness::{self, Bench, bench, plan};

/// The mix of scenarios whose data are small enough that filling the databases takes no time.
const MIX: &str = "verify";

/// Of the scenarios of the catalogue, one in this many is shown.
const SAMPLE: usize = 3;

/// The numbers of the sample calls, which scenarios have in turn.
const CALLS: [u64; 2] = [0, 7];

/// How many scenarios are shown and called at the same time, for each shell.
const AT_ONCE: usize = 4;

/// Statements of values per file.
const FILE_STATEMENTS: usize = 50;

/// Prints the answer of a numbered statement in a form that can be read back.
const PRINTER: &str = "\
var answer = (number, statement) => {
  try {
    const given = statement()
    const value = typeof given?.toArray == 'function' ? given.toArray() : given ?? null
    print('ANSWER ' + number + ' ' + EJSON.stringify({ value }, { relaxed: false }))
  } catch (error) {
    print('ERROR ' + error)
  }
}
";

/// The answer of a command that fails; a statement that throws has none.
const ERROR: &str = "an error";

/// `None` where there is no mongosh and none was promised.
#[expect(clippy::print_stderr, reason = "a test that tried nothing must say so")]
fn mongosh() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("DOCSHAPE_MONGOSH") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("mongosh")).find(|program| program.is_file());
    if found.is_none() {
        eprintln!("no mongosh on PATH: the statements of `docshape show` were not pasted");
    }
    found
}

/// How a text gets into mongosh.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// Line by line, as one types or pastes it.
    Typed,
    /// As files, which takes a fraction of the time. It grows with the square of a file's length.
    Script,
}

/// Runs texts in one mongosh and returns what they print.
async fn shell(mongosh: &Path, input: Input, uri: &str, texts: Vec<String>) -> String {
    let temp = tempfile::tempdir().unwrap();
    let write = |name: String, text: &str| {
        let file = temp.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let mut command = Command::new(mongosh);
    command.args(["--quiet", "--norc", uri]).env("HOME", temp.path()).env("NO_COLOR", "1");
    match input {
        Input::Typed => command.stdin(fs::File::open(write("typed.js".to_owned(), &texts.concat())).unwrap()),
        Input::Script => {
            let files = texts.iter().enumerate().map(|(number, text)| write(format!("{number}.js"), text));
            command.args(files).stdin(Stdio::null())
        }
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // On a thread of its own: this one looks after the driver's connections.
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await;
    let Output { status, stdout, stderr } = ended.unwrap();
    let (out, errors) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && errors.is_empty(), "mongosh ended with {status}: {errors}{out}");
    out.into_owned()
}

/// Name and path of every example, and of a sample of the catalogue.
fn scenarios() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for (folder, step) in [("scenarios", SAMPLE), ("examples", 1)] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
        // Data of a scenario whose clock starts now differ between docshape and this process.
        files.retain(|path| !fs::read_to_string(path).unwrap().contains("first_call: now"));
        files.sort();
        let files = files.into_iter().step_by(step);
        all.extend(files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)));
    }
    all
}

/// One scenario at a small scale, with all its strategies.
struct Subject {
    name: String,
    path: PathBuf,
    mix: Option<&'static str>,
    plan: Arc<Plan>,
    /// The number of its sample call.
    call: u64,
}

impl Subject {
    fn new(number: usize, name: String, path: PathBuf) -> Subject {
        let text = fs::read_to_string(&path).unwrap();
        let mix = text.contains(&format!("\n  {MIX}:")).then_some(MIX);
        let strategies = text.lines().skip_while(|line| *line != "strategies:").skip(1);
        let strategies = strategies.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
        let strategies = strategies.filter(|line| line.starts_with("  ") && !line[2..].starts_with([' ', '#']));
        let strategies = strategies.map(|line| line.trim().split(':').next().unwrap().to_owned()).collect();
        let plan = plan(&text, &Choice { mix: mix.map(str::to_owned), seed: 1, strategies, ..Choice::default() });
        Subject { name, path, mix, plan, call: CALLS[number % CALLS.len()] }
    }

    fn database(&self, arm: usize, purpose: &str) -> String {
        format!("{purpose}_{}_{arm}", self.name)
    }

    /// What `docshape show` prints of every strategy, by name.
    async fn shown(&self, uri: String) -> BTreeMap<String, String> {
        let call = self.call.to_string();
        let mut command = harness::docshape(&["show", "--uri", &uri, "--yes", "--call", &call, "--db-prefix", "show_"]);
        command.arg(&self.path);
        if let Some(mix) = self.mix {
            command.args(["--mix", mix]);
        }
        let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let text = String::from_utf8(ended.stdout).unwrap();
        let sections = text.split("\n// ---- ").skip(1);
        sections.map(|section| (section.split(' ').next().unwrap().to_owned(), format!("// {section}"))).collect()
    }

    /// Fills a database to paste into and one for the engine, makes the sample call of every operation there, and returns the
    /// server's answer to every command.
    async fn own(&self, target: &MongoTarget, arm: usize) -> Vec<Value> {
        let strategy = &self.plan.arms[arm];
        let [paste, database] = ["paste", "own"].map(|purpose| self.database(arm, purpose));
        for database in [&paste, &database] {
            let loader =
                Loader { plan: &self.plan, arm: strategy, target, database, observer: &(), stop: &StopFlag::default() };
            harness::namespace(&self.name, "show").create(target, database).await.unwrap();
            loader.collections().await.unwrap();
            namespace::await_majority(target, database).await.unwrap();
        }
        let listening = ListeningTarget { target, answers: RefCell::default() };
        if let Some(load) = &strategy.load {
            let mut frame = Frame::new(&self.plan.data, self.plan.data.seed, 0, load.slots);
            Interpreter::new(&listening, &database).run(load, &mut frame).await.unwrap();
        }
        for (position, program) in strategy.operations.iter().enumerate() {
            let number = call_id::sample(position, self.call);
            let mut frame = self.plan.arguments(position, self.plan.round_seed(0), number, program.slots).unwrap();
            Interpreter::new(&listening, &database).run(program, &mut frame).await.unwrap();
        }
        listening.answers.into_inner()
    }

    async fn state(&self, bench: &Bench, arm: usize, purpose: &str) -> Vec<(String, Vec<String>)> {
        let name = &self.database(arm, purpose);
        let state = read_state(&Db { target: &bench.target, name }, &self.plan, arm).await.unwrap();
        state.into_iter().map(|(entity, rows)| (entity, rows.iter().map(written).collect())).collect()
    }

    /// Names the sample call of a strategy.
    fn of(&self, arm: usize) -> String {
        format!("{} {}, call {}", self.name, self.plan.arms[arm].name, self.call)
    }
}

/// Names the calls after which pasted statements and the engine have left different states.
async fn differing_states(bench: &Bench, subjects: &[Subject]) -> Vec<String> {
    let all = subjects.iter().flat_map(|subject| (0..subject.plan.arms.len()).map(move |arm| (subject, arm)));
    let compared = stream::iter(all).map(async |(subject, arm)| {
        let (pasted, own) = tokio::join!(subject.state(bench, arm, "paste"), subject.state(bench, arm, "own"));
        (pasted != own).then(|| format!("{}: the states differ", subject.of(arm)))
    });
    let differing: Vec<Option<String>> = compared.buffered(AT_ONCE).collect().await;
    differing.into_iter().flatten().collect()
}

/// A target that also keeps the server's answers, in the form of [`answer_of`].
struct ListeningTarget<'t> {
    target: &'t MongoTarget,
    answers: RefCell<Vec<Value>>,
}

impl ListeningTarget<'_> {
    fn keep(&self, command: &RawDocumentBuf, reply: &Result<Reply, Failure>) {
        let answer = match reply {
            Ok(reply) if reply.write_errors().is_empty() => own_answer(command, reply),
            _ => Value::text(ERROR),
        };
        self.answers.borrow_mut().push(answer);
    }
}

impl Target for ListeningTarget<'_> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        let reply = self.target.run(database, command.clone(), kind).await;
        self.keep(&command, &reply);
        reply
    }

    async fn begin(&self, w: &str) -> Result<Transaction, Failure> {
        self.target.begin(w).await
    }

    async fn run_in(
        &self,
        transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        let reply = self.target.run_in(transaction, database, command.clone(), kind).await;
        self.keep(&command, &reply);
        reply
    }

    async fn end(&self, transaction: &mut Transaction, commits: bool) -> Result<(), Failure> {
        self.target.end(transaction, commits).await
    }
}

/// Numbers of documents that a write inserted, matched, changed and deleted.
fn counts([inserted, matched, modified, upserted, deleted]: [i64; 5]) -> Value {
    Value::text(&format!("{inserted} {matched} {modified} {upserted} {deleted}"))
}

/// The server's reply as the shell's helper for its command gives it.
fn own_answer(command: &RawDocumentBuf, reply: &Reply) -> Value {
    let first = || reply.batches().first().map(|batch| Raw::new(batch.as_ref().to_owned()));
    let field = |name| first().and_then(|reply| reply.get(name)).unwrap_or(Value::Null);
    let (name, _) = command.iter().next().unwrap().unwrap();
    let has = |name| command.get(name).unwrap().is_some();
    match name.as_str() {
        "find" | "aggregate" => {
            let batches = reply.batches().iter().map(|batch| Raw::new(batch.as_ref().to_owned()));
            let cursors = batches.filter_map(|batch| batch.get("cursor"));
            let lists = cursors.map(|cursor| [cursor.field("firstBatch").unwrap(), cursor.field("nextBatch").unwrap()]);
            let lists = lists.flatten().filter(|list| !list.is_null());
            let documents: Vec<Value> = lists.flat_map(|list| list.items().unwrap().collect::<Vec<_>>()).collect();
            if has("singleBatch") { documents.first().cloned().unwrap_or(Value::Null) } else { Value::list(documents) }
        }
        "distinct" => field("values"),
        "findAndModify" => field("value"),
        "insert" => counts([reply.n(), 0, 0, 0, 0]),
        "delete" => counts([0, 0, 0, 0, reply.n()]),
        "update" => {
            let (modified, upserted) = match reply {
                Reply::Counts(counts) => (counts.modified, counts.upserted.len() as i64),
                Reply::Documents(_) => {
                    let modified = match field("nModified") {
                        Value::Int(modified) => modified,
                        _ => 0,
                    };
                    (modified, field("upserted").len().unwrap_or(0) as i64)
                }
            };
            counts([0, reply.n() - upserted, modified, upserted, 0])
        }
        _ => without_gossip(Value::Document(first().unwrap())),
    }
}

/// The shell's answer, results of writes as [`counts`].
fn shell_answer(answer: &str) -> Value {
    let document: Document = serde_json::from_str(answer).unwrap();
    let result = document.get_document("value").ok().filter(|result| result.contains_key("acknowledged"));
    let Some(result) = result else {
        let raw = Raw::new(RawDocumentBuf::try_from(&document).unwrap());
        return without_gossip(raw.get("value").unwrap_or(Value::Null));
    };
    let count = |name: &str| match result.get(name) {
        Some(Bson::Int32(count)) => i64::from(*count),
        Some(Bson::Int64(count)) => *count,
        _ => 0,
    };
    // An upsert has the `insertedId` of what it made, too.
    let inserted = match (result.get_document("insertedIds"), result.contains_key("matchedCount")) {
        (Ok(ids), false) => ids.len() as i64,
        (Err(_), false) => i64::from(result.contains_key("insertedId")),
        (_, true) => count("insertedCount"),
    };
    let (matched, modified) = (count("matchedCount"), count("modifiedCount"));
    counts([inserted, matched, modified, count("upsertedCount"), count("deletedCount")])
}

/// A whole reply without what differs from database to database and from time to time.
fn without_gossip(value: Value) -> Value {
    if value.field("ok").unwrap().is_null() || !matches!(value, Value::Document(_)) {
        return value;
    }
    let gossip = ["$clusterTime", "operationTime", "electionId", "opTime"];
    let part = |(name, part): (Arc<str>, Value)| {
        let batch = part.field("firstBatch").unwrap();
        (name, if batch.is_null() { part } else { batch })
    };
    Value::Map(value.entries().into_iter().filter(|(name, _)| !gossip.contains(&&**name)).map(part).collect())
}

/// One printed statement, and the answer that the shell gives.
struct Answered<'s> {
    statement: &'s str,
    answer: Value,
}

fn is_sorted(statement: &str) -> bool {
    statement.contains("sort") && !statement.contains("$group")
}

impl Answered<'_> {
    fn is(&self, own: &Value) -> bool {
        // `countDocuments` takes the number out of the only row of its aggregation.
        let own = if self.statement.contains(".countDocuments(") {
            own.at(0).map_or(Value::Int(0), |row| row.field("n").unwrap())
        } else {
            own.clone()
        };
        self.comparable(&self.answer) == self.comparable(&own)
    }

    /// The rows of a value in an order of their own unless they were sorted; what is joined or grouped has no order either.
    fn comparable(&self, value: &Value) -> Vec<String> {
        // The reply to `drop` names the database.
        let text = without_new_ids(&written(value)).replace("ns: \"own_", "ns: \"paste_");
        if ["$lookup", "$graphLookup"].iter().any(|stage| self.statement.contains(stage)) {
            let mut parts: Vec<String> = text.split([' ', ',', '[', ']', '{', '}']).map(str::to_owned).collect();
            parts.sort();
            return parts;
        }
        let items = value.items().filter(|_| !value.is_null() && !is_sorted(self.statement));
        let Some(items) = items else { return vec![text] };
        let mut rows: Vec<String> = items.map(|row| without_new_ids(&written(&row))).collect();
        rows.sort();
        rows
    }
}

/// The text without the ids that servers and shells have made during this test: those of the data are made of instants
/// of the scenario.
fn without_new_ids(text: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let is_new = |id: &str| {
        let seconds = id.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        id.len() == 24 && seconds.is_some_and(|seconds| now - 3_600 < seconds && seconds <= now + 1)
    };
    let tokens = text.split_inclusive(|symbol: char| !symbol.is_ascii_hexdigit());
    let kept = |token: &str| {
        let id = token.trim_end_matches(|symbol: char| !symbol.is_ascii_hexdigit());
        if is_new(id) { token[id.len()..].to_owned() } else { token.to_owned() }
    };
    tokens.map(kept).collect()
}

/// The text with every statement made to print its answer, and the statements.
fn answering(text: &str) -> (String, Vec<String>) {
    let (mut input, mut statements) = (String::new(), Vec::<String>::new());
    let (mut is_open, mut is_left_out) = (false, false);
    for line in text.lines().chain([""]) {
        if is_left_out {
            is_left_out = line != ")";
            continue;
        }
        if is_open && !line.starts_with([' ', '}', ']', ')']) {
            input.insert(input.len() - 1, ')');
            is_open = false;
        }
        // The collection is there already.
        if line.starts_with("db.createCollection(") {
            is_left_out = !line.ends_with(')');
            continue;
        }
        if (line.starts_with("db.") || line.starts_with("tx.")) && !line.contains(".createIndex(") {
            write!(input, "answer({}, () => ", statements.len()).unwrap();
            statements.push(String::new());
            is_open = true;
        }
        if is_open {
            writeln!(statements.last_mut().unwrap(), "{line}").unwrap();
        }
        writeln!(input, "{line}").unwrap();
    }
    (input, statements)
}

/// One call of one strategy, as the shell and the engine make it.
struct SampleCall {
    /// Names it.
    of: String,
    statements: Vec<String>,
    own: Vec<Value>,
    /// The shell's answers by the numbers of the statements.
    answers: BTreeMap<usize, Value>,
}

/// Makes calls with the engine, pastes what `show` prints of them into one mongosh, and returns the answers by database.
async fn paste(bench: &Bench, mongosh: &Path, input: Input, subjects: Vec<&Subject>) -> BTreeMap<String, SampleCall> {
    let target = bench.client(8).await;
    // Most of the time is spent waiting for the server to make collections.
    let made = stream::iter(subjects).map(async |subject| {
        let own = join_all((0..subject.plan.arms.len()).map(|arm| subject.own(&target, arm)));
        let (shown, own) = tokio::join!(subject.shown(bench.uri("")), own);
        assert_eq!(shown.len(), own.len(), "{}", subject.name);
        (subject, shown, own)
    });
    let made: Vec<_> = made.buffered(AT_ONCE).collect().await;
    let (mut texts, mut samples) = (vec![PRINTER.to_owned()], BTreeMap::new());
    for (subject, shown, own) in made {
        for (arm, own) in own.into_iter().enumerate() {
            let database = subject.database(arm, "paste");
            let (text, statements) = answering(&shown[&subject.plan.arms[arm].name]);
            texts.push(format!("db = db.getSiblingDB('{database}')\nprint('@AT {database}')\n{text}"));
            let of = subject.of(arm);
            samples.insert(database, SampleCall { of, statements, own, answers: BTreeMap::new() });
        }
    }
    let output = shell(mongosh, input, &bench.uri("test"), texts).await;
    let mut at = String::new();
    for line in output.lines() {
        if let Some((_, database)) = line.split_once("@AT ") {
            database.clone_into(&mut at);
        } else if let Some((number, answer)) = line.split_once("ANSWER ").and_then(|(_, answer)| answer.split_once(' '))
        {
            let sample = samples.get_mut(&at).unwrap();
            sample.answers.insert(number.parse().unwrap(), shell_answer(answer));
        }
    }
    samples
}

#[tokio::test]
async fn pasted_statements_answer_as_the_commands_do() {
    let Some(mongosh) = mongosh() else { return };
    let bench = bench(1).await;
    let subjects = scenarios().into_iter().enumerate().map(|(number, (name, path))| Subject::new(number, name, path));
    let subjects: Vec<Subject> = subjects.collect();
    // The calls of some examples are typed, while the databases of the others are made.
    let (typed, scripts) = subjects.iter().partition(|subject| subject.mix.is_none() && subject.call == CALLS[0]);
    let (typed, scripts) =
        tokio::join!(paste(&bench, &mongosh, Input::Typed, typed), paste(&bench, &mongosh, Input::Script, scripts));
    let mut failures = differing_states(&bench, &subjects).await;
    for SampleCall { of, statements, own, mut answers } in typed.into_values().chain(scripts.into_values()) {
        if statements.len() != own.len() {
            failures.push(format!("{of}: {} statements of {} commands", statements.len(), own.len()));
        }
        for (number, (statement, own)) in statements.iter().zip(&own).enumerate() {
            let answer = answers.remove(&number).unwrap_or_else(|| Value::text(ERROR));
            let answered = Answered { statement, answer };
            if !answered.is(own) {
                let answer = written(&answered.answer);
                failures.push(format!("{of}: mongosh {answer}, docshape {}, to {statement}", written(own)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Values of every type at the edges of their ranges, whose spelling or type the shell might change.
fn edge_values() -> Vec<Bson> {
    let decimals =
        ["0", "-0", "1.50", "1E+3", "-1E-6176", "9.999999999999999999999999999999999E+6144", "NaN", "-Infinity"];
    let numbers =
        [0.0, -0.0, 1.0, -7.0, 0.1, 1e-7, 1e15, 1e21, 1e300, 5e-324, 2_147_483_648.0, f64::MAX, f64::INFINITY];
    let doubles = numbers.into_iter().flat_map(|number| [number, -number]).chain([f64::NAN]).map(Bson::Double);
    let ints = [0, 1, -1, i32::MAX, i32::MIN].map(Bson::Int32);
    let longs = [0, 1, -1, 1 << 31, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN].map(Bson::Int64);
    let dates = [
        0, 1, -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999, 253_402_300_800_000,
        -8_640_000_000_000_000,
    ];
    let dates = dates.map(|millis| Bson::DateTime(bson::DateTime::from_millis(millis)));
    let texts = [
        "", "'", "\"", "\\", "`${1}`", "\n\r\t\u{0}\u{1b}[31m\u{7f}", "\u{2028}\u{feff}\u{202e}", "ä€😀", "// */ <!--",
        ".exit",
    ];
    let subtypes = [0, 1, 2, 3, 4, 5, 128].map(|subtype: u8| {
        let bytes = (0..=255).collect();
        Bson::Binary(bson::Binary { subtype: subtype.into(), bytes })
    });
    let keys = [
        "", "a.b", "$a", "__proto__", "constructor", "toString", "0", "07", "4294967295", "-1", "class", "ä", "a b",
        "'",
    ];
    let documents = keys.iter().flat_map(|key| [doc! { *key: 1 }, doc! { "a": 1, *key: { *key: [] } }]);
    let others = [
        Bson::Null,
        Bson::Boolean(true),
        Bson::MinKey,
        Bson::MaxKey,
        Bson::ObjectId(bson::oid::ObjectId::from_bytes([9; 12])),
        Bson::Binary(bson::Uuid::from_bytes([7; 16]).into()),
        Bson::Timestamp(bson::Timestamp { time: u32::MAX, increment: 7 }),
        Bson::RegularExpression(bson::Regex {
            pattern: "a/'\\d".try_into().unwrap(),
            options: "imsx".try_into().unwrap(),
        }),
        Bson::JavaScriptCode("() => 'a'".into()),
        Bson::JavaScriptCodeWithScope(bson::JavaScriptCodeWithScope { code: "a".into(), scope: doc! { "a": 1 } }),
        Bson::Symbol("a'b".into()),
        doc! { "2": 1, "1": { "b": 1, "0": 2 } }.into(),
        doc! { "first": vec![doc! { "b": 1, "0": 2 }; 3] }.into(),
    ];
    let decimals = decimals.map(|decimal| Bson::Decimal128(decimal.parse().unwrap()));
    let all = doubles.chain(ints).chain(longs).chain(dates).chain(texts.map(Bson::from)).chain(subtypes);
    all.chain(documents.map(Bson::from)).chain(others).chain(decimals).collect()
}

/// Nested values with any texts and keys.
fn any_value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<f64>().prop_map(Bson::Double),
        any::<String>().prop_map(Bson::String),
        (-62_135_596_800_000_i64..300_000_000_000_000).prop_map(|millis| bson::DateTime::from_millis(millis).into()),
        (any::<i64>(), -6000..6000)
            .prop_map(|(digits, exponent)| Bson::Decimal128(format!("{digits}E{exponent}").parse().unwrap())),
    ];
    let key = prop_oneof!["[a-z_$0-9.'-]{1,4}", "[0-9]{1,2}", any::<String>().prop_map(|key| key.replace('\0', ""))];
    leaf.prop_recursive(3, 30, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Bson::Array),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|parts| Bson::Document(parts.into_iter().collect())),
        ]
    })
}

/// Inserts `values` with the shell and returns those that the server stores as other bytes.
async fn changed(bench: &Bench, mongosh: &Path, input: Input, values: Vec<Bson>) -> Vec<String> {
    // In a document of its own, as the server replaces some values at the top.
    let documents =
        values.into_iter().enumerate().map(|(id, value)| doc! { "_id": id as i32, "in": { "value": value } });
    let documents: Vec<Document> = documents.collect();
    let insert =
        |document: &Document| statement("db", &doc! { "insert": "values", "documents": [document.clone()] }) + "\n";
    let statements: Vec<String> = documents.iter().map(insert).collect();
    let texts = statements.chunks(FILE_STATEMENTS).map(<[String]>::concat).collect();
    let out = shell(mongosh, input, &bench.uri("values"), texts).await;
    let mut changed = Vec::new();
    for (document, statement) in documents.iter().zip(&statements) {
        let find = bson::rawdoc! { "find": "values", "filter": { "_id": document.get_i32("_id").unwrap() } };
        let reply = bench.target.run("values", find, ReplyKind::Cursor).await.unwrap();
        let expected = RawDocumentBuf::try_from(document).unwrap();
        let batch = reply.batches()[0].get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        let found = batch.get_document(0).ok();
        if found.map(|found| found.as_bytes()) != Some(expected.as_bytes()) {
            changed.push(format!("{found:?} after {statement}"));
        }
    }
    let drop = bson::rawdoc! { "dropDatabase": 1 };
    bench.target.run("values", drop, ReplyKind::Single).await.unwrap();
    assert!(changed.len() < documents.len(), "nothing arrives: {out:?}");
    changed
}

#[tokio::test]
async fn printed_values_reach_the_server_unchanged() {
    let Some(mongosh) = mongosh() else { return };
    let bench = bench(1).await;
    let changed_edges = changed(&bench, &mongosh, Input::Typed, edge_values()).await;
    assert!(changed_edges.is_empty(), "{}", changed_edges.join("\n"));
    let mut runner = TestRunner::deterministic();
    let values = (0..500).map(|_| any_value().new_tree(&mut runner).unwrap().current()).collect();
    let changed_values = changed(&bench, &mongosh, Input::Script, values).await;
    assert!(changed_values.is_empty(), "{}", changed_values.join("\n"));
}

#[test]
fn without_a_mongod_the_commands_before_the_first_reply_are_shown() {
    let shown = |scenario: &str, strategy: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
        command.args(["show", scenario, "--strategies", strategy]).env_clear().env("HOME", "/nonexistent");
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let loops = shown("trees", "parent");
    assert!(loops.contains("docshape server install"), "{loops}");
    let (_, ancestors) = loops.split_once("// ancestors(").unwrap();
    let (ancestors, _) = ancestors.split_once("\n\n").unwrap();
    assert_eq!(ancestors.matches("db.nodes.find").count(), 1, "{ancestors}");
    assert!(ancestors.ends_with("// Further commands depend on replies."), "{ancestors}");
    // One command, whatever is replied.
    let (_, children) = loops.split_once("// children(").unwrap();
    let (children, _) = children.split_once("\n\n").unwrap();
    assert!(children.ends_with(')'), "{children}");
    // Two writes in a transaction: neither needs the other's reply.
    let writes = shown("examples/transaction.yaml", "documents");
    assert!(writes.contains("tx."), "{writes}");
}
