//! `docshape run --like`: another session of an earlier run, and what contradicts it.

use docshape::results::{self, RunSettings, Status};

use super::{Place, finish};

#[test]
fn another_session_measures_the_same() {
    let place = Place::new();
    let small = ["--strategies", "embedded,linked", "--clients", "4", "--rounds", "2", "--noise", "3", "--no-verify"];
    finish(place.small(&small)).ok();
    let first = place.record();
    assert!(first.settings.own_calls.is_some() && first.settings.warmup_calls.is_some());

    let again = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&["run", "--no-verify", "--like"]);
        command.arg(place.run()).args(more).arg("--out").arg(place.path(name));
        finish(command)
    };
    let ended = again("second", &["--seed", "77"]).ok();
    assert!(!ended.stderr.contains("the seed is that of"), "{}", ended.stderr);
    let second = results::load(&place.path("second")).unwrap();
    assert_eq!((&second.status, second.settings.seed), (&Status::Complete, 77));
    let shared = first.settings.shared_mongod.clone();
    assert_eq!(
        RunSettings { seed: first.settings.seed, shared_mongod: shared, ..second.settings.clone() },
        first.settings
    );
    assert_eq!(
        (&second.parameters, &second.mix, &second.operations),
        (&first.parameters, &first.mix, &first.operations)
    );
    let names = |run: &results::RunRecord| run.strategies.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&second), names(&first));
    assert_ne!(second.parts.values().next().unwrap()[0].seed, first.parts.values().next().unwrap()[0].seed);

    again("third", &["--clients", "5"]).error(2, &["--clients 5 contradicts --like", "with --clients 4", "omit it"]);
    again("third", &["--strategies", "embedded,bucketed"])
        .error(2, &["--strategies bucketed", "with --strategies embedded,linked"]);
    assert!(!place.path("third").exists());
    place.assert_nothing_left();
}
