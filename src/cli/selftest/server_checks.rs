//! What docshape adds to a call on this server, and whether its times agree with the server's.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use bson::rawdoc;
use tokio::time::Instant;

use crate::cli::exit::CliError;
use crate::cli::output;
use crate::cli::run::{Invocation, record};
use crate::cli::session::Session;
use crate::engine::{Experiment, Load, LoadThread, Loader, RoundPlan, Servers, Slice, StopFlag, arm_database};
use crate::plan::Plan;
use crate::record::{OperationMeasures, Recorder};
use crate::report::{Evaluation, counted};
use crate::results::{Part, Preset, RunSettings, Status};
use crate::server::client::MongoTarget;
use crate::server::cluster::Cluster;
use crate::server::meter::{Meter, Usage};
use crate::server::namespace::Namespace;
use crate::server::{ReplyKind, Target};
use crate::stats::SharedCache;

use super::load_checks::{check_fatal, job};
use super::{MachineCheck, ready};

/// Slices through docshape and through a bare loop, in turn.
const SLICES: usize = 30;
/// Calls of a slice.
const CALLS: u64 = 250;
/// docshape makes at least this share of the calls of a bare loop on the driver.
const LEAST: f64 = 0.90;
/// The most time per call outside the server: network, driver and scheduling.
const AROUND: Duration = Duration::from_millis(1);
/// Seconds of a strategy's window in a round of identical strategies.
const WINDOW_SECONDS: f64 = 1.0;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Checks point reads of one client.
pub(super) async fn one_client(session: &Session, namespace: &Namespace) -> Result<Vec<MachineCheck>, CliError> {
    let plan = ready("reads", &["one"], false)?.plan;
    let (target, thread) = (session.client(1).await?, session.load_thread(1).await?);
    let database = arm_database(&namespace.names, &plan.arms[0]);
    namespace.create(&target, &database).await?;
    let reads = Reads { target: &target, thread, plan, database: &database, next: Cell::new(0), stop: &session.stop };
    let checks = reads.checks().await;
    namespace.drop(&target, &database).await?;
    checks
}

/// The shards and the balancer of a cluster; `None` for a replica set.
pub(super) async fn cluster(session: &Session) -> Option<MachineCheck> {
    let found = match Cluster::find(&session.target).await {
        Ok(cluster) => {
            let balancer = match Cluster::balances(&session.target).await {
                Some(true) => "on",
                Some(false) => "off",
                None => "not known",
            };
            format!("{}, balancer {balancer}", counted(cluster?.shards.len() as u64, "shard"))
        }
        Err(failure) => failure.to_string(),
    };
    Some(MachineCheck::note("cluster", found))
}

/// Point reads by one client.
struct Reads<'t> {
    target: &'t MongoTarget,
    thread: LoadThread,
    plan: Arc<Plan>,
    database: &'t str,
    /// The index of the next call.
    next: Cell<u64>,
    stop: &'t StopFlag,
}

impl Reads<'_> {
    async fn checks(&self) -> Result<Vec<MachineCheck>, CliError> {
        let Reads { target, plan, database, stop, .. } = self;
        Loader { plan, arm: &plan.arms[0], target: *target, database, observer: &(), stop }.run().await?;
        self.harness().await?;
        Ok(vec![self.overhead().await?, self.agreement().await?])
    }

    /// A slice through docshape: what was measured, and the seconds that it took.
    async fn harness(&self) -> Result<(OperationMeasures, f64), CliError> {
        let recorder = Recorder::new(self.plan.operations.len(), TIMEOUT);
        let start = self.next.replace(self.next.get() + CALLS);
        let slice = Slice::new(&self.plan, self.database, Load::closed(start..start + CALLS), 1);
        let result = self.thread.run(job(slice, recorder)).await;
        let result = check_fatal(result?)?;
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
            let reply = self.target.run(self.database, command, ReplyKind::Cursor).await;
            reply.map_err(|failure| CliError::failure(failure.to_string()))?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    async fn overhead(&self) -> Result<MachineCheck, CliError> {
        let mut ratios = Vec::new();
        for _ in 0..SLICES {
            self.stop.check()?;
            let (_, harness) = self.harness().await?;
            ratios.push(self.bare().await? / harness);
        }
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[SLICES / 2];
        Ok(MachineCheck {
            name: "overhead",
            found: format!(
                "docshape makes {ratio:.2} of the calls of a bare loop on the driver (point reads, one client)"
            ),
            expected: format!("at least {LEAST}"),
            passed: ratio >= LEAST,
        })
    }

    /// The server measures its own part of a call: it cannot take longer than the whole.
    async fn agreement(&self) -> Result<MachineCheck, CliError> {
        let (mut meter, mut usage) = (Meter::new(self.target).await, Usage::default());
        let (mut calls, mut nanoseconds) = (0, 0);
        for _ in 0..SLICES {
            self.stop.check()?;
            meter.begin(self.target).await;
            let (read, _) = self.harness().await?;
            meter.end(self.target, self.database, &mut usage).await;
            calls += read.calls;
            nanoseconds += read.outcomes.iter().map(|(_, times)| times.sum()).sum::<u64>();
        }
        let counters = meter.cost(&usage);
        let client = nanoseconds as f64 / calls as f64 / 1e3;
        let counter = |name| counters.get(name).copied();
        let Some((microseconds, reads)) = counter("op_latency_reads_us").zip(counter("op_latency_reads_ops")) else {
            let found = "the server does not report opLatencies; `docshape rights` prints the right for it";
            return Ok(MachineCheck::note("agreement", found.to_owned()));
        };
        let server = microseconds / reads;
        let around = client - server;
        Ok(MachineCheck {
            name: "agreement",
            found: format!(
                "a read takes {client:.0} us, {server:.0} us of them in the server, which counted {reads:.0} reads for {calls} calls"
            ),
            expected: format!("equal counts, at most {} us outside the server", AROUND.as_micros()),
            passed: (0.0..AROUND.as_micros() as f64).contains(&around) && (reads - calls as f64).abs() < 1.0,
        })
    }
}

/// A short run of two strategies that are the same.
pub(super) async fn identical(session: &Session, namespace: &Namespace, rounds: u64) -> Result<MachineCheck, CliError> {
    let invocation = Invocation::now();
    let settings = RunSettings { rounds, parts: vec![Part::Saturation], ..RunSettings::of(Preset::Quick) };
    let ready = ready("default", &["one", "other"], true)?;
    let load_threads = session.load_threads(settings.clients as u64, settings.threads as u64).await?;
    let mut record = record::begin(settings, &ready, session.record(), &invocation);
    let experiment = Experiment {
        plan: ready.plan,
        settings: record.settings.clone(),
        namespace: namespace.clone(),
        keep: false,
        servers: Servers::Shared { target: &session.target, load_threads: &load_threads },
        observer: &(),
        stop: session.stop.clone(),
        started: Instant::now(),
    };
    let pilot = experiment.pilot(WINDOW_SECONDS / 2.0).await?;
    let calls = (pilot.slowest() * WINDOW_SECONDS) as u64;
    let plan = RoundPlan::saturation(calls, calls / 4);
    record.settings.calls = Some(calls);
    for round in 0..rounds {
        output::message(&format!("identical strategies: round {} of {rounds}\n", round + 1));
        record.add_round(experiment.round(round, plan).await?.parts);
    }
    record.status = Status::Complete;
    let run = Evaluation::new(&record.part(Part::Saturation).unwrap_or(record), None, &SharedCache::default());
    let cells = || run.rows.iter().flat_map(|row| &row.cells);
    let claims = cells().filter(|cell| run.difference(cell).is_some()).count();
    let compared = cells().filter(|cell| cell.comparison.as_ref().is_some_and(|one| one.p.is_some())).count();
    Ok(MachineCheck {
        name: "false differences",
        found: format!("{claims} differences in {compared} comparisons of a strategy with itself, {rounds} rounds"),
        expected: "none, except by chance in 1 of 20 runs".into(),
        passed: claims == 0,
    })
}
