//! Interrupts, kills and full disks keep complete rounds.

use std::fs;
use std::time::{Duration, Instant};

use docshape::results::{self, Status};
use nix::sys::signal::Signal;

use super::{Ended, Place, Running, alive, finish, send, server, under};

#[test]
fn a_full_disk_keeps_complete_rounds() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    finish(place.small(&["--rounds", "1", "--uri", &uri])).ok();
    let whole = fs::metadata(place.run().join("run.json")).unwrap().len();
    let head = whole - serde_json::to_string(&place.record().parts).unwrap().len() as u64;
    // Files may become as large as one round and a half.
    let limit = (head + (whole - head) * 3 / 2) / 1024;
    let limited = |limit: u64, folder: &str| {
        let mut command = under(&format!("-f {limit}"));
        command.args(["--rounds", "3", "--uri", &uri, "--out"]).arg(place.path(folder));
        finish(command)
    };
    let path = place.path("limited").display().to_string();
    let ended = limited(limit, "limited");
    ended.error(3, &["cannot write", &path, "free some disk space", &format!("1 complete round is in {path}")]);
    let record = results::load(&place.path("limited")).unwrap();
    assert_eq!((record.complete_rounds(), &record.status), (1, &Status::Unfinished));
    let ended = limited(1, "none");
    ended.error(3, &["cannot write", "run.json", "free some disk space", "no round is complete"]);
}

/// Runs, waits for the words (for the start of the server without any), sends the signal, and checks what is left.
fn interrupted(words: Option<&str>, signal: Signal, arguments: &[&str]) -> (Place, Ended) {
    let place = Place::new();
    let mut running = Running::start(place.small(arguments));
    if let Some(words) = words {
        running.wait_for(words);
    }
    let mongods = running.mongods();
    running.signal(signal);
    let began = Instant::now();
    let ended = running.finish();
    assert!(began.elapsed() < Duration::from_secs(5), "{words:?} took {:?}", began.elapsed());
    assert!(!mongods.into_iter().any(alive), "{words:?}");
    place.assert_nothing_left();
    (place, ended)
}

/// The same, with so many rounds finished.
fn interrupted_after(rounds: usize, words: &str, signal: Signal, arguments: &[&str]) {
    let (place, ended) = interrupted(Some(words), signal, arguments);
    let left = ["no round is complete", "1 complete round is in"][rounds];
    ended.error(130, &["interrupted", left]);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (rounds, &Status::Interrupted), "{words}");
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains("interrupted"), "{markdown}");
    let report = finish(place.docshape(&["report", place.run().to_str().unwrap()])).ok();
    assert!(report.stdout.contains("This run was interrupted"), "{}", report.stdout);
}

#[test]
fn an_interrupt_of_the_start_leaves_nothing() {
    let (place, ended) = interrupted(None, Signal::SIGINT, &[]);
    ended.error(130, &["interrupted before the first call"]);
    assert!(!place.run().exists());
}

#[test]
fn an_interrupt_of_the_pilot_leaves_a_readable_run() {
    // Without --calls there is a pilot.
    for words in ["pilot: load", "pilot: saturation"] {
        let place = Place::new();
        let mut command = place.docshape(&["run", "blog-comments", "--preset", "smoke", "--out"]);
        command.arg(place.run());
        let mut running = Running::start(command);
        running.wait_for(words);
        let mongods = running.mongods();
        assert_eq!(mongods.len(), 4, "three strategies and the repeat of the baseline");
        running.signal(Signal::SIGINT);
        let began = Instant::now();
        running.finish().error(130, &["interrupted; no round is complete"]);
        assert!(began.elapsed() < Duration::from_secs(5) && !mongods.into_iter().any(alive));
        place.assert_nothing_left();
        assert_eq!(place.record().status, Status::Interrupted);
    }
}

#[test]
fn an_interrupt_between_slices_keeps_complete_rounds() {
    interrupted_after(1, "round 2 of 9: load", Signal::SIGINT, &["--rounds", "9"]);
    interrupted_after(1, "round 2 of 9: warm up", Signal::SIGTERM, &["--rounds", "9"]);
}

#[test]
fn an_interrupt_of_a_slice_keeps_complete_rounds() {
    interrupted_after(0, "round 1 of 9: own cost", Signal::SIGINT, &["--rounds", "9"]);
    // Sizes are read after saturation, before open load.
    interrupted_after(0, "round 1 of 9: inspect", Signal::SIGINT, &["--rounds", "9"]);
    interrupted_after(0, "round 1 of 9: open load", Signal::SIGTERM, &["--rounds", "9"]);
    interrupted_after(1, "round 2 of 9: saturation", Signal::SIGINT, &["--rounds", "9"]);
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_server() {
    let place = Place::new();
    let mut running = Running::start(place.small(&["--rounds", "9", "--shared-mongod"]));
    running.wait_for("round 2 of 9: saturation");
    let mongods = running.mongods();
    // The server is frozen, so calls in flight get no reply and cleanup would take long.
    send(mongods[0], Signal::SIGSTOP);
    running.signal(Signal::SIGINT);
    running.wait_for("press Ctrl-C again to quit immediately");
    running.signal(Signal::SIGINT);
    let began = Instant::now();
    running.finish().error(130, &["quit without cleanup", place.run().to_str().unwrap()]);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(!mongods.into_iter().any(alive));
    place.assert_nothing_left();
    assert_eq!(place.record().complete_rounds(), 1);
}

#[test]
fn a_killed_run_leaves_complete_rounds_and_no_server() {
    let place = Place::new();
    // The first server is that of the verification; then each strategy has one, stopped or not.
    for (words, servers) in
        [("checking that", 1), ("round 1 of 9: load", 4), ("round 1 of 9: inspect", 4), ("round 2 of 9: open load", 4)]
    {
        let _ = fs::remove_dir_all(place.run());
        let mut running = Running::start(place.small(&["--rounds", "9"]));
        running.wait_for(words);
        let mongods = running.mongods();
        assert_eq!(mongods.len(), servers, "{words}");
        running.signal(Signal::SIGKILL);
        running.finish();
        let deadline = Instant::now() + Duration::from_secs(5);
        while mongods.iter().any(|mongod| alive(*mongod)) {
            assert!(Instant::now() < deadline, "a server lives on: {words}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let folders = fs::read_dir(place.tmp()).unwrap().count();
        assert_eq!(folders, servers, "nobody was there to remove the folders, {words}");
    }
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (1, &Status::Unfinished));
    let (server, _) = server(&place);
    assert_eq!(fs::read_dir(place.tmp()).unwrap().count(), 1, "the next start removed them and has one of its own");
    server.signal(Signal::SIGINT);
    server.finish().ok();
    place.assert_nothing_left();
}
