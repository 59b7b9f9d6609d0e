//! A user's server with access control or other databases; servers that are lost.

use std::fs;
use std::time::{Duration, Instant};

use bson::{RawArrayBuf, rawdoc};
use docshape::results::{self, Status};
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use nix::sys::signal::Signal;

use crate::harness;

use super::{Place, Running, SMALL, alive, finish, send, server, single};

#[test]
fn credentials_and_rights() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let key = place.path("key");
    fs::write(&key, "c2VjcmV0").unwrap();
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let servers = tempfile::tempdir().unwrap();
    let extra_arguments = vec![format!("--keyFile={}", key.display()).into()];
    let options = EmbeddedOptions { extra_arguments, ..harness::options(servers.path()) };
    let server = runtime.block_on(EmbeddedMongod::start(&options)).unwrap();
    let login = |user: &str| server.uri().replace("mongodb://", &format!("mongodb://{user}:s3cret-p4ss@"));
    let as_root = || login("root");
    for (user, roles, as_user) in [
        ("root", &["root"][..], server.uri()),
        ("reader", &["read"], as_root()),
        ("writer", &["readWriteAnyDatabase", "dbAdminAnyDatabase"], as_root()),
    ] {
        let roles: RawArrayBuf = roles.iter().map(|role| rawdoc! { "role": *role, "db": "admin" }).collect();
        single(&runtime, &as_user, "admin", rawdoc! { "createUser": user, "pwd": "s3cret-p4ss", "roles": roles });
    }
    finish(place.small(&["--uri", &server.uri()])).error(3, &["the server has access control", "docshape rights"]);
    let wrong = server.uri().replace("mongodb://", "mongodb://root:s3cret-wrong@");
    let ended = finish(place.small(&["--uri", &wrong]));
    ended.error(3, &["refused the log-in", "check user name, password"]);
    assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    let reader = finish(place.small(&["--uri", &login("reader")]));
    reader.error(2, &["the user may not list the databases of this server", "--yes"]);
    let reader = finish(place.small(&["--uri", &login("reader"), "--yes"]));
    reader.error(3, &["not authorized", "to execute", "`docshape rights SCENARIO`"]);

    // Without the rights to flush and to read counters the report says what it does not know.
    let (limited, mut command) = (place.path("limited"), place.docshape(&SMALL));
    command.args(["--rounds", "1", "--uri", &login("writer"), "--out"]).arg(&limited);
    finish(command).ok();
    let markdown = fs::read_to_string(limited.join("report.md")).unwrap();
    for words in ["Nothing was flushed", "no flush was charged", "It is not known whether strategies paid"] {
        assert!(markdown.contains(words), "{words} is not in {markdown}");
    }
    let parts = results::load(&limited).unwrap().parts;
    assert!(parts.values().flatten().flat_map(|round| &round.cells).all(|cell| cell.deferred.is_none()));

    let ended = finish(place.small(&["--rounds", "1", "--uri", &login("root")])).ok();
    let mut texts = vec![ended.stdout, ended.stderr];
    for entry in fs::read_dir(place.run()).unwrap() {
        texts.push(fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(texts.len() >= 12, "what it printed, and {} files", texts.len() - 2);
    assert!(texts.iter().all(|text| !text.contains("s3cret") && !text.contains("root:")));
}

#[test]
fn databases_are_dropped_unless_kept() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in ["theirs", "docshape_theirs"] {
        single(&runtime, &uri, name, rawdoc! { "insert": "things", "documents": [{ "_id": 1 }] });
    }
    let others = || -> Vec<String> {
        let list = rawdoc! { "listDatabases": 1, "nameOnly": true };
        let reply = single(&runtime, &uri, "admin", list);
        let databases = reply.get_array("databases").unwrap().into_iter();
        let names = databases.map(|row| row.unwrap().as_document().unwrap().get_str("name").unwrap().to_owned());
        names.filter(|name| !["admin", "config", "local"].contains(&name.as_str())).collect()
    };
    // With a pilot, whose databases nobody wants to keep.
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&["run", "blog-comments", "--preset", "smoke", "--slices", "2"]);
        command.args(["--set", "posts=30", "--set", "comments_per_post=10", "--yes", "--uri", &uri]);
        command.args(more).arg("--out").arg(place.path(name));
        finish(command).ok();
    };
    run("plain", &[]);
    assert_eq!(others(), ["docshape_theirs", "theirs"]);
    run("kept", &["--keep", "--strategies", "linked,embedded"]);
    let kept = ["embedded", "linked", "repeat"].map(|name| format!("docshape_blog-comments_{name}"));
    let names = others();
    assert_eq!(names[..3], kept);
    // They are not taken for free names, and another prefix has others.
    let mut again = place.docshape(&SMALL);
    again.args(["--uri", &uri, "--yes", "--out"]).arg(place.path("again"));
    finish(again).error(3, &[&kept[0], "which has ended; remove what it has left with `docshape clean --uri URI`"]);
    assert_eq!(others(), names);
    // An interrupted run leaves nothing on the server either.
    let mut command = place.docshape(&SMALL);
    command.args(["--rounds", "5", "--uri", &uri, "--yes", "--db-prefix", "other-", "--out"]).arg(place.run());
    let mut running = Running::start(command);
    running.wait_for("round 2 of 5: saturation");
    running.signal(Signal::SIGINT);
    running.finish().error(130, &["interrupted; 1 complete round is in"]);
    assert_eq!(others(), names);
}

#[test]
fn a_dead_or_hanging_server_ends_the_run() {
    let lose = |more: &[&str], words: &str, signal: Signal, told: &[&str], rounds: usize| {
        let place = Place::new();
        let arguments = [&["--rounds", "9", "--timeout", "1s"], more].concat();
        let mut running = Running::start(place.small(&arguments));
        running.wait_for(words);
        let mongods = running.mongods();
        send(mongods[mongods.len() - 1], signal);
        let began = Instant::now();
        let ended = running.finish();
        ended.error(3, &[&["the server was lost"], told].concat());
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert!(!mongods.into_iter().any(alive));
        place.assert_nothing_left();
        let record = place.record();
        assert_eq!(record.complete_rounds(), rounds);
        assert!(matches!(&record.status, Status::Failed(reason) if reason.contains("lost")), "{:?}", record.status);
        assert!(place.run().join("report.md").exists());
    };
    std::thread::scope(|scope| {
        let killed = ["1 complete round is in", "ended by itself", "it was killed from outside"];
        let shared = &["--shared-mongod"];
        // Of several servers, most are suspended when they are killed.
        scope.spawn(move || lose(&[], "round 2 of 9: open load", Signal::SIGKILL, &killed, 1));
        scope.spawn(move || lose(&[], "round 1 of 9: load", Signal::SIGKILL, &["no round is complete", "killed"], 0));
        scope.spawn(move || lose(shared, "round 2 of 9: own cost", Signal::SIGKILL, &killed, 1));
        // A call or the driver's monitor notices first; either is named.
        scope.spawn(move || lose(shared, "round 2 of 9: saturation", Signal::SIGSTOP, &killed[..1], 1));
    });
}
