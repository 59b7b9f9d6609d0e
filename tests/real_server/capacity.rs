//! The search for capacity over a fake server whose capacity is known, on a paused clock.

use std::rc::Rc;
use std::time::Duration;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::Servers;
use docshape::results::{Arrivals, LoadModel, RunSettings};
use docshape::server::{Failure, Reply, ReplyKind, Target};
use docshape::studies::capacity::command::search::{CapacityGoal, Subject, TRIAL_SECONDS, Trials};
use docshape::studies::capacity::estimate::{Capacities, SearchEnd, search_end};
use docshape::studies::capacity::record::SearchRecord;
use docshape::studies::capacity::search::Search;
use tokio::sync::Semaphore;

use crate::harness::{self, AnyTarget};

/// A server that works on so many calls at once, each for so long; the others wait.
struct Busy {
    places: Semaphore,
    service: Duration,
}

impl Busy {
    fn new(places: usize, service: u64) -> Rc<Busy> {
        Rc::new(Busy { places: Semaphore::new(places), service: Duration::from_millis(service) })
    }

    /// Calls per second.
    fn capacity(&self) -> f64 {
        self.places.available_permits() as f64 / self.service.as_secs_f64()
    }
}

impl Target for Busy {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        if harness::is_call(&command) {
            let _place = self.places.acquire().await.unwrap();
            tokio::time::sleep(self.service).await;
        }
        Ok(harness::reply_to(&command))
    }
}

async fn searched(server: &Rc<Busy>, objective: &str, (arrivals, start): (Arrivals, f64)) -> SearchRecord {
    let plan = harness::plan(harness::POINTS, &Choice::default());
    let target = AnyTarget::new(Rc::clone(server));
    let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
    let settings = RunSettings { load: LoadModel::Open { rate: start, arrivals }, ..harness::settings(64, 1) };
    let experiment = harness::experiment(&plan, settings, servers);
    let goal = CapacityGoal { objective: objective.parse().unwrap(), operation: None, share: 1.0, arrivals };
    let mut search = Search::first(start, goal.bounds());
    let mut trials = Trials { experiment, goal, number: 0 };
    let mut found = SearchRecord { round: 0, strategy: 0, trials: Vec::new() };
    while let Some(rate) = search.next() {
        found.trials.push(trials.try_rate(Subject { arm: 0, round: 0 }, rate, TRIAL_SECONDS).await.unwrap());
        search.record(found.trials[found.trials.len() - 1].passed);
    }
    found
}

fn capacity(search: &SearchRecord) -> f64 {
    Capacities::of(std::slice::from_ref(search)).rate(0).unwrap_or_else(|| panic!("{search:?}")).mean
}

#[track_caller]
fn within_5_percent(record: &SearchRecord, wanted: f64) {
    let found = capacity(record);
    assert!((found / wanted - 1.0).abs() <= 0.05, "{found} instead of {wanted}: {:#?}", record.trials);
    assert!(record.trials.iter().all(|trial| !trial.passed || trial.failed == 0), "{record:?}");
}

#[tokio::test(start_paused = true)]
async fn a_known_capacity_is_found_within_5_percent() {
    for (places, service) in [(8, 10), (1, 5), (40, 100)] {
        let server = Busy::new(places, service);
        for start in [50.0, 3_000.0] {
            let found = searched(&server, "p99<1s", (Arrivals::Uniform, start)).await;
            within_5_percent(&found, server.capacity());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_strict_objective_is_met_below_the_capacity() {
    // With equal gaps a single server that takes 5 ms answers at once up to 200 calls per second; Poisson calls meet
    // others. The mean response of such a queue is 5 ms + 5 ms u / (2 (1 - u)) (Pollaczek and Khinchine), 10 ms at
    // u = 2/3, that is at 133 calls per second.
    let server = Busy::new(1, 5);
    within_5_percent(&searched(&server, "mean<10ms", (Arrivals::Uniform, 20.0)).await, 200.0);
    let found = searched(&server, "mean<10ms", (Arrivals::Poisson, 20.0)).await;
    let rate = capacity(&found);
    assert!((100.0..150.0).contains(&rate), "{rate}: {:#?}", found.trials);
}

#[tokio::test(start_paused = true)]
async fn an_objective_that_no_rate_meets_has_no_capacity() {
    let server = Busy::new(8, 10);
    let found = searched(&server, "p50<9ms", (Arrivals::Uniform, 100.0)).await;
    assert_eq!(
        search_end(&found.trials),
        SearchEnd::NoneDownTo(1.0),
        "20 calls in 30 s can be judged at 1 call per second"
    );
    assert!(found.trials.iter().all(|trial| !trial.passed && !trial.overloaded), "{found:?}");
}

#[test]
fn the_command_finds_and_records_a_rate_on_a_real_server() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("capacity");
    let mut command = harness::docshape(&[
        "capacity", "blog-comments", "--strategies", "linked", "--set", "posts=30", "--rounds", "1", "--confirm", "2s",
    ]);
    let ended = command.args(["--objective", "read_page.p90<200ms", "--out"]).arg(&out).output().unwrap();
    let (printed, progress) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(0), "{progress}");
    assert!(
        printed.contains("Up to how many calls per second does each strategy meet read_page.p90<200ms? Mix default."),
        "{printed}"
    );
    let record = docshape::results::load_as::<docshape::studies::capacity::record::CapacityRecord>(&out).unwrap();
    let [search] = record.searches.as_slice() else { panic!("one search: {record:?}") };
    let rate = capacity(search);
    let [confirmation] = record.confirmations.as_slice() else { panic!("one confirmation: {record:?}") };
    assert!(confirmation.seconds == 2.0 && confirmation.trial.rate <= rate, "{confirmation:?}");
    assert!(rate > 50.0 && search.trials.iter().any(|trial| trial.overloaded || !trial.passed), "{search:?}");
    assert!(
        progress.contains(&format!("round 1 of 1: linked meets the objective up to about {rate:.0} calls/s")),
        "{progress}"
    );
    let markdown = std::fs::read_to_string(out.join("capacity.md")).unwrap();
    assert_eq!(markdown.matches("| linked |").count(), search.trials.len() + 2, "{markdown}");
    let report = || harness::docshape(&["report", "--format", "json"]).arg(&out).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&report().stdout).unwrap();
    assert_eq!(json["tables"]["capacity"][0]["trials"], search.trials.len(), "{json:#}");
    let file = out.join("capacity.json");
    let older = std::fs::read_to_string(&file).unwrap().replacen("\"format\":1,", "\"format\":0,", 1);
    std::fs::write(&file, older).unwrap();
    let refused = report();
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("in format 0, but this build reads format 1 only"), "{message}");
}
