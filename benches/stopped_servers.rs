//! What stopped servers cost the one that is measured: its calls per second and CPU time per call beside servers that are
//! suspended, and beside the same servers running idle, as ratios to those alone. Alone and beside alternate, and the order
//! within a pair changes.
//!
//! `-- --test` makes a short pass.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "arguments/mod.rs"]
mod arguments;
#[path = "server/mod.rs"]
mod server;

use std::cell::Cell;
use std::time::{Duration, Instant};

use bson::{RawArrayBuf, rawdoc};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use futures_util::future::join_all;

use arguments::Arguments;

const OTHERS: usize = 3;
const CLIENTS: u32 = 8;
const POINTS: i64 = 20_000;
/// After servers have started or ended.
const SETTLE: Duration = Duration::from_secs(1);

struct Loaded {
    server: EmbeddedMongod,
    target: MongoTarget,
}

async fn loaded() -> Loaded {
    let server = server::start().await;
    let target = MongoTarget::connect(&server.patient_uri(), CLIENTS).await.unwrap();
    target.warm().await.unwrap();
    for first in (0..POINTS).step_by(1_000) {
        let points = (first..first + 1_000).map(|id| rawdoc! { "_id": id, "text": "x".repeat(200) });
        let points: RawArrayBuf = points.collect();
        let insert = rawdoc! { "insert": "points", "documents": points };
        target.run("bench", insert, ReplyKind::Single).await.unwrap();
    }
    target.run("admin", rawdoc! { "fsync": 1 }, ReplyKind::Single).await.unwrap();
    Loaded { server, target }
}

/// How fast a server was.
#[derive(Clone, Copy, Default)]
struct Speed {
    /// Calls per second.
    rate: f64,
    /// The server's CPU time per call, in clock ticks.
    cpu: f64,
}

/// Eight clients make calls: nine of ten are point reads, the others updates.
async fn speed(Loaded { server, target }: &Loaded, length: Duration) -> Speed {
    let cpu = ticks(server.pid());
    let (begun, made) = (Instant::now(), Cell::new(0_i64));
    let client = async || {
        while begun.elapsed() < length {
            let call = made.replace(made.get() + 1);
            let id = call * 7_919 % POINTS;
            let (command, kind) = if call % 10 == 0 {
                let change = rawdoc! { "q": { "_id": id }, "u": { "$inc": { "n": 1 } } };
                (rawdoc! { "update": "points", "updates": [change] }, ReplyKind::Counts)
            } else {
                (rawdoc! { "find": "points", "filter": { "_id": id }, "limit": 1 }, ReplyKind::Cursor)
            };
            target.run("bench", command, kind).await.unwrap();
        }
    };
    join_all((0..CLIENTS).map(|_| client())).await;
    let made = made.get() as f64;
    Speed { rate: made / begun.elapsed().as_secs_f64(), cpu: (ticks(server.pid()) - cpu) as f64 / made }
}

/// The CPU time that a process has used in user and kernel mode, in clock ticks.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Beside suspended and beside idle servers; their order alternates.
async fn beside(own: &Loaded, length: Duration, is_suspended_first: bool) -> [Speed; 2] {
    let others = join_all((0..OTHERS).map(|_| loaded())).await;
    let mut speeds = [Speed::default(); 2];
    for kind in if is_suspended_first { [0, 1] } else { [1, 0] } {
        for other in &others {
            match kind {
                0 => other.server.suspend().await.unwrap(),
                _ => other.server.resume().unwrap(),
            }
        }
        tokio::time::sleep(SETTLE).await;
        speeds[kind] = speed(own, length).await;
    }
    speeds
}

async fn alone(own: &Loaded, length: Duration) -> Speed {
    tokio::time::sleep(SETTLE).await;
    speed(own, length).await
}

/// Prints the mean of ln(ratio) with its 95 % interval, in percent.
fn print(name: &str, logs: &[f64]) {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let sd = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let half = 2.0 * sd / n.sqrt();
    let percent = |log: f64| 100.0 * (log.exp() - 1.0);
    println!(
        "{name}: {:+.2} % ({:+.2} to {:+.2} %), standard deviation of ln(ratio) {sd:.4}, {n} pairs",
        percent(mean),
        percent(mean - half),
        percent(mean + half)
    );
}

fn main() {
    let (pairs, length) = if Arguments::read().quick { (2, 0.2) } else { (16, 3.0) };
    let length = Duration::from_secs_f64(length);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let own = loaded().await;
        speed(&own, length).await;
        let mut logs: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
        for pair in 0..pairs {
            // Alone comes first in half of the pairs.
            let (beside, alone) = if pair % 2 == 0 {
                let beside = beside(&own, length, pair % 4 == 0).await;
                (beside, alone(&own, length).await)
            } else {
                let alone = alone(&own, length).await;
                (beside(&own, length, pair % 4 == 1).await, alone)
            };
            for (logs, beside) in logs.iter_mut().zip(beside) {
                logs.push([(beside.rate / alone.rate).ln(), (beside.cpu / alone.cpu).ln()]);
            }
        }
        for (logs, others) in logs.iter().zip(["suspended", "idle"]) {
            for (place, measure) in ["calls per second", "CPU per call"].into_iter().enumerate() {
                let logs: Vec<f64> = logs.iter().map(|pair| pair[place]).collect();
                print(&format!("{OTHERS} {others} servers, {measure}"), &logs);
            }
        }
    });
}
