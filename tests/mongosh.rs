//! What `docshape show` prints, pasted into mongosh: every statement runs, and gives and leaves what docshape does.
//!
//! It needs mongosh: the program that `DOCSHAPE_MONGOSH` names, or one on `PATH`. Without one the test only says so,
//! unless `DOCSHAPE_MONGOSH` is set.

mod harness;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use docshape::engine::{Interpreter, Window, read_state};
use docshape::plan::{Choice, Outcome, Plan, Raw, Value, alone, written};
use docshape::server::namespace::database_name;
use harness::{Bench, bench, plan};

/// Small enough that filling the databases takes no time.
type Set = &'static [(&'static str, &'static str)];
const SMALL: &[(&str, Set)] = &[
    ("blog-comments", &[("posts", "20"), ("comments_per_post", "30"), ("bucket_size", "10")]),
    ("parts-products", &[("products", "30"), ("parts", "60"), ("parts_per_product", "6")]),
    ("log-messages", &[("hosts", "10"), ("messages_per_host", "12"), ("cap", "5")]),
    ("tasks", &[("people", "10"), ("tasks_per_person", "6")]),
    ("ticketing", &[("events", "5"), ("sections", "2"), ("section_seats", "8")]),
    ("library-checkout", &[("books", "30"), ("patrons", "20")]),
    ("trees", &[("nodes", "21")]),
];

/// The calls whose arguments are shown.
const CALLS: [u64; 2] = [0, 7];

/// So many mongosh at once.
const PROCESSES: usize = 2;

/// The comment before the calls.
const EVERY: &str = "\n// Every operation once, with arguments as docshape draws them\n";

/// Prints what an operation gave in a form that can be read back. A write's reply is what docshape makes an outcome of.
const PRINTER: &str = "\
var printing = (name, operation) => (...values) => {
  const result = operation(...values)
  const counts = [result?.insertedCount, result?.modifiedCount, result?.upsertedCount, result?.deletedCount]
  const outcome =
    result?.insertedId != null || counts.some(count => count > 0) ? 'done'
    : result?.matchedCount > 0 ? 'same' : 'not_found'
  const shown = result?.acknowledged === undefined ? result ?? null : outcome
  print('ANSWER ' + name + ' ' + EJSON.stringify({ value: shown }, { relaxed: false }))
}
";

/// `None` where there is no mongosh and none was promised.
#[expect(clippy::print_stderr, reason = "a test that tried nothing must say so")]
fn mongosh() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("DOCSHAPE_MONGOSH") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("mongosh")).find(|program| program.is_file());
    if found.is_none() {
        eprintln!("no mongosh on PATH: what `docshape show` prints was not tried");
    }
    found
}

/// Name and path of every scenario that comes with docshape.
fn scenarios() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["scenarios", "examples"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        all.extend(files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)));
    }
    all.sort();
    all
}

/// What `docshape show` prints of one strategy.
fn shown(path: &Path, strategy: &str, set: &[(&str, &str)], call: u64) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.arg("show").arg(path).args(["--strategies", strategy, "--call", &call.to_string()]);
    for (name, value) in set {
        command.arg("--set").arg(format!("{name}={value}"));
    }
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

/// Types a text into mongosh, as one does who pastes it.
fn paste(mongosh: &Path, uri: &str, text: &str) -> Output {
    let temp = tempfile::tempdir().unwrap();
    let input = temp.path().join("input");
    fs::write(&input, text).unwrap();
    let mut command = Command::new(mongosh);
    command.args(["--quiet", "--norc", uri]).env("HOME", temp.path()).env("NO_COLOR", "1");
    command.stdin(fs::File::open(&input).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.output().unwrap()
}

/// mongosh's extended JSON as a value.
fn value_of(answer: &str) -> Value {
    let document: bson::Document = serde_json::from_str(answer).unwrap();
    let raw = Raw::new(bson::RawDocumentBuf::try_from(&document).unwrap());
    let value = raw.get("value").unwrap_or(Value::Null);
    match &value {
        Value::Text(text) => match &**text {
            "done" => Value::Outcome(Outcome::Done),
            "same" => Value::Outcome(Outcome::Same),
            "not_found" => Value::Outcome(Outcome::NotFound),
            other => match other.strip_prefix("refused: ") {
                Some(reason) => Value::Outcome(Outcome::Refused(Arc::from(reason))),
                None => value,
            },
        },
        _ => value,
    }
}

/// The text with every call of an operation made to print what it gives.
fn printing(text: &str, plan: &Plan) -> String {
    let mut changed = String::new();
    let names: Vec<String> = plan.operations.iter().map(|operation| operation.name.to_string()).collect();
    for line in text.lines() {
        // A word of JavaScript has `_` behind it as the name of a function.
        let operation = |function: &str| names.iter().find(|known| function.trim_end_matches('_') == **known);
        match line.split_once('(').and_then(|(function, rest)| Some((operation(function)?, function, rest))) {
            Some((name, function, rest)) => writeln!(changed, "printing('{name}', {function})({rest}"),
            None => writeln!(changed, "{line}"),
        }
        .unwrap();
    }
    changed
}

/// What docshape answers to the same calls on equal data, as text.
async fn own(bench: &Bench, plan: &Plan, arm: usize, database: &str, calls: &[u64]) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for call in calls {
        for (position, operation) in plan.operations.iter().enumerate() {
            let program = &plan.arms[arm].operations[position];
            let mut frame =
                plan.arguments(position, plan.round_seed(0), alone(position, *call), program.slots).unwrap();
            let answer = Interpreter::new(&bench.target, database).run(program, &mut frame).await.unwrap();
            answers.push((operation.name.to_string(), compared(plan, position, &answer)));
        }
    }
    answers
}

fn compared(plan: &Plan, operation: usize, answer: &Value) -> String {
    match &plan.operations[operation].returns {
        Some(shape) => written(&shape.canonical(answer, &plan.data)),
        // Where docshape says that it is done, a function that returns nothing says the same.
        None if answer.is_null() => written(&Value::Outcome(Outcome::Done)),
        None => written(answer),
    }
}

async fn state(bench: &Bench, plan: &Plan, arm: usize, database: &str) -> Vec<(String, Vec<String>)> {
    let state = read_state(plan, arm, &bench.target, database).await.unwrap();
    state.into_iter().map(|(entity, rows)| (entity, rows.iter().map(written).collect())).collect()
}

/// A scenario whose databases are filled: one to paste into as it stands, one to paste into and read the answers, one for
/// docshape itself.
struct Filled {
    name: String,
    path: PathBuf,
    set: Set,
    plan: Arc<Plan>,
}

impl Filled {
    fn database(&self, arm: usize, id: &str) -> String {
        database_name(&self.plan.name, &self.plan.arms[arm].name, &format!("{id}r0"))
    }
}

async fn fill(bench: &Bench, name: String, path: PathBuf) -> Filled {
    let set = SMALL.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, set)| *set);
    let assigned = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let all = shown_all(&path);
    let strategies = all.lines().filter_map(|line| line.strip_prefix("// ---- ")).map(first_word).collect();
    let text = fs::read_to_string(&path).unwrap();
    let plan = plan(&text, &Choice { set: assigned, seed: 1, strategies, ..Choice::default() });
    let window = Window::Calls { calls: 0, warmup: 0, seconds: None };
    for id in ["exact", "paste", "own"] {
        bench.experiment(&plan, (1, 1), id, &()).round(0, window).await.unwrap();
    }
    Filled { name, path, set, plan }
}

#[tokio::test]
async fn what_show_prints_runs_in_mongosh_and_does_what_docshape_does() {
    let Some(mongosh) = mongosh() else { return };
    let bench = bench(1).await;
    let mut all = Vec::new();
    for (name, path) in scenarios() {
        all.push(fill(&bench, name, path).await);
    }
    // Few processes, for their start takes long, and more than one, for what they do is computing.
    let mut inputs = [(); PROCESSES].map(|()| PRINTER.to_owned());
    let arms = all.iter().flat_map(|filled| filled.plan.arms.iter().enumerate().map(move |arm| (filled, arm)));
    for (place, (filled, (arm, strategy))) in arms.enumerate() {
        let input = &mut inputs[place % PROCESSES];
        let text = |call| shown(&filled.path, &strategy.name, filled.set, call);
        writeln!(input, "print('AT {} {}')", filled.name, strategy.name).unwrap();
        // Exactly what is printed. After it the functions are there.
        let exact = text(CALLS[0]);
        writeln!(input, "use {}\n{exact}", filled.database(arm, "exact")).unwrap();
        writeln!(input, "use {}", filled.database(arm, "paste")).unwrap();
        for call in CALLS {
            let other = text(call);
            let (functions, calls) = other.split_once(EVERY).unwrap();
            if !exact.starts_with(functions) {
                input.push_str(functions);
            }
            input.push_str(&printing(calls, &filled.plan));
        }
    }
    // On threads of their own: the driver's connections want to be looked after meanwhile.
    let pasted = inputs.map(|input| {
        let (mongosh, uri) = (mongosh.clone(), bench.uri("test"));
        tokio::task::spawn_blocking(move || expect_quiet(&paste(&mongosh, &uri, &input), &input))
    });
    let mut out = String::new();
    for pasted in pasted {
        out.push_str(&pasted.await.unwrap());
    }
    let mut sections: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut at = String::new();
    for line in out.lines() {
        if let Some((_, section)) = line.split_once("> AT ") {
            section.clone_into(&mut at);
        } else if let Some((operation, answer)) = line.split_once("ANSWER ").and_then(|(_, line)| line.split_once(' '))
        {
            sections.entry(at.clone()).or_default().push((operation.to_owned(), answer.to_owned()));
        }
    }
    let mut failures = Vec::new();
    for filled in &all {
        let plan = &filled.plan;
        for (arm, strategy) in plan.arms.iter().enumerate() {
            let of = format!("{} {}", filled.name, strategy.name);
            let wanted = own(&bench, plan, arm, &filled.database(arm, "own"), &CALLS).await;
            let answers: Vec<(String, String)> = sections.remove(&of).unwrap_or_default();
            let position = |name: &str| plan.operations.iter().position(|one| *one.name == *name).unwrap();
            let answers: Vec<(String, String)> = answers
                .into_iter()
                .map(|(name, answer)| (name.clone(), compared(plan, position(&name), &value_of(&answer))))
                .collect();
            if answers != wanted {
                let differ: Vec<_> = answers.iter().zip(&wanted).filter(|(answer, wanted)| answer != wanted).collect();
                failures.push(format!(
                    "{of}: {} answers of {}, mongosh and docshape: {differ:#?}",
                    answers.len(),
                    wanted.len()
                ));
            }
            let left = state(&bench, plan, arm, &filled.database(arm, "paste")).await;
            if left != state(&bench, plan, arm, &filled.database(arm, "own")).await {
                failures.push(format!("{of}: the states differ"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn shown_all(path: &Path) -> String {
    let ended = Command::new(env!("CARGO_BIN_EXE_docshape")).arg("show").arg(path).output().unwrap();
    String::from_utf8(ended.stdout).unwrap()
}

/// No statement threw.
fn expect_quiet(ended: &Output, input: &str) -> String {
    let out = String::from_utf8_lossy(&ended.stdout).into_owned();
    let err = String::from_utf8_lossy(&ended.stderr);
    let mut bad = Vec::new();
    let mut at = "";
    for line in out.lines() {
        if let Some((_, section)) = line.split_once("> AT ") {
            at = section;
        } else if line.contains("Uncaught") || line.contains("Error:") {
            bad.push(format!("{at}: {line}"));
        }
    }
    if !(ended.status.success() && bad.is_empty() && err.is_empty()) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::write(folder.join("mongosh-input.js"), input).unwrap();
        fs::write(folder.join("mongosh-output.txt"), &out).unwrap();
        panic!("mongosh said\n{}\n{err}\nto {}", bad.join("\n"), folder.join("mongosh-input.js").display());
    }
    out
}
