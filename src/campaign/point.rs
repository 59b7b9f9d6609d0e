//! A run while it is measured, alone or as a point of a study.

use std::path::PathBuf;

use bson::rawdoc;

use crate::engine::{Event, Experiment, MeasuredRound, RoundPlan, RunError};
use crate::results::{self, ResultsError, RunRecord, Status};
use crate::server::{ReplyKind, Target};

use super::early_end::EarlyEnd;
use super::latency_log::LogWriter;
use super::round_lengths::plan_rounds;

/// A run while it is measured.
pub struct Point<'s, T, G> {
    /// What is finished.
    pub record: RunRecord,
    /// Why it has ended early, when the others go on.
    pub error: Option<EarlyEnd>,
    /// Rounds that are on disk.
    pub saved: usize,
    /// How much its rounds measure; `None` before its pilot.
    pub(super) plan: Option<RoundPlan>,
    pub(super) experiment: Experiment<'s, T, G>,
    log: &'s LogWriter,
    /// Its folder.
    pub folder: PathBuf,
    /// The bytes that the cache of every server has while it is measured; `None`: as it is.
    cache: Option<f64>,
    is_changed: bool,
}

impl<'s, T: Target, G: Target + 'static> Point<'s, T, G> {
    /// A run that has what its record has, in a folder that exists.
    pub fn new(
        record: RunRecord,
        experiment: Experiment<'s, T, G>,
        log: &'s LogWriter,
        folder: PathBuf,
        cache: Option<f64>,
    ) -> Point<'s, T, G> {
        let arms: Vec<String> = experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        experiment.observer.event(&Event::Started { rounds: record.settings.rounds, arms: &arms });
        let saved = record.complete_rounds();
        let (error, plan, is_changed) = (None, None, true);
        Point { record, error, saved, plan, experiment, log, folder, cache, is_changed }
    }

    /// Whether it has all of its rounds.
    pub fn is_whole(&self) -> bool {
        self.record.complete_rounds() as u64 >= self.record.settings.rounds
    }

    /// Its folder's name.
    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs the pilot, unless the settings need none, and asks for the query plans. Returns what has to be said of it.
    pub(super) async fn prepare(&mut self) -> Result<Option<String>, EarlyEnd> {
        self.is_changed = true;
        self.set_cache().await?;
        let was_isolated = self.record.settings.isolated.is_some();
        self.plan_rounds().await?;
        if self.record.query_plans.is_empty() {
            let plans = self.experiment.query_plans().await?;
            self.record.query_plans = plans.plans;
            self.record.warnings.extend(plans.warnings);
            self.record.environment.journal_flush = plans.journal_flush;
        }
        let isolated = self.record.settings.isolated.as_ref().filter(|_| !was_isolated);
        Ok(isolated.map(|reason| format!("isolated: {reason}")))
    }

    /// Plans the rounds, with a pilot only where the settings do not say enough.
    pub(super) async fn plan_rounds(&mut self) -> Result<(), RunError> {
        self.is_changed = true;
        self.plan = Some(plan_rounds(&self.experiment, &mut self.record).await?);
        self.experiment.settings.clone_from(&self.record.settings);
        Ok(())
    }

    /// Runs a round.
    pub(super) async fn round(&mut self, round: u64) -> Result<(), EarlyEnd> {
        let Some(plan) = self.plan else { return Ok(()) };
        self.set_cache().await?;
        let MeasuredRound { parts, warnings, events } = self.experiment.round(round, plan).await?;
        self.record.add_round(parts);
        self.record.warnings.extend(warnings);
        self.record.events.extend(events);
        self.is_changed = true;
        Ok(())
    }

    /// Saves what has changed.
    ///
    /// # Errors
    /// When it cannot be written, or the log could not be.
    pub fn save(&mut self) -> Result<(), ResultsError> {
        if self.is_changed {
            results::save(&self.record, &self.folder)?;
            (self.saved, self.is_changed) = (self.record.complete_rounds(), false);
        }
        self.log.check()
    }

    /// Saves it with the status with which it ends. A run that has all of its rounds is complete, whatever ended the others.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self, status: Status) -> Result<(), ResultsError> {
        let status = self.error.as_ref().map_or(status, EarlyEnd::status);
        self.record.status = if self.is_whole() { Status::Complete } else { status };
        self.is_changed = true;
        self.save()
    }

    /// Gives all servers the cache of this point.
    async fn set_cache(&self) -> Result<(), RunError> {
        let Some(bytes) = self.cache else { return Ok(()) };
        let size = format!("cache_size={}M", (bytes / 1e6).round());
        for (place, arm) in self.experiment.plan.arms.iter().enumerate() {
            self.experiment.turn(place).await?;
            let command = rawdoc! { "setParameter": 1, "wiredTigerEngineRuntimeConfig": size.as_str() };
            let target = self.experiment.target(place);
            let set = match target.run_on_others(&command).await {
                Ok(()) => target.run("admin", command, ReplyKind::Single).await,
                Err(failure) => Err(failure),
            };
            set.map_err(|failure| RunError::Inspect { strategy: arm.name.clone(), failure })?;
        }
        Ok(())
    }
}
