//! Servers that hold data of others: docshape asks before it uses them, and removes only what is its own and not in use.
//! Without a `mongod` these tests fail and say how to get one.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use bson::{RawDocumentBuf, rawdoc};
use docshape::server::client::MongoTarget;
use docshape::server::database_names::DatabaseNames;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::namespace::Namespace;
use docshape::server::{ReplyKind, Target};

use crate::harness;

const SMALL: [&str; 10] =
    ["run", "blog-comments", "--set", "posts=30", "--set", "comments_per_post=10", "--calls", "300", "--rate", "600"];
const PATIENCE: Duration = Duration::from_secs(60);

struct Server {
    target: MongoTarget,
    uri: String,
    folder: tempfile::TempDir,
    _server: EmbeddedMongod,
}

impl Server {
    async fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let server = EmbeddedMongod::start(&harness::options(folder.path())).await.unwrap();
        let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
        Server { target, uri: server.uri(), folder, _server: server }
    }

    async fn ask(&self, database: &str, command: RawDocumentBuf) -> RawDocumentBuf {
        self.target.run(database, command, ReplyKind::Single).await.unwrap().into_document()
    }

    async fn databases(&self) -> Vec<String> {
        let reply = self.ask("admin", rawdoc! { "listDatabases": 1, "nameOnly": true }).await;
        let rows = reply.get_array("databases").unwrap().into_iter();
        let names = rows.map(|row| row.unwrap().as_document().unwrap().get_str("name").unwrap().to_owned());
        names.filter(|name| !["admin", "config", "local"].contains(&name.as_str())).collect()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = harness::docshape(arguments);
        command.current_dir(self.folder.path());
        command
    }

    /// Runs docshape on this server.
    async fn docshape(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.args(["--uri", &self.uri]);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }
}

/// Asserts the exit code and that these words are in what was printed.
fn expect(output: &Output, code: i32, words: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

/// Waits until a file has these words.
async fn wait_for(path: &Path, words: &str) {
    let started = Instant::now();
    while !fs::read_to_string(path).unwrap_or_default().contains(words) {
        assert!(started.elapsed() < PATIENCE, "{words} never was in {}", path.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn data_of_others_survives() {
    let server = Server::start().await;
    let thing = || rawdoc! { "insert": "things", "documents": [{ "_id": 1, "worth": "much" }] };
    for name in ["shop", "docshape_blog-comments_linked"] {
        server.ask(name, thing()).await;
    }
    let user = rawdoc! { "createUser": "eve", "pwd": "s3cret", "roles": [{ "role": "read", "db": "shop" }] };
    server.ask("shop", user).await;
    let elsewhere =
        rawdoc! { "_id": "docshape", "run": "e15e", "host": "box", "realm": "box", "process": 1, "start": 1 };
    server.ask("away", rawdoc! { "insert": "docshape.marker", "documents": [elsewhere] }).await;
    let living = Namespace::new(DatabaseNames::new("docshape_", "living"), "11fe");
    living.create(&server.target, "docshape_living_one").await.unwrap();
    let others = ["away", "docshape_blog-comments_linked", "docshape_living_one", "shop"];
    let run = |more: &[&'static str]| [&SMALL[..], &["--strategies", "linked"], more].concat();

    // Whoever has MONGODB_URI set for his application sees what would be used.
    let mut from_environment = server.command(&run(&[]));
    from_environment.env("MONGODB_URI", &server.uri);
    let ended = tokio::task::spawn_blocking(move || from_environment.output().unwrap()).await.unwrap();
    let asked = "this server holds data that is not docshape's (databases docshape_blog-comments_linked, shop)";
    expect(
        &ended,
        2,
        &["server: MongoDB ", "(from MONGODB_URI), a replica set of one member", "TLS off", asked, "--yes"],
    );
    let taken = "database docshape_blog-comments_linked is already on the server: without docshape's mark";
    expect(&server.docshape(&run(&["--yes"])).await, 3, &[taken, "--db-prefix"]);
    assert_eq!(server.databases().await, others);

    // A run that is alive.
    let progress = server.folder.path().join("progress");
    let mut command =
        server.command(&run(&["--yes", "--no-verify", "--db-prefix", "mine_", "--rounds", "9", "--out", "run"]));
    command.args(["--uri", &server.uri]).stderr(File::create(&progress).unwrap()).stdout(Stdio::null());
    let running = command.spawn().unwrap();
    wait_for(&progress, "round 1 of 9: warm up").await;
    let measured = format!("is being measured by process {}", running.id());
    expect(&server.docshape(&["run", "--resume", "run"]).await, 2, &[&measured]);
    expect(&server.docshape(&run(&["--out", "run"])).await, 2, &[&measured]);
    expect(
        &server.docshape(&run(&["--yes", "--db-prefix", "mine_"])).await,
        3,
        &["mine_blog-comments", "which is alive; wait for its end"],
    );
    expect(&server.docshape(&["clean", "--yes"]).await, 0, &["mine_blog-comments_linked  of run", "nothing to remove"]);
    assert_eq!(server.databases().await.len(), others.len() + 2, "the reservation and the strategy");
    kill(running);

    // What it has left is named by the next command, and removed when that is asked for.
    let left = server.databases().await;
    let show = ["show", "tasks", "--strategies", "parent_ref", "--yes"];
    expect(&server.docshape(&show).await, 0, &["databases of runs that have ended are left", "mine_blog-comments"]);
    assert_eq!(server.databases().await, left);
    expect(&server.docshape(&["clean"]).await, 1, &["which has ended", "nothing was removed", "--run e15e"]);
    assert_eq!(server.databases().await, left);
    expect(&server.docshape(&["clean", "--yes"]).await, 0, &["databases removed"]);
    assert_eq!(server.databases().await, others);
    expect(&server.docshape(&["clean", "--yes", "--run", "e15f"]).await, 2, &["--run e15f: it has no databases"]);
    expect(&server.docshape(&["clean", "--yes", "--host", "box"]).await, 0, &["1 of 1 databases removed"]);
    assert_eq!(server.databases().await, others[1..]);
    let users = server.ask("shop", rawdoc! { "usersInfo": "eve" }).await;
    assert_eq!(users.get_array("users").unwrap().into_iter().count(), 1);
}

/// Steps that reach for data of others, for other users, or for the mark.
const REACHING: [&str; 24] = [
    "{ aggregate: posts, pipeline: [{ $out: { db: shop, coll: things } }] }",
    "{ aggregate: posts, pipeline: [{ $merge: { into: { db: shop, coll: things }, whenMatched: replace } }] }",
    "{ aggregate: posts, pipeline: [{ $facet: { a: [{ $out: { db: shop, coll: things } }] } }] }",
    "{ aggregate: posts, pipeline: [{ $lookup: { from: posts, as: a, pipeline: [{ $out: { db: shop, coll: x } }] } }] }",
    "{ aggregate: posts, pipeline: [{ $unionWith: { coll: posts, pipeline: [{ $merge: { into: { db: shop, coll: x } } }] } }] }",
    "{ aggregate: posts, pipeline: [{ $out: <post> }] }",
    "{ aggregate: posts, pipeline: [{ $merge: { into: <post> } }] }",
    "{ aggregate: posts, pipeline: [{ \"$<post>\": { db: shop, coll: things } }] }",
    "{ aggregate: posts, pipeline: [{ ...: <post> }] }",
    "{ aggregate: posts, pipeline: [{ $out: docshape.marker }] }",
    "{ command: { aggregate: posts, pipeline: [{ $out: { db: shop, coll: things } }], cursor: {} } }",
    "{ command: { aggregate: posts, pipeline: [<post>], cursor: {} } }",
    "{ command: { insert: things, documents: [{ a: 1 }], $db: shop } }",
    "{ command: { delete: docshape.marker, deletes: [{ q: {}, limit: 0 }] } }",
    "{ command: { createUser: mallory, pwd: x, roles: [{ role: root, db: admin }] } }",
    "{ command: { dropUser: eve } }",
    "{ command: { dropAllUsersFromDatabase: 1 } }",
    "{ command: { dropDatabase: 1 } }",
    "{ command: { renameCollection: docshape_x.posts, to: shop.posts } }",
    "{ command: { applyOps: [{ op: i, ns: shop.things, o: { _id: 2 } }] } }",
    "{ command: { mapReduce: posts, map: m, reduce: r, out: { replace: things, db: shop } } }",
    "{ command: { killAllSessions: [] } }",
    "{ command: { setParameter: 1, logLevel: 1 } }",
    "{ command: { ...: <post> } }",
];

/// A scenario that reaches by `step`, in one of the places that have steps.
fn reaching(place: usize, step: &str) -> String {
    let harmless = "{ find: posts }";
    let in_place = |number: usize| if place == number { step } else { harmless };
    let [operation, load, state, audit] = [0, 1, 2, 3].map(in_place);
    format!(
        "format: 1\nname: reach\ntitle: Reach\nentities: {{ post: {{ count: 3, fields: {{ _id: index }} }} }}\n\
         operations: {{ read: {{ arguments: {{ post: zipf(post) }} }} }}\nmixes: {{ default: {{ read: 1 }} }}\n\
         audits: {{ all: {{ a: [{audit}] }} }}\nstrategies:\n  a:\n    collections: {{ posts: {{ each: post }} }}\n    \
         load: [{load}]\n    state: {{ post: [{state}] }}\n    operations: {{ read: [{operation}] }}\n"
    )
}

#[tokio::test]
async fn no_scenario_reaches_data_of_others() {
    let server = Server::start().await;
    let mine = || rawdoc! { "insert": "things", "documents": [{ "_id": 1, "worth": "much" }] };
    let of_own_name = "docshape_reach_a";
    for name in ["shop", of_own_name] {
        server.ask(name, mine()).await;
    }
    server.ask("shop", rawdoc! { "createUser": "eve", "pwd": "s3cret", "roles": ["read"] }).await;
    let state = async || {
        let mut state = server.databases().await.join(" ");
        for name in ["shop", of_own_name, "admin"] {
            let hash = server.ask(name, rawdoc! { "dbHash": 1 }).await;
            let users = server.ask(name, rawdoc! { "usersInfo": 1 }).await;
            let (hash, users) = (hash.get_str("md5").unwrap_or_default(), users.get_array("users").unwrap().as_bytes());
            state += &format!("\n{name} {hash} {}", String::from_utf8_lossy(users));
        }
        state
    };
    let before = state().await;
    let file = server.folder.path().join("reach.yaml");
    fs::write(&file, reaching(9, "")).unwrap();
    let show = async |file: &Path| server.docshape(&["show", file.to_str().unwrap(), "--yes"]).await;
    expect(&show(&file).await, 3, &["database docshape_reach_a is already on the server: without docshape's mark"]);
    for (number, step) in REACHING.iter().enumerate() {
        fs::write(&file, reaching(number % 4, step)).unwrap();
        let said = show(&file).await;
        assert_eq!(said.status.code(), Some(2), "{step}: {}", String::from_utf8_lossy(&said.stderr));
    }
    // Some of the broken ones have warnings only.
    for (folder, codes) in [("examples", &[0][..]), ("tests/broken", &[0, 2]), ("tests/broken_plan", &[2])] {
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let file = file.unwrap().path();
            let said = show(&file).await;
            let code = said.status.code().unwrap_or_default();
            assert!(codes.contains(&code), "{}: {}", file.display(), String::from_utf8_lossy(&said.stderr));
        }
    }
    assert_eq!(state().await, before);
}

#[test]
fn a_folder_without_a_round_has_nothing_to_resume() {
    let folder = tempfile::tempdir().unwrap();
    // As a killed run leaves it.
    fs::write(folder.path().join(".docshape-lock"), "1\n").unwrap();
    let mut command = harness::docshape(&["run", "--resume"]);
    expect(&command.arg(folder.path()).output().unwrap(), 2, &["nothing to resume in", "run again with --out"]);
}

#[test]
fn a_misplaced_connection_string_is_not_repeated() {
    let ended = harness::docshape(&["run", "blog-comments", "mongodb://ann:s3cret@host/"]).output().unwrap();
    expect(&ended, 2, &["did you mean --uri?"]);
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("s3cret"));
}
