//! The loop of a run: pilot, rounds, and the files that they leave.

use std::cell::Cell;
use std::path::Path;

use crate::cli::exit::{CliError, Exit};
use crate::cli::progress::Progress;
use crate::cli::report::{write_files, written};
use crate::engine::{Experiment, MeasuredRound, RoundPlan, RunError};
use crate::report::{Junit, Report};
use crate::results::{self, RunRecord, Status};
use crate::server::Target;

use super::latency_log::LogWriter;
use super::window;

/// The rounds of a run in its folder.
pub struct Rounds<'r> {
    folder: &'r Path,
    junit: Option<&'r Path>,
    /// Rounds that are on disk.
    saved: Cell<usize>,
}

/// What ended rounds or searches early.
pub enum EarlyEnd {
    /// The engine stopped.
    Engine(RunError),
    /// The results could not be written.
    Write(CliError),
}

impl<'r> Rounds<'r> {
    /// Starts after the rounds that an earlier part of the run has completed.
    pub fn new(folder: &'r Path, junit: Option<&'r Path>, complete: usize) -> Rounds<'r> {
        Rounds { folder, junit, saved: Cell::new(complete) }
    }

    /// Runs the pilot and all rounds; the record is saved before the first and after each.
    ///
    /// # Errors
    /// When the engine or a write error ends it early; the record then has the rounds before.
    pub async fn run<T: Target, G: Target + 'static>(
        &self,
        experiment: &mut Experiment<'_, T, G>,
        (progress, log): &(Progress, LogWriter),
        record: &mut RunRecord,
    ) -> Result<(), EarlyEnd> {
        let plan = self.prepare(experiment, record).await?;
        for round in record.complete_rounds() as u64..record.settings.rounds {
            self.round(experiment, plan, round, log, record).await?;
            progress.end_round();
        }
        Ok(())
    }

    /// Runs the pilot, unless the settings need none, and asks for the query plans.
    ///
    /// # Errors
    /// When the engine or a write error ends it.
    pub async fn prepare<T: Target, G: Target + 'static>(
        &self,
        experiment: &mut Experiment<'_, T, G>,
        record: &mut RunRecord,
    ) -> Result<RoundPlan, EarlyEnd> {
        self.save(record)?;
        let plan = window::plan(experiment, record).await.map_err(EarlyEnd::Engine)?;
        if record.query_plans.is_empty() {
            let plans = experiment.query_plans().await.map_err(EarlyEnd::Engine)?;
            record.query_plans = plans.plans;
            record.warnings.extend(plans.warnings);
            self.save(record)?;
        }
        experiment.settings.clone_from(&record.settings);
        Ok(plan)
    }

    /// Runs and saves one round.
    ///
    /// # Errors
    /// When the engine or a write error ends it.
    pub async fn round<T: Target, G: Target + 'static>(
        &self,
        experiment: &Experiment<'_, T, G>,
        plan: RoundPlan,
        round: u64,
        log: &LogWriter,
        record: &mut RunRecord,
    ) -> Result<(), EarlyEnd> {
        let MeasuredRound { parts, warnings, events } =
            experiment.round(round, plan).await.map_err(EarlyEnd::Engine)?;
        record.add_round(parts);
        record.warnings.extend(warnings);
        record.events.extend(events);
        self.save(record)?;
        log.check().map_err(EarlyEnd::Write)
    }

    fn save(&self, record: &RunRecord) -> Result<(), EarlyEnd> {
        results::save(record, self.folder).map_err(|error| EarlyEnd::Write(error.into()))?;
        self.saved.set(record.complete_rounds());
        Ok(())
    }

    /// Writes the status and the reports.
    ///
    /// # Errors
    /// What ended the run early, else what could not be written.
    pub fn finish(&self, result: Result<(), EarlyEnd>, record: &mut RunRecord) -> Result<(Exit, Report), CliError> {
        let (status, error) = match result {
            Ok(()) => (Status::Complete, None),
            Err(EarlyEnd::Engine(error)) => (status_after(&error), Some(CliError::from(error))),
            // Nothing more can be written.
            Err(EarlyEnd::Write(error)) => return Err(self.with_rounds(error)),
        };
        record.status = status;
        if let Err(EarlyEnd::Write(write)) = self.save(record) {
            return Err(self.with_rounds(error.unwrap_or(write)));
        }
        let others = results::other_mixes(self.folder, record);
        let report = Report::among(record, &others).in_folder(&self.folder.display().to_string()).with_files();
        let write_error = write_reports(record, &report, self.folder).err().or_else(|| self.junit(&report).err());
        if let Some(error) = error.or(write_error) {
            return Err(self.with_rounds(error));
        }
        let exit = match (report.is_invalid(), report.has_failed_thresholds()) {
            (true, _) => Exit::Invalid,
            (false, true) => Exit::CheckFailed,
            (false, false) => Exit::Success,
        };
        Ok((exit, report))
    }

    /// Saves a run that ends because the one it takes turns with has ended early.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_up(&self, mut record: RunRecord) -> Result<(), CliError> {
        record.status = Status::Failed("the run on the other server ended early".to_owned());
        Ok(results::save(&record, self.folder)?)
    }

    /// Writes the JUnit file, if requested.
    fn junit(&self, report: &Report) -> Result<(), CliError> {
        let Some(path) = self.junit else { return Ok(()) };
        std::fs::write(path, written(&Junit, report)).map_err(|error| {
            CliError::failure(format!("cannot write {}: {error}; name another --junit file", path.display()))
        })
    }

    /// Adds to an error where the complete rounds are.
    fn with_rounds(&self, error: CliError) -> CliError {
        let left = match self.saved.get() {
            0 => "no round is complete".to_owned(),
            1 => format!("1 complete round is in {}", self.folder.display()),
            rounds => format!("{rounds} complete rounds are in {}", self.folder.display()),
        };
        error.with(&left)
    }
}

/// Returns the status of a run that the engine ended.
pub fn status_after(error: &RunError) -> Status {
    if matches!(error, RunError::Interrupted) { Status::Interrupted } else { Status::Failed(error.to_string()) }
}

/// Writes the report files of a run into its folder.
///
/// # Errors
/// When a file cannot be written; the record is there, so that `docshape report` can write them later.
pub fn write_reports(record: &RunRecord, report: &Report, folder: &Path) -> Result<(), CliError> {
    let shown = folder.display();
    let later = format!("then `docshape report {shown} --out {shown}` writes the reports");
    write_files(record, report, folder).map_err(|error| error.with(&later))
}
