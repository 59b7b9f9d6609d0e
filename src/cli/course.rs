//! The course of a run: pilot, rounds, and what is written of them.

use std::cell::Cell;
use std::io;
use std::path::Path;

use crate::engine::{Event, Experiment, Fatal, Halt, LoadError, RunError, Window};
use crate::report::{Markdown, Renderer, Report};
use crate::results::{self, RunRecord, Status};
use crate::server::Target;

use super::argument::RunArguments;
use super::exit::{CliError, Exit};
use super::latency_log::LogWriter;
use super::output;
use super::report::terminal;

/// The name of the Markdown report in a run's folder.
const REPORT_FILE: &str = "report.md";

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

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
    pub async fn rounds<T: Target, G: Target>(
        &self,
        experiment: &mut Experiment<'_, T, G>,
        log: &LogWriter,
        record: &mut RunRecord,
    ) -> Result<(), Ended> {
        self.save(record)?;
        let window = self.window(experiment, record).await.map_err(Ended::Run)?;
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

    /// How much every window measures: as the record says, else by a pilot.
    async fn window<T: Target, G: Target>(
        &self,
        experiment: &Experiment<'_, T, G>,
        record: &mut RunRecord,
    ) -> Result<Window, RunError> {
        let preset = self.arguments.preset;
        if let Some(seconds) = record.settings.duration {
            return Ok(Window::Timed { seconds, warmup: preset.warmup_seconds });
        }
        let settings = &mut record.settings;
        let calls = match settings.calls {
            Some(calls) => calls,
            None => {
                let pilot = experiment.pilot(preset.seconds.min(PILOT_SECONDS)).await?;
                settings.planned_seconds = Some(preset.seconds);
                if settings.isolated.is_none() && experiment.plan.arms.len() > 1 {
                    settings.isolated = crowded(pilot.bytes, record.server.cache_bytes);
                    settings.isolated.iter().for_each(|reason| output::tell(&format!("isolated: {reason}\n")));
                }
                (pilot.rate * preset.seconds).ceil() as u64
            }
        };
        let warmup = settings.warmup_calls.unwrap_or_else(|| preset.warmup_calls(calls));
        (settings.calls, settings.warmup_calls) = (Some(calls), Some(warmup));
        experiment.observer.event(&Event::Planned { calls, warmup });
        Ok(Window::Calls { calls, warmup, seconds: settings.planned_seconds })
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
        let report = Report::new(&record).in_folder(&self.folder.display().to_string());
        let mut markdown = String::new();
        let _ = Markdown.render(&report, &mut markdown);
        let written = std::fs::write(self.folder.join(REPORT_FILE), &markdown);
        let unwritten = written.err().map(|error| unwritten(&self.folder.join(REPORT_FILE), &error));
        match error.or(unwritten) {
            Some(error) => Err(self.with_rounds(error)),
            None => {
                let exit = if report.is_void() { Exit::Invalid } else { Exit::Fine };
                output::print(&terminal(&report)).map(|()| exit)
            }
        }
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

/// Why arms must run alone: together they would push each other out of the server's cache.
fn crowded(bytes: u64, cache: Option<u64>) -> Option<String> {
    let cache = cache.filter(|cache| bytes > cache / 2)?;
    let megabytes = |bytes: u64| bytes / 1_000_000;
    Some(format!(
        "the strategies' data and indexes are {} MB together, more than half of the server's cache of {} MB",
        megabytes(bytes),
        megabytes(cache)
    ))
}

fn interrupted() -> CliError {
    CliError { exit: Exit::Interrupted, message: "interrupted".into() }
}

/// Mistakes of the scenario are the user's to mend, the rest is the server's.
fn failed(error: &RunError) -> CliError {
    match error {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_fill_more_than_half_of_the_cache_run_alone() {
        assert_eq!((crowded(500, Some(1_000)), crowded(u64::MAX, None)), (None, None));
        let reason = crowded(501_000_000, Some(1_000_000_000)).unwrap();
        assert!(reason.contains("501 MB together") && reason.contains("cache of 1000 MB"), "{reason}");
    }
}
