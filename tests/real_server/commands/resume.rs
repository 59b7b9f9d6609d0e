//! `docshape run --resume`.

use std::fs;
use std::path::Path;

use bson::rawdoc;
use docshape::results::{self, RunRecord, Status};
use nix::sys::signal::Signal;

use super::{Place, Running, finish, logged, server, single, succeeded};

/// The first round of every part as it stands in `run.json`.
fn first_rounds(run: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(run.join("run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["parts"].as_object().unwrap().values().map(|rounds| rounds[0].clone()).collect()
}

#[test]
fn a_killed_run_is_resumed_after_its_complete_rounds() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let databases = || {
        let reply = single(&runtime, &uri, "admin", rawdoc! { "listDatabases": 1, "nameOnly": true });
        let names = reply.get_array("databases").unwrap().into_iter();
        names
            .filter(|row| {
                row.as_ref().unwrap().as_document().unwrap().get_str("name").unwrap().starts_with("docshape_")
            })
            .count()
    };
    let folder = place.run().to_str().unwrap().to_owned();
    let mut running = Running::start(place.small(&["--rounds", "3", "--uri", &uri, "--noise", "3", "--threads", "2"]));
    running.wait_for("round 2 of 3: saturation");
    running.signal(Signal::SIGKILL);
    running.finish();
    assert_eq!((place.record().complete_rounds(), place.record().status), (1, Status::Unfinished));
    assert!(databases() > 0, "nobody was there to drop them");
    let before = first_rounds(&place.run());
    assert_eq!(before.len(), 3, "own cost, saturation and open load");
    // A line that was cut off.
    let log = place.run().join("latency.hlog");
    let mut text = fs::read_to_string(&log).unwrap();
    text.push_str("Tag=embedded/edit/2,1.0,1.0,3.1,HIST");
    fs::write(&log, text).unwrap();

    let resume = |more: &[&str]| finish(place.docshape(&[&["run", "--resume", &folder], more].concat()));
    resume(&[]).error(2, &["on a server of yours", "--uri"]);
    let ended = resume(&["--uri", &uri]).ok();
    assert!(ended.stderr.contains("round 2 of 3") && !ended.stderr.contains("round 1 of 3"), "{}", ended.stderr);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (3, &Status::Complete));
    assert_eq!(first_rounds(&place.run()), before);
    assert_eq!((record.settings.noise, record.settings.threads, record.settings.calls), (0.03, 2, Some(300)));
    for rounds in record.parts.values() {
        assert_eq!(rounds.iter().map(|round| round.index).collect::<Vec<_>>(), [0, 1, 2]);
    }
    assert_eq!(logged(&log), succeeded(&record), "the log has every round once");
    assert!(record.warnings[0].starts_with("The run was resumed after round 1"), "{:?}", record.warnings);
    assert_eq!(databases(), 0, "those of the killed round are gone, too");

    let files = || ["run.json", "latency.hlog", "report.md"].map(|name| fs::read(place.run().join(name)).unwrap());
    let whole = files();
    let ended = resume(&[]).ok();
    assert!(ended.stderr.contains("is complete: nothing to resume") && ended.stdout.is_empty(), "{ended:?}");
    assert_eq!(files(), whole);
}

#[test]
fn a_run_on_an_embedded_server_is_resumed_on_another_one() {
    let place = Place::new();
    let folder = place.run().to_str().unwrap().to_owned();
    let more = ["--rounds", "2", "--cache-gb", "0.5", "--strategies", "linked", "--threshold", "linked.count.max<999s"];
    let mut running = Running::start(place.small(&more));
    running.wait_for("round 1 of 2: load");
    running.signal(Signal::SIGKILL);
    running.finish();
    assert_eq!(place.record().complete_rounds(), 0);
    let resume = |more: &[&str]| finish(place.docshape(&[&["run", "--resume", &folder], more].concat()));
    resume(&["--uri", "mongodb://127.0.0.1:1/"]).error(2, &["on an embedded server", "omit --uri"]);
    let conflict = resume(&["--rounds", "9"]);
    assert_eq!(conflict.code(), Some(2));
    assert!(conflict.stderr.contains("cannot be used with"), "{}", conflict.stderr);
    let resumed = resume(&[]).ok();
    assert!(resumed.stdout.contains("linked.count.max<999s  ✓ passed "), "{}", resumed.stdout);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status, record.settings.cache_gb), (2, &Status::Complete, Some(0.5)));
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    place.assert_nothing_left();
}

#[test]
fn changed_runs_are_not_resumed() {
    let place = Place::new();
    let mut running = Running::start(place.small(&["--rounds", "2"]));
    running.wait_for("round 1 of 2: load");
    running.signal(Signal::SIGKILL);
    running.finish();
    let whole = place.record();
    let refused = |change: &dyn Fn(&mut RunRecord), words: &[&str]| {
        let mut record = whole.clone();
        change(&mut record);
        results::save(&record, &place.run()).unwrap();
        finish(place.docshape(&["run", "--resume", place.run().to_str().unwrap()])).error(2, words);
        assert_eq!(place.record(), record);
    };
    refused(
        &|record| record.version = "0.0.9".into(),
        &["cannot be resumed", "started by docshape 0.0.9", "start a new run"],
    );
    refused(&|record| record.server.version = "5.0.1".into(), &["on MongoDB 5.0.1", "use a server of version 5.0.1"]);
    refused(&|record| drop(record.parameters.pop()), &["other strategies, operations, weights, parameters or data"]);
    refused(&|record| drop(record.scenario.data.insert("x.ndjson".into(), "0".into())), &["a file was changed"]);
    let ended = finish(place.docshape(&["run", "--resume", "nowhere"]));
    ended.error(2, &["--resume nowhere: no such folder"]);
}
