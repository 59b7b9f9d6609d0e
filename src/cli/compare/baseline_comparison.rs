//! The comparison of a run with a saved run: checked before anything is measured, made at the end.

use std::path::Path;

use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::run::like;
use crate::report::NamedRun;
use crate::results::{self, LoadModel, RunRecord, RunSettings};
use crate::stats::MINIMUM_ROUNDS;

use super::{
    SavedRunArguments, check_comparable, check_usable, comparability, compare_two, folder, load_saved, one_strategy,
    reference, save,
};

/// What a run is compared with and saved as.
pub struct BaselineComparison {
    saved: Option<NamedRun>,
    save: Option<String>,
    tolerance: Option<f64>,
}

impl BaselineComparison {
    /// Loads the saved run that a run of this scenario names.
    ///
    /// # Errors
    /// When it does not exist or cannot be compared, or the new run will have too few rounds.
    pub fn of(
        given: &SavedRunArguments,
        settings: &RunSettings,
        scenario: &str,
    ) -> Result<BaselineComparison, CliError> {
        let saved = given.compare_with.as_ref().map(|name| load_saved(scenario, name)).transpose()?;
        if let Some(saved) = &saved {
            check_usable(saved)?;
        }
        let comparison = BaselineComparison { saved, save: given.save_run.clone(), tolerance: given.tolerance };
        let rounds = settings.rounds;
        if !comparison.is_empty() {
            folder(scenario)?;
            if rounds < MINIMUM_ROUNDS as u64 {
                return Err(CliError::usage(format!(
                    "a comparison needs {MINIMUM_ROUNDS} rounds, and this run would have {rounds}: use --preset quick or \
                     --rounds 8, or omit --compare-with and --save-run"
                )));
            }
        }
        Ok(comparison)
    }

    fn is_empty(&self) -> bool {
        self.saved.is_none() && self.save.is_none()
    }

    /// Makes the run as long as the saved run, at its load, where the length and the rate are left open.
    pub fn adopt(&self, mut settings: RunSettings) -> RunSettings {
        let Some(NamedRun { record, .. }) = &self.saved else { return settings };
        let old = like::settings(record, "like the run that it is compared with");
        if old.preset != settings.preset {
            return settings;
        }
        settings.isolated = settings.isolated.or(old.isolated);
        settings.shared_mongod = settings.shared_mongod.or(old.shared_mongod);
        if let LoadModel::Open { rate: 0.0, .. } = settings.load {
            (settings.load, settings.is_named_rate) = (old.load, old.is_named_rate);
            settings.pilot.clone_from(&old.pilot);
            settings.parts.retain(|part| !part.is_end_of_curve() || old.parts.contains(part));
        }
        if settings.duration.or(settings.planned_seconds).is_none() {
            let is_same_rate = settings.load == old.load;
            if settings.calls.is_none() {
                (settings.calls, settings.fewer_calls) = (old.calls, old.fewer_calls);
            }
            settings.rate_calls = settings.rate_calls.or(old.rate_calls.filter(|_| is_same_rate));
            settings.own_calls = settings.own_calls.or(old.own_calls);
        }
        settings
    }

    /// Checks before the first call that the run can be compared, and gives it the planned length of the saved run.
    ///
    /// # Errors
    /// When it could not be compared with the saved run afterwards.
    pub fn check(&self, head: &mut RunRecord) -> Result<(), CliError> {
        let Some(saved) = &self.saved else { return Ok(()) };
        let this = NamedRun { name: "this run".to_owned(), record: head.clone() };
        check_comparable(saved, &this)?;
        let both = [&saved.record, &this.record];
        if reference(both.into_iter(), &comparability::common(both), &[]).is_none() {
            return Err(one_strategy(saved, &this));
        }
        let (old, new) = (&saved.record.settings, &mut head.settings);
        if old.calls == new.calls {
            new.planned_seconds = new.planned_seconds.or(old.planned_seconds);
        }
        Ok(())
    }

    /// Compares the finished run with the saved run, and saves it. An invalid run is neither compared nor saved.
    ///
    /// # Errors
    /// When the run cannot be read again, or a file cannot be written.
    pub fn conclude(&self, folder: &Path, exit: Exit) -> Result<Exit, CliError> {
        if self.is_empty() {
            return Ok(exit);
        }
        if exit == Exit::Invalid {
            output::message("this run is invalid: it was neither compared nor saved\n");
            return Ok(exit);
        }
        let record = results::load(folder)?;
        let after = NamedRun { name: folder.display().to_string(), record };
        let mut compared = Exit::Success;
        if let Some(before) = &self.saved {
            output::print("\n")?;
            compared = compare_two(before, &after, self.tolerance)?;
        }
        if let Some(name) = &self.save {
            save(&after.record, name, compared)?;
        }
        Ok(if compared == Exit::Success { exit } else { compared })
    }
}
