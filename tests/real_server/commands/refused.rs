//! What is refused before the first call.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness;

use super::{Place, Running, SMALL, finish, server, under};

#[test]
fn runs_in_an_older_format_are_refused() {
    let place = Place::new();
    fs::create_dir(place.run()).unwrap();
    let old = r#"{"format":2,"version":"0.0.9","status":"complete","rounds":[]}"#;
    fs::write(place.run().join("run.json"), old).unwrap();
    let run = place.run();
    let run = run.to_str().unwrap();
    let words = ["run.json was written by docshape 0.0.9 in format 2", "reads format 3 only", "use docshape 0.0.9"];
    for command in [&["report", run][..], &["run", "--resume", run], &["compare", run, run]] {
        finish(place.docshape(command)).error(2, &words);
    }
    assert_eq!(fs::read_to_string(place.run().join("run.json")).unwrap(), old, "it stays as it was");
}

#[test]
fn invalid_input_is_one_paragraph_and_leaves_nothing() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        let mut command = place.docshape(arguments);
        command.arg("--out").arg(place.run());
        let ended = finish(command);
        ended.error(2, words);
        assert!(!place.run().exists());
    };
    let plain = |more: &[&'static str], words: &[&str]| fails(&[&["run", "blog-comments"], more].concat(), words);
    fails(&["run", "blog-coments"], &["blog-coments", "did you mean `blog-comments`"]);
    plain(&["--strategies", "embeded"], &["no strategy `embeded`", "did you mean `embedded`"]);
    plain(&["--mix", "reed-heavy"], &["no mix `reed-heavy`", "did you mean `read-heavy`"]);
    plain(&["--set", "postz=3"], &["no parameter `postz`", "did you mean `posts`"]);
    plain(
        &["--set", "posts=many"],
        &["invalid value `many` for parameter `posts`", "expected an int, for example 200"],
    );
    plain(&["--threads", "3", "--clients", "2"], &["--threads 3", "try --clients 3"]);
    plain(&["--threads", "9", "--rate", "5"], &["--threads 9", "try --clients 9"]);
    plain(&["--keep"], &["--keep requires --uri", "docshape server start", "--uri"]);
    plain(&["--uri", "localhost:27017"], &["connection string is not valid", "no scheme", "mongodb://"]);
    plain(&["--uri", "mongodb://ann:s3cret@:x"], &["connection string is not valid", "percent-encoded"]);
    fs::write(place.path("binary.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    fails(&["run", "./binary.yaml"], &["binary.yaml", "UTF-8"]);
    fails(&["run", "./none.yaml"], &["none.yaml", "check the path"]);
    fs::write(place.path("empty.yaml"), "").unwrap();
    let ended = finish(place.docshape(&["run", "./empty.yaml"]));
    assert_eq!(ended.code(), Some(2));
    for words in ["the file is empty", "empty.yaml:1:1", "format: 1"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    place.assert_nothing_left();
}

#[test]
fn unusable_run_folders_are_rejected_before_the_first_call() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    fs::create_dir(place.path("full")).unwrap();
    fs::write(place.path("full/notes.txt"), "mine").unwrap();
    let fails = |folder: &Path, code: i32, words: &str| {
        let mut command = place.docshape(&SMALL);
        command.arg("--out").arg(folder);
        finish(command).error(code, &[folder.to_str().unwrap(), words, "choose"]);
    };
    fails(&place.path("file"), 3, "cannot write into");
    fails(&place.path("file/below"), 3, "cannot write into");
    fails(Path::new("/proc/docshape"), 3, "cannot write into");
    fails(&place.path("full"), 2, "not empty");
    assert_eq!(fs::read_to_string(place.path("full/notes.txt")).unwrap(), "mine");
    // An empty folder of the user's is used, and stays when the run comes to nothing.
    fs::create_dir(place.run()).unwrap();
    finish(place.small(&["--mongod", "/bin/false"])).error(3, &["/bin/false ended by itself"]);
    assert!(place.run().is_dir());
    place.assert_nothing_left();
}

#[test]
fn unusable_servers_are_rejected_with_a_reason() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        let began = Instant::now();
        let ended = finish(place.small(arguments));
        ended.error(3, words);
        assert!(began.elapsed() < Duration::from_secs(15) && !ended.stderr.contains("s3cret"), "{}", ended.stderr);
        assert!(!place.run().exists());
    };
    let nobody = "mongodb://ann:s3cret@127.0.0.1:1/";
    fails(&["--uri", nobody], &["127.0.0.1:1: Connection refused", "check the address", "omit --uri"]);
    fails(&["--mongod", "/nonexistent/mongod"], &["--mongod names /nonexistent/mongod", "docshape server install"]);
    fails(&["--mongod", "/bin/false"], &["/bin/false ended by itself"]);

    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(harness::program());
    command.args(["--bind_ip=127.0.0.1", "--nounixsocket", "--wiredTigerCacheSizeGB=0.25", "--port=0", "--dbpath"]);
    // The port is the system's choice; the log names it.
    let mut standalone = Running::start({
        command.arg(data.path());
        command
    });
    let port = standalone.wait_until("a port", |standalone| {
        let text = standalone.stdout.lock().unwrap();
        let line = text.lines().find(|line| line.contains("\"Waiting for connections\""))?;
        line.split("\"port\":").nth(1)?.split(',').next()?.parse::<u16>().ok()
    });
    let uri = format!("mongodb://127.0.0.1:{port}");
    fails(&["--uri", &uri], &["this server is a standalone", "--replSet", "omit --uri"]);
    // Through the environment, too.
    let mut command = place.small(&[]);
    command.env("MONGODB_URI", &uri);
    finish(command).error(3, &["this server is a standalone"]);
    place.assert_nothing_left();
}

#[test]
fn too_many_clients_for_the_open_files_are_rejected() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let limited = |limit: &str, workers: &str| {
        let mut command = under(limit);
        command.args(["--rounds", "1", "--clients", workers, "--uri", &uri, "--out"]).arg(place.run());
        finish(command)
    };
    limited("-n 100", "80")
        .error(2, &["80 clients need 120 open files", "the limit is 100", "ulimit -n 120", "--clients"]);
    assert!(!place.run().join("run.json").exists());
    limited("-Sn 100", "80").ok();
}
