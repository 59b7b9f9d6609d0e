//! The comparison of a run with a saved run: checked before anything is measured, made at the end.

use std::path::Path;

use crate::cli::exit::{CliError, Exit};
use crate::cli::next::NextCommand;
use crate::cli::output;
use crate::cli::run::{PlannedRun, RunArguments, like, resume};
use crate::cli::scenario::prepare_source;
use crate::compile::Choice;
use crate::report::NamedRun;
use crate::results::{self, RunRecord, RunSettings};
use crate::stats::{self, MINIMUM_ROUNDS};

use super::{
    SavedRunArguments, check_comparable, check_usable, comparability, compare_two, folder, load_saved, one_strategy,
    reference, save,
};

/// Options that contradict no saved run: what the comparison judges by, how often it is repeated, what is drawn, the cache, which
/// may be what is compared, and slices, of which a run with few calls makes fewer than it is asked for.
const FREE: [&str; 7] = ["seed", "threshold", "rounds", "noise", "error-budget", "cache-gb", "slices"];

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
    /// When it does not exist or cannot be compared.
    pub fn of(given: &SavedRunArguments, scenario: &str) -> Result<BaselineComparison, CliError> {
        let saved = given.compare_with.as_ref().map(|name| load_saved(scenario, name)).transpose()?;
        if let Some(saved) = &saved {
            check_usable(saved)?;
        }
        let comparison = BaselineComparison { saved, save: given.save_run.clone(), tolerance: given.tolerance };
        if !comparison.is_empty() {
            folder(scenario)?;
        }
        Ok(comparison)
    }

    /// Rejects a run with too few rounds.
    ///
    /// # Errors
    /// When it is to be compared or saved, and has fewer than a comparison needs.
    pub fn check_rounds(&self, rounds: u64) -> Result<(), CliError> {
        if self.is_empty() || rounds >= MINIMUM_ROUNDS as u64 {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "a comparison needs {MINIMUM_ROUNDS} rounds, and this run would have {rounds}: use --preset quick or --rounds 8, or \
             omit --compare-with and --save-run"
        )))
    }

    fn is_empty(&self) -> bool {
        self.saved.is_none() && self.save.is_none()
    }

    /// Plans the run like the saved one: its mix, parameters, data, load and length, as far as the command line does not say
    /// otherwise.
    ///
    /// # Errors
    /// When the command line asks for what cannot be compared with the saved run.
    pub fn adopt(&self, planned: PlannedRun, arguments: &RunArguments) -> Result<PlannedRun, CliError> {
        let Some(NamedRun { record, name }) = &self.saved else { return Ok(planned) };
        if let Some([asked, had]) = like::contradiction(arguments, &record.settings, &FREE) {
            let had = if had.starts_with("--") { format!("with {had}") } else { had };
            return Err(CliError::usage(format!(
                "{asked} contradicts {name}, which was measured {had}: omit it, because --compare-with takes it from there, or \
                 measure both again"
            )));
        }
        let (asked, given) = (planned.settings, &arguments.given);
        let of = |option: &str| if given.has(option) { &asked } else { &record.settings };
        let settings = RunSettings {
            seed: of("seed").seed,
            rounds: of("rounds").rounds,
            noise: of("noise").noise,
            error_budget: of("error-budget").error_budget,
            set: of("set").set.clone(),
            shares: of("share").shares.clone(),
            thresholds: asked.thresholds.clone(),
            cache_gb: asked.cache_gb,
            ..like::settings(record, "like the run that it is compared with")
        };
        let old = resume::choice(record);
        let chosen = Choice {
            mix: planned.chosen.mix.clone().or(old.mix),
            set: if given.has("set") { planned.chosen.set.clone() } else { old.set },
            shares: if given.has("share") { planned.chosen.shares.clone() } else { old.shares },
            seed: settings.seed,
            write_concern: old.write_concern,
            ..planned.chosen
        };
        let ready = prepare_source(planned.ready.source, &chosen)?;
        Ok(PlannedRun { ready, chosen, settings, choice: planned.choice })
    }

    /// Checks before the first call that the run can be compared.
    ///
    /// # Errors
    /// When it could not be compared with the saved run afterwards.
    pub fn check(&self, head: &RunRecord) -> Result<(), CliError> {
        let Some(saved) = &self.saved else { return Ok(()) };
        let this = NamedRun { name: "this run".to_owned(), record: head.clone() };
        check_comparable(saved, &this)?;
        let both = [&saved.record, &this.record];
        if reference(both.into_iter(), &comparability::common(both), &[]).is_none() {
            return Err(one_strategy(saved, &this));
        }
        Ok(())
    }

    /// Compares the finished run with the saved run, and saves it. An invalid run is neither compared nor saved. `next` follows a run
    /// that is not compared.
    ///
    /// # Errors
    /// When the run cannot be read again, or a file cannot be written.
    pub fn conclude(&self, folder: &Path, exit: Exit, next: NextCommand) -> Result<Exit, CliError> {
        if self.is_empty() {
            next.print();
            return Ok(exit);
        }
        let record = results::load(folder)?;
        if !stats::is_valid(&record) {
            output::message("this run is invalid: it was neither compared nor saved\n");
            return Ok(exit);
        }
        let after = NamedRun { name: folder.display().to_string(), record };
        let mut compared = Exit::Success;
        if let Some(before) = &self.saved {
            output::print("\n")?;
            compared = compare_two(before, &after, self.tolerance)?;
        } else {
            next.print();
        }
        if let Some(name) = &self.save {
            save(&after.record, name, compared)?;
        }
        Ok(if compared == Exit::Success { exit } else { compared })
    }
}
