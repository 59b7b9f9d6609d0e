//! The rounds of all points of a sweep.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bson::rawdoc;
use tokio::time::Instant;

use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::output;
use crate::cli::report::{terminal, written};
use crate::cli::run::job::JobServers;
use crate::cli::run::rounds::{EarlyEnd, Rounds, status_after};
use crate::cli::run::{Invocation, LogWriter, record};
use crate::engine::{Experiment, FatalError, RoundPlan, RunError, shuffled};
use crate::generate::Label;
use crate::report::{HTML_FILE, Html, MARKDOWN_FILE, Markdown, Report};
use crate::results::{self, RunRecord, Status, SweepRecord};
use crate::server::client::MongoTarget;
use crate::server::namespace::Namespace;
use crate::server::turns::EndedServer;
use crate::server::{ReplyKind, Target};
use crate::studies::sweep::report::sweep_conclusion;

use super::points::Point;
use super::refine::refined;
use super::{Sweep, cache_bytes};

/// Labels the order of the points in a round.
const ORDER: Label = Label::new("order of points");

/// A point while it is measured.
struct Turn<'t> {
    experiment: Experiment<'t, MongoTarget, MongoTarget>,
    folder: PathBuf,
    log: &'t LogWriter,
    record: RunRecord,
    /// The calls of its rounds; `None` before its pilot.
    plan: Option<RoundPlan>,
    /// The bytes of its cache, when that is varied.
    cache: Option<f64>,
    /// Why it has ended early.
    error: Option<RunError>,
}

/// Measures all points, then those that `--refine` adds, and writes and prints the report.
///
/// # Errors
/// When the sweep ends early; complete rounds are saved.
pub async fn measure(mut sweep: Sweep, measured: JobServers<'_>, namespace: Namespace) -> Result<Exit, CliError> {
    let (mut runs, mut error) = measure_points(&mut sweep, &measured, &namespace).await?;
    if error.is_none() && sweep.refine > 0 {
        let values = refined(&sweep.record, &runs, sweep.refine);
        if values.is_empty() {
            output::message("--refine adds nothing: no order of two strategies differs between the values\n");
        } else {
            output::message(&format!("--refine adds {}\n", values.join(", ")));
            sweep.add(values, runs)?;
            (runs, error) = measure_points(&mut sweep, &measured, &namespace).await?;
        }
    }
    let Sweep { mut record, folder, .. } = sweep;
    conclude(&mut record, &runs, &folder)?;
    match error {
        Some(error) => Err(error.with(&format!("resume it with docshape sweep --resume {}", folder.display()))),
        None if record.complete => Ok(Exit::Success),
        None => Ok(Exit::Invalid),
    }
}

/// Runs the rounds that points lack. Returns the runs of all points, and why it ended early.
async fn measure_points(
    sweep: &mut Sweep,
    measured: &JobServers<'_>,
    namespace: &Namespace,
) -> Result<(Vec<RunRecord>, Option<CliError>), CliError> {
    let Sweep { settings: common, points, record, folder, invocation, .. } = sweep;
    let started = Instant::now();
    let mut records = Vec::new();
    for point in points.iter() {
        let path = point.path(folder);
        fs::create_dir_all(&path).map_err(|error| write_error(&path, &error))?;
        records.push(begin(point, common, measured, invocation));
        results::save(&records[records.len() - 1], &path)?;
    }
    save(record, folder)?;
    let logs = points.iter().zip(&records);
    let logs = logs.map(|(point, record)| LogWriter::open(&point.path(folder), record, record::started(record)));
    let logs = logs.collect::<Result<Vec<_>, _>>()?;
    let turns = points.iter().zip(records).zip(&logs).map(|((point, record), log)| Turn {
        experiment: Experiment {
            plan: point.ready.plan.clone(),
            settings: record.settings.clone(),
            namespace: namespace.clone(),
            keep: false,
            servers: measured.servers,
            observer: log,
            stop: measured.stop.clone(),
            started,
        },
        folder: point.path(folder),
        log,
        record,
        plan: None,
        cache: point.cache.map(|ratio| cache_bytes(point, ratio)),
        error: None,
    });
    let mut turns: Vec<Turn> = turns.collect();
    let arms: Vec<String> = points[0].ready.plan.arms.iter().map(|arm| arm.name.clone()).collect();
    let lost = async {
        let EndedServer { server, reason } = measured.servers.ended().await;
        EarlyEnd::Engine(FatalError::ServerLost(format!("strategy {}: {reason}", arms[server])).into())
    };
    let result = tokio::select! {
        result = interleaved(&mut turns, record, folder) => result,
        lost = lost => Err(lost),
    };
    let (status, error) = match result {
        Ok(()) => (Status::Complete, None),
        Err(EarlyEnd::Engine(error)) => (status_after(&error), Some(CliError::from(error))),
        Err(EarlyEnd::Write(error)) => return Err(error),
    };
    let mut runs = Vec::new();
    for (turn, point) in turns.into_iter().zip(&mut record.points) {
        let mut run = turn.record;
        run.status = turn.error.as_ref().map_or_else(|| status.clone(), status_after);
        results::save(&run, &turn.folder)?;
        point.rounds = run.complete_rounds() as u64;
        point.error = turn.error.map(|error| error.to_string()).or_else(|| invalid_reason(&run));
        runs.push(run);
    }
    record.complete = error.is_none() && record.points.iter().all(|point| point.error.is_none());
    save(record, folder)?;
    Ok((runs, error))
}

/// Why the times of a point may not be used.
fn invalid_reason(run: &RunRecord) -> Option<String> {
    Report::new(run).headline.invalid.into_iter().next()
}

/// The record of a point before its next round.
fn begin(
    point: &Point,
    common: &results::RunSettings,
    measured: &JobServers<'_>,
    invocation: &Invocation,
) -> RunRecord {
    if let Some(record) = &point.resumed {
        return record.clone();
    }
    let mut settings = point.settings.clone();
    settings.shared_mongod.clone_from(&common.shared_mongod);
    settings.cache_gb = common.cache_gb;
    let mut server = measured.server.clone();
    if let Some(ratio) = point.cache {
        let bytes = cache_bytes(point, ratio);
        settings.cache_gb = Some(bytes / 1e9);
        server.cache_bytes = Some(bytes as u64);
    }
    let run = record::begin(settings, &point.ready, server, invocation);
    RunRecord { verification: measured.verification.clone(), warnings: measured.warnings.clone(), ..run }
}

/// Runs every round of all points, in a new order each time, the pilot of a point before its first one.
async fn interleaved(turns: &mut [Turn<'_>], sweep: &mut SweepRecord, folder: &Path) -> Result<(), EarlyEnd> {
    let started = Instant::now();
    let rounds = turns.iter().map(|turn| turn.record.settings.rounds).max().unwrap_or(0);
    let missing = |turn: &Turn| turn.record.settings.rounds.saturating_sub(turn.record.complete_rounds() as u64);
    let total: u64 = turns.iter().map(missing).sum();
    let mut done = 0;
    for round in 0..rounds {
        for place in shuffled(turns.len(), turns[0].experiment.plan.round_seed(round), ORDER, round) {
            let turn = &mut turns[place];
            if turn.error.is_some() || turn.record.complete_rounds() as u64 > round {
                continue;
            }
            match turn.round(round).await {
                Err(EarlyEnd::Engine(error)) if !error.is_server_lost() && !matches!(error, RunError::Interrupted) => {
                    output::message(&format!("{}: {error}; the other points go on\n", turn.name()));
                    turn.error = Some(error);
                }
                result => result?,
            }
            done += 1;
            let left = started.elapsed().mul_f64((total - done) as f64 / done as f64);
            let left = if done < total { format!(", about {} left", rough(left)) } else { String::new() };
            output::message(&format!("round {} of {rounds}: {} [{done} of {total}{left}]\n", round + 1, turn.name()));
            sweep.points[place].rounds = turn.record.complete_rounds() as u64;
            save(sweep, folder).map_err(EarlyEnd::Write)?;
        }
    }
    Ok(())
}

impl Turn<'_> {
    fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    async fn round(&mut self, round: u64) -> Result<(), EarlyEnd> {
        self.set_cache().await.map_err(EarlyEnd::Engine)?;
        let rounds = Rounds::new(&self.folder, None, self.record.complete_rounds());
        let plan = match self.plan {
            Some(plan) => plan,
            None => rounds.prepare(&mut self.experiment, &mut self.record).await?,
        };
        self.plan = Some(plan);
        rounds.round(&self.experiment, plan, round, self.log, &mut self.record).await
    }

    /// Gives all servers the cache of this point.
    async fn set_cache(&self) -> Result<(), RunError> {
        let Some(bytes) = self.cache else { return Ok(()) };
        let size = format!("cache_size={}M", (bytes / 1e6).round());
        for arm in 0..self.experiment.plan.arms.len() {
            self.experiment.turn(arm).await?;
            let command = rawdoc! { "setParameter": 1, "wiredTigerEngineRuntimeConfig": size.as_str() };
            let set = self.experiment.target(arm).run("admin", command, ReplyKind::Single).await;
            set.map_err(|failure| RunError::Inspect {
                strategy: self.experiment.plan.arms[arm].name.clone(),
                failure,
            })?;
        }
        Ok(())
    }
}

/// A length of time for people.
fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 90 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

fn save(record: &SweepRecord, folder: &Path) -> Result<(), CliError> {
    Ok(results::save_document(record, folder)?)
}

/// Writes and prints the report.
pub fn conclude(record: &mut SweepRecord, runs: &[RunRecord], folder: &Path) -> Result<(), CliError> {
    record.conclusion = sweep_conclusion(record, runs);
    save(record, folder)?;
    let report = Report::of_sweep(record, runs).in_folder(&folder.display().to_string());
    for (name, text) in [(MARKDOWN_FILE, written(&Markdown, &report)), (HTML_FILE, written(&Html, &report))] {
        let path = folder.join(name);
        results::write_whole(&path, &text).map_err(|error| write_error(&path, &error))?;
    }
    output::print(&terminal(&report))
}
