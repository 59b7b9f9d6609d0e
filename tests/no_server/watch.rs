//! `docshape check --watch`: again whenever the file is saved, whatever is wrong with it meanwhile.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long a line may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that does not outlive its test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first line with these words.
fn said(lines: &Receiver<String>, words: &str) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{words:?} was not said"));
        if line.contains(words) {
            return line;
        }
    }
}

#[test]
fn a_saved_file_is_checked_again() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("first.yaml");
    let text = fs::read_to_string("examples/first.yaml").unwrap();
    fs::write(&file, &text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.arg("check").arg(&file).arg("--watch").env("NO_COLOR", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watching = Watching(command.spawn().unwrap());
    let (sender, lines) = mpsc::channel();
    let out: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(watching.0.stdout.take().unwrap()), Box::new(watching.0.stderr.take().unwrap())];
    for stream in out {
        let sender = sender.clone();
        thread::spawn(move || {
            BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
    }
    said(&lines, ": ok, 2 strategies");
    fs::write(&file, text.replace("linked:", "embedded:")).unwrap();
    said(&lines, "embedded");
    fs::remove_file(&file).unwrap();
    said(&lines, "cannot read");
    fs::write(&file, &text).unwrap();
    said(&lines, ": ok, 2 strategies");
}

#[test]
fn a_name_of_the_catalogue_cannot_be_watched() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    let ended = command.args(["check", "blog-comments", "--watch"]).output().unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(2) && error.contains("blog-comments is no file"), "{error}");
}
