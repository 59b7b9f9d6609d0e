//! The points of a sweep while they are measured, and its report.

use std::path::Path;

use crate::campaign::{EarlyEnd, Interleaving, Point, Rounds, carry_out, status};
use crate::cli::next::NextCommand;
use crate::cli::progress::Progress;
use crate::cli::report::conclude_study;
use crate::cli::run::{JobServers, PointSetup, resume};
use crate::cli::{CliError, Exit, output};
use crate::report::Report;
use crate::results::{self, RunRecord, StudyKind};
use crate::server::client::MongoTarget;
use crate::studies::sweep::record::{SweepRecord, condition_number};
use crate::studies::sweep::report::sweep_conclusion;
use crate::studies::sweep::swept::Swept;

use super::refine::refined;
use super::{Sweep, runs_of_points};

/// Measures all points, then those that `--refine` adds, and writes and prints the report.
///
/// # Errors
/// When the sweep ends early; complete rounds are saved.
pub async fn measure(mut sweep: Sweep, points: Vec<PointSetup>, servers: &JobServers<'_>) -> Result<Exit, CliError> {
    if let Some(first) = points.first() {
        // Without those that the server cannot run.
        sweep.base.choice.all = false;
        sweep.base.choice.strategies = first.ready.plan.arms.iter().map(|arm| arm.name.clone()).collect();
    }
    let mut result = sweep.measure_points(points, servers).await?;
    if let Some(refine) = sweep.record.refine.take_if(|_| result.is_ok()) {
        let values = refined(&sweep.record, &runs_of_points(&sweep.record, &sweep.folder)?, refine.values);
        if values.is_empty() {
            output::line("--refine adds nothing: no order of two strategies differs between the values");
        } else {
            output::line(&format!("--refine adds {}", values.join(", ")));
            let points = sweep.add(&values)?;
            result = sweep.measure_points(points, servers).await?;
        }
    }
    let Sweep { mut record, folder, .. } = sweep;
    let runs = runs_of_points(&record, &folder)?;
    let rounds: usize = runs.iter().map(RunRecord::complete_rounds).sum();
    record.complete = result.is_ok() && record.points.iter().all(|point| point.error.is_none());
    resume::end(result, (StudyKind::Sweep, &folder), (rounds, "round"), |_| {
        conclude(&mut record, &runs, &folder)?;
        Ok(if record.complete { Exit::Success } else { Exit::Invalid })
    })
}

impl Sweep {
    /// Runs the rounds that points lack. Returns what ended it early.
    async fn measure_points(
        &mut self,
        setups: Vec<PointSetup>,
        servers: &JobServers<'_>,
    ) -> Result<Result<(), EarlyEnd>, CliError> {
        let all = servers.begin_all(setups)?;
        let points = all.iter().map(|begun| servers.point(begun, &begun.log, false)).collect();
        let (begun, folder) = (self.record.clone(), self.folder.clone());
        let save = |points: &[Point<'_, MongoTarget, MongoTarget>]| {
            let mut record = begun.clone();
            note(&mut record, points);
            results::save_document(&record, &folder)
        };
        let mut rounds = Rounds { points, at: 0, interleaving: Interleaving::Apart, save_together: &save };
        let drawn = Progress::on_terminal("pilots");
        let say = |line: &str| Progress::say(drawn.as_ref(), line);
        let result = carry_out(&mut rounds, servers.servers.ended(), &say).await;
        drop(drawn);
        let mut points = rounds.points;
        if !matches!(result, Err(EarlyEnd::Write(_))) {
            points.iter_mut().try_for_each(|point| point.end(status(&result)))?;
        }
        note(&mut self.record, &points);
        for point in points.iter().filter(|point| point.error.is_none()) {
            let records = self.record.points.iter_mut().filter(|record| point.folder.ends_with(&record.folder));
            // Why its times may not be used.
            let invalid = Report::new(&point.record).headline.invalid.into_iter().next();
            records.for_each(|record| record.error.clone_from(&invalid));
        }
        Ok(result)
    }
}

/// Notes the complete rounds of points, and why they have no more.
fn note(sweep: &mut SweepRecord, points: &[Point<'_, MongoTarget, MongoTarget>]) {
    for point in points {
        for record in sweep.points.iter_mut().filter(|record| point.folder.ends_with(&record.folder)) {
            record.rounds = point.saved as u64;
            record.error = point.error.as_ref().map(ToString::to_string);
        }
    }
}

/// Writes and prints the report.
pub fn conclude(record: &mut SweepRecord, runs: &[RunRecord], folder: &Path) -> Result<(), CliError> {
    record.conclusion = sweep_conclusion(record, runs);
    results::save_document(record, folder)?;
    conclude_study(Report::of_sweep(record, runs), folder, &next(record, runs))
}

/// The command after a sweep: values between those among which the mix flips, else the run itself for longer.
pub fn next(sweep: &SweepRecord, runs: &[RunRecord]) -> NextCommand {
    let Some(first) = runs.first() else { return NextCommand::new(["list"]) };
    let flips = Swept::of(sweep, runs).pairs().iter().any(|pair| !pair.curve.flips.is_empty());
    // What the sweep varies is no option of the user's.
    let mut subject = first.subject();
    subject.retain(|(option, value)| {
        let name = value.split('=').next().unwrap_or_default();
        let name = if *option == "share" { format!("share:{name}") } else { name.to_owned() };
        !["set", "share"].contains(option) || sweep.vary.iter().all(|condition| condition.name != name)
    });
    match sweep.vary.as_slice() {
        [one]
            if flips && sweep.refine.is_none() && one.values.iter().all(|value| condition_number(value).is_some()) =>
        {
            let vary = format!("{}={}", one.name, one.values.join(","));
            NextCommand::on("sweep", first, subject).option("vary", &vary).option("refine", "3")
        }
        _ => NextCommand::on("run", first, subject).option("preset", "full"),
    }
}
