//! Open load on a scripted server and a paused clock: exact times, and the theory of a stall and of overload.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::{FatalError, PartCalls, RoundPlan, RunError, Servers, StopFlag};
use docshape::generate::{Label, Seed, Stream};
use docshape::plan::Plan;
use docshape::record::{CallOutcome, LatencyHistogram};
use docshape::results::{Arrivals, CellRecord, LoadModel, OpenRecord, OutcomeRecord, RoundRecord, RunSettings};
use docshape::server::{Failure, FailureKind, Reply, ReplyKind, Target};
use docshape::stats::achieved_share;
use tokio::time::Instant;

use crate::harness::{self, AnyTarget};

/// A round of open load alone.
fn at_rate(calls: u64) -> RoundPlan {
    let plan = RoundPlan::saturation(calls, 0).at_rate(PartCalls { calls, seconds: None });
    RoundPlan { saturation: None, ..plan }
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A server that answers call number n (from 0) of the measured operation when its script says so.
struct Fake {
    script: Box<dyn Fn(u64) -> Answer>,
    /// Database and moment of every such call.
    log: RefCell<Vec<(String, Instant)>>,
}

/// When a call is answered, or why not.
type Answer = Result<Instant, Failure>;

impl Fake {
    fn new(script: impl Fn(u64) -> Answer + 'static) -> Rc<Fake> {
        Rc::new(Fake { script: Box::new(script), log: RefCell::default() })
    }

    /// When this strategy's calls arrived.
    fn arrivals(&self, arm: &str) -> Vec<Instant> {
        let log = self.log.borrow();
        log.iter().filter(|(database, _)| database.ends_with(&format!("_{arm}"))).map(|(_, at)| *at).collect()
    }
}

impl Target for Fake {
    async fn run(&self, database: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        if harness::is_call(&command) {
            let call = self.log.borrow().len() as u64;
            self.log.borrow_mut().push((database.to_owned(), Instant::now()));
            tokio::time::sleep_until((self.script)(call)?).await;
        }
        Ok(harness::reply_to(&command))
    }
}

fn plan(strategies: &[&str]) -> Arc<Plan> {
    let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
    let scenario = format!("{}  two: {{ about: The same., like: one }}\n", harness::POINTS);
    harness::plan(&scenario, &Choice { seed: 1, strategies, ..Choice::default() })
}

struct Run {
    rate: f64,
    arrivals: Arrivals,
    calls: u64,
    slices: u64,
    clients: usize,
    timeout: Duration,
    stop: StopFlag,
}

impl Default for Run {
    fn default() -> Run {
        let (rate, arrivals, timeout) = (100.0, Arrivals::Uniform, Duration::from_secs(10));
        Run { rate, arrivals, calls: 1_000, slices: 1, clients: 64, timeout, stop: StopFlag::default() }
    }
}

impl Run {
    async fn round(&self, strategies: &[&str], fake: &Rc<Fake>) -> Result<RoundRecord, RunError> {
        let target = AnyTarget::new(Rc::clone(fake));
        let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
        let settings = RunSettings {
            load: LoadModel::Open { rate: self.rate, arrivals: self.arrivals },
            timeout: self.timeout.as_secs_f64(),
            ..harness::settings(self.clients, self.slices)
        };
        let mut experiment = harness::experiment(&plan(strategies), settings, servers);
        experiment.stop = self.stop.clone();
        let window = at_rate(self.calls);
        experiment.round(0, window).await.map(|round| round.single().unwrap().0)
    }

    /// The one cell of a round of one strategy.
    async fn cell(&self, fake: &Rc<Fake>) -> CellRecord {
        self.round(&["one"], fake).await.unwrap().cells.remove(0)
    }
}

fn open(cell: &CellRecord) -> &OpenRecord {
    cell.open.as_ref().expect("the open model")
}

fn outcome(cell: &CellRecord, name: CallOutcome) -> &OutcomeRecord {
    cell.operations[0].outcomes.iter().find(|outcome| outcome.outcome == name).expect("the outcome")
}

/// Exact sum and distribution of service times, then of response times.
fn times(outcome: &OutcomeRecord) -> ((u64, LatencyHistogram), (u64, LatencyHistogram)) {
    let response = outcome.response.as_ref().expect("the open model");
    ((outcome.sum, outcome.service.open()), (response.sum, response.histogram.open()))
}

#[track_caller]
fn near(found: u64, wanted: Duration) {
    let wanted = wanted.as_nanos() as f64;
    assert!((found as f64 / wanted - 1.0).abs() < 0.01, "{found} ns instead of {wanted}");
}

/// Answers after 2 ms; but when call 300 arrives, nothing is answered for 2 s.
fn stalling() -> Rc<Fake> {
    let stall_end: RefCell<Option<Instant>> = RefCell::new(None);
    Fake::new(move |call| {
        let now = Instant::now();
        if call == 300 {
            *stall_end.borrow_mut() = Some(now + ms(2_000));
        }
        let end = stall_end.borrow().filter(|end| *end > now);
        Ok(end.unwrap_or(now + ms(2)))
    })
}

#[tokio::test(start_paused = true)]
async fn stall_shows_in_full_when_all_its_calls_are_in_flight() {
    let fake = stalling();
    let cell = Run { clients: 256, ..Run::default() }.cell(&fake).await;
    let ((service_sum, _), (response_sum, response)) = times(outcome(&cell, CallOutcome::Ok));
    // 200 calls fall due in the stall, 10 ms after each other; the i-th waits 2000 - 10 i ms. All others take 2 ms.
    let wanted: u64 = (0..200).map(|i| 2_000 - 10 * i).sum::<u64>() + 800 * 2;
    assert_eq!(response_sum, wanted * 1_000_000);
    assert_eq!(service_sum, response_sum, "nobody waited for a client");
    // Of 1000 calls 10 are beyond p99: those from 2000 to 1910 ms.
    near(response.quantile(0.99), ms(1_900));
    near(response.quantile(0.9), ms(1_000));
    near(response.quantile(0.81), ms(100));
    near(response.quantile(0.8), ms(2));
    near(response.max(), ms(2_000));
    let open = open(&cell);
    assert_eq!((open.offered, open.seconds, open.waiting, open.skipped, open.never_started), (1_000, 10.0, 0, 0, 0));
    assert_eq!((open.pacer_lag.count, open.pacer_lag.sum, open.queue_wait.sum), (1_000, 0, 0));
    assert_eq!(achieved_share(open), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_stall_with_few_clients_shows_only_in_response_times() {
    let fake = stalling();
    let cell = Run { clients: 4, ..Run::default() }.cell(&fake).await;
    let ((service_sum, service), (response_sum, response)) = times(outcome(&cell, CallOutcome::Ok));
    // Only the four calls in flight see the stall.
    assert_eq!(service_sum, (2_000 + 1_990 + 1_980 + 1_970 + 996 * 2) * 1_000_000);
    near(service.quantile(0.99), ms(2));
    near(service.quantile(0.996), ms(2));
    near(service.quantile(0.997), ms(1_970));
    // The others wait in the queue, from which four at a time go every 2 ms when the stall is over, until none is left.
    let queued = |i: i64| (2_000 - 10 * i + 2 * ((i - 4).div_euclid(4) + 1)).max(2);
    let wanted: i64 = 2_000 + 1_990 + 1_980 + 1_970 + (4..700).map(queued).sum::<i64>() + 300 * 2;
    assert_eq!(response_sum, wanted as u64 * 1_000_000);
    near(response.quantile(0.99), ms(queued(10) as u64));
    near(response.quantile(0.9), ms(queued(100) as u64));
    near(response.max(), ms(2_000));
    assert_eq!(open(&cell).queue_wait.sum, response_sum - service_sum, "what is not service is waiting");
}

#[tokio::test(start_paused = true)]
async fn overload_ends_in_bounded_time_and_loses_no_call() {
    // Four calls of 80 ms in flight are 50 per second, a tenth of what is offered.
    let fake = Fake::new(|_| Ok(Instant::now() + ms(80)));
    let cell = Run { rate: 500.0, calls: 500, clients: 4, ..Run::default() }.cell(&fake).await;
    let open = open(&cell);
    // The last call falls due after 1 s, and for one more calls may begin: each client makes 25.
    assert_eq!((open.offered, cell.calls, open.never_started), (500, 100, 400));
    assert_eq!(cell.calls, outcome(&cell, CallOutcome::Ok).count);
    // Thirteen per client had begun when the last one fell due, which itself has not waited.
    assert_eq!((open.waiting, open.skipped), (499 - 52, 0));
    assert!((cell.seconds - 2.008).abs() < 1e-9, "{}", cell.seconds);
    assert!((achieved_share(open) - 53.0 / 500.0).abs() < 1e-12);
}

#[tokio::test(start_paused = true)]
async fn late_calls_are_skipped_and_the_queue_is_bounded() {
    let fake = Fake::new(|_| Ok(Instant::now() + ms(80)));
    let run = Run { rate: 500.0, calls: 1_000, clients: 4, timeout: ms(200), ..Run::default() };
    let cell = run.cell(&fake).await;
    let open = open(&cell);
    assert_eq!((open.offered, cell.calls + open.never_started), (1_000, 1_000));
    let skipped = outcome(&cell, CallOutcome::Skipped);
    assert_eq!((skipped.count, skipped.sum, cell.operations[0].errors["skipped"]), (open.skipped, 0, open.skipped));
    assert_eq!(skipped.count + outcome(&cell, CallOutcome::Ok).count, cell.calls);
    // At most 200 ms of calls wait, and those in flight end 80 ms later.
    assert!(open.waiting <= 100 && open.never_started <= 100, "{open:?}");
    assert!(cell.seconds <= 2.0 + 0.2 + 0.08 + 1e-9, "{}", cell.seconds);
    let (_, (_, ok)) = times(outcome(&cell, CallOutcome::Ok));
    let ((_, sent), (_, unsent)) = times(skipped);
    assert!(ok.max() <= 281_000_000 && unsent.quantile(0.0) >= 199_000_000, "{} {}", ok.max(), unsent.quantile(0.0));
    assert_eq!((sent.count(), unsent.count()), (0, open.skipped));
    // Two seconds and a bit of four clients with 80 ms per call: hardly more than 100 calls.
    assert!((100..=112).contains(&outcome(&cell, CallOutcome::Ok).count), "{}", outcome(&cell, CallOutcome::Ok).count);
}

/// The mean and the 99th percentile of the response times in milliseconds.
fn responses(cell: &CellRecord) -> [f64; 2] {
    let (_, (sum, times)) = times(outcome(cell, CallOutcome::Ok));
    [sum as f64 / times.count() as f64 / 1e6, times.quantile(0.99) as f64 / 1e6]
}

#[track_caller]
fn alike(one: [f64; 2], other: [f64; 2], tolerance: f64) {
    let near = |one: f64, other: f64| (one / other - 1.0).abs() < tolerance;
    assert!(near(one[0], other[0]) && near(one[1], other[1]), "{one:?} {other:?}");
}

#[tokio::test(start_paused = true)]
async fn stall_shows_in_full_however_the_window_is_sliced() {
    let fake = || {
        let stall_end: RefCell<Option<Instant>> = RefCell::new(None);
        Fake::new(move |call| {
            let now = Instant::now();
            if call == 1_000 {
                *stall_end.borrow_mut() = Some(now + ms(5_000));
            }
            Ok(stall_end.borrow().filter(|end| *end > now).unwrap_or(now + ms(5)))
        })
    };
    let cell = async |slices| Run { rate: 200.0, calls: 4_000, slices, ..Run::default() }.cell(&fake()).await;
    let (whole, sliced) = (cell(1).await, cell(20).await);
    assert_eq!((whole.slices.len(), sliced.slices.len()), (1, 20));
    // A thousand calls fall due in the stall and wait for 2.5 s on average; 64 at a time end 5, 10, ... ms after it.
    alike(responses(&whole), [0.25 * (2_500.0 + 40.0) + 0.75 * 5.0, 4_800.0], 0.02);
    alike(responses(&sliced), responses(&whole), 0.01);
    for cell in [whole, sliced] {
        assert_eq!(
            (cell.calls, open(&cell).offered, open(&cell).waiting, open(&cell).never_started),
            (4_000, 4_000, 0, 0)
        );
        assert!((open(&cell).seconds - 20.0).abs() < 1e-6, "{}", open(&cell).seconds);
        // Eight hundred calls wait for more than a second, and of the first 64 none waits for a client.
        let share = achieved_share(open(&cell));
        assert!((share - (1.0 - 0.25 * 0.8 + 0.016)).abs() < 0.01, "{share}");
    }
}

#[tokio::test(start_paused = true)]
async fn steady_load_is_the_same_however_it_is_sliced() {
    // Exponential service times with a mean of 10 ms; about 4 and 30 calls are in flight.
    let fake = || {
        Fake::new(|call| {
            let unit = Stream::new(Seed::new(7), Label::new("service"), call).unit();
            Ok(Instant::now() + ms(10).mul_f64(-(1.0 - unit).ln()))
        })
    };
    for (rate, clients) in [(400.0, 8), (3_000.0, 64)] {
        let (arrivals, calls) = (Arrivals::Poisson, (rate * 20.0) as u64);
        let cell = async |slices| Run { rate, arrivals, calls, slices, clients, ..Run::default() }.cell(&fake()).await;
        let (whole, sliced) = (cell(1).await, cell(20).await);
        alike(responses(&sliced), responses(&whole), 0.02);
        assert_eq!((sliced.calls, achieved_share(open(&sliced))), (calls, 1.0));
    }
}

#[tokio::test(start_paused = true)]
async fn overload_is_the_same_however_it_is_sliced() {
    // Four calls of 80 ms in flight are 50 per second, half of what is offered.
    let fake = || Fake::new(|_| Ok(Instant::now() + ms(80)));
    let cell = async |slices| Run { calls: 2_000, slices, clients: 4, ..Run::default() }.cell(&fake()).await;
    let (whole, sliced) = (cell(1).await, cell(20).await);
    for cell in [&whole, &sliced] {
        assert_eq!((open(cell).offered, cell.calls + open(cell).never_started), (2_000, 2_000));
        // The wait for a client grows by half a second per second.
        assert!((achieved_share(open(cell)) - 0.05).abs() < 0.01, "{}", achieved_share(open(cell)));
    }
    alike(responses(&sliced), responses(&whole), 0.01);
}

#[tokio::test(start_paused = true)]
async fn all_arms_get_the_same_calls_at_the_same_times() {
    let fake = Fake::new(|_| Ok(Instant::now() + ms(3)));
    let run = Run { arrivals: Arrivals::Poisson, calls: 200, slices: 4, ..Run::default() };
    let round = run.round(&["one", "two"], &fake).await.unwrap();
    assert_eq!(round.order.len(), 4, "half a second each");
    let gaps = |place: usize, arm: &str| -> Vec<Vec<Duration>> {
        let mut arrivals = fake.arrivals(arm).into_iter();
        let slices = round.cells[place].slices.iter();
        let slices = slices.map(|slice| arrivals.by_ref().take(slice.calls as usize).collect::<Vec<_>>());
        slices.map(|slice| slice.windows(2).map(|pair| pair[1] - pair[0]).collect()).collect()
    };
    assert_eq!((gaps(0, "one").len(), gaps(0, "one")), (4, gaps(1, "two")));
    assert_ne!(gaps(0, "one")[0], gaps(0, "one")[1], "slices differ");
    for cell in &round.cells {
        assert_eq!((cell.calls, open(cell).offered, cell.slices.len()), (200, 200, 4));
        assert_eq!(open(cell).seconds, open(&round.cells[0]).seconds);
        // The clock of the test goes in whole milliseconds, so the pacer is late by parts of one.
        let ((service, _), (response, _)) = times(&cell.operations[0].outcomes[0]);
        assert!(open(cell).pacer_lag.sum > 0);
        assert_eq!(response, open(cell).pacer_lag.sum + open(cell).queue_wait.sum + service, "nothing is left out");
    }
}

#[tokio::test(start_paused = true)]
async fn interrupt_ends_a_slice_immediately() {
    let run = Run { rate: 1.0, calls: 100, ..Run::default() };
    let stopped = Rc::new(Cell::new(None));
    let fake = Fake::new({
        let (stop, stopped) = (run.stop.clone(), Rc::clone(&stopped));
        move |call| {
            if call == 3 {
                stop.set();
                stopped.set(Some(Instant::now()));
            }
            Ok(Instant::now() + ms(2))
        }
    });
    let error = run.round(&["one"], &fake).await.unwrap_err();
    assert!(matches!(error, RunError::Interrupted), "{error}");
    let after = stopped.get().unwrap().elapsed();
    assert!(after <= ms(20), "the next call is a second away, and this took {after:?}");
}

#[tokio::test(start_paused = true)]
async fn lost_server_ends_a_slice_immediately() {
    /// Nothing answers any more when the calls fail.
    struct Lost(Rc<Fake>);
    impl Target for Lost {
        async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
            if self.0.log.borrow().len() > 3 {
                return Err(Failure { kind: FailureKind::Network, message: "gone".into(), labels: Vec::new() });
            }
            self.0.run(database, command, kind).await
        }
    }
    let lost = AnyTarget::new(Rc::new(Lost(Fake::new(|_| Ok(Instant::now() + ms(2))))));
    let load = LoadModel::Open { rate: 1.0, arrivals: Arrivals::Uniform };
    let servers = Servers::Shared { target: &lost, load_threads: &lost.inline() };
    let settings = RunSettings { load, ..harness::settings(4, 1) };
    let experiment = harness::experiment(&plan(&["one"]), settings, servers);
    let begun = Instant::now();
    let error = experiment.round(0, at_rate(100)).await.unwrap_err();
    assert!(matches!(error, RunError::Fatal(FatalError::ServerLost(_))), "{error}");
    // The fourth call is answered, the fifth is not.
    assert!(begun.elapsed() <= ms(5_020), "{:?}", begun.elapsed());
}
