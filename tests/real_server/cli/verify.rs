//! `verify`, and the verification before a run. Without a `mongod` these tests fail and say how to get one.

use std::path::PathBuf;

use super::{Ended, docshape, run};

/// A scenario whose strategies differ, and a folder for output.
struct Place {
    folder: tempfile::TempDir,
    scenario: String,
}

impl Place {
    fn new() -> Place {
        let scenario = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/valid/shelves.yaml");
        Place { folder: tempfile::tempdir().unwrap(), scenario: scenario.display().to_string() }
    }

    fn docshape(&self, command: &str, scenario: &str, more: &[&str]) -> Ended {
        let mut arguments = vec![command, scenario, "--cache-gb", "0.25"];
        arguments.extend(more);
        let mut command = docshape(&arguments);
        if let Some(program) = std::env::var_os("DOCSHAPE_MONGOD") {
            command.env("DOCSHAPE_MONGOD", program);
        }
        let ended = run(command.env("TMPDIR", self.folder.path()).current_dir(self.folder.path()));
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let left: Vec<_> =
            left.iter().filter(|path| path.extension().is_none() && !path.ends_with("results")).collect();
        assert!(left.is_empty(), "{left:?} is left");
        ended
    }

    fn verify(&self, more: &[&str]) -> Ended {
        self.docshape("verify", &self.scenario, more)
    }
}

#[test]
fn difference_ends_with_1_and_a_command_that_shows_the_call() {
    let place = Place::new();
    let equal = place.verify(&["--strategies", "linked,embedded", "--calls", "60", "--times", "2"]);
    assert_eq!(equal.code, 0, "{}{}", equal.out, equal.err);
    assert_eq!(equal.out.matches("All 2 strategies return the same results").count(), 2, "{}", equal.out);
    assert!(equal.out.contains("60 sequential calls of mix default, seed 2"), "{}", equal.out);
    // What is done is drawn on a terminal alone.
    assert!(equal.err.starts_with("Next: docshape run "), "{}", equal.err);
    let differs = place.verify(&["--strategies", "off_by_one", "--calls", "60"]);
    assert_eq!(differs.code, 1, "{}{}", differs.out, differs.err);
    assert!(differs.out.contains("compared with linked"), "the baseline is added: {}", differs.out);
    let call = differs.out.split("--call ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let shown = place.verify(&["--strategies", "off_by_one", "--call", &call]);
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    for words in
        [&format!("call {call}: read\n"), "    shelf: ", "linked returns\n    [0] {", "off_by_one returns (differs)\n"]
    {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
}

#[test]
fn run_stops_before_the_first_round_when_strategies_differ() {
    let place = Place::new();
    let options = ["--strategies", "linked,unsorted", "--preset", "smoke"];
    let stopped = place.docshape("run", &place.scenario, &options);
    assert_eq!((stopped.code, stopped.out.as_str()), (1, ""), "{}", stopped.err);
    assert!(
        stopped.err.contains("unsorted, sequential: call ") && stopped.err.contains("--no-verify"),
        "{}",
        stopped.err
    );
    let folders = std::fs::read_dir(place.folder.path().join("results/shelves")).map(Iterator::count);
    assert_eq!(folders.unwrap_or(0), 0, "a run without results leaves no folder");
    let forced = place.docshape(
        "run",
        &place.scenario,
        &[&options[..], &["--full", "--no-verify", "--out", "out.run"]].concat(),
    );
    assert_eq!(forced.code, 0, "{}{}", forced.out, forced.err);
    assert!(forced.out.contains("were not verified to return the same results before this run"), "{}", forced.out);
}

/// Has the scenario with this in place of a stage of the strategy `unsorted`.
fn with_stage(place: &Place, stage: &str) -> &'static str {
    let text = std::fs::read_to_string(&place.scenario).unwrap();
    let changed = text.replace("{ $sort: { title: 1 } }]", &format!("{stage}]"));
    assert_ne!(text, changed);
    std::fs::write(place.folder.path().join("changed.yaml"), changed).unwrap();
    "changed.yaml"
}

#[test]
fn strategies_that_an_older_server_does_not_know_are_skipped_and_end_with_4() {
    let place = Place::new();
    let newer = with_stage(&place, "{ $project: { sorted: { $serializeEJSON: { input: $tags } } } }");
    let reason = "`aggregate books` in read: Invalid $project :: caused by :: Unknown expression $serializeEJSON";
    let left_out = "not compared: unsorted, which this server is too old for";
    let three = ["--strategies", "linked,unsorted,embedded"];
    for (more, code) in [(&["--allow-skipped"][..], 0), (&[], 4)] {
        let verified = place.docshape("verify", newer, &[&three[..], &["--calls", "20"], more].concat());
        assert_eq!(verified.code, code, "{}{}", verified.out, verified.err);
        assert!(verified.err.contains(&format!("skipped unsorted: {reason}")), "{}", verified.err);
        assert!(verified.out.contains("Skipped: unsorted, because"), "{}", verified.out);
        assert!(verified.out.contains("All 2 strategies return the same results"), "{}", verified.out);
        assert!(verified.err.trim_end().lines().last().unwrap().starts_with(left_out), "{}", verified.err);
    }
    let options = ["--preset", "smoke", "--only", "saturation", "--no-verify", "--out", "out.run"];
    let ran = place.docshape("run", newer, &[&three[..], &options].concat());
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Skipped: unsorted, because") && ran.err.contains(left_out), "{}{}", ran.out, ran.err);
    let out = place.folder.path().join("out.run").display().to_string();
    let json = run(&mut docshape(&["report", &out, "--format", "json"])).out;
    assert!(json.contains("\"strategy\": \"unsorted\",\n        \"reason\": "), "{json}");
    for strategies in ["linked,unsorted", "unsorted,linked,embedded"] {
        let left = place.docshape("run", newer, &["--preset", "smoke", "--strategies", strategies]);
        assert_eq!(left.code, 2, "{}{}", left.out, left.err);
        assert!(left.err.contains("nothing to compare on MongoDB") && left.err.contains(reason), "{}", left.err);
    }
}

#[test]
fn what_no_release_knows_is_a_mistake_of_the_scenario() {
    let place = Place::new();
    let three = ["--strategies", "linked,unsorted,embedded"];
    for (stage, message) in [
        // `check` does not know all names of options, and not where each operator may stand.
        ("{ $set: { a: { $filter: { input: [], con: true } } } }", "Unrecognized parameter to $filter: con"),
        ("{ $set: { a: { $match: 1 } } }", "Unrecognized expression '$match'"),
        ("{ $inc: { a: 1 } }", "Unrecognized pipeline stage name: '$inc'"),
        ("{ $set: { a: { $dateTrunc: { date: $$NOW, unit: day, bin: 1 } } } }", "argument to $dateTrunc: bin"),
    ] {
        let wrong = with_stage(&place, stage);
        for (command, more) in [("verify", &["--calls", "20"][..]), ("run", &["--preset", "smoke"])] {
            let ended = place.docshape(command, wrong, &[&three[..], more].concat());
            assert_eq!(ended.code, 2, "{}{}", ended.out, ended.err);
            assert!(ended.err.contains("refuses what no release of MongoDB knows; correct"), "{}", ended.err);
            let place = "changed.yaml:";
            for words in [place, "`aggregate books` in read of strategy unsorted", message] {
                assert!(ended.err.contains(words), "{words}: {}", ended.err);
            }
        }
    }
    for (stage, message) in [
        ("{ $unwnd: $tags }", "unknown stage `$unwnd`"),
        ("{ $set: { a: { $ad: [1, 1] } } }", "unknown expression operator `$ad`"),
        ("{ $lookup: { from: books, as: b, pipeline: [{ $mach: {} }] } }", "unknown stage `$mach`"),
    ] {
        let wrong = with_stage(&place, stage);
        for command in ["check", "verify", "run"] {
            let mut arguments = vec![command, wrong];
            arguments.extend(if command == "check" { &[][..] } else { &three });
            let ended = run(docshape(&arguments).current_dir(place.folder.path()));
            assert_eq!(ended.code, 2, "{}{}", ended.out, ended.err);
            assert!(ended.err.contains(message) && ended.err.contains("did you mean `$"), "{}", ended.err);
        }
    }
}

#[test]
fn audit_that_the_server_rejects_is_named() {
    let place = Place::new();
    let text = std::fs::read_to_string(&place.scenario).unwrap();
    let broken = text.replace(
        "strategies: [embedded, forgetful]\n    aggregate: shelves\n    pipeline: [",
        "strategies: [embedded, forgetful]\n    aggregate: shelves\n    pipeline: [{ $push: $books }, ",
    );
    assert_ne!(text, broken);
    std::fs::write(place.folder.path().join("broken.yaml"), broken).unwrap();
    let ended = place.docshape("verify", "broken.yaml", &["--strategies", "linked,embedded", "--calls", "20"]);
    assert_eq!(ended.code, 2, "{}{}", ended.out, ended.err);
    for words in ["`aggregate shelves` in audit twice of strategy embedded", "$push"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}
