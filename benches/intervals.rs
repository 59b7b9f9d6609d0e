//! What the histograms of a long run cost: records two hours of calls, closes an interval per second and writes it to
//! `latency.hlog`, without waiting. `-- --test` makes a short pass, `-- intervals` runs only this benchmark.
#![allow(clippy::print_stdout, missing_docs)]

mod arguments;
mod memory;

use std::time::{Duration, Instant};

use docshape::generate::{Label, Seed, Stream};
use docshape::record::{Call, CallOutcome, CallTimes, Recorder};
use docshape::results::IntervalLog;
use rand_distr::{Distribution, LogNormal};

use arguments::Arguments;
use memory::memory;

/// Operations in the default mix of blog-comments.
const OPERATIONS: usize = 9;
/// Calls per second over all operations.
const RATE: usize = 2_000;
/// Service times in ns: p50 is 1 ms, p99 about 4 ms.
const MEDIAN: f64 = 1e6;
const SPREAD: f64 = 0.6;

/// Time spent per activity.
#[derive(Default)]
struct Spent {
    recording: Duration,
    closing: Duration,
    writing: Duration,
}

fn main() {
    let arguments = Arguments::read();
    if !arguments.choose("intervals") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("latency.hlog");
    let seconds = if arguments.quick { 20 } else { 7_200 };
    let mut log = IntervalLog::create(&path, 0.0).expect("a log");
    let mut recorder = Recorder::new(OPERATIONS, Duration::from_secs(10));
    let times = times();
    let mut spent = Spent::default();
    let before = memory();
    for second in 0..seconds {
        interval(&mut recorder, (&mut log, second), &times, &mut spent);
    }
    let grown = memory() - before;
    let calls: u64 = recorder.finish().iter().map(|measures| measures.calls).sum();
    assert_eq!(calls, (seconds * RATE) as u64, "every call is counted");
    let written = std::fs::metadata(&path).expect("the log").len() as f64 / 1e6;
    println!("{seconds} intervals of a second, {OPERATIONS} operations, {RATE} calls per second");
    println!("recording       {:>8.1} ns per call", spent.recording.as_secs_f64() * 1e9 / calls as f64);
    for (what, time) in [("closing", spent.closing), ("writing", spent.writing)] {
        println!("{what:<15} {:>8.3} ms per interval", time.as_secs_f64() * 1e3 / seconds as f64);
    }
    println!("memory          {grown:>8.1} MB");
    println!("latency.hlog    {written:>8.1} MB");
}

/// Draws the times beforehand, because only recording is measured.
fn times() -> Vec<u64> {
    let law = LogNormal::new(MEDIAN.ln(), SPREAD).expect("a valid distribution");
    let mut random = Stream::new(Seed::new(1), Label::new("times"), 0);
    (0..100_003).map(|_| law.sample(&mut random) as u64).collect()
}

fn interval(recorder: &mut Recorder, (log, second): (&mut IntervalLog, usize), times: &[u64], spent: &mut Spent) {
    let begun = Instant::now();
    for call in second * RATE..(second + 1) * RATE {
        recorder.record(Call {
            operation: call % OPERATIONS,
            outcome: CallOutcome::Ok,
            times: CallTimes::Closed { service: times[call % times.len()] },
            round_trips: 1,
            inconsistency: None,
            is_beside_job: false,
            retries: &[],
            error: None,
        });
    }
    let recorded = Instant::now();
    let full = recorder.rotate();
    let ended = Instant::now();
    for (operation, histogram) in full {
        let tag = format!("strategy/operation{operation}/1");
        log.append(&tag, second as f64, 1.0, &histogram).expect("room on the disk");
    }
    spent.recording += recorded - begun;
    spent.closing += ended - recorded;
    spent.writing += ended.elapsed();
}
