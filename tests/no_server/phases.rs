//! Whole runs over a scripted server on a paused clock: the order of the phases, and exact numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::{
    Event, Experiment, FatalError, Observer, OwnCalls, PartCalls, RoundPlan, RunError, RunPhase, Servers, StopFlag,
};
use docshape::plan::Plan;
use docshape::record::CallOutcome;
use docshape::results::{Arrivals, LoadModel, Part, RoundRecord, RunSettings};
use docshape::server::{Failure, FailureKind, Reply, ReplyKind, Target};
use docshape::stats::achieved_share;

use crate::harness::{self, AnyTarget};

const SCENARIO: &str = "
format: 1
name: phases
title: Phases
about: Two shapes of the same points.
entities:
  point: { count: 40, fields: { _id: index, text: text(20) } }
operations:
  read: { arguments: { point: zipf(point) }, returns: point }
  add: { arguments: { point: new(point) } }
mixes: { default: { read: 3, add: 1 } }
strategies:
  one:
    about: The reference.
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
      add: { insertOne: points, document: <point> }
  two:
    about: Reads twice.
    like: one
    operations:
      read:
        - { findOne: points, filter: { _id: <point> } }
        - { findOne: points, filter: { _id: <point> } }
";

const READ: Duration = Duration::from_millis(2);
const WRITE: Duration = Duration::from_millis(5);

type Script = Box<dyn Fn(u64, &str) -> Option<Failure>>;

/// A server whose reads take 2 ms and whose writes take 5 ms, and which fails where its script says so.
struct Scripted {
    log: RefCell<Vec<String>>,
    calls: RefCell<u64>,
    script: Script,
}

impl Scripted {
    fn new(script: impl Fn(u64, &str) -> Option<Failure> + 'static) -> Rc<Scripted> {
        Rc::new(Scripted { log: RefCell::default(), calls: RefCell::new(0), script: Box::new(script) })
    }

    fn sound() -> Rc<Scripted> {
        Scripted::new(|_, _| None)
    }
}

impl Target for Scripted {
    async fn run(&self, database: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let (name, value) = command.iter().next().unwrap().unwrap();
        let collection = value.as_str().unwrap_or_default();
        self.log.borrow_mut().push(format!("{name} {collection} in {database}"));
        // Calls carry the concerns of the run; what the engine itself sends does not.
        let writes = |concern: &bson::RawDocument| concern.get("w").unwrap().unwrap().as_str() == Some("majority");
        let measured = collection == "points"
            && (command.get("readConcern").unwrap().is_some()
                || command.get_document("writeConcern").is_ok_and(writes));
        match name.as_str() {
            "find" if measured => tokio::time::sleep(READ).await,
            "insert" if measured => tokio::time::sleep(WRITE).await,
            _ => {}
        }
        if matches!(name.as_str(), "find" | "insert") && measured {
            let call = *self.calls.borrow();
            *self.calls.borrow_mut() += 1;
            if let Some(failure) = (self.script)(call, name.as_str()) {
                return Err(failure);
            }
        }
        Ok(harness::reply_to(&command))
    }
}

/// Notes phases, slices and rounds as text.
#[derive(Default)]
struct Notes {
    lines: RefCell<Vec<String>>,
    parts: RefCell<Vec<Part>>,
}

impl Observer for Notes {
    fn event(&self, event: &Event<'_>) {
        if let Event::Phase { phase: RunPhase::Measure(part), .. } = event {
            self.parts.borrow_mut().push(*part);
        }
        let note = match event {
            Event::Phase { round, arm, phase } if !matches!(phase, RunPhase::Measure(_)) => {
                format!("{round:?} {arm} {phase:?}")
            }
            Event::Slice { arm, done, calls, .. } => format!("slice of {arm}: {done} of {calls}"),
            Event::Round(round) => format!("round {round}"),
            _ => return,
        };
        self.lines.borrow_mut().push(note);
    }
}

fn plan() -> Arc<Plan> {
    harness::plan(SCENARIO, &Choice::default())
}

struct Run<'r> {
    server: &'r Rc<Scripted>,
    notes: &'r Notes,
    stop: StopFlag,
    clients: usize,
    timeout: Duration,
    fewer_calls: BTreeMap<String, u64>,
    load: f64,
    pilot: BTreeMap<String, f64>,
}

impl Run<'_> {
    async fn round(&self, window: RoundPlan) -> Result<(RoundRecord, Vec<String>), RunError> {
        self.with(async |experiment| experiment.round(0, window).await.map(|round| round.single().unwrap())).await
    }

    async fn with<R>(&self, work: impl AsyncFn(&Experiment<'_, AnyTarget<'static>, AnyTarget<'static>>) -> R) -> R {
        let target = AnyTarget::new(Rc::clone(self.server));
        let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
        let settings = RunSettings {
            timeout: self.timeout.as_secs_f64(),
            load: LoadModel::Open { rate: self.load, arrivals: Arrivals::Poisson },
            pilot: self.pilot.clone(),
            fewer_calls: self.fewer_calls.clone(),
            ..harness::settings(self.clients, 2)
        };
        let stop = self.stop.clone();
        let shared = harness::experiment(&plan(), settings, servers);
        let experiment = Experiment { observer: self.notes, stop, ..shared };
        work(&experiment).await
    }
}

fn run<'r>(server: &'r Rc<Scripted>, notes: &'r Notes, clients: usize) -> Run<'r> {
    Run {
        server,
        notes,
        stop: StopFlag::default(),
        clients,
        timeout: Duration::from_secs(10),
        fewer_calls: BTreeMap::new(),
        load: LOAD,
        pilot: BTreeMap::new(),
    }
}

fn refused(kind: FailureKind) -> Option<Failure> {
    Some(Failure { kind, message: "scripted".into(), labels: Vec::new() })
}

/// The middle load, in calls per second.
const LOAD: f64 = 100.0;

const WINDOW: RoundPlan = RoundPlan::saturation(100, 10);

#[tokio::test(start_paused = true)]
async fn phases_come_in_order_and_databases_go() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    run(&server, &notes, 1).round(WINDOW).await.unwrap();
    let mut notes = notes.lines.into_inner();
    // In every phase the order of the arms is drawn. Slice j of both comes before slice j+1 of any.
    notes.chunks_mut(2).for_each(<[String]>::sort_unstable);
    let of_both = |phase: &str| [format!("Some(0) one {phase}"), format!("Some(0) two {phase}")];
    let slices = |done: u64| [format!("slice of one: {done} of 100"), format!("slice of two: {done} of 100")];
    let phases = [of_both("Load"), of_both("Load"), of_both("WarmUp"), slices(50), slices(100), of_both("Inspect")];
    assert_eq!(notes[..12], phases.concat());
    assert_eq!(notes[12..], ["round 0"]);
    let log = server.log.take();
    let count = |what: &str| log.iter().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("create "), count("dropDatabase")), (2, 2));
    assert!(log.last().unwrap().starts_with("dropDatabase"));
    // After loading and before the slices once, as the arms share the server; after them and before sizes for each arm.
    assert_eq!(count("fsync"), 2 + 4);
}

#[tokio::test(start_paused = true)]
async fn one_client_measures_exactly_the_time_of_the_server() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let (round, warnings) = run(&server, &notes, 1).round(WINDOW).await.unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let [one, two] = round.cells.as_slice() else { panic!("two cells") };
    let calls = |operation: usize| (one.operations[operation].calls, two.operations[operation].calls);
    let ((reads, same_reads), (adds, same_adds)) = (calls(0), calls(1));
    assert_eq!((reads, adds, reads + adds), (same_reads, same_adds, 100), "both make the same calls");
    assert!((60..=90).contains(&reads), "three of four are reads: {reads}");
    let service = |cell: &docshape::results::CellRecord, operation: usize| {
        let histogram = cell.operations[operation].outcomes[0].service.open();
        assert_eq!(cell.operations[operation].outcomes[0].count, cell.operations[operation].calls);
        (histogram.quantile(0.0), histogram.quantile(1.0))
    };
    let near = |(low, high): (u64, u64), wanted: Duration| {
        let wanted = wanted.as_nanos() as f64;
        let close = |value: u64| (value as f64 / wanted - 1.0).abs() < 0.01;
        assert!(close(low) && close(high), "{low} to {high} ns instead of {wanted}");
    };
    near(service(one, 0), READ);
    near(service(two, 0), 2 * READ);
    near(service(one, 1), WRITE);
    near(service(two, 1), WRITE);
    assert_eq!((one.operations[0].round_trips, two.operations[0].round_trips), (reads, 2 * reads));
    let seconds = |per_read: Duration| (per_read * reads as u32 + WRITE * adds as u32).as_secs_f64();
    assert!((one.seconds - seconds(READ)).abs() < 1e-9, "{} instead of {}", one.seconds, seconds(READ));
    assert!((two.seconds - seconds(2 * READ)).abs() < 1e-9);
}

#[tokio::test(start_paused = true)]
async fn clients_share_the_calls_and_those_in_flight_are_awaited() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let (round, _) = run(&server, &notes, 8).round(WINDOW).await.unwrap();
    for cell in &round.cells {
        let recorded: u64 = cell.operations.iter().flat_map(|o| &o.outcomes).map(|outcome| outcome.count).sum();
        assert_eq!((cell.calls, recorded), (100, 100));
    }
    // Eight at a time: a slice of 50 calls ends with the last of them, not with the last that began.
    let single = run(&Scripted::sound(), &Notes::default(), 1).round(WINDOW).await.unwrap().0.cells[0].seconds;
    let ratio = single / round.cells[0].seconds;
    assert!((6.0..=8.0).contains(&ratio), "eight clients are {ratio} times as fast as one");
}

#[tokio::test(start_paused = true)]
async fn parts_have_calls_of_their_own_and_what_decides_comes_first() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let curve = [24, 60, 96].map(|calls| Some(PartCalls { calls, seconds: None }));
    let plan = RoundPlan { own: Some(OwnCalls { stretch: 200, measured: 12 }), curve, ..WINDOW };
    let made = run(&server, &notes, 4).with(async |experiment| experiment.round(0, plan).await.unwrap()).await;
    assert_eq!(made.parts.keys().copied().collect::<Vec<_>>(), Part::ALL);
    let mut measured = notes.parts.take();
    measured.dedup();
    assert_eq!(measured, Part::ALL);
    for (place, own) in made.parts[&Part::Own].cells.iter().enumerate() {
        assert_eq!(own.operations.iter().map(|one| one.calls).collect::<Vec<_>>(), [12, 12]);
        // One client: no other call makes it wait.
        let read = own.operations[0].outcomes[0].sum as f64 / 12.0;
        assert!((read / (READ * (place as u32 + 1)).as_nanos() as f64 - 1.0).abs() < 0.001, "{read}");
        assert_eq!(own.slices.len(), 12, "a slice of each operation in each of six pieces");
    }
    for (part, calls) in Part::CURVE.into_iter().zip([24, 60, 96]) {
        assert!(made.parts[&part].cells.iter().all(|cell| cell.calls == calls && cell.open.is_some()), "{part}");
    }
    assert!(made.parts[&Part::Saturation].cells.iter().all(|cell| cell.calls == 100 && cell.open.is_none()));
    let sizes = |part: Part| made.parts[&part].cells.iter().filter(|cell| !cell.after.is_empty()).count();
    assert_eq!(Part::ALL.map(sizes), [0, 2, 0, 0, 0], "sizes are those after equal calls");
}

#[tokio::test(start_paused = true)]
async fn overloaded_arms_take_about_one_window() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let mut run = run(&server, &notes, 1);
    // A client alone makes 364 and 235 calls per second.
    (run.load, run.pilot) = (300.0, [("one".to_owned(), 364.0), ("two".to_owned(), 235.0)].into());
    let window = |calls| Some(PartCalls { calls, seconds: Some(2.0) });
    let plan = RoundPlan { saturation: None, curve: [240, 600, 960].map(window), ..WINDOW };
    let made = run.with(async |experiment| experiment.round(0, plan).await.unwrap()).await;
    for (part, offered, achieved) in [
        (Part::Light, [240, 240], [1.0, 1.0]),
        (Part::Rate, [600, 470], [1.0, 0.78]),
        (Part::Heavy, [728, 480], [0.76, 0.49]),
    ] {
        for (cell, (offered, achieved)) in made.parts[&part].cells.iter().zip(offered.into_iter().zip(achieved)) {
            let open = cell.open.as_ref().unwrap();
            assert_eq!(open.offered, offered, "{part}");
            assert!((achieved_share(open) - achieved).abs() < 0.1, "{part}: {} of {achieved}", achieved_share(open));
            assert!((1.5..2.5).contains(&cell.seconds), "{part}: {} s", cell.seconds);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_arm_that_made_fewer_calls_gets_the_same_load_as_the_others() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let mut run = run(&server, &notes, 4);
    run.fewer_calls = [("two".to_owned(), 16)].into();
    let plan = WINDOW.at_rate(PartCalls { calls: 60, seconds: None });
    let made = run.with(async |experiment| experiment.round(0, plan).await.unwrap()).await;
    let [one, two] = made.parts[&Part::Rate].cells.as_slice() else { panic!("two cells") };
    let calls =
        |cell: &docshape::results::CellRecord| -> Vec<u64> { cell.operations.iter().map(|of| of.calls).collect() };
    assert_eq!((one.calls, calls(one)), (60, calls(two)));
}

#[tokio::test(start_paused = true)]
async fn a_slow_arm_makes_the_first_of_the_same_calls() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let mut run = run(&server, &notes, 1);
    run.fewer_calls = [("two".to_owned(), 16)].into();
    let (round, warnings) = run.round(WINDOW).await.unwrap();
    let [one, two] = round.cells.as_slice() else { panic!("two cells") };
    assert_eq!((one.calls, two.calls, warnings.len()), (100, 16, 0));
    assert_eq!((one.slices.len(), two.slices.len()), (2, 2));
    assert_eq!(two.slices.iter().map(|slice| slice.calls).collect::<Vec<_>>(), [8, 8], "in turn with the other");
    let reads =
        |calls: u64| (10..10 + calls).filter(|index| plan().mix.draw(plan().round_seed(0), *index) == 0).count();
    assert_eq!((one.operations[0].calls, two.operations[0].calls), (reads(100) as u64, reads(16) as u64));
}

#[tokio::test(start_paused = true)]
async fn a_pilot_gives_the_slowest_rate() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let pilot = run(&server, &notes, 1).with(async |experiment| experiment.pilot(1.0).await).await.unwrap();
    let rate = pilot.slowest();
    assert!(pilot.rates[0] > rate && pilot.rates[1] == rate, "{pilot:?}");
    // Three reads of 4 ms and an insert of 5 ms in four calls, as the mix has it: 235 per second, give or take the draw.
    assert!((220.0..250.0).contains(&rate), "{rate}");
    let log = server.log.take();
    assert_eq!(log.iter().filter(|line| line.starts_with("dropDatabase")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn failures_are_counted_apart_by_code() {
    let server = Scripted::new(|call, name| match (call % 10, name) {
        (0, "insert") => refused(FailureKind::Server(11000)),
        (0, "find") => refused(FailureKind::Timeout),
        _ => None,
    });
    let notes = Notes::default();
    let (round, _) = run(&server, &notes, 1).round(WINDOW).await.unwrap();
    let [reads, adds] = round.cells[0].operations.as_slice() else { panic!("two operations") };
    for (operation, error) in [(reads, "timeout"), (adds, "11000")] {
        let failed: u64 = operation
            .outcomes
            .iter()
            .filter(|outcome| outcome.outcome == CallOutcome::Failed)
            .map(|outcome| outcome.count)
            .sum();
        assert!(failed > 0);
        assert_eq!(operation.errors.get(error), Some(&failed), "{:?}", operation.errors);
        assert_eq!(operation.outcomes.iter().map(|outcome| outcome.count).sum::<u64>(), operation.calls);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_has_failed() {
    let (server, notes) = (Scripted::sound(), Notes::default());
    let mut run = run(&server, &notes, 1);
    run.timeout = Duration::from_millis(3);
    let (round, _) = run.round(WINDOW).await.unwrap();
    let adds = &round.cells[0].operations[1];
    assert_eq!(adds.errors.get("timeout"), Some(&adds.calls), "inserts take 5 ms");
    assert_eq!(round.cells[0].operations[0].errors.len(), 0, "reads take 2 ms");
    // Two reads of 2 ms are more than 3 ms together: the timeout is that of the call.
    let reads = &round.cells[1].operations[0];
    assert_eq!(reads.errors.get("timeout"), Some(&reads.calls));
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_ends_the_run() {
    // From the 50th call on nothing answers, not even a ping.
    struct Lost(Rc<Scripted>);
    impl Target for Lost {
        async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
            if *self.0.calls.borrow() > 50 {
                return Err(refused(FailureKind::Network).unwrap());
            }
            self.0.run(database, command, kind).await
        }
    }
    let lost = AnyTarget::new(Rc::new(Lost(Scripted::sound())));
    let servers = Servers::Shared { target: &lost, load_threads: &lost.inline() };
    let experiment = harness::experiment(&plan(), harness::settings(4, 2), servers);
    let error = experiment.round(0, WINDOW).await.unwrap_err();
    assert!(matches!(error, RunError::Fatal(FatalError::ServerLost(_))), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_round_and_drops_its_databases() {
    let stop = StopFlag::default();
    let (server, notes) = (
        Scripted::new({
            let stop = stop.clone();
            move |call, _| {
                if call == 60 {
                    stop.set();
                }
                None
            }
        }),
        Notes::default(),
    );
    let mut run = run(&server, &notes, 4);
    run.stop = stop;
    let error = run.round(WINDOW).await.unwrap_err();
    assert!(matches!(error, RunError::Interrupted), "{error}");
    assert!(*server.calls.borrow() < 70, "calls in flight end, no new ones begin");
    let log = server.log.take();
    assert_eq!(log.iter().filter(|line| line.starts_with("dropDatabase")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_always_fails_ends_the_run() {
    let server = Scripted::new(|_, name| if name == "insert" { refused(FailureKind::Server(9)) } else { None });
    let notes = Notes::default();
    let error = run(&server, &notes, 1).round(WINDOW).await.unwrap_err();
    let RunError::Fatal(FatalError::Scenario { strategy: arm, operation, message }) = &error else { panic!("{error}") };
    // The order of the warm-ups is drawn; the first one ends the round.
    let warmed: Vec<String> = notes.lines.into_inner().into_iter().filter(|note| note.ends_with("WarmUp")).collect();
    assert_eq!(warmed, [format!("Some(0) {arm} WarmUp")]);
    assert_eq!(operation, "add");
    assert!(message.ends_with(" calls failed: insertOne points: scripted; check its steps"), "{message}");
}
