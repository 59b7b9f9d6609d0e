//! `server start`. Without a `mongod` these tests fail and say how to get one.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use bson::rawdoc;
use docshape::server::client::MongoTarget;
use docshape::server::{ReplyKind, Target};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{docshape, fails, run};
use crate::harness::{alive, eventually};

/// A `docshape server start` that is killed when dropped; the kernel then kills its `mongod`.
struct Started {
    child: Child,
    temp: tempfile::TempDir,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start() -> Started {
    let temp = tempfile::tempdir().unwrap();
    let mut command = docshape(&["server", "start", "--cache-gb", "0.25"]);
    // The variable that names the mongod of all tests.
    if let Some(program) = std::env::var_os("DOCSHAPE_MONGOD") {
        command.env("DOCSHAPE_MONGOD", program);
    }
    let child = command.env("TMPDIR", temp.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    Started { child, temp }
}

impl Started {
    /// Returns the first line of standard output.
    fn uri(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            panic!("no server: {}", self.errors());
        }
        line.strip_suffix('\n').unwrap().to_owned()
    }

    fn errors(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    fn signal(&self, signal: Signal) {
        kill(pid(self.child.id()), signal).unwrap();
    }

    fn entries(&self) -> usize {
        fs::read_dir(self.temp.path()).unwrap().count()
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap())
}

/// Returns the process id that the server reports.
async fn server_pid(uri: &str) -> u32 {
    let target = MongoTarget::connect(uri, 1).await.unwrap();
    let reply = target.run("admin", rawdoc! { "serverStatus": 1 }, ReplyKind::Single).await.unwrap();
    u32::try_from(reply.batches()[0].get_i64("pid").unwrap()).unwrap()
}

#[tokio::test]
async fn server_start_prints_its_uri_and_leaves_no_files() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut started = start();
        let uri = started.uri();
        assert!(uri.starts_with("mongodb://127.0.0.1:"), "{uri}");
        let server = server_pid(&uri).await;
        assert_eq!(started.entries(), 1);
        started.signal(signal);
        assert_eq!(started.child.wait().unwrap().code(), Some(0), "{signal}: {}", started.errors());
        assert!(!alive(server), "{signal}");
        assert_eq!(started.entries(), 0, "{signal}");
    }
}

#[tokio::test]
async fn fails_when_its_mongod_dies() {
    let mut started = start();
    let uri = started.uri();
    kill(pid(server_pid(&uri).await), Signal::SIGKILL).unwrap();
    assert_eq!(started.child.wait().unwrap().code(), Some(3));
    let errors = started.errors();
    assert!(errors.contains("error: ") && errors.contains("ended by itself"), "{errors}");
    assert_eq!(started.entries(), 0);
}

#[test]
fn leaves_no_files_when_interrupted_during_the_start() {
    let mut started = start();
    eventually("the server's folder", || started.entries() > 0);
    started.signal(Signal::SIGINT);
    let code = started.child.wait().unwrap().code();
    assert_eq!(code, Some(130), "{}", started.errors());
    assert_eq!(started.entries(), 0);
}

#[test]
fn missing_mongod_error_lists_ways_to_get_one() {
    fails(&["server", "start", "--mongod", "/no/mongod"], 3, &["--mongod names /no/mongod", "docshape server install"]);
    fails(&["server", "start", "--mongod", "/bin/false"], 3, &["/bin/false ended by itself"]);
    fails(&["server", "start", "--port", "0"], 2, &["--port", "from 1 to 65535"]);
    fails(&["server", "start", "--cache-gb", "20000"], 2, &["--cache-gb", "from 0.25 to 10000"]);

    let ended = run(docshape(&["server", "start"]).env("DOCSHAPE_MONGOD", "/no/mongod"));
    assert_eq!(ended.code, 3);
    assert!(ended.err.contains("DOCSHAPE_MONGOD names /no/mongod"), "{}", ended.err);
    let ended =
        run(docshape(&["server", "start"]).env("HOME", "/nonexistent").env_remove("XDG_DATA_HOME").env("PATH", ""));
    assert_eq!(ended.code, 3);
    for way in ["error: no mongod was found", "docshape server install", "docker compose run", "MONGODB_URI"] {
        assert!(ended.err.contains(way), "{way}: {}", ended.err);
    }
}

#[test]
fn unusable_temporary_folder_is_named() {
    let ended = run(docshape(&["server", "start", "--mongod", "/bin/false"]).env("TMPDIR", "/no/such/folder"));
    assert_eq!(ended.code, 3);
    assert!(ended.err.contains("/no/such/folder") && ended.err.contains("set TMPDIR"), "{}", ended.err);
    assert!(!Path::new("/no/such/folder").exists());
}
