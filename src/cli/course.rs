//! The course of a run: pilot, rounds, and what is written of them.

use std::cell::Cell;
use std::io;
use std::path::Path;

use crate::engine::{Experiment, Fatal, Halt, LoadError, RunError};
use crate::report::{Junit, Renderer, Report};
use crate::results::{self, RunRecord, Status};
use crate::server::Target;

use super::argument::RunArguments;
use super::exit::{CliError, Exit};
use super::latency_log::LogWriter;
use super::output;
use super::report::{files, terminal};
use super::window;

/// The rounds of a run, and what is written of them.
pub struct Course<'c> {
    arguments: &'c RunArguments,
    folder: &'c Path,
    /// Rounds that are on disk.
    saved: Cell<usize>,
}

/// Why the rounds ended early.
pub enum Ended {
    /// The engine.
    Run(RunError),
    /// The disk.
    Write(CliError),
}

impl<'c> Course<'c> {
    /// Before the first round, or after so many that an earlier part of the run has finished.
    pub fn new(arguments: &'c RunArguments, folder: &'c Path, finished: usize) -> Course<'c> {
        Course { arguments, folder, saved: Cell::new(finished) }
    }

    /// Runs the pilot and all rounds; the record is saved before the first and after each.
    ///
    /// # Errors
    /// When the engine or the disk ends it early; the record then holds the rounds before.
    pub async fn rounds<T: Target, G: Target + 'static>(
        &self,
        experiment: &mut Experiment<'_, T, G>,
        log: &LogWriter,
        record: &mut RunRecord,
    ) -> Result<(), Ended> {
        self.save(record)?;
        let window = window::plan(self.arguments.preset, experiment, record).await.map_err(Ended::Run)?;
        if record.costs.is_empty() {
            let costs = experiment.costs(self.arguments.preset.cost_calls).await.map_err(Ended::Run)?;
            (record.costs, record.query_plans) = (costs.costs, costs.query_plans);
            record.warnings.extend(costs.warnings);
            self.save(record)?;
        }
        experiment.settings.isolated = record.settings.isolated.is_some();
        for round in record.rounds.len() as u64..record.settings.rounds {
            let (finished, warnings) = experiment.round(round, window).await.map_err(Ended::Run)?;
            record.rounds.push(finished);
            record.warnings.extend(warnings);
            self.save(record)?;
            log.check().map_err(Ended::Write)?;
        }
        Ok(())
    }

    fn save(&self, record: &RunRecord) -> Result<(), Ended> {
        results::save(record, self.folder).map_err(|error| Ended::Write(CliError::usage(error.to_string())))?;
        self.saved.set(record.rounds.len());
        Ok(())
    }

    /// Writes how it ended, and the reports.
    ///
    /// # Errors
    /// An early end is the command's error.
    pub fn conclude(&self, result: Result<(), Ended>, mut record: RunRecord) -> Result<Exit, CliError> {
        let (status, error) = match result {
            Ok(()) => (Status::Complete, None),
            Err(Ended::Run(RunError::Interrupted)) => (Status::Interrupted, Some(interrupted())),
            Err(Ended::Run(error)) => (Status::Failed(error.to_string()), Some(failed(&error))),
            // The disk refuses: what is on it is all that there will be.
            Err(Ended::Write(error)) => return Err(self.with_rounds(error)),
        };
        record.status = status;
        if let Err(Ended::Write(write)) = self.save(&record) {
            return Err(self.with_rounds(error.unwrap_or(write)));
        }
        let report = Report::new(&record).in_folder(&self.folder.display().to_string()).with_files();
        let unwritten = files(&record, &report, self.folder).err().or_else(|| self.junit(&report).err());
        match error.or(unwritten) {
            Some(error) => Err(self.with_rounds(error)),
            None => {
                let exit = match (report.is_void(), report.has_failed_thresholds()) {
                    (true, _) => Exit::Invalid,
                    (false, true) => Exit::CheckFailed,
                    (false, false) => Exit::Fine,
                };
                output::print(&terminal(&report)).map(|()| exit)
            }
        }
    }

    /// Writes the file for build servers, when one is asked for.
    fn junit(&self, report: &Report) -> Result<(), CliError> {
        let Some(path) = &self.arguments.junit else { return Ok(()) };
        let mut text = String::new();
        let _ = Junit.render(report, &mut text);
        std::fs::write(path, text).map_err(|error| {
            CliError::usage(format!("cannot write {}: {error}; name another --junit file", path.display()))
        })
    }

    /// An error's words, and what is left of the run.
    fn with_rounds(&self, error: CliError) -> CliError {
        let left = match self.saved.get() {
            0 => "no round was finished".to_owned(),
            1 => format!("1 finished round is in {}", self.folder.display()),
            rounds => format!("{rounds} finished rounds are in {}", self.folder.display()),
        };
        CliError { exit: error.exit, message: format!("{}; {left}", error.message) }
    }
}

fn interrupted() -> CliError {
    CliError { exit: Exit::Interrupted, message: "interrupted".into() }
}

/// Mistakes of the scenario are the user's to mend, the rest is the server's.
pub fn failed(error: &RunError) -> CliError {
    match error {
        RunError::Interrupted => interrupted(),
        RunError::Fatal(Fatal::Scenario { .. })
        | RunError::Load(LoadError::Document { .. } | LoadError::Step { halt: Halt::Scenario { .. }, .. })
        | RunError::NoCalls { .. }
        | RunError::AlwaysFails { .. } => CliError::usage(error.to_string()),
        _ => CliError::server(error.to_string()),
    }
}

/// A file that the disk does not take.
pub fn unwritten(path: &Path, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot write {}: {error}; free space or choose another --out", path.display()))
}
