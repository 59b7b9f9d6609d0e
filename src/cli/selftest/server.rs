//! What docshape adds to a call on this server, and whether its times and verdicts agree with what is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bson::rawdoc;
use clap::Parser;
use tokio::time::Instant;

use crate::engine::{Experiment, LoadThread, Loader, RunError, Settings, Slice, Stop, Window};
use crate::plan::Plan;
use crate::record::{OperationMeasures, Recorder};
use crate::report::Report;
use crate::results::{LoadModel, Status};
use crate::server::client::MongoTarget;
use crate::server::meter::{Meter, Usage};
use crate::server::{ReplyKind, Target, namespace};

use super::super::argument::{Arguments, Command};
use super::super::exit::{CliError, Exit};
use super::super::output;
use super::super::record;
use super::super::run::identity;
use super::super::session::Session;
use super::generator::{job, slice, sound};
use super::{Finding, ready};

/// Slices through docshape and through a bare loop, in turn.
const SLICES: usize = 30;
/// Calls of a slice.
const CALLS: u64 = 250;
/// docshape makes at least this share of the calls of a bare loop on the driver.
const LEAST: f64 = 0.90;
/// The client's time may be so much longer than the server's own: network, driver and scheduling.
const AROUND: Duration = Duration::from_millis(1);
/// Seconds of a strategy's window in a round of identical strategies.
const WINDOW_SECONDS: f64 = 1.0;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Questions to one worker that reads.
pub(super) async fn single(session: &Session) -> Result<Vec<Finding>, CliError> {
    let plan = Arc::new(ready("reads", &["one"], false)?.plan);
    let (target, thread) = (session.client(1).await?, session.load_thread(1).await?);
    let (id, _) = identity();
    let database = namespace::database_name(&plan.name, "one", &id);
    let made = namespace::create(&target, &database, &id).await;
    made.map_err(|error| CliError::server(error.to_string()))?;
    let found = measured((&target, &thread), (&plan, &database), &session.stop).await;
    namespace::drop_marked(&target, &database).await.map_err(|error| CliError::server(error.to_string()))?;
    found
}

async fn measured(
    (target, thread): (&MongoTarget, &LoadThread),
    (plan, database): (&Arc<Plan>, &str),
    stop: &Stop,
) -> Result<Vec<Finding>, CliError> {
    let loader = Loader { plan, arm: &plan.arms[0], target, database, observer: &(), stop: &|| stop.is_set() };
    loader.run().await.map_err(|error| CliError::server(error.to_string()))?;
    let reads = Reads { target, thread, plan, database: database.into(), next: Arc::new(AtomicU64::new(0)), stop };
    reads.harness().await?;
    Ok(vec![reads.overhead().await?, reads.agreement().await?])
}

/// Point reads by one worker.
struct Reads<'t> {
    target: &'t MongoTarget,
    thread: &'t LoadThread,
    plan: &'t Arc<Plan>,
    database: Arc<str>,
    next: Arc<AtomicU64>,
    stop: &'t Stop,
}

impl Reads<'_> {
    fn check_stop(&self) -> Result<(), CliError> {
        if self.stop.is_set() { Err(ended(RunError::Interrupted)) } else { Ok(()) }
    }

    /// A slice through docshape: what was measured, and the seconds that it took.
    async fn harness(&self) -> Result<(OperationMeasures, f64), CliError> {
        let recorder = Recorder::new(self.plan.operations.len(), TIMEOUT);
        let end = self.next.load(Ordering::Relaxed) + CALLS;
        let next = Arc::clone(&self.next);
        let slice = Slice { workers: 1, database: Arc::clone(&self.database), next, ..slice(self.plan, None, end) };
        let result = self.thread.run(job(slice, recorder)).await;
        let result = sound(result.map_err(|error| CliError::server(error.to_string()))?)?;
        // The worker that found no call left has counted on.
        self.next.store(end, Ordering::Relaxed);
        Ok((result.recorder.finish().swap_remove(0), result.seconds))
    }

    /// The same number of reads in a plain loop: the seconds that it took.
    async fn bare(&self) -> Result<f64, CliError> {
        let begun = Instant::now();
        for id in 0..CALLS as i64 {
            let command = rawdoc! {
                "find": "points", "filter": { "_id": id }, "limit": 1, "singleBatch": true,
                "readConcern": { "level": &*self.plan.concerns.read },
            };
            let reply = self.target.run(&self.database, command, ReplyKind::Cursor).await;
            reply.map_err(|failure| CliError::server(failure.to_string()))?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    async fn overhead(&self) -> Result<Finding, CliError> {
        let mut ratios = Vec::new();
        for _ in 0..SLICES {
            self.check_stop()?;
            let (_, harness) = self.harness().await?;
            ratios.push(self.bare().await? / harness);
        }
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[SLICES / 2];
        Ok(Finding {
            name: "overhead",
            found: format!(
                "docshape makes {ratio:.2} of the calls of a bare loop on the driver (point reads, one worker)"
            ),
            wanted: format!("at least {LEAST}"),
            passed: ratio >= LEAST,
        })
    }

    /// The server measures its own part of a call: it cannot take longer than the whole.
    async fn agreement(&self) -> Result<Finding, CliError> {
        let (mut meter, mut usage) = (Meter::new(self.target).await, Usage::default());
        let (mut calls, mut nanoseconds) = (0, 0);
        for _ in 0..SLICES {
            self.check_stop()?;
            meter.begin(self.target).await;
            let (read, _) = self.harness().await?;
            meter.end(self.target, &self.database, &mut usage).await;
            calls += read.calls;
            nanoseconds += read.outcomes.iter().map(|(_, times)| times.sum()).sum::<u64>();
        }
        let counters = meter.cost(&usage);
        let client = nanoseconds as f64 / calls as f64 / 1e3;
        let counter = |name| counters.get(name).copied();
        Ok(match counter("op_latency_reads_us").zip(counter("op_latency_reads_ops")) {
            None => Finding {
                name: "agreement",
                found: "the server does not tell its opLatencies; its user needs the role clusterMonitor".into(),
                wanted: String::new(),
                passed: true,
            },
            Some((microseconds, reads)) => {
                let server = microseconds / reads;
                let around = client - server;
                Finding {
                    name: "agreement",
                    found: format!(
                        "a read takes {client:.0} us here, {server:.0} us of them in the server; {calls} calls here, \
                         {reads:.0} reads there"
                    ),
                    wanted: format!("equal counts, and 0 to {} us around the server", AROUND.as_micros()),
                    passed: (0.0..AROUND.as_micros() as f64).contains(&around) && (reads - calls as f64).abs() < 1.0,
                }
            }
        })
    }
}

/// A short run of two strategies that are the same.
pub(super) async fn identical(session: &Session, rounds: u64) -> Result<Finding, CliError> {
    let (id, now) = identity();
    let line = ["docshape", "run", "selftest", "--rounds", &rounds.to_string()].map(str::to_owned);
    let Ok(Arguments { command: Command::Run(arguments) }) = Arguments::try_parse_from(line) else {
        return Err(CliError::usage(format!("a run cannot have {rounds} rounds")));
    };
    let ready = ready("default", &["one", "other"], true)?;
    let generators = session.generators(arguments.workers(), arguments.threads).await?;
    let mut record = record::begin((&arguments, &ready), &session.facts, session.embedded, (&id, now));
    let experiment = Experiment {
        plan: Arc::new(ready.plan),
        settings: Settings {
            id,
            load: LoadModel::Closed,
            workers: record.settings.workers,
            slices: record.settings.slices,
            isolated: false,
            timeout: TIMEOUT,
            keep: false,
        },
        target: &session.target,
        generators: &generators,
        observer: &(),
        stop: session.stop.clone(),
        started: Instant::now(),
    };
    let pilot = experiment.pilot(WINDOW_SECONDS / 2.0).await.map_err(ended)?;
    let calls = (pilot.rate * WINDOW_SECONDS) as u64;
    let window = Window::Calls { calls, warmup: calls / 4, seconds: Some(WINDOW_SECONDS) };
    record.settings.calls = Some(calls);
    for round in 0..rounds {
        output::tell(&format!("identical strategies: round {} of {rounds}\n", round + 1));
        record.rounds.push(experiment.round(round, window).await.map_err(ended)?.0);
    }
    record.status = Status::Complete;
    let report = Report::new(&record);
    let cells = || report.rows.iter().flat_map(|row| &row.cells);
    let claims = cells().filter(|cell| report.claimed(cell).is_some()).count();
    let compared = cells().filter(|cell| cell.comparison.as_ref().is_some_and(|one| one.p.is_some())).count();
    Ok(Finding {
        name: "false alarms, real",
        found: format!("{claims} claims in {compared} comparisons of a strategy with itself, {rounds} rounds"),
        wanted: "none; 1 run of 20 has some by chance".into(),
        passed: claims == 0,
    })
}

fn ended(error: RunError) -> CliError {
    let exit = if matches!(error, RunError::Interrupted) { Exit::Interrupted } else { Exit::Server };
    CliError { exit, message: error.to_string() }
}
