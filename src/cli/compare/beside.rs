//! A run beside a baseline: looked at before anything is measured, compared at the end, kept for later runs.

use std::path::Path;

use crate::results::{self, LoadModel, RunRecord};
use crate::stats::MINIMUM_ROUNDS;

use super::super::argument::RunArguments;
use super::super::exit::{CliError, Exit};
use super::super::output;
use super::super::value::Rate;
use super::{CompareFormat, Named, Pair, check_alike, check_usable, folder, keep, kept};

/// What a run is compared with and kept as.
pub struct Beside {
    baseline: Option<Named>,
    save: Option<String>,
    tolerance: f64,
}

impl Beside {
    /// Reads the baseline that a run of this scenario names.
    ///
    /// # Errors
    /// When there is none, it cannot be used, or the run will have too few rounds to be compared.
    pub fn of(arguments: &RunArguments, scenario: &str) -> Result<Beside, CliError> {
        let wanted = &arguments.baseline;
        let baseline = wanted.baseline.as_ref().map(|name| kept(scenario, name)).transpose()?;
        if let Some(baseline) = &baseline {
            check_usable(baseline)?;
        }
        let beside = Beside { baseline, save: wanted.save_baseline.clone(), tolerance: wanted.tolerance() };
        let rounds = arguments.rounds.unwrap_or(arguments.preset.rounds);
        if !beside.is_empty() {
            folder(scenario)?;
            if rounds < MINIMUM_ROUNDS as u64 {
                return Err(CliError::usage(format!(
                    "a comparison takes {MINIMUM_ROUNDS} rounds, and this run would have {rounds}: use --preset quick or \
                     --rounds 8, or leave out --baseline and --save-baseline"
                )));
            }
        }
        Ok(beside)
    }

    fn is_empty(&self) -> bool {
        self.baseline.is_none() && self.save.is_none()
    }

    /// Makes the run as long as the baseline where its length is left open: with the same preset and no calls, duration or
    /// rate given, the baseline's calls count.
    pub fn adopt(&self, mut arguments: RunArguments) -> RunArguments {
        let Some(Named { record, .. }) = &self.baseline else { return arguments };
        let settings = &record.settings;
        if settings.preset != arguments.preset.name {
            return arguments;
        }
        arguments.isolate |= settings.isolated.is_some();
        match (settings.load, arguments.rate) {
            (LoadModel::Closed, None) if arguments.duration.is_none() => {
                arguments.calls = arguments.calls.or(settings.calls);
            }
            (LoadModel::Open { rate, .. }, Some(wanted)) => {
                if wanted == Rate::Auto {
                    arguments.rate = Some(Rate::PerSecond(rate));
                }
                if arguments.duration.is_none() {
                    arguments.calls = arguments.calls.or(settings.calls);
                }
            }
            _ => {}
        }
        arguments
    }

    /// Looks at what is known before the first call of a run, and lets it be cut off where the baseline's would have been.
    ///
    /// # Errors
    /// When it could not be compared with the baseline afterwards.
    pub fn check(&self, head: &mut RunRecord) -> Result<(), CliError> {
        let Some(baseline) = &self.baseline else { return Ok(()) };
        let this = Named { name: "this run".to_owned(), record: head.clone() };
        check_alike(baseline, &this)?;
        let (old, new) = (&baseline.record.settings, &mut head.settings);
        if old.calls == new.calls {
            new.planned_seconds = new.planned_seconds.or(old.planned_seconds);
        }
        Ok(())
    }

    /// Compares the finished run with the baseline, and keeps it. A run that is not valid is neither compared nor kept.
    ///
    /// # Errors
    /// When the run cannot be read again, or the disk refuses.
    pub fn conclude(&self, folder: &Path, exit: Exit) -> Result<Exit, CliError> {
        if self.is_empty() {
            return Ok(exit);
        }
        if exit == Exit::Invalid {
            output::tell("this run is not valid: it was neither compared with a baseline nor saved as one\n");
            return Ok(exit);
        }
        let record = results::load(folder).map_err(|error| CliError::usage(error.to_string()))?;
        let after = Named { name: folder.display().to_string(), record };
        let mut compared = Exit::Fine;
        if let Some(before) = &self.baseline {
            check_alike(before, &after)?;
            output::print("\n")?;
            let pair = Pair { before, after: &after, tolerance: self.tolerance, strategies: &[] };
            compared = pair.tell(CompareFormat::Terminal)?;
        }
        if let Some(name) = &self.save {
            keep(&after.record, name, compared)?;
        }
        Ok(if compared == Exit::Fine { exit } else { compared })
    }
}
