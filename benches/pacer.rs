//! How late calls of an open load start, and what the pacer costs: the real pacer and a load thread, with calls that are
//! answered immediately. Prints a row per rate; `--test` makes a short pass.
#![allow(clippy::print_stdout, missing_docs)]

mod arguments;
mod scenario;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use docshape::engine::{ArrivalTimes, Job, Load, Pacer, Pacing, Slice, StopFlag};
use docshape::generate::Label;
use docshape::record::{LatencyHistogram, Paced, Recorder};
use docshape::results::Arrivals;
use docshape::server::noop::NoopTarget;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use tokio::runtime::LocalOptions;

use arguments::Arguments;

const TIMEOUT: Duration = Duration::from_secs(10);
const CLIENTS: usize = 64;

/// The result of a slice, its duration, and the CPU time of its threads.
struct Run {
    paced: Paced,
    recorder: Recorder,
    seconds: f64,
    /// Seconds of CPU.
    load_thread: f64,
    pacer: f64,
}

fn main() {
    let arguments = Arguments::read();
    if !arguments.choose("pacer") {
        return;
    }
    let seconds = if arguments.quick { 0.2 } else { 5.0 };
    println!(
        "calls that are answered immediately, {CLIENTS} clients on one load thread, {seconds} s per row, Poisson arrivals"
    );
    println!(
        "released: from the intended start to the pacer's release; answered: to the reply, including 1 - 2 us of work"
    );
    println!(
        "  calls/s  achieved   released p50 us   p99 us   answered p50 us (aim <= 250 at 10k)   p99 us   pacer % of a core (aim <= 35)   load thread %"
    );
    for rate in [1_000.0, 10_000.0, 50_000.0, 100_000.0, 200_000.0] {
        print_row(rate, run(rate, (rate * seconds) as u64, Duration::ZERO));
    }
    print_delays(seconds);
}

/// Prints what an added round-trip time of 0.5 ms costs beyond itself: the difference of two runs at the same rate.
fn print_delays(seconds: f64) {
    const ADDED: Duration = Duration::from_micros(500);
    println!("the same with replies that are {} us late, beyond that, and the CPU of its thread", ADDED.as_micros());
    println!("  calls/s   p50 us (aim <= 60)   p99 us   delay thread % of a core (aim <= 5)");
    for rate in [1_000.0, 5_000.0, 10_000.0] {
        let calls = (rate * seconds) as u64;
        let [plain, delayed] = [Duration::ZERO, ADDED].map(|added| run(rate, calls, added));
        let share = (delayed.pacer / delayed.seconds - plain.pacer / plain.seconds) * 100.0;
        let [plain, delayed] = [plain, delayed].map(|run| {
            let operations = run.recorder.finish();
            let (_, response) = operations[0].responses.first().expect("one outcome");
            [0.5, 0.99].map(|share| response.quantile(share) as f64 / 1e3)
        });
        let beyond = |place: usize| delayed[place] - plain[place] - ADDED.as_micros() as f64;
        println!("{rate:>9.0} {:>20.0} {:>8.0} {share:>37.1}", beyond(0), beyond(1));
    }
}

/// Runs one slice on a load thread. The calling thread sleeps meanwhile, so the remaining CPU time of the process is the
/// pacer's.
fn run(rate: f64, calls: u64, round_trip: Duration) -> Run {
    let before = cpu(UsageWho::RUSAGE_SELF);
    let thread = std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build_local(LocalOptions::default()).expect("a runtime");
        let (paced, recorder, seconds) = runtime.block_on(slice(rate, calls, round_trip));
        (paced, recorder, seconds, cpu(UsageWho::RUSAGE_THREAD))
    });
    let (paced, recorder, seconds, load_thread) = thread.join().expect("the load thread");
    let pacer = cpu(UsageWho::RUSAGE_SELF) - before - load_thread;
    Run { paced, recorder, seconds, load_thread, pacer }
}

async fn slice(rate: f64, calls: u64, round_trip: Duration) -> (Paced, Recorder, f64) {
    let plan = Arc::new(scenario::plan("points", include_str!("points.yaml"), &scenario::mix("reads")));
    let times = ArrivalTimes::new(rate, Arrivals::Poisson, plan.round_seed(0), Label::new("bench"));
    let stop = StopFlag::default();
    let pacing = Pacing::new(times, 0..calls, TIMEOUT, stop.clone());
    let slice = Slice { stop, round_trip, ..Slice::new(&plan, "pacer", Load::Open(pacing.queue()), CLIENTS) };
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    let job = Job { slice, recorder: Recorder::open(1, TIMEOUT), intervals };
    let pacer = Pacer::start(pacing).expect("a thread");
    let result = job.run(&Rc::new(NoopTarget)).await;
    (pacer.finished().await.expect("the pacer").paced, result.recorder, result.seconds)
}

fn print_row(rate: f64, run: Run) {
    let micros = |times: &LatencyHistogram, share| times.quantile(share) as f64 / 1e3;
    let operations = run.recorder.finish();
    let (_, response) = operations[0].responses.first().expect("one outcome");
    assert_eq!(operations[0].calls, run.paced.offered, "no call is lost");
    println!(
        "{rate:>9.0} {:>9.0} {:>17.0} {:>8.0} {:>17.0} {:>29.0} {:>31.1} {:>15.1}",
        operations[0].calls as f64 / run.paced.seconds,
        micros(&run.paced.lag, 0.5),
        micros(&run.paced.lag, 0.99),
        micros(response, 0.5),
        micros(response, 0.99),
        100.0 * run.pacer / run.seconds,
        100.0 * run.load_thread / run.seconds,
    );
}

/// Returns the CPU seconds of this thread or process.
fn cpu(who: UsageWho) -> f64 {
    let usage: Usage = getrusage(who).expect("Linux knows the usage");
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}
