//! What docshape adds to a call: the same calls by a load thread of docshape, by loops on the driver, and as bytes on
//! sockets. All sides alternate in one process, with one thread each, against one embedded server. Prints ratios.
//!
//! `-- --test` makes a short pass; a word such as `-- insert` selects rows.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../arguments/mod.rs"]
mod arguments;
mod by_hand;
mod driver;
mod recording;
#[path = "../scenario/mod.rs"]
mod scenario;
#[path = "../server/mod.rs"]
mod server;
mod side;
mod socket;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::{Document, RawDocumentBuf, rawdoc};
use docshape::cli::catalogue::SCENARIOS;
use docshape::engine::{Job, Load, LoadThread, Loader, Slice, StopFlag};
use docshape::plan::Plan;
use docshape::record::Recorder;
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use mongodb::Database;
use nix::time::ClockId;

use arguments::Arguments;
use by_hand::{Draws, Make};
use recording::Calls;
use side::Side;
use socket::Sockets;

const POINTS: u64 = 10_000;
const TIMEOUT: Duration = Duration::from_secs(10);
const POINT_CALLS: &str = include_str!("../points.yaml");
const STEPS: &str = include_str!("../steps.yaml");

/// A mix of a scenario's calls, made with its baseline strategy.
struct Workload {
    name: &'static str,
    text: &'static str,
    mix: &'static str,
    /// Calls per slice and client.
    calls: u64,
}

fn workloads() -> [Workload; 5] {
    let blog = SCENARIOS.iter().find(|(name, _)| *name == "blog-comments").map_or("", |(_, text)| *text);
    [
        Workload { name: "read", text: POINT_CALLS, mix: "reads", calls: 250 },
        Workload { name: "insert", text: POINT_CALLS, mix: "inserts", calls: 150 },
        Workload { name: "blog", text: blog, mix: "default", calls: 200 },
        Workload { name: "steps-read", text: STEPS, mix: "read", calls: 125 },
        Workload { name: "steps-add", text: STEPS, mix: "add", calls: 100 },
    ]
}

/// Speed of one side in one slice: calls per second, and microseconds of its thread's CPU per call.
#[derive(Clone, Copy)]
struct Speed {
    rate: f64,
    cpu: f64,
}

fn rate(speed: &Speed) -> f64 {
    speed.rate
}

fn cpu(speed: &Speed) -> f64 {
    speed.cpu
}

/// The slices of each side.
#[derive(Default)]
struct Sides {
    harness: Vec<Speed>,
    /// Empty for workloads without a hand-written loop.
    by_hand: Vec<Speed>,
    ready: Vec<Speed>,
    sockets: Vec<Speed>,
}

fn main() {
    let arguments = Arguments::read();
    if !workloads().iter().any(|workload| arguments.choose(workload.name)) && !arguments.choose("load") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(&arguments));
}

async fn run(arguments: &Arguments) {
    let quick = arguments.quick;
    let server = server::start().await;
    let slices = if quick { 2 } else { 40 };
    println!(
        "the same calls by docshape, a hand-written loop (rand, doc!, the driver), a loop on the driver with commands that"
    );
    println!("are ready as bytes, and sockets; one thread each, medians of {slices} alternating slices");
    println!(
        "{:20} calls/s {:29} of by hand  of ready  of sockets   CPU us/call {:21} of by hand  of ready",
        "", "", ""
    );
    println!(
        "calls       clients docshape   by hand     ready   sockets     >= 0.95   >= 0.95     >= 0.65  docshape  by hand    ready  sockets     <= 1.10   <= 1.10"
    );
    for workload in workloads().iter().filter(|workload| arguments.choose(workload.name)) {
        for clients in [1, 8] {
            compare(&server, workload, clients, (slices, if quick { 10 } else { workload.calls })).await;
        }
    }
    if arguments.choose("load") {
        load_speed(&server, quick).await;
    }
}

fn plan(text: &str, mix: &str) -> Arc<Plan> {
    Arc::new(scenario::plan("overhead", text, &scenario::mix(mix)))
}

async fn fresh(target: &MongoTarget, database: &str, plan: &Plan) -> f64 {
    target.run(database, rawdoc! { "dropDatabase": 1 }, ReplyKind::Single).await.expect("a database to fill");
    let loader = Loader { plan, arm: &plan.arms[0], target, database, observer: &(), stop: &StopFlag::default() };
    let begun = Instant::now();
    loader.run().await.expect("data are inserted");
    begun.elapsed().as_secs_f64()
}

async fn compare(server: &EmbeddedMongod, workload: &Workload, clients: usize, (slices, calls): (usize, u64)) {
    let plan = plan(workload.text, workload.mix);
    let target = MongoTarget::connect(&server.uri(), clients as u32).await.expect("a client");
    target.warm().await.expect("its connections");
    for database in ["dry-run", "harness", "by-hand", "ready", "socket"] {
        fresh(&target, database, &plan).await;
    }
    let by_hand = match by_hand::make(workload.name) {
        Some(make) => {
            same_shapes(&target, &plan, make).await;
            Some(by_hand_side(server.uri(), clients, make, &plan))
        }
        None => None,
    };
    let (ready, socket) = (ready_side(server.uri(), clients), socket_side(server.uri(), clients));
    let thread = LoadThread::start(server.uri(), clients as u32, Duration::from_secs(5)).await.expect("a load thread");
    let mut recorder = Recorder::new(plan.operations.len(), TIMEOUT);
    let mut sides = Sides::default();
    let calls = calls * clients as u64;
    // The first two slices warm up.
    for slice in 0..slices as u64 + 2 {
        let range = slice * calls..(slice + 1) * calls;
        let commands = Arc::new(recording::record(&target, &plan, range.clone(), clients).await);
        // The first side changes from slice to slice.
        for place in 0..4 {
            match (slice + place) % 4 {
                0 => {
                    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
                    let job = Job { slice: slice_of(&plan, range.clone(), clients), recorder, intervals };
                    let result = thread.run(job).await.expect("the load thread");
                    assert!(result.fatal.is_none(), "{:?}", result.fatal);
                    let cpu = result.cpu_time.expect("Linux knows the time of a thread").as_secs_f64();
                    sides.harness.push(Speed { rate: calls as f64 / result.seconds, cpu: cpu * 1e6 / calls as f64 });
                    recorder = result.recorder;
                }
                1 => {
                    if let Some(by_hand) = &by_hand {
                        sides.by_hand.push(by_hand.slice(&commands).await);
                    }
                }
                2 => sides.ready.push(ready.slice(&commands).await),
                _ => sides.sockets.push(socket.slice(&commands).await),
            }
        }
    }
    for side in [&mut sides.harness, &mut sides.by_hand, &mut sides.ready, &mut sides.sockets] {
        side.drain(..side.len().min(2));
    }
    print_row(workload.name, clients, &sides);
}

/// Panics unless the hand-written loop sends commands of the same shapes as docshape.
async fn same_shapes(target: &MongoTarget, plan: &Plan, make: Make) {
    const CALLS: u64 = 500;
    let recorded = recording::record(target, plan, 1_000_000..1_000_000 + CALLS, 8).await;
    let commands = recorded.iter().flatten().map(|recorded| Document::try_from(&recorded.command).expect("a command"));
    let harness: BTreeSet<String> = commands.map(|command| by_hand::shape(&command.into())).collect();
    let mut draws = Draws::new(plan);
    let by_hand: BTreeSet<String> = (0..CALLS).map(|_| by_hand::shape(&make(&mut draws).into())).collect();
    assert_eq!(by_hand, harness, "the hand-written loop sends other commands");
}

fn by_hand_side(uri: String, clients: usize, make: Make, plan: &Plan) -> Side {
    let draws = Draws::new(plan);
    let state = async move || (driver::client(&uri, clients as u32).await.database("by-hand"), RefCell::new(draws));
    Side::start("by hand", state, async move |(database, draws): &mut (Database, RefCell<Draws>), calls: &Calls| {
        by_hand::slice(database, calls, clients, make, draws).await
    })
}

fn ready_side(uri: String, clients: usize) -> Side {
    let state = async move || driver::client(&uri, clients as u32).await.database("ready");
    Side::start("ready", state, async move |database: &mut Database, calls: &Calls| {
        driver::slice(database, calls, clients).await
    })
}

fn socket_side(uri: String, clients: usize) -> Side {
    let make = async move || Sockets::connect(&uri, clients).await;
    Side::start("sockets", make, async |sockets: &mut Sockets, calls: &Calls| sockets.slice("socket", calls).await)
}

fn slice_of(plan: &Arc<Plan>, calls: Range<u64>, clients: usize) -> Slice {
    Slice { timeout: TIMEOUT, ..Slice::new(plan, "harness", Load::closed(calls), clients) }
}

fn print_row(name: &str, clients: usize, sides: &Sides) {
    let Sides { harness, by_hand, ready, sockets } = sides;
    let column = |speeds: &[Speed], of: fn(&Speed) -> f64, decimals| number(speeds.iter().map(of).collect(), decimals);
    let ratio = |other: &[Speed], of: fn(&Speed) -> f64| {
        number(harness.iter().zip(other).map(|(a, b)| of(a) / of(b)).collect(), 3)
    };
    println!(
        "{name:<11} {clients:>7} {:>8} {:>9} {:>9} {:>9} {:>11} {:>9} {:>11} {:>9} {:>8} {:>8} {:>8} {:>11} {:>9}",
        column(harness, rate, 0),
        column(by_hand, rate, 0),
        column(ready, rate, 0),
        column(sockets, rate, 0),
        ratio(by_hand, rate),
        ratio(ready, rate),
        ratio(sockets, rate),
        column(harness, cpu, 1),
        column(by_hand, cpu, 1),
        column(ready, cpu, 1),
        column(sockets, cpu, 1),
        ratio(by_hand, cpu),
        ratio(ready, cpu),
    );
}

/// The median, or a dash without values.
fn number(values: Vec<f64>, decimals: usize) -> String {
    if values.is_empty() { "-".to_owned() } else { format!("{:.decimals$}", median(values)) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the CPU seconds of this thread.
fn thread_cpu() -> f64 {
    let time = ClockId::CLOCK_THREAD_CPUTIME_ID.now().expect("Linux knows the time of a thread");
    Duration::from(time).as_secs_f64()
}

/// Compares loading with a bare loop that inserts the same, prepared documents.
async fn load_speed(server: &EmbeddedMongod, quick: bool) {
    let plan = plan(POINT_CALLS, "reads");
    let target = MongoTarget::connect(&server.uri(), 1).await.expect("a client");
    let documents: Vec<RawDocumentBuf> = (0..POINTS)
        .map(|ordinal| match plan.data.whole(0, ordinal) {
            docshape::plan::Value::Record(record) => record.document().expect("a record").document().to_owned(),
            _ => unreachable!("whole gives records"),
        })
        .collect();
    let client = driver::client(&server.uri(), 1).await;
    let mut ratios = Vec::new();
    for _ in 0..if quick { 2 } else { 15 } {
        let ours = fresh(&target, "loaded", &plan).await;
        let points = client.database("bare-load").collection::<RawDocumentBuf>("points");
        points.drop().await.expect("an empty collection");
        client.database("bare-load").create_collection("points").await.expect("a collection");
        let begun = Instant::now();
        for batch in documents.chunks(1_000) {
            let concern = mongodb::options::WriteConcern::nodes(1);
            points.insert_many(batch).write_concern(concern).await.expect("points are inserted");
        }
        ratios.push(begun.elapsed().as_secs_f64() / ours);
    }
    println!("loading {POINTS} documents: {:.2} of the speed of a bare insertMany loop (aim >= 0.9)", median(ratios));
}
