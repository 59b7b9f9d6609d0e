//! Times every operation of every safe strategy with criterion, one call after another. Shows quickly how a change of a
//! scenario, an index or a server affects single calls.
//!
//! It is not a verdict, for which use `docshape run`: calls are not concurrent, strategies do not alternate, and the data
//! hardly grow.
//!
//! `cargo bench --bench strategies -- blog-comments/read_post` filters by SCENARIO/OPERATION/STRATEGY.
#![allow(clippy::print_stdout, missing_docs)]

mod arguments;
mod scenario;
mod server;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode};
use docshape::cli::catalogue::SCENARIOS;
use docshape::compile::Choice;
use docshape::engine::{Interpreter, Loader, StopFlag};
use docshape::plan::{Plan, call_id};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use tokio::runtime::Runtime;

use arguments::Arguments;
use server::fail;

/// Calls per sample, whatever criterion requests, so that documents grow equally in every sample.
const CALLS: u64 = 64;

/// Untimed calls before each sample.
const WARM_UP: u64 = 8;

/// A quick pass runs one in this many benchmarks.
const TESTED: u64 = 10;

/// The mix whose parameters make the smallest data, for a quick pass.
const SMALL: &str = "verify";

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(1))
        .configure_from_args();
    let bench = Bench::new(Arguments::read().quick);
    for (name, text) in SCENARIOS {
        bench.scenario(&mut criterion, name, text);
    }
    criterion.final_summary();
    bench.end();
}

/// A server and its client.
struct Connection {
    server: EmbeddedMongod,
    target: MongoTarget,
}

/// State that all benchmarks share.
struct Bench {
    runtime: Runtime,
    is_test: bool,
    /// Created by the first benchmark that runs, because a filter may exclude all.
    connection: RefCell<Option<Connection>>,
    /// Scenario and database that contain loaded data which no call has changed.
    filled: RefCell<Option<String>>,
    samples: Cell<u64>,
    /// Benchmarks met so far.
    seen: Cell<u64>,
}

impl Bench {
    fn new(is_test: bool) -> Bench {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| fail(&format!("no runtime: {error}")));
        let (connection, filled) = (RefCell::default(), RefCell::default());
        let (samples, seen) = Default::default();
        Bench { runtime, is_test, connection, filled, samples, seen }
    }

    fn scenario(&self, criterion: &mut Criterion, name: &str, text: &str) {
        let plan = compiled(name, text, self.is_test);
        for operation in 0..plan.operations.len() {
            let mut group = criterion.benchmark_group(format!("{name}/{}", plan.operations[operation].name));
            // Samples have equal lengths: the number of calls does not depend on their duration.
            group.sampling_mode(SamplingMode::Flat);
            for arm in (0..plan.arms.len()).filter(|arm| !plan.arms[*arm].is_unsafe) {
                if self.is_test && !self.seen.replace(self.seen.get() + 1).is_multiple_of(TESTED) {
                    continue;
                }
                group.bench_function(&plan.arms[arm].name, |bencher| {
                    bencher.iter_custom(|iterations| {
                        let calls = if self.is_test { 1 } else { CALLS };
                        let took = self.sample(&plan, (arm, operation), calls);
                        took.mul_f64(iterations as f64 / calls as f64)
                    });
                });
            }
            group.finish();
        }
    }

    /// Times `calls` sequential calls.
    fn sample(&self, plan: &Plan, (arm, operation): (usize, usize), calls: u64) -> Duration {
        self.samples.set(self.samples.get() + 1);
        let connection = self.connection.take().unwrap_or_else(|| self.runtime.block_on(connect()));
        let made = self.runtime.block_on(self.calls(&connection.target, plan, (arm, operation), calls));
        match made {
            Ok(took) => {
                self.connection.replace(Some(connection));
                took
            }
            Err(message) => {
                let (arm, operation) = (&plan.arms[arm].name, &plan.operations[operation].name);
                let ended = connection.server.ended().map_or(String::new(), |error| format!("; {error}"));
                // `fail` exits without drops; dropping the server removes its files.
                drop(connection);
                fail(&format!("{}, strategy {arm}, operation {operation}: {message}{ended}", plan.name))
            }
        }
    }

    async fn calls(
        &self,
        target: &MongoTarget,
        plan: &Plan,
        (arm, operation): (usize, usize),
        calls: u64,
    ) -> Result<Duration, String> {
        let database = format!("bench-{}", plan.arms[arm].name);
        if self.filled.take() != Some(format!("{} {database}", plan.name)) {
            fill(target, &database, plan, arm).await?;
        }
        let program = &plan.arms[arm].operations[operation];
        let mut took = Duration::ZERO;
        for number in 0..WARM_UP + calls {
            let drawn =
                plan.arguments(operation, plan.round_seed(0), call_id::sample(operation, number), program.slots);
            let mut frame = drawn.map_err(|error| error.to_string())?;
            let mut interpreter = Interpreter::new(target, &database);
            let begun = Instant::now();
            interpreter.run(program, &mut frame).await.map_err(|halt| halt.to_string())?;
            if number >= WARM_UP {
                took += begun.elapsed();
            }
        }
        // An operation with a result and without `serial` is a read, so the data can be reused.
        let operation = &plan.operations[operation];
        if operation.returns.is_some() && operation.serial.is_none() {
            *self.filled.borrow_mut() = Some(format!("{} {database}", plan.name));
        }
        Ok(took)
    }

    /// Prints a hint if the filter excluded every benchmark.
    fn end(self) {
        let listed = std::env::args().any(|argument| argument == "--list");
        if self.samples.get() == 0 && !listed {
            let names: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
            println!(
                "strategies: no benchmark matches; names are SCENARIO/OPERATION/STRATEGY with the scenarios {}; `-- --list` \
                 prints all",
                names.join(", ")
            );
        }
    }
}

async fn connect() -> Connection {
    println!(
        "One call after another on fresh data: shows changes, gives no verdict. `docshape run` compares strategies."
    );
    let server = server::start().await;
    let target = MongoTarget::connect(&server.uri(), 1).await;
    let target = target.unwrap_or_else(|error| fail(&error.to_string()));
    Connection { server, target }
}

/// A scenario with all its strategies.
fn compiled(name: &str, text: &str, is_small: bool) -> Plan {
    let choice = if is_small { scenario::mix(SMALL) } else { Choice::default() };
    scenario::plan(name, text, &Choice { all: true, ..choice })
}

async fn fill(target: &MongoTarget, database: &str, plan: &Plan, arm: usize) -> Result<(), String> {
    let dropped = target.run(database, bson::rawdoc! { "dropDatabase": 1 }, ReplyKind::Single).await;
    dropped.map_err(|failure| failure.to_string())?;
    let loader = Loader { plan, arm: &plan.arms[arm], target, database, observer: &(), stop: &StopFlag::default() };
    loader.run().await.map(drop).map_err(|error| error.to_string())
}
