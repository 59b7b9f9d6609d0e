//! How docshape scales: point reads by 1 to 4,096 clients, on one load thread and on one per core, against one embedded
//! server. Prints a row per size; `-- --test` makes a short pass, `-- scale` runs only this benchmark.
#![allow(clippy::print_stdout, missing_docs)]

mod arguments;
mod memory;
mod scenario;
mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use docshape::engine::{Job, Load, LoadThread, Loader, Slice, SliceResult, StopFlag, split_clients};
use docshape::plan::Plan;
use docshape::record::Recorder;
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;

use arguments::Arguments;
use memory::memory;

const TIMEOUT: Duration = Duration::from_secs(60);
const DATABASE: &str = "scale";

fn main() {
    let arguments = Arguments::read();
    if !arguments.choose("scale") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(arguments.quick));
}

async fn run(quick: bool) {
    let plan = Arc::new(scenario::plan("points", include_str!("points.yaml"), &scenario::mix("reads")));
    let server = server::start().await;
    let target = MongoTarget::connect(&server.uri(), 1).await.expect("a client");
    let loader = Loader {
        plan: &plan,
        arm: &plan.arms[0],
        target: &target,
        database: DATABASE,
        observer: &(),
        stop: &StopFlag::default(),
    };
    loader.run().await.expect("points are inserted");
    println!("point reads, closed load, one server on the same machine");
    println!(
        "clients   threads   connecting s   calls/s   CPU us/call   p50 ms   p99 ms   generator's memory MB   calls recorded"
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<usize> = if cores > 1 && !quick { vec![1, cores] } else { vec![1] };
    for clients in [1_usize, 8, 64, 512, 4_096] {
        for threads in threads.iter().filter(|threads| **threads <= clients) {
            let calls = if quick { 2 * clients as u64 } else { 40_000 };
            row(&server, &plan, (clients, *threads), calls).await;
        }
    }
}

async fn row(server: &EmbeddedMongod, plan: &Arc<Plan>, (clients, threads): (usize, usize), calls: u64) {
    let begun = Instant::now();
    let mut load_threads = Vec::new();
    for clients in split_clients(clients, threads) {
        let started = LoadThread::start(server.uri(), clients as u32, Duration::from_secs(5)).await;
        load_threads.push((started.unwrap_or_else(|error| server::fail(&error.to_string())), clients));
    }
    let connecting = begun.elapsed().as_secs_f64();
    // The first slice warms up.
    slice(&load_threads, plan, 0..calls / 4).await;
    let begun = Instant::now();
    let results = slice(&load_threads, plan, calls / 4..calls / 4 + calls).await;
    let seconds = begun.elapsed().as_secs_f64();
    let cpu_time: Duration = results.iter().filter_map(|result| result.cpu_time).sum();
    let mut recorders = results.into_iter().map(|result| result.recorder);
    let mut total = recorders.next().expect("a load thread");
    recorders.for_each(|recorder| total.merge(recorder));
    let operations = total.finish();
    let (_, times) = operations[0].outcomes.first().expect("one outcome");
    println!(
        "{clients:>7} {threads:>9} {connecting:>14.2} {:>9.0} {:>13.1} {:>8.2} {:>8.2} {:>23.0} {:>11} of {calls}",
        calls as f64 / seconds,
        cpu_time.as_secs_f64() * 1e6 / calls as f64,
        times.quantile(0.5) as f64 / 1e6,
        times.quantile(0.99) as f64 / 1e6,
        memory(),
        times.count(),
    );
    assert_eq!(times.count(), calls, "every call is in the histogram");
}

async fn slice(
    load_threads: &[(LoadThread, usize)],
    plan: &Arc<Plan>,
    calls: std::ops::Range<u64>,
) -> Vec<SliceResult> {
    let load = Load::closed(calls);
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    let jobs = load_threads.iter().map(|(thread, clients)| {
        let slice = Slice::new(plan, DATABASE, load.clone(), *clients);
        let slice = Slice { timeout: TIMEOUT, every: Duration::from_secs(3_600), ..slice };
        thread.run(Job { slice, recorder: Recorder::new(plan.operations.len(), TIMEOUT), intervals: intervals.clone() })
    });
    let results = futures_util::future::join_all(jobs).await;
    results
        .into_iter()
        .map(|result| {
            let result = result.unwrap_or_else(|error| server::fail(&error.to_string()));
            assert!(result.fatal.is_none(), "{:?}", result.fatal);
            result
        })
        .collect()
}
